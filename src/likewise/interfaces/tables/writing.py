"""Writing a table: in the dialect of the table it belongs to, at once or not at all, and nothing a spreadsheet runs."""

from __future__ import annotations

import csv
import gzip
import io
import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.interfaces.complaints import TableError
from likewise.interfaces.tables.cells import Decimal, guarded
from likewise.interfaces.tables.dialect import Dialect

if TYPE_CHECKING:
    import polars


def suited(target: Path, like: Dialect) -> Dialect:
    """The dialect that a file's name asks for, otherwise as another table was written.

    >>> suited(Path("next.tsv"), Dialect(delimiter=";")).delimiter
    '\\t'
    """
    suffixes = [s.lower() for s in target.suffixes]
    gzipped = bool(suffixes) and suffixes[-1] == ".gz"
    suffix = (suffixes[-2] if len(suffixes) > 1 else "") if gzipped else (suffixes[-1] if suffixes else "")
    if suffix in (".parquet", ".pq"):
        return Dialect(kind="parquet", gzipped=gzipped)
    text = like if like.kind == "csv" else Dialect()
    if suffix in (".tsv", ".tab"):
        return replace(text, delimiter="\t", gzipped=gzipped)
    if suffix == ".csv" and text.delimiter in "\t|":
        text = replace(text, delimiter=",")
    return replace(text, kind="csv", gzipped=gzipped)


def write(frame: polars.DataFrame, target: Path, dialect: Dialect) -> None:
    """Write the table; a file that is there already is replaced at once, and stays if anything goes wrong."""
    if dialect.kind == "parquet":
        stream = io.BytesIO()
        frame.write_parquet(stream)
        data = stream.getvalue()
    else:
        data = _encoded(frame, dialect)
    replaced(target, gzip.compress(data) if dialect.gzipped else data)


def replaced(target: Path, data: bytes) -> None:
    """Put these bytes in the place of a file: a reader finds the old content or the new, never half of it."""
    # The file itself rather than a link to it, which would be lost.
    target = Path(os.path.realpath(target))
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as error:
        raise TableError(f"{target} cannot be written: {error.strerror or error}; check the folder.") from error
    finally:
        aside.unlink(missing_ok=True)


def backed_up(source: Path) -> Path:
    """A copy of the file beside it, under a name that is not taken."""
    source = Path(os.path.realpath(source))
    number = 0
    while True:
        backup = source.with_name(f"{source.name}.bak{number or ''}")
        try:
            with backup.open("xb") as file, source.open("rb") as original:
                shutil.copyfileobj(original, file)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            number += 1
        except OSError as error:
            raise TableError(f"{backup} cannot be written: {error.strerror or error}; nothing was changed.") from error
        else:
            shutil.copystat(source, backup)
            return backup


def _encoded(frame: polars.DataFrame, dialect: Dialect) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=dialect.delimiter, lineterminator=dialect.newline)
    writer.writerow([guarded(name) for name in frame.columns])
    columns = [_texts(column) for column in frame]
    writer.writerows(zip(*columns, strict=True))
    text = stream.getvalue()
    try:
        data = text.encode(dialect.encoding)
    except UnicodeEncodeError:
        # What is new does not fit the old encoding; UTF-8 with its mark is what spreadsheets recognise.
        return b"\xef\xbb\xbf" + text.encode()
    return ("\ufeff".encode(dialect.encoding) if dialect.bom else b"") + data


def _texts(column: polars.Series) -> Sequence[str]:
    return ["" if cell is None else guarded(cell if isinstance(cell, str) else cell_text(cell)) for cell in column]


def cell_text(cell: Any) -> str:
    """A cell of any type as text."""
    import json

    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return json.dumps(cell, default=str)
    return number_text(cell)


def number_text(value: float, decimal: Decimal = ".", digits: int = 17) -> str:
    """A number as text, with as many digits as it takes, or as are asked for.

    >>> number_text(0.1), number_text(1234.5678, ",", 6), number_text(3.0)
    ('0.1', '1234,57', '3')
    """
    text = repr(float(value)) if digits >= 17 else f"{value:.{digits}g}"
    return text.removesuffix(".0").replace(".", decimal)
