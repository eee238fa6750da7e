"""The outcomes of a table's rows: numbers, limits, and the states of runs that have neither."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from likewise.campaign.listener import Listener
from likewise.campaign.objects import Bad
from likewise.campaign.roles import Roles
from likewise.campaign.runs.columns import RunColumns
from likewise.campaign.sheets.bad_rows import rows_named
from likewise.campaign.states import CLOSED, WHOLE, Kind, State, combine, combine_outcomes, read_state
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
    """The values of a table's rows by column, their standard deviations, and the states of rows.

    `given` are the columns of values that are known of every row, measured or not; `said` is by column and place what
    texts in place of values say: limits, and that there is no value.
    """

    values: dict[str, Numbers]
    stds: dict[str, Numbers]
    states: dict[int, State]
    given: frozenset[str]
    said: dict[str, dict[int, State]]

    @classmethod
    def read(
        cls, table: Table, chosen: Roles, own: RunColumns, sign: Decimal | None, listener: Listener, *, results: bool
    ) -> Outcomes:
        """Those of a table; in results, a column that is full is simply filled in."""
        read = {name: numbers(table.column(name), sign) for name in chosen.values}
        status = _statuses(table, own.status, sign)
        given = frozenset() if results else _known_columns(table, read, chosen, status, listener)
        measured = {name: each for name, each in read.items() if name not in given}
        stds = {name: numbers(table.column(column), sign) for name, column in chosen.stds.items()}
        said = {name: _said(table, name, each, sign) for name, each in measured.items()}
        if len(measured) == 1:
            ((name, only),) = measured.items()
            filled, states = _read_states(table, only, said[name], status, listener)
            limits = {place: state for place, state in states.items() if state.side is not None}
            return cls({**read, name: filled}, stds, states, given, {name: limits})
        states = _combined(table, measured, said, status)
        _say_columns(table, measured, said, status, states, listener)
        filled_all = {name: _fill(each, said[name], states) for name, each in measured.items()}
        return cls({**read, **filled_all}, stds, states, given, said)

    @property
    def measured(self) -> list[int]:
        """The rows that have a value."""
        columns = [each.values for name, each in self.values.items() if name not in self.given]
        return sorted({i for values in columns for i, value in enumerate(values) if not math.isnan(value)})

    def bad(self, table: Table, chosen: Roles) -> Iterator[Bad]:
        """The cells that are no outcomes."""
        for name, each in self.values.items():
            yield from _bad_numbers(table, name, each, NO_NUMBER)
        for name, read in self.stds.items():
            negative = [i for i, std in enumerate(read.values) if std < 0]
            yield from _bad_numbers(table, chosen.stds[name], replace(read, bad=sorted({*read.bad, *negative})), NO_STD)


def _bad_numbers(table: Table, column: str, found: Numbers, reason: str) -> Iterator[Bad]:
    return (Bad(place, column, table.column(column)[place], reason) for place in found.bad)


def _said(table: Table, column: str, read: Numbers, sign: Decimal | None) -> dict[int, State]:
    """What texts among the numbers of a column say, by place; those that say nothing are no states."""
    cells = table.column(column)
    found = {i: read_state(cell_text(cells[i]), sign) for i in read.bad}
    return {i: state for i, state in found.items() if state is not None}


def _read_states(
    table: Table, values: Numbers, said: Mapping[int, State], status: Mapping[int, State], listener: Listener
) -> tuple[Numbers, dict[int, State]]:
    """The states of rows of one outcome, and the values with limits in them."""
    numbers, unread = list(values.values), {*values.bad} - said.keys()
    found = {
        place: combine(not math.isnan(numbers[place]) or place in unread, said.get(place), status.get(place))
        for place in sorted({*values.bad, *status})
    }
    states = {place: state for place, state in found.items() if state is not None}
    _say_taken(table, states, listener, kept={place for place in states if not math.isnan(numbers[place])})
    for place, state in states.items():
        numbers[place] = math.nan if state.limit is None else state.limit
    return replace(values, values=numbers, bad=[i for i in values.bad if i in unread and i not in states]), states


def _combined(
    table: Table,
    measured: Mapping[str, Numbers],
    said: Mapping[str, Mapping[int, State]],
    status: Mapping[int, State],
) -> dict[int, State]:
    """The states of rows of several outcomes."""
    found: dict[int, State] = {}
    for place in sorted({*status, *(place for each in said.values() for place in each)}):
        cells = {name: each[place] for name, each in said.items() if place in each}
        rest = {name: each for name, each in measured.items() if name not in cells}
        empty = [math.isnan(each.values[place]) and place not in each.bad for each in rest.values()]
        limits = any(state.limit is not None for state in cells.values())
        state = combine_outcomes(
            list(cells.values()), status.get(place), results=limits or not all(empty), lacking=any(empty)
        )
        if state is not None:
            found[place] = state
    return found


def _fill(read: Numbers, said: Mapping[int, State], states: Mapping[int, State]) -> Numbers:
    """The numbers with the limits among them; other texts that are understood, and runs that failed, have no value."""
    values = list(read.values)
    for i, state in said.items():
        values[i] = math.nan if state.limit is None else state.limit
    for i, state in states.items():
        values[i] = math.nan if state.kind in WHOLE else values[i]
    return replace(read, values=values, bad=[i for i in read.bad if i not in said])


def _say_columns(
    table: Table,
    measured: Mapping[str, Numbers],
    said: Mapping[str, Mapping[int, State]],
    status: Mapping[int, State],
    states: Mapping[int, State],
    listener: Listener,
) -> None:
    """Say what texts were taken for, by their columns, and which values do not count because a run failed."""
    for name, each in said.items():
        _say_taken(table, each, listener, of=f"{name}: ")
    whole = [place for place, state in states.items() if state.kind in WHOLE]
    kept = [p for p in whole if not all(math.isnan(each.values[p]) for each in measured.values())]
    by_status = {place: state for place, state in states.items() if state is status.get(place)}
    _say_taken(table, by_status, listener, kept=set(kept))
    if lost := [place for place in kept if place not in by_status]:
        listener.note(
            f"{table.name}, {rows_named(table, lost)}: as the run failed or was skipped, its other values are kept and "
            "do not count. If one outcome alone could not be measured, write n.d. in its column"
        )


def _known_columns(
    table: Table, read: Mapping[str, Numbers], chosen: Roles, status: Mapping[int, State], listener: Listener
) -> frozenset[str]:
    """The columns of values that are known of every row, also where nothing was measured: those are not measured.

    A row with nothing else in it shows that, if it is not a run of which results are still to come. Where all that is
    optimised would be known, it was measured in every row.
    """
    full = [name for name, each in read.items() if each.present == len(table)]
    others = [each for name, each in read.items() if name not in full]
    if not full or not others or {*chosen.optimised} <= {*full}:
        return frozenset()
    if not set.intersection(*map(_gaps, others)) - status.keys():
        return frozenset()
    for name in full:
        listener.note(f"{table.name}: column {name!r} has a number in every row, so it is taken as known, not measured")
    return frozenset(full)


def _gaps(read: Numbers) -> set[int]:
    """The rows of a column that say nothing."""
    return {i for i, value in enumerate(read.values) if math.isnan(value)} - {*read.bad}


def _statuses(table: Table, column: str, sign: Decimal | None) -> dict[int, State]:
    """What the column `status` says; a text that is no state is a note on a run that is not over."""
    if column not in table.columns:
        return {}
    texts = enumerate(table.column(column).to_list())
    given = {place: cell_text(cell).strip() for place, cell in texts if not empty(cell)}
    return {place: read_state(text, sign) or State(Kind.RUNNING, said=text) for place, text in given.items()}


def _say_taken(
    table: Table, states: Mapping[int, State], listener: Listener, *, kept: Collection[int] = (), of: str = ""
) -> None:
    """Say what texts were taken for that are not the words of the column `status` itself.

    In the rows of `kept`, there is a value as well, which does not count.
    """
    said: dict[str, list[int]] = {}
    for place, state in states.items():
        if place in kept:
            said.setdefault(f"{state.said!r} taken as {state.taken}; its value is kept and does not count", []).append(
                place
            )
        elif state.taken and (state.said.lower() != state.kind.value or state.kind in CLOSED):
            said.setdefault(f"{state.said!r} taken as {state.taken}", []).append(place)
    for text, places in said.items():
        listener.note(f"{table.name}, {rows_named(table, places)}: {of}{text}")
