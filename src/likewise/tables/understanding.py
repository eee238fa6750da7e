"""What the cells of a table mean, where people write more than a program needs: units, a row of units, an average.

The table itself stays as it is: it is what results are written into. `Table.column` gives the cells as understood.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from likewise.tables.cells import empty, numbers, one_number
from likewise.tables.reading import Table
from likewise.tables.units import is_unit, without_units

if TYPE_CHECKING:
    import polars

_WORDS = (
    "average|mean|avg|avg.|median|total|totals|sum|subtotal|grand total|std|sd|stdev|std dev|standard deviation|"
    "mittelwert|durchschnitt|summe|gesamt|standardabweichung|moyenne|somme|écart-type|media|promedio"
)
SUMMARIES = [
    f(word) + end
    for word in _WORDS.split("|")
    for f in (str, str.capitalize, str.upper, str.title)
    for end in ("", ":")
]
# Where more rows than this say so, the word is a name of something.
FEW = 0.2
LOOKED_AT = 200


def understand(table: Table) -> Table:
    """The table with rows set aside that are no experiments, and with numbers freed from their units."""
    aside = _rows_aside(table)
    meant: dict[str, polars.Series] = {}
    remarks: dict[str, str] = {}
    for column in table.frame:
        cells = _without_rows(column, aside)
        found = without_units(cells)
        if isinstance(found, tuple):
            cells, remarks[column.name] = found
        elif found is not None:
            remarks[column.name] = _with_rows(table, found)
        if cells is not column:
            meant[column.name] = cells
    notes = [f"{table.name}: row {table.number(place)} is left out, as it {why}" for place, why in aside.items()]
    return replace(table, aside=aside, meant=meant, remarks=remarks, notes=(*table.notes, *notes))


def _with_rows(table: Table, remark: str) -> str:
    """A remark with numbers of rows in place of places."""
    return re.sub(r"\{(\d+)\}", lambda found: str(table.number(int(found[1]))), remark)


def _without_rows(column: polars.Series, aside: dict[int, str]) -> polars.Series:
    import polars

    if not aside:
        return column
    gone = polars.Series([place in aside for place in range(len(column))], dtype=polars.Boolean)
    return (
        column.set(gone, None)
        if column.dtype == polars.String
        else column.zip_with(~gone, polars.Series([None] * len(column), dtype=column.dtype))
    )


def _rows_aside(table: Table) -> dict[int, str]:
    """The rows that are no experiments, by their places, and what they are."""
    found = {}
    if len(table) > 1 and (units := _units_row(table)):
        found[0] = f"holds units ({', '.join(units)})"
    return {**found, **_summaries(table)}


def _units_row(table: Table) -> list[str]:
    """The units in the first row, if it holds units where the other rows hold numbers; else none."""
    import polars

    first = table.frame.row(0)
    units: list[str] = []
    for column, cell in zip(table.frame, first, strict=True):
        if column.dtype != polars.String or cell is None or not cell.strip():
            if column.dtype.is_numeric() and cell is not None:
                return []
            continue
        rest = numbers(column[1 : LOOKED_AT + 1])
        if not rest.present or rest.bad:
            continue
        if not is_unit(cell):
            return []
        units.append(cell.strip())
    return units


def _summaries(table: Table) -> dict[int, str]:
    """Rows that sum others up: they say so, hold a number, and leave cells empty that others fill, or stand last."""
    import polars

    said: dict[int, str] = {}
    for column in table.frame:
        if column.dtype == polars.String:
            places = column.is_in(SUMMARIES).fill_null(value=False).arg_true().to_list()
            if len(places) <= max(1, FEW * len(column)):
                said |= {place: f"says {column[place]!r} in column {column.name!r}" for place in places}
    if not said or len(said) == len(table):
        return {}
    usual = [column for column in table.frame if column.null_count() <= len(said)]
    end = _last_experiment(table, said)
    return {
        place: said[place]
        for place in sorted(said)
        if (place > end or any(empty(column[place]) for column in usual))
        and any(_is_number(column[place]) for column in table.frame)
    }


def _last_experiment(table: Table, said: dict[int, str]) -> int:
    """The last row with content that does not say that it sums up others."""
    filled = (k for k in range(len(table) - 1, -1, -1) if not all(map(empty, table.frame.row(k))))
    return next((k for k in filled if k not in said), -1)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return one_number(cell.strip()) is not None
    return isinstance(cell, int | float)
