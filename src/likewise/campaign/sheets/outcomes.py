"""The outcomes of a table's rows: numbers, limits, and the states of runs that have neither."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from likewise.campaign.listener import Listener
from likewise.campaign.objects import Bad
from likewise.campaign.roles import Roles
from likewise.campaign.runs.columns import RunColumns
from likewise.campaign.sheets.bad_rows import rows_named
from likewise.campaign.states import CLOSED, OPEN, Kind, State, combine, read_state
from likewise.tables.cells import Decimal, Numbers, empty, numbers
from likewise.tables.formatting import cell_text
from likewise.tables.reading import Table

NO_NUMBER = (
    "it is not a number; write one, or failed, running, n.d., <0.1 (below a limit), or leave the cell empty if the "
    "object was not measured"
)
NO_STD = "it is no standard deviation; write a number of at least 0, or leave the cell empty"


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The values of a table's rows, those of further outcomes, their standard deviations, and the states of rows.

    `given` are the columns of values that are known of every row, measured or not; `sides` says of further outcomes, by
    column and place, on which side of its limit a value lies that is only one.
    """

    values: Numbers
    others: dict[str, Numbers]
    stds: dict[str, Numbers]
    states: dict[int, State]
    given: frozenset[str]
    sides: dict[str, dict[int, str]]

    @classmethod
    def read(
        cls, table: Table, chosen: Roles, own: RunColumns, sign: Decimal | None, listener: Listener, *, results: bool
    ) -> Outcomes:
        """Those of a table; in results, a column that is full is simply filled in."""
        values = numbers(table.column(chosen.value), sign)
        others = {name: numbers(table.column(name), sign) for name in chosen.others}
        read = {chosen.value: values, **others}
        given = frozenset() if results else _known_columns(table, read, chosen, listener)
        partly = _partly([each for name, each in read.items() if name not in given])
        values, states = _read_states(table, chosen.value, own, values, sign, listener, partly)
        limits = {name: _limits(table, name, each, sign) for name, each in others.items()}
        others = {name: _without_failed(limits[name].fill(each), states) for name, each in others.items()}
        stds = {name: numbers(table.column(column), sign) for name, column in chosen.stds.items()}
        for name, each in limits.items():
            _say_taken(table, each.said, [math.nan] * len(table), listener, f"{name}: ")
        return cls(values, others, stds, states, given, {name: each.sides for name, each in limits.items()})

    @property
    def measured(self) -> list[int]:
        """The rows that have a value."""
        return [i for i, value in enumerate(self.values.values) if not math.isnan(value)]

    def bad(self, table: Table, chosen: Roles) -> Iterator[Bad]:
        """The cells that are no outcomes."""
        yield from _bad_numbers(table, chosen.value, self.values, NO_NUMBER)
        for name, each in self.others.items():
            yield from _bad_numbers(table, name, each, NO_NUMBER)
        for name, read in self.stds.items():
            negative = [i for i, std in enumerate(read.values) if std < 0]
            yield from _bad_numbers(table, chosen.stds[name], replace(read, bad=sorted({*read.bad, *negative})), NO_STD)


def _bad_numbers(table: Table, column: str, found: Numbers, reason: str) -> Iterator[Bad]:
    return (Bad(place, column, table.column(column)[place], reason) for place in found.bad)


def _read_states(
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
        state = said if _is_open(said) and place in partly and place not in in_value else None
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


def _known_columns(table: Table, read: Mapping[str, Numbers], chosen: Roles, listener: Listener) -> frozenset[str]:
    """The columns of values that are known of every row, also where nothing was measured: those are not measured.

    A row without a result shows it. Where all that is optimised would be known, it was measured in every row.
    """
    full = [name for name, each in read.items() if each.present == len(table)]
    others = [each for name, each in read.items() if name not in full]
    if not full or not others or {*chosen.optimised} <= {*full}:
        return frozenset()
    if not set.intersection(*map(_gaps, others)):
        return frozenset()
    for name in full:
        listener.note(f"{table.name}: column {name!r} has a number in every row, so it is taken as known, not measured")
    return frozenset(full)


def _gaps(read: Numbers) -> set[int]:
    """The rows of a column that say nothing."""
    return {i for i, value in enumerate(read.values) if math.isnan(value)} - {*read.bad}


def _partly(columns: Sequence[Numbers]) -> set[int]:
    """The rows that have some results and not all of them."""
    given = [[not math.isnan(value) for value in each.values] for each in columns]
    return {i for i, row in enumerate(zip(*given, strict=True)) if any(row) and not all(row)}


class _Limits(NamedTuple):
    """What the texts among the numbers of a further outcome say, by place."""

    said: dict[int, State]

    @property
    def sides(self) -> dict[int, str]:
        """On which side of its limit a value lies that is only one."""
        return {i: state.side for i, state in self.said.items() if state.side is not None}

    def fill(self, read: Numbers) -> Numbers:
        """The numbers with the limits among them; other texts that are understood have no value."""
        values = list(read.values)
        for i, state in self.said.items():
            values[i] = math.nan if state.limit is None else state.limit
        return replace(read, values=values, bad=[i for i in read.bad if i not in self.said])


def _limits(table: Table, column: str, read: Numbers, sign: Decimal | None) -> _Limits:
    cells = table.column(column)
    said = {i: read_state(cell_text(cells[i]), sign) for i in read.bad}
    return _Limits({i: state for i, state in said.items() if state is not None})


def _without_failed(read: Numbers, states: Mapping[int, State]) -> Numbers:
    """The values of a further outcome; a row that failed has none."""
    gone = {place for place, state in states.items() if state.limit is None and not _is_open(state)}
    return replace(read, values=[math.nan if i in gone else value for i, value in enumerate(read.values)])


def _statuses(table: Table, column: str, sign: Decimal | None) -> dict[int, State]:
    """What the column `status` says; a text that is no state is a note on a run that is not over."""
    if column not in table.columns:
        return {}
    texts = enumerate(table.column(column).to_list())
    given = {place: cell_text(cell).strip() for place, cell in texts if not empty(cell)}
    return {place: read_state(text, sign) or State(Kind.RUNNING, said=text) for place, text in given.items()}


def _say_taken(
    table: Table, states: Mapping[int, State], values: Sequence[float], listener: Listener, of: str = ""
) -> None:
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
        listener.note(f"{table.name}, {rows_named(table, places)}: {of}{text}")
