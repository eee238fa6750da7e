"""From cells to objects and back: text, numbers, JSON, or whatever the space they belong to takes them for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars

from likewise.campaign.contents import OR_AS_TEXT, Content, content
from likewise.campaign.roles import Roles
from likewise.campaign.spellings import Spellings, respell
from likewise.errors import SpaceError, UsageError
from likewise.spaces.codec.cells import read_number, write_cell
from likewise.tables.cells import Decimal, could_mean, empty, one_number, style_of
from likewise.tables.nesting import read_json
from likewise.tables.reading import Table

if TYPE_CHECKING:
    from likewise.spaces.base import Space

EMPTY = "the cell is empty; fill it in (write none where a recipe leaves something out)"
# Digits that a number is written with: few, unless the space wants more (shares that add up to one).
DIGITS = (6, 10, 17)


class Bad(NamedTuple):
    """A cell that cannot be used, and why."""

    place: int
    column: str
    cell: Any
    reason: str
    settings: Mapping[str, str] = {}


@dataclass(eq=False)
class Objects:
    """The object of each row, None where there is none, and the cells that are in the way."""

    objects: list[Any]
    bad: list[Bad] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spellings: dict[str, Spellings] = field(default_factory=dict)


def objects(
    table: Table,
    roles: Roles,
    *,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    decimal: Decimal | None = None,
    exactly: Collection[str] = (),
    spelled: Mapping[str, Spellings] | None = None,
    measured: Sequence[int] = (),
) -> Objects:
    """The objects of a table's rows; a row without any content has none.

    `kinds` are those of known columns, and `spelled` their spellings, where these are results. The texts of columns in
    `exactly` are what their letters are. `measured` are the rows with a value.
    """
    if space is not None:
        return _in_space(table, roles, space, decimal)
    columns = {name: content(table.column(name), (kinds or {}).get(name), decimal or ".") for name in roles.objects}
    found = Objects([], kinds={name: column.kind for name, column in columns.items()})
    found.notes = [f"column {name!r} {column.note}" for name, column in columns.items() if column.note]
    for name, column in columns.items():
        if column.kind == "text" and name not in exactly:
            known = (spelled or {}).get(name)
            values, found.spellings[name], note = respell(column.values, name, known, table.number, measured)
            columns[name] = replace(column, values=values)
            found.notes += [f"column {name!r} {note}. To keep them apart, compare the column as text"] if note else []
    blank = _blank(table)
    only = columns[roles.objects[0]]
    if not (roles.record or blank or only.wrong or None in only.values):
        found.objects = only.values
        return found
    for place in range(len(table)):
        found.objects.append(None if place in blank else _object(place, roles, columns, found, table))
    return found


def _object(place: int, roles: Roles, columns: Mapping[str, Content], found: Objects, table: Table) -> Any:
    for name, column in columns.items():
        if place in column.wrong:
            reason = column.wrong[place]
            settings = {"text": name} if reason.endswith(OR_AS_TEXT) else {}
            found.bad.append(Bad(place, name, table.column(name)[place], reason, settings))
            return None
        if column.values[place] is None:
            found.bad.append(Bad(place, name, table.column(name)[place], EMPTY))
            return None
    values = {name: column.values[place] for name, column in columns.items()}
    return values if roles.record else next(iter(values.values()))


def _blank(table: Table) -> set[int]:
    """The rows without any content, as spreadsheets leave them at the end, and those that could not be read."""
    # Whoever writes the file may put quotation marks around nothing.
    texts = polars.col(polars.String).str.strip_chars().replace("", None)
    empty = polars.all_horizontal(polars.all().is_null())
    found = table.frame.with_columns(texts).select(empty.arg_true()).to_series().to_list()
    return {*found, *table.ragged, *table.aside}


def cell_of_kind(text: str, kind: str, column: str, decimal: Decimal | None = None) -> Any:
    """What a cell means in a column of this kind, in a table with this decimal sign."""
    text = text.strip()
    if kind == "numbers":
        if decimal is None and _unclear(text):
            raise UsageError(f"{could_mean(text)} in column {column!r}, and no cell tells.", settings={"decimal": ""})
        value = one_number(text, decimal)
        if value is None:
            raise UsageError(f"Column {column!r} holds numbers, and {text!r} is not a number.")
        return value
    if kind == "JSON":
        try:
            return read_json(text)
        except ValueError:
            raise UsageError(f"Column {column!r} holds JSON, and {text!r} is not; write it like [0.5, 1].") from None
    return text


def _unclear(text: str) -> bool:
    return style_of(polars.Series([text])).unclear is not None


def numeric(space: Space, column: str) -> bool:
    """Whether cells of a column are numbers in this space; JSON and text are not."""
    return space.parts.get(column, space).numeric


def _in_space(table: Table, roles: Roles, space: Space, decimal: Decimal | None) -> Objects:
    found = Objects([])
    blank = _blank(table)
    columns = {name: table.column(name).to_list() for name in roles.objects}
    for place in range(len(table)):
        cells = {name: column[place] for name, column in columns.items()}
        if place in blank:
            found.objects.append(None)
            continue
        try:
            found.objects.append(space.fit(from_cells(space, cells, decimal)))
        except (SpaceError, ValueError) as error:
            found.objects.append(None)
            column = _blamed(str(error), roles.objects)
            found.bad.append(Bad(place, column, cells[column], f"it is not in the space: {error}"))
    return found


def _blamed(error: str, columns: Sequence[str]) -> str:
    """The column that an error of a space is about: the one it names, or counts as a dimension from 0.

    >>> _blamed("dimension 1 is 400, outside its bounds [20, 120]", ["time", "temp"])
    'temp'
    """
    named = next((name for name in columns if repr(name) in error), None)
    counted = re.search(r"\bdimension (\d+) is\b", error)
    if named is None and counted is not None and int(counted[1]) < len(columns):
        return columns[int(counted[1])]
    return named or columns[0]


def from_cells(space: Space, cells: Mapping[str, Any], decimal: Decimal | None = None) -> Any:
    """The object that the cells of a row describe, before the space has seen it; None is whichever sign fits."""
    if space.parts and (len(cells) > 1 or set(cells) == set(space.parts)):
        return {
            name: from_cell(space.parts[name], cell, decimal) if name in space.parts else cell
            for name, cell in cells.items()
        }
    if len(cells) > 1:
        return [read_number(cell, decimal) if isinstance(cell, str) else cell for cell in cells.values()]
    return from_cell(space, next(iter(cells.values())), decimal)


def from_cell(space: Space, cell: Any, decimal: Decimal | None = None) -> Any:
    """What a single cell means in a space.

    >>> from likewise.spaces.permutations import Permutations
    >>> from_cell(Permutations(3), "2 0 1"), from_cell(Permutations(3), "[2, 0, 1]")
    ([2, 0, 1], [2, 0, 1])
    """
    if empty(cell):
        raise SpaceError("the cell is empty")
    return space.from_cell(cell.strip(), decimal) if isinstance(cell, str) else cell


def to_cells(space: Space, x: Any, columns: Sequence[str], decimal: Decimal = ".") -> list[str]:
    """The object as cells, one for each column.

    >>> from likewise.spaces.record import Record
    >>> to_cells(Record(solvent=["DMF"], volume=[1.5]), {"solvent": "DMF", "volume": 1.5}, ["volume", "solvent"])
    ['1.5', 'DMF']
    """
    for digits in DIGITS:
        cells = _cells(space, _round(space.to_json(x), digits), columns, decimal)
        if _means(space, dict(zip(columns, cells, strict=True)), decimal):
            return cells
    return _cells(space, space.to_json(x), columns, decimal)


def _cells(space: Space, data: Any, columns: Sequence[str], decimal: Decimal) -> list[str]:
    if space.parts and (len(columns) > 1 or list(space.parts) == list(columns)):
        return [space.parts[name].to_cell(data[name], decimal) if name in space.parts else "" for name in columns]
    if len(columns) == 1:
        return [space.to_cell(data, decimal)]
    if len(data) != len(columns):
        raise UsageError(
            f"An object of the space has {len(data)} parts, but {len(columns)} columns are named for it; "
            "name one column, or one for each part.",
            settings={"objects": ""},
        )
    return [write_cell(value, decimal) for value in data]


def _round(data: Any, digits: int) -> Any:
    """Numbers with as many digits as one would write down."""
    if isinstance(data, float):
        return float(f"{data:.{digits}g}")
    if isinstance(data, list):
        return [_round(each, digits) for each in data]
    return {name: _round(each, digits) for name, each in data.items()} if isinstance(data, dict) else data


def _means(space: Space, cells: Mapping[str, str], decimal: Decimal) -> bool:
    """Whether the cells are an object of the space."""
    try:
        return from_cells(space, cells, decimal) in space
    except (SpaceError, ValueError, TypeError):
        return False
