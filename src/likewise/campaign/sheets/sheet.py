"""A user's table as a problem: which rows are observations, which are candidates, and what is under way."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from likewise.campaign.objects import Bad
from likewise.campaign.roles import Roles, spread_of
from likewise.campaign.runs.columns import RunColumns
from likewise.campaign.spellings import Spellings
from likewise.campaign.states import CLOSED, OPEN, Kind, State, status_of
from likewise.study.measurement import Measurement
from likewise.tables.cells import Decimal, empty
from likewise.tables.formatting import cell_text
from likewise.tables.moments import order_keys
from likewise.tables.reading import Table

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
    states: dict[int, State] = field(default_factory=dict)
    own: RunColumns = field(default_factory=RunColumns)
    # The values of further outcomes by column, and the columns that are known of every row, measured or not.
    others: dict[str, list[float]] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    # What texts in place of values say, by column and place: limits, and that there is no value.
    said: dict[str, dict[int, State]] = field(default_factory=dict)

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

    def measured_in(self, column: str | None) -> list[int]:
        """The measured rows that have a value in a column; all of them where no column is named."""
        return self.measured if column is None else [i for i in self.measured if column in self.results(i)]

    def exact_in(self, column: str | None) -> dict[int, Measurement]:
        """What was measured in a column and is no limit, by place."""
        found = {i: self.measurement(i, column) for i in self.measured_in(column)}
        return {i: one for i, one in found.items() if one.limit is None}

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

    def has_stds(self, column: str | None = None) -> bool:
        """Whether there are standard deviations of a column of values; of the first one if none is named."""
        return (column or self.roles.value) in self.stds

    def std(self, place: int, column: str | None = None) -> float | None:
        """The standard deviation of a row's value, if it is known; of the first column of values if none is named."""
        known = self.stds[column or self.roles.value][place] if self.has_stds(column) else math.nan
        return None if math.isnan(known) else known

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
        gone = {each.place for each in bad}
        kept = [None if i in gone else x for i, x in enumerate(self.objects)]
        return replace(self, objects=kept, skipped=(*self.skipped, *bad))
