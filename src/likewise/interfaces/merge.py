"""Results into the table they belong to: gaps are filled, new objects appended, contradictions listed."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from likewise.interfaces.sheet import Sheet
from likewise.interfaces.tables.cells import number
from likewise.interfaces.tables.columns import PREFIX
from likewise.interfaces.tables.objects import shown
from likewise.interfaces.tables.writing import cell_text, number_text

if TYPE_CHECKING:
    import polars

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
    """What became of the results: the new table, and how many rows were filled, added, or known before."""

    frame: polars.DataFrame
    filled: int = 0
    added: int = 0
    known: int = 0
    blank: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Row:
    """A row of the table as it grows: its place, or None for one that is appended."""

    place: int | None
    value: float
    source: int | None = None


def merged(table: Sheet, results: Sheet, on_conflict: OnConflict = "stop") -> Merge:
    """The table with the results in it; objects are the same when their cells mean the same."""
    rows: dict[Hashable, list[_Row]] = {}
    for place, x in enumerate(table.objects):
        if x is not None:
            rows.setdefault(_key(x), []).append(_Row(place, table.values[place]))
    merge = Merge(table.table.frame, blank=len(results.candidates))
    touched: dict[int, int] = {}
    appended: list[int] = []
    for source in results.measured:
        told = results.values[source]
        mine = rows.setdefault(_key(results.objects[source]), [])
        measured = [row for row in mine if not math.isnan(row.value)]
        gap = next((row for row in mine if math.isnan(row.value)), None)
        if any(_same(row.value, told) for row in measured):
            merge.known += 1
        elif measured and on_conflict != "add":
            merge.conflicts.append(_conflict(table, results, source, measured[0]))
            if on_conflict == "replace" and len(measured) == 1 and measured[0].place is not None:
                touched[measured[0].place], measured[0].value = source, told
                merge.filled += 1
        elif gap is not None and gap.place is not None:
            touched[gap.place], gap.value = source, told
            merge.filled += 1
        else:
            mine.append(_Row(None, told, source))
            appended.append(source)
            merge.added += 1
    merge.left_out = [c for c in results.table.columns if c not in table.table.columns and not c.startswith(PREFIX)]
    merge.frame = _numbered(table, _written(table, results, touched, appended), [*touched], len(appended))
    return merge


def _numbered(table: Sheet, frame: polars.DataFrame, touched: list[int], appended: int) -> polars.DataFrame:
    """The number of this round in the column `round`, if the table has one and the results leave it open."""
    import polars

    column = next((c for c in frame.columns if c.strip().lower() == "round" and c == table.order), None)
    if column is None:
        return frame
    cells = frame[column].to_list()
    known = [value for cell in table.table.frame[column].to_list() if (value := _whole(cell)) is not None]
    this = max(known, default=0) + 1
    for place in (*touched, *range(frame.height - appended, frame.height)):
        if _empty(cells[place]):
            cells[place] = str(this) if frame.schema[column] == polars.String else this
    return frame.with_columns(polars.Series(column, cells, dtype=frame.schema[column], strict=False))


def _whole(cell: Any) -> int | None:
    try:
        return int(float(cell))
    except (TypeError, ValueError, OverflowError):
        return None


def _key(x: Any) -> Hashable:
    return x if isinstance(x, str | float) else json.dumps(x, sort_keys=True, default=str)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)


def _conflict(table: Sheet, results: Sheet, source: int, row: _Row) -> Conflict:
    known_row = None if row.place is None else table.table.number(row.place)
    return Conflict(results.objects[source], row.value, known_row, results.values[source], results.table.number(source))


def _written(table: Sheet, results: Sheet, touched: dict[int, int], appended: list[int]) -> polars.DataFrame:
    import polars

    own = table.table.frame
    columns = [_column(table, results, name, touched, appended) for name in own.columns]
    return polars.DataFrame(columns) if columns else own


def _column(table: Sheet, results: Sheet, name: str, touched: dict[int, int], appended: list[int]) -> polars.Series:
    """A column with the cells of the results in its gaps, and below it those of new rows."""
    import polars

    cells: list[Any] = table.table.frame[name].to_list()
    kind = table.table.frame.schema[name]
    for place, source in touched.items():
        new = _cell(table, results, name, source, kind)
        if new is not None and (name in (table.roles.value, table.roles.std) or _empty(cells[place])):
            cells[place] = new
    cells += [_cell(table, results, name, source, kind) for source in appended]
    if kind.is_integer() and any(isinstance(cell, float) for cell in cells):
        kind = polars.Float64()
    return polars.Series(name, cells, dtype=kind, strict=False)


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _cell(table: Sheet, results: Sheet, name: str, source: int, kind: polars.DataType) -> Any:
    """The cell of the results, as the table writes such cells."""
    import polars

    if name not in results.table.columns or name.startswith(PREFIX):
        return None
    cell = results.table.frame[name][source]
    if _empty(cell):
        return None
    if kind == polars.String:
        return _as_text(table, results, name, source, cell)
    if kind.is_numeric():
        value = results.values[source] if name == results.roles.value else cell
        if isinstance(value, str):
            value = number(value.strip(), results.decimal)
        whole = kind.is_integer() and value is not None and float(value).is_integer()
        return int(value) if whole and value is not None else value
    return json.loads(cell) if isinstance(cell, str) and cell[:1] in "[{" else cell


def _as_text(table: Sheet, results: Sheet, name: str, source: int, cell: Any) -> str:
    if table.decimal == results.decimal and isinstance(cell, str):
        return cell
    if name in (table.roles.value, table.roles.std):
        known = results.values if name == table.roles.value else results.stds or []
        return number_text(known[source], table.decimal)
    return cell_text(cell)
