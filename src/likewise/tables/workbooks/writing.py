"""A table as a new workbook: a header that stays in view, columns as wide as their content, numbers as numbers."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from likewise.errors import import_extra
from likewise.tables.cells import CODE, numbers
from likewise.tables.formatting import cell_text
from likewise.tables.workbooks.checking import check_workbook
from likewise.tables.workbooks.editing import Place

if TYPE_CHECKING:
    import polars

NARROW, WIDE = 8, 48
SHOWN = "0.####"


def workbook_bytes(frame: polars.DataFrame, name: str, title: str = "Table") -> bytes:
    """The table as the only sheet of a workbook; `name` is what messages call its file."""
    library = import_extra("xlsxwriter", "writing workbooks", "XlsxWriter", "excel")
    stream = io.BytesIO()
    rows: dict[Place, Any] = {}
    # Cells are what they are: no text becomes a formula or a link.
    plain = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with library.Workbook(stream, {**plain, "nan_inf_to_errors": True}) as book:
        sheet = book.add_worksheet(title)
        bold = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        decimals, day = book.add_format({"num_format": SHOWN}), book.add_format({"num_format": "yyyy-mm-dd"})
        formats = {float: decimals, date: day, datetime: day}
        sheet.freeze_panes(1, 0)
        for place, column in enumerate(frame):
            cells = cells_of(column)
            sheet.write_string(0, place, column.name, bold)
            sheet.set_column(place, place, _width(column.name, cells))
            rows[0, place] = column.name
            for row, cell in enumerate(map(_content, cells), 1):
                _write(sheet, row, place, cell, formats.get(type(cell)))
                rows[row, place] = cell
    check_workbook(stream.getvalue(), title, rows, name)
    return stream.getvalue()


def cells_of(column: polars.Series) -> list[Any]:
    """The cells of a column; of one of text, numbers where all of them are."""
    import polars

    cells = column.to_list()
    if column.dtype != polars.String or column.str.contains(CODE).any():
        return cells
    read = numbers(column)
    if read.bad or read.unclear is not None or not read.present:
        return cells
    return [None if value != value else int(value) if value.is_integer() else value for value in read.values]


def _content(cell: Any) -> Any:
    """A cell as a workbook can hold it: nothing, a truth value, a number, a day or a text."""
    if cell is None or isinstance(cell, bool | int | float | date | str):
        return cell
    return str(cell) if isinstance(cell, time) else cell_text(cell)


def _write(sheet: Any, row: int, place: int, cell: Any, style: Any) -> None:
    if isinstance(cell, bool):
        sheet.write_boolean(row, place, cell)
    elif isinstance(cell, int | float):
        sheet.write_number(row, place, cell, style)
    elif isinstance(cell, date):
        sheet.write_datetime(row, place, cell, style)
    elif cell is not None:
        sheet.write_string(row, place, cell)


def _width(name: str, cells: list[Any]) -> int:
    longest = max(
        (
            len(cell if isinstance(cell, str) else f"{cell:.6g}" if isinstance(cell, float) else str(cell))
            for cell in cells
            if cell is not None
        ),
        default=0,
    )
    return max(NARROW, min(max(longest, len(name)) + 2, WIDE))
