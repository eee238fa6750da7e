"""How a text file is written: its encoding, its delimiter and its line ends, found out from its bytes.

What a table was written in is what results are written in again, so that the program it came from opens them too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from likewise.errors import TableError

LONGEST_CELL = 1 << 30
DELIMITERS = ("\t", ";", ",", "|")
SAMPLED = 50
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
# Other kinds of file that end up with a name in .csv, by their first bytes.
STRANGERS = {
    b"%PDF": "a PDF document",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"SQLite format 3": "a SQLite database",
}


@dataclass(frozen=True)
class Dialect:
    """How a table is written. In a workbook: in which sheet, below which row, and in which columns, counted from 0."""

    kind: Literal["csv", "parquet", "workbook", "structures"] = "csv"
    delimiter: str = ","
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"
    gzipped: bool = False
    # Excel's own first line, `sep=;`, which says what is between the cells.
    announced: bool = False
    sheet: str = ""
    header: int = 0
    places: tuple[int, ...] = ()


def announced_delimiter(text: str) -> tuple[str, int] | None:
    """The delimiter that a first line such as `sep=;` announces, and where the line ends.

    >>> announced_delimiter("sep=;\\nsmiles;yield\\n"), announced_delimiter("smiles;yield\\n")
    ((';', 6), None)
    """
    found = re.match(r"\"?sep=(.)\"?[ \t]*(\r\n|\n|\r)", text, re.IGNORECASE)
    return None if found is None else (found[1], found.end())


def decode(data: bytes, name: str) -> tuple[str, Dialect]:
    """The text of a file and how it was encoded: UTF-8 or UTF-16 by its mark, UTF-8 if it is that, else Windows-1252.

    >>> decode(b"smiles,yield\\r\\nCCO,1\\r\\n", "a.csv")[1].newline
    '\\r\\n'
    """
    for start, what in STRANGERS.items():
        if data.startswith(start):
            raise TableError(f"{name} is {what}, not a table of text; save it as CSV (UTF-8) or Parquet, and use that.")
    for mark, encoding in BOMS:
        if data.startswith(mark):
            text = _text(data[len(mark) :], encoding, name)
            return text, Dialect(encoding=encoding, bom=True, newline=_newline(text))
    if b"\0" in data:
        row = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise TableError(
            f"{name} has a NUL byte in line {row}, so it is damaged or no table of text; save it again as CSV (UTF-8)."
        )
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = _western(data)
    return text, Dialect(encoding=encoding, newline=_newline(text))


def _text(data: bytes, encoding: str, name: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise TableError(
            f"{name} says it is {encoding.upper()}, but byte {error.start} is not; save it again as CSV (UTF-8)."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(f"{name} has a NUL character in line {line}; it is damaged: save it again as CSV (UTF-8).")
    return text


def _western(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _newline(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def csv_reader(text: str, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    """The rows of a text; cells may be of any length, which Python otherwise limits."""
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def find_delimiter(text: str, name: str = "") -> str:
    """The delimiter: one that the header has, and that splits the rows into as many cells as the header.

    >>> find_delimiter("smiles;yield (%, isolated)\\nCCO;1,5\\nCCN;2,25\\n")
    ';'
    """
    found = {d: _fit(text, d) for d in DELIMITERS}
    possible = [d for d in DELIMITERS if found[d][0] > 1]
    if not possible:
        return "\t" if name.lower().removesuffix(".gz").endswith(".tsv") else ","
    # Of those that fit alike, a tab is no accident, and many cells are less likely one than few.
    return max(possible, key=lambda d: (found[d][1], d == "\t", found[d][0], -DELIMITERS.index(d)))


def _fit(text: str, delimiter: str) -> tuple[int, float]:
    """How many cells the header has, and the share of the first rows with as many."""
    # Enough characters for the first rows of any sane table, and never the whole of a large one.
    reader = csv_reader(text[:200_000], delimiter)
    try:
        rows = [row for row in islice(reader, SAMPLED + 1) if row]
    except csv.Error:
        return 0, 0.0
    if not rows:
        return 0, 0.0
    header, *rest = rows
    # The last of them may have been cut.
    rest = rest[:-1] if len(rest) > 1 else rest
    return len(header), sum(len(row) == len(header) for row in rest) / max(len(rest), 1)
