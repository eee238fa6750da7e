"""What a merge gives: results that were told, contradictions, and the table with all of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars

from likewise.campaign.runs.matching import is_same
from likewise.campaign.states import CLOSED, Kind, State
from likewise.campaign.wording import shown

OnConflict = Literal["stop", "keep", "replace", "add"]
# The cells of a run as they were suggested, by the names of the run and of the column; under "", the result told last.
Base = Mapping[str, Mapping[str, str]]
# Before the name of a column, what was told of a further outcome last.
TOLD = "\0"


def told_results(cells: Mapping[str, str]) -> str:
    """The results of a run that were told last, of what is kept of it; empty if there were none.

    >>> told_results({"word": "ABBA", "": "7.5", "\\0cost": "3"})
    '7.5, cost 3'
    """
    others = [f"{name.removeprefix(TOLD)} {text}" for name, text in cells.items() if name.startswith(TOLD)]
    return ", ".join([*([cells[""]] if "" in cells else []), *others])


@dataclass(frozen=True)
class Outcome:
    """What came of an experiment: a number, or a state that says there is none; neither while it is open."""

    value: float = math.nan
    state: State | None = None

    @property
    def settled(self) -> bool:
        """Whether anything came of it."""
        return not math.isnan(self.value) or (self.state is not None and self.state.kind in (Kind.FAILED, *CLOSED))

    def same(self, other: Outcome) -> bool:
        """Whether both say the same."""
        kinds = [None if each.state is None else each.state.kind for each in (self, other)]
        return (
            kinds[0] == kinds[1]
            and (math.isnan(self.value) == math.isnan(other.value))
            and (math.isnan(self.value) or is_same(self.value, other.value))
        )

    @property
    def text(self) -> str:
        """The same as text, to be compared with what was told before."""
        return repr(self.value) if self.state is None else self.state.said

    @property
    def said(self) -> float | str:
        """The number, or what a person wrote."""
        return self.value if self.state is None else self.state.said


@dataclass(frozen=True)
class Conflict:
    """Two cells for one thing: where each stands. `known_row` is None where it stands in the results, too."""

    object: Any
    known: float | str
    known_row: int | None
    told: float | str
    told_row: int
    column: str = ""
    known_source: int | None = None

    def __str__(self) -> str:
        where = (
            f"row {self.known_row} of the table"
            if self.known_row is not None
            else f"row {self.known_source} of the results"
        )
        known, told = (f"{each:.10g}" if isinstance(each, float) else repr(each) for each in (self.known, self.told))
        what = f"{shown(self.object)}, column {self.column!r}" if self.column else shown(self.object)
        return f"{what}: {known} in {where}, {told} in row {self.told_row} of the results"


@dataclass(frozen=True)
class Told:
    """A result that was told: of which run, if it has one, where it belongs, and what it was.

    `kept_out` says that the table kept another one. `others` are further outcomes, by column, as they were written.
    """

    run: str
    place: int
    outcome: Outcome
    kept_out: bool = False
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Merge:
    """What became of the results: the new table, and how many rows were filled, replaced, added, or known before.

    `noted` are rows without a result that say something else. `unsettled` are contradictions that `replace` cannot
    settle, as the object has several values in the table. `notes` say what was taken for what.
    """

    frame: polars.DataFrame
    filled: int = 0
    replaced: int = 0
    added: int = 0
    known: int = 0
    blank: int = 0
    noted: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    unsettled: list[Conflict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    open: int = 0

    @property
    def changes(self) -> int:
        """How many rows of the results the table has not, or not so."""
        return self.filled + self.replaced + self.added + self.noted + len(self.conflicts)
