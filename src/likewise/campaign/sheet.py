"""A user's table as a problem: which rows are observations, candidates or under way, and which cannot be used."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.campaign.columns import (
    CLOSED,
    OPEN,
    WHOLE,
    Kind,
    RunColumns,
    RunState,
    combine,
    combine_outcomes,
    read_state,
    run_columns,
    status_of,
)
from likewise.campaign.objects import Bad, Objects, Spellings, numeric, objects
from likewise.campaign.roles import PREFIX, Roles, aside, roles, spread_of
from likewise.campaign.text import Listener, count
from likewise.errors import TableError
from likewise.model.outliers import describe
from likewise.similarity.functions import object_key
from likewise.study.trial import Measurement
from likewise.tables.cells import Decimal, Numbers, cell_text, empty, numbers
from likewise.tables.cleaning import order_keys, sign_of, understand
from likewise.tables.reading import Table, read

if TYPE_CHECKING:
    from likewise.spaces.base import Space


if TYPE_CHECKING:
    pass

ORDERS = ("round", "date")


@dataclass(frozen=True)
class Choices:
    """What the user said about the columns of a table.

    `std` are columns of standard deviations: `sd`, or `yield=sd` where there are several columns of values.

    For results, `kinds` are what the table's columns hold, `spellings` how it spells its texts, `sign` is its decimal
    sign, which they have if in doubt, and `own` are the columns that likewise keeps in it. `absent` are columns that
    the file need not have: there they are empty.
    """

    objects: tuple[str, ...] = ()
    value: str | None = None
    std: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    decimal: Decimal | None = None
    skip_bad: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    sign: Decimal | None = None
    spellings: Mapping[str, Spellings] = field(default_factory=dict)
    own: RunColumns | None = None
    others: tuple[str, ...] = ()
    block: str | None = None
    optimised: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def spreads(self) -> tuple[str, ...]:
        """The columns of standard deviations, without the names of those that they belong to."""
        values = [name for name in (self.value, *self.others) if name is not None]
        return tuple(spread_of(text, values)[1] for text in self.std)

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns of a new table in which results are written: values, standard deviations, blocks."""
        blocks = () if self.block is None else (self.block,)
        return tuple(dict.fromkeys((self.value or "value", *self.others, *self.spreads, *blocks)))


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
    # Standard deviations by the column of their values.
    stds: dict[str, list[float]]
    sign: Decimal | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    skipped: tuple[Bad, ...] = ()
    spellings: dict[str, Spellings] = field(default_factory=dict)
    states: dict[int, RunState] = field(default_factory=dict)
    own: RunColumns = field(default_factory=RunColumns)
    # The values of further outcomes by column, and the columns that are known of every row, measured or not.
    others: dict[str, list[float]] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    # What texts in place of values say, by column and place: limits, and that there is no value.
    said: dict[str, dict[int, RunState]] = field(default_factory=dict)

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
        """Returns the values measured in a row, by column; columns without a result yet are left out."""
        columns = {self.roles.value: self.values, **self.others}
        return {
            name: values[place]
            for name, values in columns.items()
            if name not in self.given and not math.isnan(values[place])
        }

    def measured_in(self, column: str | None) -> list[int]:
        """The measured rows that have a value in a column; all of them where no column is named."""
        return self.measured if column is None else [i for i in self.measured if column in self.results(i)]

    def exact_in(self, column: str | None) -> dict[int, Measurement]:
        """What was measured in a column and is no limit, by place."""
        measurements = {i: self.measurement(i, column) for i in self.measured_in(column)}
        return {i: measurement for i, measurement in measurements.items() if measurement.limit is None}

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
        places: dict[str, int] = {}
        for place, cell in cells:
            # Of a row that somebody has copied, the first one is the run.
            if not empty(cell):
                places.setdefault(cell_text(cell).strip(), place)
        return places

    def cell(self, column: str, place: int) -> str:
        """A cell as text; empty where it holds nothing, or the table has no such column."""
        if column not in self.table.columns or empty(content := self.table.column(column)[place]):
            return ""
        return cell_text(content).strip()

    def status(self, place: int) -> str | None:
        """What the status of a row ought to be."""
        return status_of(self._has_result(place), self.states.get(place))

    def measurement(self, place: int, column: str | None = None) -> Measurement:
        """What was measured in a row: a value, or only a limit; of the first column of values, or of a further one."""
        name = column or self.roles.value
        values = self.values if name == self.roles.value else self.others[name]
        state = self.said.get(name, {}).get(place)
        side = None if state is None else state.side
        return Measurement(values[place], self.std(place, column), side, self.block(place))

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
        objects = [None if i in gone and not as_candidates else x for i, x in enumerate(self.objects)]
        return replace(self, states=states, objects=objects)

    def respell(self, x: Any) -> Any:
        """The object in the spelling of the table."""
        if isinstance(x, Mapping):
            return {name: self._spelled(name, value) for name, value in x.items()}
        return self._spelled(self.roles.objects[0], x)

    def _spelled(self, column: str, value: Any) -> Any:
        spellings = self.spellings.get(column)
        return spellings.of([value]).get(value, value) if isinstance(value, str) and spellings is not None else value

    def has_stds(self, column: str | None = None) -> bool:
        """Whether there are standard deviations of a column of values; of the first one if none is named."""
        return (column or self.roles.value) in self.stds

    def std(self, place: int, column: str | None = None) -> float | None:
        """The standard deviation of a row's value, if it is known; of the first column of values if none is named."""
        std = self.stds[column or self.roles.value][place] if self.has_stds(column) else math.nan
        return None if math.isnan(std) else std

    def of_results(self, chosen: Choices) -> Choices:
        """How results of this table are read: their columns are its columns, and cells mean what they mean in it."""
        return replace(
            chosen,
            objects=self.roles.objects,
            value=self.roles.value,
            std=tuple(f"{name}={column}" for name, column in self.roles.stds.items()),
            others=self.roles.others,
            kinds=self.kinds,
            sign=self.sign,
            spellings=self.spellings,
            own=self.own,
        )

    def without(self, bad: Sequence[Bad]) -> Sheet:
        """The sheet that leaves these rows out."""
        gone = {row.place for row in bad}
        objects = [None if i in gone else x for i, x in enumerate(self.objects)]
        return replace(self, objects=objects, skipped=(*self.skipped, *bad))


# Rows that cannot be used: they are named, and left out if they are to be.

LISTED = 10
# Characters of a bad cell that a message repeats.
BRIEF = 200


def leave_out_bad(result: Sheet, bad: Sequence[Bad], skip: bool, listener: Listener) -> Sheet:
    """The sheet without rows that cannot be used: an error that names them, or a note if they are to be skipped."""
    bad = _first_of_each_row(bad)
    ragged = [Bad(place, "", "", "it has more cells than the header") for place in result.table.ragged]
    bad = [*bad, *(row for row in ragged if row not in result.skipped)]
    if not bad:
        return result
    table, first = result.table, bad[0]
    if not skip:
        further = f" {len(bad)} rows are like this: {row_numbers(table, bad)}." if len(bad) > 1 else ""
        settings = {**first.settings, "skip_bad": ""}
        raise TableError(f"{cell_of(table, first)}: {first.reason}.{further}", settings=settings)
    listener.note(
        f"{table.name}: left out {count(len(bad), 'row')}, {row_numbers(table, bad)}. The first one has {_why(first)}"
    )
    return result.without(bad)


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
    return _listed(table, [row.place for row in bad])


def _listed(table: Table, places: Sequence[int]) -> str:
    rows = [str(table.number(place)) for place in places]
    return ", ".join(rows[:LISTED]) + (f" and {len(rows) - LISTED} more" if len(rows) > LISTED else "")


def _first_of_each_row(bad: Sequence[Bad]) -> list[Bad]:
    rows: dict[int, Bad] = {}
    for cell in bad:
        rows.setdefault(cell.place, cell)
    return [rows[place] for place in sorted(rows)]


# The outcomes of a table's rows: numbers, limits, and the states of runs that have neither.

NO_NUMBER = (
    "it is not a number; write one, or failed, running, n.d., <0.1 (below a limit), or leave the cell empty if the "
    "object was not measured"
)
NO_STD = "it is no standard deviation; write a number of at least 0, or leave the cell empty"


@dataclass(frozen=True, eq=False)
class RowOutcomes:
    """The values of a table's rows by column, their standard deviations, and the states of rows.

    `given` are the columns of values that are known of every row, measured or not; `said` is by column and place what
    texts in place of values say: limits, and that there is no value.
    """

    values: dict[str, Numbers]
    stds: dict[str, Numbers]
    states: dict[int, RunState]
    given: frozenset[str]
    said: dict[str, dict[int, RunState]]

    @classmethod
    def read(
        cls,
        table: Table,
        chosen: Roles,
        reserved: RunColumns,
        sign: Decimal | None,
        listener: Listener,
        *,
        results: bool,
    ) -> RowOutcomes:
        """Those of a table; in results, a column that is full is simply filled in."""
        read = {name: numbers(table.column(name), sign) for name in chosen.values}
        status = _statuses(table, reserved.status, sign)
        given_columns = frozenset() if results else _known_columns(table, read, chosen, status, listener)
        measured = {name: column for name, column in read.items() if name not in given_columns}
        stds = {name: numbers(table.column(column), sign) for name, column in chosen.stds.items()}
        said = {name: _said(table, name, column, sign) for name, column in measured.items()}
        if len(measured) == 1:
            ((name, only),) = measured.items()
            filled, states = _read_states(table, only, said[name], status, listener)
            limits = {place: state for place, state in states.items() if state.side is not None}
            return cls({**read, name: filled}, stds, states, given_columns, {name: limits})
        states = _combined(table, measured, said, status)
        _say_columns(table, measured, said, status, states, listener)
        filled_all = {name: _fill(column, said[name], states) for name, column in measured.items()}
        return cls({**read, **filled_all}, stds, states, given_columns, said)

    @property
    def measured(self) -> list[int]:
        """The rows that have a value."""
        columns = [column.values for name, column in self.values.items() if name not in self.given]
        return sorted({i for values in columns for i, value in enumerate(values) if not math.isnan(value)})

    def bad(self, table: Table, chosen: Roles) -> Iterator[Bad]:
        """The cells that are no outcomes."""
        for name, column in self.values.items():
            yield from _bad_numbers(table, name, column, NO_NUMBER)
        for name, read_std in self.stds.items():
            negative = [i for i, std in enumerate(read_std.values) if std < 0]
            yield from _bad_numbers(
                table, chosen.stds[name], replace(read_std, bad=sorted({*read_std.bad, *negative})), NO_STD
            )


def _bad_numbers(table: Table, column: str, numbers: Numbers, reason: str) -> Iterator[Bad]:
    return (Bad(place, column, table.column(column)[place], reason) for place in numbers.bad)


def _said(table: Table, column: str, read: Numbers, sign: Decimal | None) -> dict[int, RunState]:
    """What texts among the numbers of a column say, by place; those that say nothing are no states."""
    cells = table.column(column)
    states = {i: read_state(cell_text(cells[i]), sign) for i in read.bad}
    return {i: state for i, state in states.items() if state is not None}


def _read_states(
    table: Table, values: Numbers, said: Mapping[int, RunState], status: Mapping[int, RunState], listener: Listener
) -> tuple[Numbers, dict[int, RunState]]:
    """The states of rows of one outcome, and the values with limits in them."""
    numbers, unread = list(values.values), {*values.bad} - said.keys()
    combined = {
        place: combine(not math.isnan(numbers[place]) or place in unread, said.get(place), status.get(place))
        for place in sorted({*values.bad, *status})
    }
    states = {place: state for place, state in combined.items() if state is not None}
    _say_taken(table, states, listener, measured={place for place in states if not math.isnan(numbers[place])})
    for place, state in states.items():
        numbers[place] = math.nan if state.limit is None else state.limit
    return replace(values, values=numbers, bad=[i for i in values.bad if i in unread and i not in states]), states


def _combined(
    table: Table,
    measured: Mapping[str, Numbers],
    said: Mapping[str, Mapping[int, RunState]],
    status: Mapping[int, RunState],
) -> dict[int, RunState]:
    """The states of rows of several outcomes."""
    states: dict[int, RunState] = {}
    for place in sorted({*status, *(place for column in said.values() for place in column)}):
        cells = {name: column[place] for name, column in said.items() if place in column}
        rest = {name: column for name, column in measured.items() if name not in cells}
        empty = [math.isnan(column.values[place]) and place not in column.bad for column in rest.values()]
        limits = any(state.limit is not None for state in cells.values())
        state = combine_outcomes(
            list(cells.values()), status.get(place), results=limits or not all(empty), lacking=any(empty)
        )
        if state is not None:
            states[place] = state
    return states


def _fill(read: Numbers, said: Mapping[int, RunState], states: Mapping[int, RunState]) -> Numbers:
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
    said: Mapping[str, Mapping[int, RunState]],
    status: Mapping[int, RunState],
    states: Mapping[int, RunState],
    listener: Listener,
) -> None:
    """Say what texts were taken for, by their columns, and which values do not count because a run failed."""
    for name, column in said.items():
        _say_taken(table, column, listener, of=f"{name}: ")
    failed = [place for place, state in states.items() if state.kind in WHOLE]
    measured_too = [p for p in failed if not all(math.isnan(column.values[p]) for column in measured.values())]
    by_status = {place: state for place, state in states.items() if state is status.get(place)}
    _say_taken(table, by_status, listener, measured=set(measured_too))
    if lost := [place for place in measured_too if place not in by_status]:
        listener.note(
            f"{table.name}, {rows_named(table, lost)}: as the run failed or was skipped, its other values are kept and "
            "do not count. If one outcome alone could not be measured, write n.d. in its column"
        )


def _known_columns(
    table: Table, read: Mapping[str, Numbers], chosen: Roles, status: Mapping[int, RunState], listener: Listener
) -> frozenset[str]:
    """The columns of values that are known of every row, also where nothing was measured: those are not measured.

    A row with nothing else in it shows that, if it is not a run of which results are still to come. Where all that is
    optimised would be known, it was measured in every row.
    """
    full = [name for name, column in read.items() if column.present == len(table)]
    gappy = [column for name, column in read.items() if name not in full]
    if not full or not gappy or {*chosen.optimised} <= {*full}:
        return frozenset()
    if not set.intersection(*map(_gaps, gappy)) - status.keys():
        return frozenset()
    for name in full:
        listener.note(f"{table.name}: column {name!r} has a number in every row, so it is taken as known, not measured")
    return frozenset(full)


def _gaps(read: Numbers) -> set[int]:
    """The rows of a column that say nothing."""
    return {i for i, value in enumerate(read.values) if math.isnan(value)} - {*read.bad}


def _statuses(table: Table, column: str, sign: Decimal | None) -> dict[int, RunState]:
    """What the column `status` says; a text that is no state is a note on a run that is not over."""
    if column not in table.columns:
        return {}
    texts = enumerate(table.column(column).to_list())
    by_place = {place: cell_text(cell).strip() for place, cell in texts if not empty(cell)}
    return {place: read_state(text, sign) or RunState(Kind.RUNNING, said=text) for place, text in by_place.items()}


def _say_taken(
    table: Table, states: Mapping[int, RunState], listener: Listener, *, measured: Collection[int] = (), of: str = ""
) -> None:
    """Say what texts were taken for that are not the words of the column `status` itself.

    In the rows of `measured` there is a value as well, which does not count.
    """
    said: dict[str, list[int]] = {}
    for place, state in states.items():
        if place in measured:
            said.setdefault(f"{state.said!r} taken as {state.taken}; its value is kept and does not count", []).append(
                place
            )
        elif state.taken and (state.said.lower() != state.kind.value or state.kind in CLOSED):
            said.setdefault(f"{state.said!r} taken as {state.taken}", []).append(place)
    for text, places in said.items():
        listener.note(f"{table.name}, {rows_named(table, places)}: {of}{text}")


# What a table may have been meant otherwise: a factor that was not named, a value far from all others.

# Pairs of rows that are enough to tell, and so many of a table that are looked at.
FEWEST, LOOKED_AT = 2, 2_000
# A factor that counts moves values by more than this share of their range, and more than repeats differ.
SHARE, TIMES = 0.1, 2.0


def far_value(x: Any, value: float) -> str:
    """A note on a value of an object that is far from all others.

    >>> far_value("CCO", 8971.0)
    "8971 for 'CCO' is far from all other values: a hit, or a slip. Correct a slip in its cell, or write withdrawn in \
    the column 'status'; measure a hit once more, as another row"
    """
    return (
        f"{describe(x, value)}. Correct a slip in its cell, or write withdrawn in the column 'status'; measure a hit "
        "once more, as another row"
    )


def forgotten_factors(
    table: Table, roles: Roles, reserved: RunColumns, objects: Sequence[Any], values: Sequence[float]
) -> list[str]:
    """Notes on columns in which rows differ that have the same object, where their values differ with them."""
    measured = [i for i, x in enumerate(objects) if x is not None and values[i] == values[i]][:LOOKED_AT]
    pairs = _same_objects(measured, objects)
    measured_values = [values[i] for i in measured]
    if len(pairs) < FEWEST or min(measured_values) == max(measured_values):
        return []
    taken = {*roles.taken, *reserved}
    free = [c for c in table.columns if c not in taken and not c.startswith(PREFIX) and not aside(c)]
    least = SHARE * (max(measured_values) - min(measured_values))
    return [note for column in free if (note := _judge(table, column, pairs, values, least, roles))]


def _same_objects(measured: Sequence[int], objects: Sequence[Any]) -> list[tuple[int, int]]:
    groups: dict[Any, list[int]] = {}
    for i in measured:
        groups.setdefault(object_key(objects[i]), []).append(i)
    return list(islice((pair for rows in groups.values() for pair in combinations(rows, 2)), LOOKED_AT))


def _judge(
    table: Table, column: str, pairs: Sequence[tuple[int, int]], values: Sequence[float], least: float, roles: Roles
) -> str:
    cells = [cell.strip() if isinstance(cell, str) else cell for cell in table.column(column).to_list()]
    apart = [(i, j) for i, j in pairs if cells[i] != cells[j] and not (empty(cells[i]) or empty(cells[j]))]
    together = [pair for pair in pairs if cells[pair[0]] == cells[pair[1]]]
    if len(apart) < FEWEST or _difference(apart, values) < max(least, TIMES * _difference(together, values)):
        return ""
    i, j = max(apart, key=lambda pair: abs(values[pair[0]] - values[pair[1]]))
    named = ", ".join(map(repr, roles.objects))
    return (
        f"rows {table.number(i)} and {table.number(j)} are the same in {named}, but have {cells[i]!r} and {cells[j]!r} "
        f"in column {column!r}, and {values[i]:.4g} and {values[j]:.4g} in {roles.value!r}. If you set {column!r}, "
        "name it as a column of the objects, too"
    )


def _difference(pairs: Sequence[tuple[int, int]], values: Sequence[float]) -> float:
    return sum(abs(values[i] - values[j]) for i, j in pairs) / len(pairs) if pairs else 0.0


def beyond_seen(x: Any, objects: Sequence[Any], column: str) -> list[str]:
    """Notes on the numbers of an object that lie outside what the table has seen."""
    if isinstance(x, Mapping):
        # Of objects of several branches, only those of its own have what it has.
        fields = {name: [y[name] for y in objects if isinstance(y, Mapping) and name in y] for name in x}
        return [note for name, seen in fields.items() for note in beyond_seen(x[name], seen, name)]
    return _beyond(x, objects, column)


def _beyond(value: Any, seen: Sequence[Any], column: str) -> list[str]:
    levels = [y for y in seen if isinstance(y, int | float) and not isinstance(y, bool)]
    if isinstance(value, bool) or not isinstance(value, int | float) or not levels:
        return []
    if min(levels) <= value <= max(levels):
        return []
    seen_range = f"{min(levels):g} to {max(levels):g}"
    return [
        f"{column!r} is {value:g}, outside of what the table has seen, {seen_range}: the prediction is a guess there"
    ]


# From a file to the problem that it poses.


def sheet(
    path: str | Path, choices: Choices, listener: Listener, space: Space | None = None, *, may_be_empty: bool = False
) -> Sheet:
    """The problem that a file poses; rows that cannot be used are an error, unless they are to be skipped.

    With a space, or where it is said, a table without rows is one.
    """
    table = understand(read(path, skip_ragged=choices.skip_bad, may_be_empty=may_be_empty or space is not None))
    table = _with_empty(table, choices.absent)
    for note in table.notes:
        listener.note(note)
    named = choices.objects or _parts(table, space)
    reserved = choices.own or run_columns(table, (*named, *choices.measured))
    theirs = replace(table, frame=table.frame.drop([c for c in reserved if c in table.columns and c not in named]))
    chosen = _roles(theirs, choices, named)
    for column in choices.text:
        table.column(column)
    kinds = {**choices.kinds, **dict.fromkeys(choices.text, "text")}
    sign = choices.decimal or _sign(table, chosen, kinds, choices.sign, space)
    results = space is not None or choices.own is not None
    outcomes = RowOutcomes.read(table, chosen, reserved, sign, listener, results=results)
    contents = objects(
        theirs,
        chosen,
        space=space,
        kinds=kinds,
        decimal=sign,
        exactly=choices.text,
        spelled=choices.spellings,
        measured=outcomes.measured,
    )
    for note in (*contents.notes, *reserved.notes):
        listener.note(note if note.startswith(table.name) else f"{table.name}: {note}")
    result = _made(table, chosen, reserved, contents, outcomes, sign)
    _remark(result, listener, results=bool(choices.kinds))
    return leave_out_bad(result, [*contents.bad, *outcomes.bad(table, chosen)], choices.skip_bad, listener)


def _with_empty(table: Table, names: tuple[str, ...]) -> Table:
    """The table with columns that hold nothing, beside its own."""
    import polars

    gaps = [polars.Series(name, [None] * len(table), dtype=polars.String()) for name in names]
    return replace(table, frame=table.frame.with_columns(gaps)) if gaps else table


def _roles(table: Table, choices: Choices, named: tuple[str, ...]) -> Roles:
    others, decimal, block = choices.others, choices.decimal, choices.block
    chosen = roles(table, named, choices.value, choices.std, others=others, decimal=decimal, block=block)
    return replace(chosen, optimised=choices.optimised or chosen.values)


def _made(
    table: Table, chosen: Roles, reserved: RunColumns, read: Objects, outcomes: RowOutcomes, sign: Decimal | None
) -> Sheet:
    return Sheet(
        table,
        chosen,
        read.objects,
        outcomes.values[chosen.value].values,
        {name: stds.values for name, stds in outcomes.stds.items()},
        sign,
        read.kinds,
        spellings=read.spellings,
        states=outcomes.states,
        own=reserved,
        others={name: outcomes.values[name].values for name in chosen.others},
        given=outcomes.given,
        said=outcomes.said,
    )


def _parts(table: Table, space: Space | None) -> tuple[str, ...]:
    """The columns that are the parts of a space's records, where the table has them all."""
    parts = () if space is None else tuple(space.parts)
    return parts if all(name in table.columns for name in parts) else ()


def _remark(result: Sheet, listener: Listener, *, results: bool) -> None:
    """Say what was taken for what, and what may have been meant otherwise."""
    table, chosen = result.table, result.roles
    notes = [", ".join(chosen.chosen)] if chosen.chosen else []
    used = (*chosen.objects, *chosen.values, *chosen.stds.values(), chosen.block)
    notes += [f"column {column!r} {remark}" for column, remark in table.remarks.items() if column in used]
    computed = sorted(table.computed & {*chosen.objects})
    notes += [f"column {column!r} has formulas, with the results of when it was saved" for column in computed]
    if not results:
        notes += forgotten_factors(table, chosen, result.own, result.objects, result.values)
    for note in notes:
        listener.note(f"{table.name}: {note}")


def _sign(
    table: Table, chosen: Roles, kinds: Mapping[str, str], otherwise: Decimal | None, space: Space | None
) -> Decimal | None:
    """The decimal sign of the values, and of the objects that are numbers."""
    values = [*chosen.values, *chosen.stds.values()]
    read = [column for column in chosen.objects if kinds.get(column, "numbers") == "numbers"]
    return sign_of(table, values, [c for c in read if space is None or numeric(space, c)], otherwise=otherwise)
