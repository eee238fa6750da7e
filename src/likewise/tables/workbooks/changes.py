"""What has become of a table that was read from a workbook, as changes of cells in that workbook."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import TableError
from likewise.tables.cells import CODE, number
from likewise.tables.dialect import Dialect
from likewise.tables.workbooks.checking import check_workbook
from likewise.tables.workbooks.editing import Place, edit_cells, formula_columns

if TYPE_CHECKING:
    import polars


def changed_workbook(path: Path, dialect: Dialect, old: polars.DataFrame, new: polars.DataFrame) -> bytes:
    """The workbook of a table with the cells changed in which the new table differs from the old one."""
    data = path.read_bytes()
    if not data.startswith(b"PK") or b"xl/workbook.xml" not in data:
        raise TableError(
            f"{path} can be read, but results are written into .xlsx files alone; save it as one, and use that."
        )
    changes = _changes(dialect, old, new, formula_columns(data, dialect.sheet, str(path)))
    changed = edit_cells(data, dialect.sheet, changes, str(path))
    check_workbook(changed, dialect.sheet, changes, str(path), data)
    return changed


def _changes(
    dialect: Dialect, old: polars.DataFrame, new: polars.DataFrame, beside: Collection[int]
) -> dict[Place, Any]:
    """The changed cells; new columns stand behind all others, also behind those with formulas `beside` the table."""
    places = dict(zip(old.columns, dialect.places, strict=True))
    changes: dict[Place, Any] = {}
    for name in new.columns:
        before = old[name].to_list() if name in old.columns else []
        if name not in places:
            places[name] = max((*places.values(), *beside), default=-1) + 1
            changes[dialect.header, places[name]] = name
        for row, cell in enumerate(new[name].to_list()):
            known = before[row] if row < len(before) else None
            if not _is_same(cell, known):
                changes[dialect.header + 1 + row, places[name]] = _typed(cell)
    return changes


def _is_same(cell: Any, known: Any) -> bool:
    """Whether a cell is as it was; a number may have become a text, as its column holds texts by now."""
    if isinstance(cell, str) and isinstance(known, int | float):
        return number(cell) == known
    return bool(cell == known)


def _typed(cell: Any) -> Any:
    """A number that is written as text as a number, and other cells as they are; 007 is a code."""
    value = number(cell.strip()) if isinstance(cell, str) and re.match(CODE, cell.strip()) is None else None
    return cell if value is None else int(value) if value.is_integer() and "e" not in cell.lower() else value
