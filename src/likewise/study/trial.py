"""A trial: one object of a study, from being suggested to being measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from likewise.figures.markup import html_table
from likewise.tables.brief import brief

# The name of the outcome of a study that has one objective and no name for it.
VALUE = "value"


class State(StrEnum):
    """Where a trial stands.

    `queued` trials wait to be asked first; `asked` ones are being evaluated; `told` ones have a value; `failed` ones an
    error; `abandoned` ones were given back, their lease ran out, or their result was withdrawn. The object of an
    abandoned trial may be asked again.
    """

    ASKED = "asked"
    TOLD = "told"
    FAILED = "failed"
    ABANDONED = "abandoned"
    QUEUED = "queued"


# What stands before a value that is only a limit.
SIGNS: Mapping[str | None, str] = {None: "", "below": "<", "above": ">"}
LIMITS = ("below", "above")


@dataclass(frozen=True)
class Outcome:
    """A measured outcome of a trial: its value, and the standard deviation of the measurement, where it is known.

    value: in the user's units.
    std: None where it is not known.
    limit: "below" or "above" where the value is only an upper or a lower bound of what was measured.
    block: what it was measured together with, such as a day or a plate, where that is known.
    told: the study's revision when it was told, which orders what was told.

    >>> str(Outcome(99.0, limit="above"))
    '>99'
    """

    value: float
    std: float | None = None
    limit: str | None = None
    block: str | None = None
    told: int = field(default=0, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{SIGNS[self.limit]}{self.value:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """What is known of it, as plain data."""
        known = {"value": self.value, "std": self.std, "limit": self.limit, "block": self.block}
        return {name: content for name, content in known.items() if content is not None}


@dataclass(frozen=True)
class Correction:
    """What a trial said before it was amended or withdrawn.

    did: "amended" or "withdrawn".
    outcomes: what it said, by name; without names "value".
    why: the reason.
    worker, at: who did it, and when, in seconds since the epoch.
    error: of a failure that was withdrawn, why it had failed.

    >>> str(Correction("amended", {"value": Outcome(8971.0)}, "typo"))
    'amended, was 8971 (typo)'
    """

    did: str
    outcomes: Mapping[str, Outcome]
    why: str = ""
    worker: str | None = None
    at: float = 0.0
    error: str | None = None

    @property
    def withdrew(self) -> bool:
        """Whether it took the result back, and put no other in its place."""
        return self.did == "withdrawn"

    def __str__(self) -> str:
        several = len(self.outcomes) > 1
        said = ", ".join(f"{name} {own}" if several else str(own) for name, own in self.outcomes.items())
        return f"{self.did}{said and f', was {said}'}{self.why and f' ({self.why})'}"

    def to_dict(self) -> dict[str, Any]:
        """What it says, as plain data."""
        said = {"did": self.did, "why": self.why, "by": self.worker, "at": self.at, "error": self.error}
        outcomes = {name: outcome.to_dict() for name, outcome in self.outcomes.items()}
        return {**{name: content for name, content in said.items() if content is not None}, "outcomes": outcomes}


@dataclass(frozen=True)
class Trial:
    """One object of a study: its state, what was measured of it, and when and by whom.

    id: counts from 0 in order of creation.
    object: what was or is to be measured.
    state: see `State`.
    outcomes: what was told so far, by name. A study of one objective without a name has the outcome "value".
    error: why it failed, if it did.
    worker: who evaluated it.
    created, updated: when it was added and last changed, in seconds since the epoch, by the storage's clock.
    lease: for how many seconds it was asked, if not for ever.
    summary: what the model said when it was asked.
    notes: the user's own remarks.
    corrections: what was amended or withdrawn, with what it said before; the latest last.
    objective: the name of the outcome whose numbers are `value`, `std` and `limit`; None where there are several.

    >>> Trial(0, "CCO", State.TOLD, {"value": Outcome(0.31)}).value
    0.31
    """

    id: int
    object: Any
    state: State
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    error: str | None = None
    worker: str | None = None
    created: float = 0.0
    updated: float = 0.0
    lease: float | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()
    objective: str | None = field(default=VALUE, repr=False, compare=False)

    def __hash__(self) -> int:
        # Its object may be anything; equal trials have one number.
        return hash(self.id)

    @property
    def _own(self) -> Outcome | None:
        return self.outcomes.get(self.objective) if self.objective is not None else None

    @property
    def value(self) -> float | None:
        """The value of the objective; None while it is not told, or where there are several objectives."""
        return None if self._own is None else self._own.value

    @property
    def std(self) -> float | None:
        """The standard deviation of that value, where it is known."""
        return None if self._own is None else self._own.std

    @property
    def limit(self) -> str | None:
        """ "below" or "above" where that value is only a limit."""
        return None if self._own is None else self._own.limit

    @property
    def measured(self) -> str:
        """The value as text, ">99" where it is only a limit; empty where there is none."""
        return "" if self._own is None else str(self._own)

    @property
    def values(self) -> dict[str, float]:
        """The values of the outcomes that were told, by name."""
        return {name: outcome.value for name, outcome in self.outcomes.items()}

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={outcome}" for name, outcome in self.outcomes.items())
        said = [told, brief(self.error, 80) if self.error else ""]
        said += [str(last) for last in self.corrections[-1:] if last.withdrew is (self.state is State.ABANDONED)]
        return f"Trial({', '.join([str(self.id), brief(self.object), self.state.value, *filter(None, said)])})"

    def _repr_html_(self) -> str:
        return trials_html("", [self])


class Trials(list[Trial]):
    """Trials, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return trials_html(f"{len(self)} trials", self)


def trials_html(title: str, trials: Sequence[Trial], most: int = 20) -> str:
    """Trials as a table, the first `most` of them."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.outcomes)) or [VALUE]
    rows = [
        (trial.id, brief(trial.object, 80), *(str(trial.outcomes.get(name, "")) for name in names), trial.state.value)
        for trial in trials[:most]
    ]
    more = f", of which {most} are shown" if len(trials) > most else ""
    return html_table(title + more, ["id", "object", *names, "state"], rows)
