"""How a text file is written: its encoding, its delimiter and its line ends, found out from its bytes.

What a table was written in is what results are written in again, so that the program it came from opens them too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from likewise.errors import TableError

LONGEST_CELL = 1 << 30
DELIMITERS = ("\t", ";", ",", "|")
SAMPLED = 50
# Lines above the header that may be titles or remarks, and characters that are looked at for them.
TITLES, LOOKED_AT = 10, 20_000
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
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
    # Lines above the header, such as Excel's own `sep=;`; they are written again.
    above: tuple[str, ...] = ()
    sheet: str = ""
    header: int = 0
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class Above:
    """What stands above the header: how many characters, the lines themselves, and the delimiter that they announce."""

    end: int
    lines: tuple[str, ...]
    delimiter: str | None


def above_header(text: str) -> Above:
    """The lines above the header: blank ones, remarks, titles of one cell above wider rows, and Excel's `sep=;`.

    >>> above_header("sep=;\\nsmiles;yield\\n"), above_header("# of May\\nsmiles,yield\\n").lines
    (Above(end=6, lines=('sep=;',), delimiter=';'), ('# of May',))
    """
    lines = LINE.findall(text[:LOOKED_AT])[: 2 * TITLES]
    announced, count = None, 0
    while count < min(len(lines) - 1, TITLES):
        line = lines[count].strip()
        match = re.fullmatch(r"\"?sep=(.)\"?", line, re.IGNORECASE)
        announced = match[1] if match else announced
        if not (match or not line or _is_remark(line, lines[count + 1 :]) or _is_title(line, lines[count + 1 :])):
            break
        count += 1
    above = lines[:count]
    return Above(sum(map(len, above)), tuple(line.strip("\r\n") for line in above), announced)


def _is_remark(line: str, following: Sequence[str]) -> bool:
    """Whether a line begins with # and is no header, which has as many cells as the rows below it."""
    below = next((line for line in following if not line.startswith("#")), "")
    return line.startswith("#") and not any(0 < line.count(d) == below.count(d) for d in DELIMITERS)


def _is_title(line: str, following: Sequence[str]) -> bool:
    """Whether a line is one text of several words, above names without numbers, above cells with some numbers."""
    if '"' in "".join((line, *following)) or not re.search(r"\s|[,;|]$", line):
        return False
    for delimiter in DELIMITERS:
        if len([cell for cell in line.split(delimiter) if cell.strip()]) != 1:
            continue
        names, *rows = [[cell.strip() for cell in line.split(delimiter)] for line in following if line.strip()] or [[]]
        wide = len(names) > 1 and all(names) and not any(map(_is_number, names))
        if wide and any(len(row) == len(names) and any(map(_is_number, row)) for row in rows):
            return True
    return False


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?[\d.,]*\d[\d.,]*", cell) is not None


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
    fits = {d: _fit(text, d) for d in DELIMITERS}
    possible = [d for d in DELIMITERS if fits[d][0] > 1]
    if not possible:
        return "\t" if name.lower().removesuffix(".gz").endswith(".tsv") else ","
    # Of those that fit alike, a tab is no accident, and many cells are less likely one than few.
    return max(possible, key=lambda d: (fits[d][1], d == "\t", fits[d][0], -DELIMITERS.index(d)))


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
