"""A user's table as a problem: which rows are observations, which are candidates, and which cannot be used."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.campaign.cautions import forgotten_factors
from likewise.campaign.listener import Listener
from likewise.campaign.objects import Bad, numeric, objects
from likewise.campaign.roles import Roles, roles
from likewise.campaign.runs.columns import RunColumns, run_columns
from likewise.campaign.spellings import Spellings
from likewise.campaign.states import CLOSED, OPEN, Kind, State, combine, read_state, status_of
from likewise.campaign.wording import count
from likewise.errors import TableError
from likewise.study.measurement import Measurement
from likewise.tables.cells import Decimal, Numbers, empty, numbers
from likewise.tables.formatting import cell_text
from likewise.tables.moments import order_keys
from likewise.tables.reading import Table, read
from likewise.tables.signs import sign_of
from likewise.tables.understanding import understand

if TYPE_CHECKING:
    from likewise.spaces.base import Space

LISTED = 10
# Characters of a bad cell that a message repeats.
BRIEF = 200
ORDERS = ("round", "date")
NO_NUMBER = (
    "it is not a number; write one, or failed, running, n.d., <0.1 (below a limit), or leave the cell empty if the "
    "object was not measured"
)
NO_STD = "it is no standard deviation; write a number of at least 0, or leave the cell empty"


@dataclass(frozen=True)
class Choices:
    """What the user said about the columns of a table.

    For results, `kinds` are what the table's columns hold, `spellings` how it spells its texts, `sign` is its decimal
    sign, which they have if in doubt, and `own` are the columns that likewise keeps in it.
    """

    objects: tuple[str, ...] = ()
    value: str | None = None
    std: str | None = None
    text: tuple[str, ...] = ()
    decimal: Decimal | None = None
    skip_bad: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    sign: Decimal | None = None
    spellings: Mapping[str, Spellings] = field(default_factory=dict)
    own: RunColumns | None = None
    others: tuple[str, ...] = ()
    block: str | None = None


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table, the object of each row (None where there is none), and its value (NaN where it was not measured).

    `states` are those of rows that are neither simply measured nor simply candidates, by their places. A row below or
    above a limit has the limit as its value.
    """

    table: Table
    roles: Roles
    objects: list[Any]
    values: list[float]
    stds: list[float] | None
    sign: Decimal | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    skipped: tuple[Bad, ...] = ()
    spellings: dict[str, Spellings] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    own: RunColumns = field(default_factory=RunColumns)
    # The values of further outcomes by column, and the columns that are known of every row, measured or not.
    others: dict[str, list[float]] = field(default_factory=dict)
    given: frozenset[str] = frozenset()

    @property
    def decimal(self) -> Decimal:
        """The decimal sign that the table's numbers are written with: a point where none tells."""
        return self.sign or "."

    @cached_property
    def measured(self) -> list[int]:
        """The rows with an object and a value, in the order of the column `round` or `date`, or of the table."""
        places = [i for i, x in enumerate(self.objects) if x is not None and self._has_result(i)]
        keys = None if self.order is None else order_keys(self.table.column(self.order).to_list())
        return places if keys is None else sorted(places, key=lambda i: keys[i])

    @property
    def order(self) -> str | None:
        """The column that says when values were measured, if the table has one."""
        taken = self.roles.taken
        return next((c for c in self.table.columns if c.strip().lower() in ORDERS and c not in taken), None)

    @cached_property
    def _measured_columns(self) -> list[list[float]]:
        columns = {self.roles.value: self.values, **self.others}
        return [values for name, values in columns.items() if name not in self.given]

    def _has_result(self, place: int) -> bool:
        return any(not math.isnan(values[place]) for values in self._measured_columns)

    def results(self, place: int) -> dict[str, float]:
        """What was measured in a row, by column; a row of which some results are still to come has fewer."""
        columns = {self.roles.value: self.values, **self.others}
        return {
            name: values[place]
            for name, values in columns.items()
            if name not in self.given and not math.isnan(values[place])
        }

    @cached_property
    def candidates(self) -> list[int]:
        """The rows with an object that nothing was done with yet."""
        rows = enumerate(self.objects)
        return [i for i, x in rows if x is not None and not self._has_result(i) and i not in self.states]

    @cached_property
    def in_play(self) -> list[Any]:
        """The objects that are compared: all but those that have no result and get none."""
        out = set(self.closed)
        return [x for i, x in enumerate(self.objects) if x is not None and i not in out]

    def in_state(self, *kinds: Kind) -> list[int]:
        """The rows with an object in one of these states."""
        return [i for i, state in sorted(self.states.items()) if state.kind in kinds and self.objects[i] is not None]

    @cached_property
    def under_way(self) -> list[int]:
        """The rows that were suggested or begun, and have no result yet."""
        return self.in_state(*OPEN)

    @cached_property
    def closed(self) -> list[int]:
        """The rows that have no result and get none."""
        return self.in_state(*CLOSED)

    @cached_property
    def runs(self) -> dict[str, int]:
        """The place of each run that the table names."""
        if self.own.run not in self.table.columns:
            return {}
        cells = enumerate(self.table.column(self.own.run).to_list())
        found: dict[str, int] = {}
        for place, cell in cells:
            # Of a row that somebody has copied, the first one is the run.
            if not empty(cell):
                found.setdefault(cell_text(cell).strip(), place)
        return found

    def cell(self, column: str, place: int) -> str:
        """A cell as text; empty where it holds nothing, or the table has no such column."""
        if column not in self.table.columns or empty(found := self.table.column(column)[place]):
            return ""
        return cell_text(found).strip()

    def status(self, place: int) -> str | None:
        """What the status of a row ought to be."""
        return status_of(self._has_result(place), self.states.get(place))

    def measurement(self, place: int) -> Measurement:
        """What was measured in a row: a value, or only a limit."""
        state = self.states.get(place)
        side = None if state is None else state.side
        return Measurement(self.values[place], self.std(place), side, self.block(place))

    def block(self, place: int) -> str | None:
        """What a row was measured together with, if that is known."""
        return None if self.roles.block is None else self.cell(self.roles.block, place) or None

    @property
    def known(self) -> list[int]:
        """The measured rows whose values are no limits."""
        rows = [i for i in self.measured if self.measurement(i).limit is None]
        return [i for i in rows if not math.isnan(self.values[i])]

    def reopen(self, places: Collection[int], *, as_candidates: bool) -> Sheet:
        """The sheet in which these rows were not suggested: they are candidates again, or not there at all."""
        gone = set(places)
        states = {place: state for place, state in self.states.items() if place not in gone}
        kept = [None if i in gone and not as_candidates else x for i, x in enumerate(self.objects)]
        return replace(self, states=states, objects=kept)

    def respell(self, x: Any) -> Any:
        """The object in the spelling of the table."""
        if isinstance(x, Mapping):
            return {name: self._spelled(name, value) for name, value in x.items()}
        return self._spelled(self.roles.objects[0], x)

    def _spelled(self, column: str, value: Any) -> Any:
        known = self.spellings.get(column)
        return known.of([value]).get(value, value) if isinstance(value, str) and known is not None else value

    def std(self, place: int) -> float | None:
        """The standard deviation of a row's value, if it is known."""
        known = math.nan if self.stds is None else self.stds[place]
        return None if math.isnan(known) else known

    def of_results(self, chosen: Choices) -> Choices:
        """How results of this table are read: their columns are its columns, and cells mean what they mean in it."""
        return replace(
            chosen,
            objects=self.roles.objects,
            value=self.roles.value,
            std=self.roles.std,
            others=self.roles.others,
            kinds=self.kinds,
            sign=self.sign,
            spellings=self.spellings,
            own=self.own,
        )

    def without(self, bad: Sequence[Bad]) -> Sheet:
        """The sheet that leaves these rows out."""
        gone = {each.place for each in bad}
        kept = [None if i in gone else x for i, x in enumerate(self.objects)]
        return replace(self, objects=kept, skipped=(*self.skipped, *bad))


def sheet(
    path: str | Path, choices: Choices, listener: Listener, space: Space | None = None, *, may_be_empty: bool = False
) -> Sheet:
    """The problem that a file poses; rows that cannot be used are an error, unless they are to be skipped.

    With a space, or where it is said, a table without rows is one.
    """
    table = understand(read(path, skip_ragged=choices.skip_bad, may_be_empty=may_be_empty or space is not None))
    for note in table.notes:
        listener.note(note)
    named = choices.objects or _parts(table, space)
    said = (*named, choices.value, *choices.others, choices.std, choices.block)
    own = choices.own or run_columns(table, said)
    kept = [name for name in own if name in table.columns and name not in named]
    theirs = replace(table, frame=table.frame.drop(kept))
    chosen = roles(
        theirs,
        named,
        choices.value,
        choices.std,
        others=choices.others,
        decimal=choices.decimal,
        block=choices.block,
    )
    for column in choices.text:
        table.column(column)
    kinds = {**choices.kinds, **dict.fromkeys(choices.text, "text")}
    sign = choices.decimal or _sign(table, chosen, kinds, choices.sign, space)
    values = numbers(table.column(chosen.value), sign)
    others = {name: numbers(table.column(name), sign) for name in chosen.others}
    # In results, a column that is full is simply filled in.
    asked = space is None and choices.own is None
    given = _known_columns(table, {chosen.value: values, **others}, listener) if asked else frozenset()
    partly = _partly(chosen, values, others, given)
    values, states = _states(table, chosen.value, own, values, sign, listener, partly)
    others = {name: _limits(table, name, each, sign, states) for name, each in others.items()}
    found = objects(
        theirs,
        chosen,
        space=space,
        kinds=kinds,
        decimal=sign,
        exactly=choices.text,
        spelled=choices.spellings,
        measured=[i for i, value in enumerate(values.values) if value == value],
    )
    for note in (*found.notes, *own.notes):
        listener.note(note if note.startswith(table.name) else f"{table.name}: {note}")
    stds = None if chosen.std is None else numbers(table.column(chosen.std), sign)
    made = Sheet(
        table,
        chosen,
        found.objects,
        values.values,
        None if stds is None else stds.values,
        sign,
        found.kinds,
        spellings=found.spellings,
        states=states,
        own=own,
        others={name: each.values for name, each in others.items()},
        given=given,
    )
    _remark(made, listener, results=bool(choices.kinds))
    bad = [*found.bad, *_bad_numbers(table, chosen.value, values, NO_NUMBER)]
    bad += [one for name, each in others.items() for one in _bad_numbers(table, name, each, NO_NUMBER)]
    if stds is not None and chosen.std is not None:
        negative = [i for i, std in enumerate(stds.values) if std < 0]
        bad += _bad_numbers(table, chosen.std, replace(stds, bad=sorted({*stds.bad, *negative})), NO_STD)
    return leave_out_bad(made, _first_of_each_row(bad), choices.skip_bad, listener)


def _parts(table: Table, space: Space | None) -> tuple[str, ...]:
    """The columns that are the parts of a space's records, where the table has them all."""
    parts = () if space is None else tuple(space.parts)
    return parts if all(name in table.columns for name in parts) else ()


def _remark(made: Sheet, listener: Listener, *, results: bool) -> None:
    """Say what was taken for what, and what may have been meant otherwise."""
    table, chosen = made.table, made.roles
    notes = [", ".join(chosen.chosen)] if chosen.chosen else []
    used = (*chosen.objects, *chosen.values, chosen.std, chosen.block)
    notes += [f"column {column!r} {remark}" for column, remark in table.remarks.items() if column in used]
    computed = sorted(table.computed & {*chosen.objects})
    notes += [f"column {column!r} has formulas, with the results of when it was saved" for column in computed]
    if not results:
        notes += forgotten_factors(table, chosen, made.own, made.objects, made.values)
    for note in notes:
        listener.note(f"{table.name}: {note}")


def _states(
    table: Table,
    column: str,
    own: RunColumns,
    values: Numbers,
    sign: Decimal | None,
    listener: Listener,
    partly: Collection[int] = (),
) -> tuple[Numbers, dict[int, State]]:
    """The states of rows, the values with limits in them, and what texts were taken for.

    Of rows that are measured `partly`, some results are there, and others are still to come if the status says so.
    """
    cells = table.column(column)
    in_value = {i: read_state(cell_text(cells[i]), sign) for i in values.bad}
    in_status = _statuses(table, own.status, sign)
    numbers = list(values.values)
    states: dict[int, State] = {}
    for place in sorted({*in_value, *in_status}):
        unread = place in in_value and in_value[place] is None
        said = in_status.get(place)
        state = said if _is_open(said) and place in partly else None
        if state is None:
            some = not math.isnan(numbers[place]) or unread or place in partly
            state = combine(some, in_value.get(place), said)
        if state is not None:
            states[place] = state
    closed = {place: state for place, state in states.items() if place not in partly or not _is_open(state)}
    _say_taken(table, closed, numbers, listener)
    for place, state in closed.items():
        numbers[place] = math.nan if state.limit is None else state.limit
    bad = [i for i in values.bad if in_value[i] is None and i not in states]
    return replace(values, values=numbers, bad=bad), states


def _is_open(state: State | None) -> bool:
    return state is not None and state.kind in OPEN


def _known_columns(table: Table, read: Mapping[str, Numbers], listener: Listener) -> frozenset[str]:
    """The columns of values that are known of every row, while others have gaps: those are not what is measured."""
    full = [name for name, each in read.items() if each.present == len(table)]
    if len(full) == len(read) or not len(table):
        return frozenset()
    for name in full:
        listener.note(f"{table.name}: column {name!r} has a number in every row, so it is taken as known, not measured")
    return frozenset(full)


def _partly(chosen: Roles, first: Numbers, others: Mapping[str, Numbers], known: Collection[str]) -> set[int]:
    """The rows that have some results and not all of them."""
    columns = [each for name, each in {chosen.value: first, **others}.items() if name not in known]
    given = [[not math.isnan(value) for value in each.values] for each in columns]
    return {i for i, row in enumerate(zip(*given, strict=True)) if any(row) and not all(row)}


def _limits(table: Table, column: str, read: Numbers, sign: Decimal | None, states: Mapping[int, State]) -> Numbers:
    """The values of a further outcome, with limits in them; a row that failed has none."""
    cells, values = table.column(column), list(read.values)
    said = {i: read_state(cell_text(cells[i]), sign) for i in read.bad}
    for i, state in said.items():
        values[i] = math.nan if state is None or state.limit is None else state.limit
    for place, state in states.items():
        if state.limit is None and not _is_open(state):
            values[place] = math.nan
    return replace(read, values=values, bad=[i for i in read.bad if said[i] is None])


def _statuses(table: Table, column: str, sign: Decimal | None) -> dict[int, State]:
    """What the column `status` says; a text that is no state is a note on a run that is not over."""
    if column not in table.columns:
        return {}
    texts = enumerate(table.column(column).to_list())
    given = {place: cell_text(cell).strip() for place, cell in texts if not empty(cell)}
    return {place: read_state(text, sign) or State(Kind.RUNNING, said=text) for place, text in given.items()}


def _say_taken(table: Table, states: Mapping[int, State], values: Sequence[float], listener: Listener) -> None:
    """Say what texts were taken for that are not the words of the column `status` itself."""
    said: dict[str, list[int]] = {}
    for place, state in states.items():
        if not math.isnan(values[place]):
            said.setdefault(f"{state.said!r} taken as {state.taken}; its value is kept and does not count", []).append(
                place
            )
        elif state.taken and (state.said.lower() != state.kind.value or state.kind in CLOSED):
            said.setdefault(f"{state.said!r} taken as {state.taken}", []).append(place)
    for text, places in said.items():
        listener.note(f"{table.name}, {rows_named(table, places)}: {text}")


def _sign(
    table: Table, chosen: Roles, kinds: Mapping[str, str], otherwise: Decimal | None, space: Space | None
) -> Decimal | None:
    """The decimal sign of the values, and of the objects that are numbers."""
    values = [column for column in (*chosen.values, chosen.std) if column is not None]
    read = [column for column in chosen.objects if kinds.get(column, "numbers") == "numbers"]
    return sign_of(table, values, [c for c in read if space is None or numeric(space, c)], otherwise=otherwise)


def _bad_numbers(table: Table, column: str, found: Numbers, reason: str) -> list[Bad]:
    return [Bad(place, column, table.column(column)[place], reason) for place in found.bad]


def _first_of_each_row(bad: Sequence[Bad]) -> list[Bad]:
    rows: dict[int, Bad] = {}
    for each in bad:
        rows.setdefault(each.place, each)
    return [rows[place] for place in sorted(rows)]


def leave_out_bad(made: Sheet, bad: Sequence[Bad], skip: bool, listener: Listener) -> Sheet:
    """The sheet without rows that cannot be used: an error that names them, or a note if they are to be skipped."""
    ragged = [Bad(place, "", "", "it has more cells than the header") for place in made.table.ragged]
    bad = [*bad, *(each for each in ragged if each not in made.skipped)]
    if not bad:
        return made
    table, first = made.table, bad[0]
    if not skip:
        others = f" {len(bad)} rows are like this: {row_numbers(table, bad)}." if len(bad) > 1 else ""
        settings = {**first.settings, "skip_bad": ""}
        raise TableError(f"{cell_of(table, first)}: {first.reason}.{others}", settings=settings)
    listener.note(
        f"{table.name}: left out {count(len(bad), 'row')}, {row_numbers(table, bad)}. The first one has {_why(first)}"
    )
    return made.without(bad)


def cell_of(table: Table, bad: Bad) -> str:
    """A bad cell, with its place and content."""
    return f"{table.where(bad.place, bad.column)}, {_brief(bad.cell if bad.cell is not None else '')}"


def _brief(cell: Any) -> str:
    """A cell as Python writes it, the beginning of a long one."""
    return repr(cell) if not isinstance(cell, str) or len(cell) <= BRIEF else f"{cell[:BRIEF]!r}…"


def _why(bad: Bad) -> str:
    return f"{_brief(bad.cell)} in column {bad.column!r}: {bad.reason}" if bad.column else bad.reason


def rows_named(table: Table, places: Sequence[int]) -> str:
    """Rows by their numbers: row 7, or rows 2, 5."""
    return f"{'row' if len(places) == 1 else 'rows'} {_listed(table, places)}"


def row_numbers(table: Table, bad: Collection[Bad]) -> str:
    """The numbers of rows, the first few of them."""
    return _listed(table, [each.place for each in bad])


def _listed(table: Table, places: Sequence[int]) -> str:
    rows = [str(table.number(place)) for place in places]
    return ", ".join(rows[:LISTED]) + (f" and {len(rows) - LISTED} more" if len(rows) > LISTED else "")
