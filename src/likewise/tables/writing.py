"""Writing a table: in the dialect of the table it belongs to, at once or not at all, and nothing a spreadsheet runs."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from likewise.errors import TableError, UsageError
from likewise.tables.cells import Decimal
from likewise.tables.dialect import Dialect
from likewise.tables.files import back_up, replace_file
from likewise.tables.formulas import guard, unguard

if TYPE_CHECKING:
    import polars


# Files that a table can be written to, by the end of their names.
TEXTS, TABS, PARQUETS = (".csv", ".txt", ".dat", ""), (".tsv", ".tab"), (".parquet", ".pq")


def check_name(target: Path) -> None:
    """Refuse a name that promises what is not written: a workbook, a database."""
    ending = _ending(target)
    if ending not in (*TEXTS, *TABS, *PARQUETS):
        raise UsageError(
            f"{target} ends in {ending!r}; it can end in .csv, .tsv, .txt or .parquet, each with .gz or without."
        )


def _ending(target: Path) -> str:
    """The end of a name that says what is in the file."""
    return (target.with_suffix("") if target.suffix.lower() == ".gz" else target).suffix.lower()


def dialect_for(target: Path, like: Dialect) -> Dialect:
    """The dialect that a file's name asks for, otherwise as another table was written.

    >>> dialect_for(Path("next.tsv"), Dialect(delimiter=";")).delimiter
    '\\t'
    """
    gzipped, ending = target.suffix.lower() == ".gz", _ending(target)
    if ending in PARQUETS:
        return Dialect(kind="parquet", gzipped=gzipped)
    text = like if like.kind == "csv" else Dialect()
    if ending in TABS:
        return replace(text, delimiter="\t", gzipped=gzipped)
    if ending == ".csv" and text.delimiter in "\t|":
        text = replace(text, delimiter=",")
    return replace(text, kind="csv", gzipped=gzipped)


def write(
    frame: polars.DataFrame, target: Path, dialect: Dialect, overlong: Mapping[int, Sequence[str]] | None = None
) -> None:
    """Write the table; a file that is there already is replaced at once, and stays if anything goes wrong.

    `overlong` are rows with more cells than there are columns, by their places; they are written as they were read.
    """
    if dialect.kind == "parquet":
        if overlong:
            raise TableError(
                f"{target} cannot be written as Parquet, as a row of the table has more cells than the header: "
                f"{', '.join(next(iter(overlong.values())))}. Correct it, or write the table as CSV."
            )
        stream = io.BytesIO()
        frame.write_parquet(stream)
        data = stream.getvalue()
    else:
        data = _encode(frame, dialect, overlong or {})
    write_bytes(target, gzip.compress(data) if dialect.gzipped else data)


def write_bytes(target: Path, data: bytes) -> None:
    """Put these bytes in the place of a file, whole or not at all."""
    try:
        replace_file(target, data)
    except OSError as error:
        raise TableError(f"{target} cannot be written: {error.strerror or error}; check the folder.") from error


def keep_backup(source: Path) -> Path:
    """A copy of the file beside it, under a name that is not taken."""
    try:
        return back_up(source)
    except OSError as error:
        raise TableError(
            f"a backup of {source} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error


def _encode(frame: polars.DataFrame, dialect: Dialect, overlong: Mapping[int, Sequence[str]]) -> bytes:
    lines: list[str] = []
    # Both kinds of line ends are then put in quotation marks wherever a cell has one, whatever the dialect's own.
    stream = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
    writer = csv.writer(stream, delimiter=dialect.delimiter, lineterminator="\r\n")
    writer.writerow([guard(name) for name in frame.columns])
    rows = zip(*(_texts(column) for column in frame), strict=True)
    writer.writerows(_again(overlong[place]) if place in overlong else row for place, row in enumerate(rows))
    if dialect.announced:
        lines.insert(0, f"sep={dialect.delimiter}")
    text = "".join(f"{line}{dialect.newline}" for line in lines)
    try:
        data = text.encode(dialect.encoding)
    except UnicodeEncodeError:
        # What is new does not fit the old encoding; UTF-8 with its mark is what spreadsheets recognise.
        return b"\xef\xbb\xbf" + text.encode()
    return ("\ufeff".encode(dialect.encoding) if dialect.bom else b"") + data


def _again(cells: Sequence[str]) -> Sequence[str]:
    """Cells as a file has them, guarded once."""
    return [guard(unguard(cell)) for cell in cells]


def _texts(column: polars.Series) -> Sequence[str]:
    return ["" if cell is None else guard(cell_text(cell)) for cell in column.to_list()]


def cell_text(cell: Any) -> str:
    """A cell of any type as text.

    >>> import datetime
    >>> cell_text(12345678901234567), cell_text([0.5, 1]), cell_text(datetime.date(2026, 1, 31)), cell_text(True)
    ('12345678901234567', '[0.5, 1]', '2026-01-31', 'true')
    """
    import json

    if isinstance(cell, bool | list | dict):
        return json.dumps(cell, default=str)
    return number_text(cell) if isinstance(cell, float) else str(cell)


def number_text(value: float, decimal: Decimal = ".", digits: int = 17) -> str:
    """A number as text, with as many digits as it takes, or as are asked for.

    >>> number_text(0.1), number_text(1234.5678, ",", 6), number_text(3.0)
    ('0.1', '1234,57', '3')
    """
    if isinstance(value, int):
        return str(value)
    text = repr(float(value)) if digits >= 17 else f"{value:.{digits}g}"
    return text.removesuffix(".0").replace(".", decimal)
