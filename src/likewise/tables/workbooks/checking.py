"""A workbook that is about to replace another is read again first: it must hold what it should, and nothing else."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from likewise.errors import TableError
from likewise.tables.workbooks.editing import EPOCH, Place, parse, whole
from likewise.tables.workbooks.reading import sheet_cells

# Spreadsheets hold no longer text in a cell.
LONGEST_TEXT = 32_767
DAYS = (date, time, timedelta)
# Characters that XML cannot hold, and line ends, which it writes in more than one way.
UNSTABLE = re.compile("[\x00-\x1f\ufffe\uffff]")


def check_workbook(data: bytes, sheet: str, changes: Mapping[Place, Any], name: str, old: bytes | None = None) -> None:
    """A TableError unless this workbook can be read, and holds these changes of the old one, if any, and no others."""
    for place, value in changes.items():
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise TableError(
                f"{name} cannot hold the text of {len(value):,} characters that belongs into row {place[0] + 1}: "
                f"a cell of a workbook has at most {LONGEST_TEXT:,}. Write the table as CSV."
            )
    try:
        _check_parts(data, old, name)
        expected = {} if old is None else sheet_cells(old, name)
        wanted = {place: value for place, value in changes.items() if _plain(value) != ""}
        unchanged = {place: cell for place, cell in expected.get(sheet, {}).items() if place not in changes}
        _compare({**expected, sheet: {**unchanged, **wanted}}, sheet_cells(data, name))
    except (TableError, ValueError) as error:
        raise TableError(
            f"The cells cannot be put into {name} ({error}), so nothing was written; save it anew with a spreadsheet "
            "program, or as CSV, and use that."
        ) from error


def _check_parts(data: bytes, old: bytes | None, name: str) -> None:
    """An error if the archive is not whole, or a part of it that is new is no XML."""
    before = {}
    if old is not None:
        with zipfile.ZipFile(io.BytesIO(old)) as archive:
            before = {about.filename: about.CRC for about in archive.infolist()}
    with whole(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for about in archive.infolist():
            part = archive.read(about)
            if about.filename.endswith((".xml", ".rels")) and before.get(about.filename) != about.CRC:
                parse(part)


def _compare(wanted: Mapping[str, Mapping[Place, Any]], present: Mapping[str, Mapping[Place, Any]]) -> None:
    """A ValueError that names the first cell that is not as it should be."""
    for title in wanted.keys() | present.keys():
        ours, theirs = wanted.get(title, {}), present.get(title, {})
        for row, column in sorted(ours.keys() | theirs.keys()):
            cell, other = ours.get((row, column)), theirs.get((row, column))
            if not _same(cell, other):
                raise ValueError(f"row {row + 1}, column {column + 1} would hold {other!r} instead of {cell!r}")


def _same(wanted: Any, present: Any) -> bool:
    """Whether a cell holds what it should; whether a number is shown as a day is up to the format of the cell."""
    if isinstance(present, DAYS):
        return _serial(wanted) is None or math.isclose(_serial(wanted) or 0, _serial(present) or 0, abs_tol=1e-5)
    wanted, present = _plain(wanted), _plain(present)
    if isinstance(wanted, float) and isinstance(present, float):
        # Writers keep 16 digits.
        return math.isclose(wanted, present, rel_tol=1e-14)
    return type(wanted) is type(present) and bool(wanted == present)


def _serial(cell: Any) -> float | None:
    """A moment or a duration in days, as a workbook counts them; None for all else."""
    if isinstance(cell, datetime):
        cell = cell.replace(tzinfo=None) - EPOCH
    elif isinstance(cell, date):
        cell = datetime(cell.year, cell.month, cell.day) - EPOCH
    elif isinstance(cell, time):
        cell = timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond)
    return cell.total_seconds() / 86400 if isinstance(cell, timedelta) else None


def _plain(cell: Any) -> str | bool | float:
    """A cell as a reader gives it: a number that is not finite and nothing at all are empty."""
    days = _serial(cell)
    if isinstance(cell, bool):
        return cell
    if days is not None or isinstance(cell, int | float):
        number = float(cell if days is None else days)
        return number if math.isfinite(number) else ""
    return "" if cell is None else UNSTABLE.sub("", str(cell))
