"""Results into the table they belong to: gaps are filled, new objects appended, contradictions listed."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars

from likewise.campaign.roles import PREFIX, aside, deviations
from likewise.campaign.sheet import Sheet
from likewise.campaign.wording import shown
from likewise.errors import TableError
from likewise.tables.cells import empty, missing, number, numbers
from likewise.tables.formatting import cell_text, number_text
from likewise.tables.typed import parse_as, with_cells

OnConflict = Literal["stop", "keep", "replace", "add"]


@dataclass(frozen=True)
class Conflict:
    """Two values of one object: where each stands."""

    object: Any
    known: float
    known_row: int | None
    told: float
    told_row: int

    def __str__(self) -> str:
        where = f"row {self.known_row} of the table" if self.known_row is not None else "an earlier row of the results"
        told = f"{self.told:.10g} in row {self.told_row} of the results"
        return f"{shown(self.object)}: {self.known:.10g} in {where}, {told}"


@dataclass(eq=False)
class Merge:
    """What became of the results: the new table, and how many rows were filled, replaced, added, or known before.

    `unsettled` are contradictions that `replace` cannot settle, as the object has several values in the table.
    """

    frame: polars.DataFrame
    filled: int = 0
    replaced: int = 0
    added: int = 0
    known: int = 0
    blank: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    unsettled: list[Conflict] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Row:
    """A row of the table as it grows.

    `place` is None for one that is appended, `source` the row of the results that it has its value from. `matched`
    says that a row of the results stands for it.
    """

    place: int | None
    value: float
    source: int | None = None
    matched: bool = False
    replaced: bool = False

    def take(self, value: float, source: int) -> None:
        """Have the value of a row of the results."""
        self.value, self.source, self.matched = value, source, True


def merge_results(table: Sheet, results: Sheet, on_conflict: OnConflict = "stop") -> Merge:
    """The table with the results in it; objects are the same when their cells mean the same.

    A value that the table has already is known. Where further measurements are added, as many rows of the results are
    known as the table has rows with that value: telling the same file again changes nothing, and replicates count.
    """
    rows: dict[Hashable, list[_Row]] = {}
    for place, x in enumerate(table.objects):
        if x is not None:
            rows.setdefault(key(x), []).append(_Row(place, table.values[place]))
    merge = Merge(table.table.frame, blank=len(results.candidates))
    appended: list[_Row] = []
    for source in results.measured:
        told = results.values[source]
        mine = rows.setdefault(key(results.objects[source]), [])
        measured = [row for row in mine if not math.isnan(row.value)]
        same = [row for row in measured if _same(row.value, told) and not (on_conflict == "add" and row.matched)]
        gap = next((row for row in mine if math.isnan(row.value)), None)
        if same:
            same[0].matched = True
            merge.known += 1
        elif measured and on_conflict != "add":
            conflict = _conflict(table, results, source, measured[0])
            merge.conflicts.append(conflict)
            if on_conflict == "replace" and len(measured) > 1:
                merge.unsettled.append(conflict)
            elif on_conflict == "replace":
                measured[0].take(told, source)
                measured[0].replaced = True
                merge.replaced += 1
        elif gap is not None:
            gap.take(told, source)
            merge.filled += 1
        else:
            mine.append(_Row(None, told, source, matched=True))
            appended.append(mine[-1])
            merge.added += 1
    merge.left_out = [c for c in results.table.columns if c not in table.table.columns and not c.startswith(PREFIX)]
    touched = [row for mine in rows.values() for row in mine if row.place is not None and row.source is not None]
    merge.frame = _frame(table, results, touched, appended)
    return merge


def key(x: Any) -> Hashable:
    """What tells an object from others."""
    return x if isinstance(x, str | float) else json.dumps(x, sort_keys=True, default=str)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)


def _conflict(table: Sheet, results: Sheet, source: int, row: _Row) -> Conflict:
    known_row = None if row.place is None else table.table.number(row.place)
    return Conflict(results.objects[source], row.value, known_row, results.values[source], results.table.number(source))


def _frame(table: Sheet, results: Sheet, touched: list[_Row], appended: list[_Row]) -> polars.DataFrame:
    return polars.DataFrame([_column(table, results, name, touched, appended) for name in table.table.columns])


def _column(table: Sheet, results: Sheet, name: str, touched: list[_Row], appended: list[_Row]) -> polars.Series:
    """A column with the cells of the results in its gaps, and below it those of new rows."""
    own = table.table.frame[name]
    given = results.table.frame[name].to_list() if name in results.table.columns else [None] * len(results.table)
    rows = {row.source: row for row in (*touched, *appended) if row.source is not None}
    cells = {source: _cell(table, results, name, source, given[source]) for source in rows}
    if name == table.order and name.strip().lower() == "round":
        _number_round(own, rows, cells)
    measured = name == table.roles.value or name == table.roles.std
    changed: dict[int, Any] = {}
    for source, row in rows.items():
        if row.place is None:
            continue
        if row.replaced and (name == table.roles.std or deviations(name)):
            # It was that of the old value.
            changed[row.place] = cells[source]
        elif cells[source] is not None and (measured or empty(own[row.place])):
            changed[row.place] = cells[source]
    below = [cells[source] for source, row in rows.items() if row.place is None]
    try:
        return with_cells(own, changed, below)
    except ValueError as error:
        source = next((s for s, cell in cells.items() if not _fits(own, cell)), next(iter(cells)))
        raise TableError(_refusal(table, results, name, source, error)) from None


def _number_round(own: polars.Series, rows: Mapping[int, _Row], cells: dict[int, Any]) -> None:
    """The number of this round for rows of which the results leave it open."""
    known = [value for cell in own.to_list() if (value := _whole(cell)) is not None]
    this = max(known, default=0) + 1
    for source, row in rows.items():
        if cells[source] is None and (row.place is None or empty(own[row.place])):
            cells[source] = str(this) if own.dtype == polars.String else this


def _whole(cell: Any) -> int | None:
    try:
        return int(float(cell))
    except (TypeError, ValueError, OverflowError):
        return None


def _fits(own: polars.Series, cell: Any) -> bool:
    try:
        with_cells(own, {}, [cell])
    except ValueError:
        return False
    return True


def _refusal(table: Sheet, results: Sheet, name: str, source: int, why: ValueError) -> str:
    return (
        f"{results.table.where(source, name)}, {results.table.column(name)[source]!r}: {why}, and column {name!r} of "
        f"{table.table.name} holds {table.table.frame.schema[name]}; nothing was written. Correct or empty the cell."
    )


def _cell(table: Sheet, results: Sheet, name: str, source: int, cell: Any) -> Any:
    """The cell of the results, as the table writes such cells."""
    if empty(cell) or name.startswith(PREFIX):
        return None
    kind = table.table.frame.schema[name]
    numeric = _numeric(table, name)
    if kind == polars.String:
        return _as_text(table, results, cell, numeric)
    if kind == polars.Null and numeric:
        kind = polars.Float64()
    if not isinstance(cell, str):
        return int(cell) if kind.is_integer() and isinstance(cell, float) and cell.is_integer() else cell
    if kind.is_numeric() and missing(cell):
        return None
    try:
        return parse_as(cell, kind, results.decimal)
    except ValueError as error:
        raise TableError(_refusal(table, results, name, source, error)) from None


def _numeric(table: Sheet, name: str) -> bool:
    """Whether the cells of a column of the table are numbers."""
    if name in table.roles.objects:
        return table.kinds.get(name) == "numbers"
    if name in (table.roles.value, table.roles.std):
        return True
    read = numbers(table.table.frame[name], table.decimal)
    return bool(read.present) and not read.bad


def _as_text(table: Sheet, results: Sheet, cell: Any, numeric: bool) -> str:
    """The cell with the decimal sign of the table, if it is a number that has any."""
    if isinstance(cell, float):
        return number_text(cell, table.decimal)
    if not isinstance(cell, str):
        return cell_text(cell)
    if not numeric or not ("." in cell or "," in cell) or (table.decimal == results.decimal and "," not in cell):
        return cell
    value = number(cell.strip(), results.decimal)
    return cell if value is None else number_text(value, table.decimal)


def overlooked_columns(table: Sheet, results: Sheet) -> list[str]:
    """The columns of both files in which rows differ that have the same object: candidates, or results."""
    roles = table.roles
    taken = {*roles.objects, roles.value, roles.std}
    shared = [c for c in table.table.columns if c in results.table.columns and c not in taken]
    rows = ((table, table.candidates), (results, [*results.measured, *results.candidates]))
    return [
        column
        for column in shared
        if not (column.startswith(PREFIX) or aside(column))
        and any(_differ(sheet, places, column) for sheet, places in rows)
    ]


def _differ(sheet: Sheet, places: list[int], column: str) -> bool:
    cells = sheet.table.column(column).to_list()
    first: dict[Hashable, Any] = {}
    for place in places:
        cell = cells[place].strip() if isinstance(cells[place], str) else cells[place]
        if not empty(cell) and first.setdefault(key(sheet.objects[place]), cell) != cell:
            return True
    return False
