"""The first filled sheet of a workbook as a table: its values as a spreadsheet shows them last, formulas worked out."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from likewise.errors import TableError, import_extra
from likewise.tables.formatting import cell_text
from likewise.tables.workbooks.editing import Place, formula_columns

if TYPE_CHECKING:
    import polars

Cells = list[list[Any]]
# Rows above the header that may hold titles.
TITLES = 5


@dataclass(frozen=True, eq=False)
class WorkbookSheet:
    """A sheet as a frame, where it stands, and what there is to say about it.

    `names` are those of the columns and `places` where they stand; `header` is the row of the names. All count from 0.
    `computed` are the columns with formulas.
    """

    frame: polars.DataFrame
    title: str
    names: tuple[str, ...]
    header: int
    places: tuple[int, ...]
    notes: tuple[str, ...] = ()
    computed: frozenset[str] = frozenset()


def is_workbook(data: bytes) -> bool:
    """Whether a file begins as workbooks do: a zip archive, or the container of old ones."""
    return data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def read_sheet(data: bytes, name: str) -> WorkbookSheet:
    """The first sheet with a header and something below it; a TableError where the file holds none."""
    sheets = _sheets(data, name)
    filled = [(title, _fill_merged(cells, merged)) for title, cells, merged in sheets if any(map(_filled, cells))]
    if not filled:
        raise TableError(f"{name} is empty; it needs a header with the names of the columns, and a row per object.")
    title, cells = filled[0]
    notes = []
    if len(filled) > 1:
        others = ", ".join(repr(other) for other, _ in filled[1:])
        notes.append(f"{name}: sheet {title!r} is read, not {others}; the first sheet counts")
    table = _table(title, cells, notes)
    formulas = formula_columns(data, title, name)
    named = (column for place, column in zip(table.places, table.names, strict=True) if place in formulas)
    return replace(table, computed=frozenset(named))


def sheet_cells(data: bytes, name: str) -> dict[str, dict[Place, Any]]:
    """The cells that are filled of every sheet that is shown, by its title."""
    return {
        title: {
            (row, column): cell
            for row, cells in enumerate(rows)
            for column, cell in enumerate(cells)
            if cell != "" and cell is not None
        }
        for title, rows, _ in _sheets(data, name)
    }


def _sheets(data: bytes, name: str) -> list[tuple[str, Cells, Sequence[Any]]]:
    """The title, the cells and the merged cells of every sheet that is shown."""
    calamine = import_extra("python_calamine", "reading workbooks", "python-calamine", "excel")
    shown, worksheet = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
    sheets = []
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            for about in book.sheets_metadata:
                if about.visible == shown and about.typ == worksheet:
                    sheet = book.get_sheet_by_name(about.name)
                    cells = sheet.to_python(skip_empty_area=False)
                    sheets.append((about.name, cells, sheet.merged_cell_ranges or ()))
    except calamine.PasswordError:
        raise TableError(f"{name} is locked by a password; save it without one, and use that.") from None
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise TableError(
            f"{name} is no Excel workbook that can be read ({error}); save it again as .xlsx or CSV."
        ) from None
    return sheets


def _fill_merged(cells: Cells, merged: Sequence[Any]) -> Cells:
    """The cells with the value of a cell that is merged over several rows in each of them."""
    for (top, left), (bottom, right) in merged:
        if left == right and bottom < len(cells):
            for row in range(top + 1, bottom + 1):
                cells[row][left] = cells[top][left]
    return cells


def _filled(row: Sequence[Any]) -> int:
    return sum(cell != "" and cell is not None for cell in row)


def _table(title: str, cells: Cells, notes: list[str]) -> WorkbookSheet:
    import polars

    header = _header(cells)
    names = [cell_text(cell).strip() if cell is not None else "" for cell in cells[header]]
    body = cells[header + 1 :]
    while body and not _filled(body[-1]):
        body.pop()
    columns = [k for k, name in enumerate(names) if name or any(_filled([row[k]]) for row in body)]
    frame = polars.DataFrame([_series(str(k), [row[k] for row in body]) for k in columns])
    return WorkbookSheet(frame, title, tuple(names[k] for k in columns), header, tuple(columns), tuple(notes))


def _header(cells: Cells) -> int:
    """The first row with content, or the first with several cells where titles stand above it: single texts."""
    rows = [k for k, row in enumerate(cells) if _filled(row)]
    return next((k for k in rows[:TITLES] if _filled(cells[k]) > 1), rows[0])


def _series(name: str, cells: list[Any]) -> polars.Series:
    """A column: of numbers, dates or truth values where all its cells are, else of text."""
    import polars

    cells = [_plain(cell) for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds and kinds <= {int, float}:
        whole = all(cell is None or (float(cell).is_integer() and abs(cell) < 2**53) for cell in cells)
        values = [None if cell is None else int(cell) if whole else float(cell) for cell in cells]
        return polars.Series(name, values, dtype=polars.Int64() if whole else polars.Float64())
    if len(kinds) == 1 and kinds <= {bool, date, datetime, time}:
        return polars.Series(name, cells)
    texts = [None if cell is None else cell if isinstance(cell, str) else cell_text(cell) for cell in cells]
    return polars.Series(name, texts, dtype=polars.String())


def _plain(cell: Any) -> Any:
    if isinstance(cell, timedelta):
        return cell.total_seconds() / 86400
    return None if isinstance(cell, str) and not cell.strip() else cell
