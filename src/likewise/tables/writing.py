"""Writing a table: in the dialect of the table it belongs to, at once or not at all, and nothing a spreadsheet runs."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from likewise.errors import TableError, UsageError
from likewise.tables.dialect import Dialect
from likewise.tables.files import back_up, replace_file
from likewise.tables.formatting import cell_text
from likewise.tables.formulas import guard, unguard
from likewise.tables.reading import Table
from likewise.tables.workbooks.changes import changed_workbook
from likewise.tables.workbooks.writing import workbook_bytes

if TYPE_CHECKING:
    import polars


# Files that a table can be written to, by the end of their names.
TEXTS, TABS, PARQUETS = (".csv", ".txt", ".dat", ""), (".tsv", ".tab"), (".parquet", ".pq")
WORKBOOKS = (".xlsx",)


def check_name(target: Path) -> None:
    """Refuse a name that promises what is not written: a document, a database."""
    ending = _ending(target)
    if ending not in (*TEXTS, *TABS, *PARQUETS, *WORKBOOKS):
        raise UsageError(
            f"{target} ends in {ending!r}; it can end in .xlsx, or in .csv, .tsv, .txt or .parquet, each with .gz or "
            "without."
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
    if ending in WORKBOOKS:
        return like if like.kind == "workbook" else Dialect(kind="workbook")
    # What a delimiter is announced by goes with it; titles stay where they are.
    above = tuple(line for line in like.above if line.strip('" ').lower() == f"sep={like.delimiter}")
    text = replace(like, above=above) if like.kind == "csv" else Dialect()
    if ending in TABS:
        return replace(text, delimiter="\t", gzipped=gzipped, above=())
    if ending == ".csv" and text.delimiter in "\t|":
        text = replace(text, delimiter=",", above=())
    return replace(text, kind="csv", gzipped=gzipped)


def write(frame: polars.DataFrame, target: Path, dialect: Dialect) -> None:
    """Write the table; a file that is there already is replaced at once, and stays if anything goes wrong."""
    write_bytes(target, table_bytes(frame, target, dialect))


def table_bytes(
    frame: polars.DataFrame, target: Path, dialect: Dialect, overlong: Mapping[int, Sequence[str]] | None = None
) -> bytes:
    """The content of the table's file.

    `overlong` are rows with more cells than there are columns, by their places; they are written as they were read.
    """
    if dialect.kind != "csv" and overlong:
        raise TableError(
            f"{target} cannot be written as Parquet or workbook: a row of the table has more cells than the header, "
            f"{', '.join(next(iter(overlong.values())))}. Correct it, or write the table as CSV."
        )
    if dialect.kind == "structures":
        raise TableError(
            f"{target} is a file of molecules, which has no place for results; `likewise init {target}` makes a table."
        )
    if dialect.kind == "parquet":
        stream = io.BytesIO()
        frame.write_parquet(stream)
        data = stream.getvalue()
    elif dialect.kind == "workbook":
        data = workbook_bytes(frame, str(target))
    else:
        data = _encode(frame, dialect, overlong or {})
    return gzip.compress(data) if dialect.gzipped else data


def write_again(
    frame: polars.DataFrame, target: Path, dialect: Dialect, table: Table, check: Callable[[], None] = lambda: None
) -> None:
    """Write what has become of a table that was read; in a workbook, only the cells that have changed.

    `check` may still raise an error when all that is left to do is to replace the file.
    """
    if dialect.kind == "workbook" and table.dialect.kind == "workbook":
        data = changed_workbook(table.path, table.dialect, table.frame, frame)
    else:
        data = table_bytes(frame, target, dialect, table.overlong)
    write_bytes(target, data, check)


def write_bytes(target: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Put these bytes in the place of a file, whole or not at all."""
    try:
        replace_file(target, data, check)
    except OSError as error:
        raise TableError(f"{target} cannot be written: {error.strerror or error}; check the folder.") from error


def keep_backup(source: Path) -> Path:
    """A copy of the file beside it, under a name that is not taken."""
    try:
        return source.with_name(back_up(source).name) if not source.is_symlink() else back_up(source)
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
    lines[:0] = dialect.above
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
