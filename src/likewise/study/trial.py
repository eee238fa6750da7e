"""A trial: one object of a study, from being suggested to being measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from likewise.figures.markup import html_table
from likewise.tables.brief import brief


class State(StrEnum):
    """Where a trial stands.

    `queued` trials wait to be asked first; `asked` ones are being evaluated; `told` ones have a value; `failed` ones an
    error; `abandoned` ones were given back or withdrawn, or their lease ran out, and their object may be asked again.
    """

    ASKED = "asked"
    TOLD = "told"
    FAILED = "failed"
    ABANDONED = "abandoned"
    QUEUED = "queued"


# What stands before a value that is only a limit.
SIGNS: Mapping[str | None, str] = {None: "", "below": "<", "above": ">"}


@dataclass(frozen=True)
class Outcome:
    """A measured outcome of a trial: its value, and the standard deviation of the measurement, where it is known.

    limit: "below" or "above" where the value is only an upper or a lower bound of what was measured.
    block: what it was measured together with, such as a day or a plate, where that is known.
    told: the study's revision when it was told, which orders what was told.

    value: in the user's units.
    std: None where it is not known.

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


@dataclass(frozen=True)
class Trial:
    """One object of a study: its state, its value once told, and when and by whom it was evaluated.

    `id` counts from 0 in order of creation; `std` is the measurement's standard deviation; times are seconds since the
    epoch, by the storage's clock; `lease` is when an asked trial may be taken back; `summary` is what the model said
    when it was asked, `notes` are the user's own remarks. In a study of named objectives `outcomes` has what was told
    so far, by name, and `value` is that of the objective where there is one. Where the value is only a limit, `limit`
    says on which side.

    object: what was or is to be measured.
    state: see `State`.
    error: why it failed, if it did.
    worker: who evaluated it.
    created, updated: when it was added and last changed.
    corrections: what was amended or withdrawn, with what it said before; the latest last.

    >>> Trial(0, "CCO", State.TOLD, value=0.31).state
    <State.TOLD: 'told'>
    """

    id: int
    object: Any
    state: State
    value: float | None = None
    std: float | None = None
    error: str | None = None
    worker: str | None = None
    created: float = 0.0
    updated: float = 0.0
    lease: float | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    limit: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()

    def __hash__(self) -> int:
        # Its object may be anything; equal trials have one number.
        return hash(self.id)

    @property
    def measured(self) -> str:
        """The value as text, ">99" where it is only a limit; empty where there is none."""
        return "" if self.value is None else str(Outcome(self.value, self.std, self.limit))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={outcome}" for name, outcome in self.outcomes.items())
        said = [told or (self.value is not None and f"value={self.measured}"), self.error and brief(self.error, 80)]
        said += [str(last) for last in self.corrections[-1:] if last.withdrew is (self.state is State.ABANDONED)]
        return f"Trial({', '.join([str(self.id), brief(self.object), self.state.value, *filter(None, said)])})"  # type: ignore[list-item]

    def _repr_html_(self) -> str:
        return trials_html("", [self])

    @property
    def values(self) -> dict[str, float]:
        """The values of the outcomes that were told, by name."""
        return {name: outcome.value for name, outcome in self.outcomes.items()}


class Trials(list[Trial]):
    """Trials, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return trials_html(f"{len(self)} trials", self)


def trials_html(title: str, trials: Sequence[Trial], most: int = 20) -> str:
    """Trials as a table, the first `most` of them."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.outcomes)) or ["value"]
    rows = [
        (trial.id, brief(trial.object, 80), *(_measured(trial, name) for name in names), trial.state.value)
        for trial in trials[:most]
    ]
    more = f", of which {most} are shown" if len(trials) > most else ""
    return html_table(title + more, ["id", "object", *names, "state"], rows)


def _measured(trial: Trial, name: str) -> str:
    return str(trial.outcomes[name]) if name in trial.outcomes else trial.measured if not trial.outcomes else ""
