"""A trial, from being suggested to being measured: its measurements, its outcomes, and the suggestion it came from."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.figures.markup import draw_molecule, html_table
from likewise.tables.cells import brief

# A trial: one object of a study, from being suggested to being measured.

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
        measured = ", ".join(f"{name}={outcome}" for name, outcome in self.outcomes.items())
        said = [measured, brief(self.error, 80) if self.error else ""]
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


# Measured values: what an objective returns when it knows how sure it is, and which numbers are taken.

# Larger values, penalties for the most part, leave nothing of the others, and their fourth powers no number.
LARGEST = 1e70


@dataclass(frozen=True)
class Measurement:
    """A value with its standard error, as if told by `study.tell(x, value, std=std)`.

    value: what was measured, or the limit that it lies below or above.
    std: the standard deviation of the measurement, in the units of the values; None (default) where it is not known.
    limit: "below" or "above" where the value is only a limit; `Below` and `Above` make such. None by default.
    block: what it was measured together with, such as a day or a plate: values of one block may be shifted alike. None
        by default.

    >>> float(Measurement(0.31, std=0.02))
    0.31
    """

    value: float
    std: float | None = None
    limit: str | None = None
    block: str | None = None

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:.3g}"
        return f"{SIGNS[self.limit]}{self.value:.6g}{spread}"

    def __post_init__(self) -> None:
        if self.limit not in (None, *LIMITS):
            raise StudyError(f"limit={self.limit!r} is none of {', '.join(map(repr, LIMITS))}; leave it out otherwise")


def Below(limit: float, std: float | None = None) -> Measurement:
    """A value of which only an upper limit is known, as of what could not be detected: a likelihood, not a number.

    limit: what the measured value lies below, in the units of the values.
    std: the standard deviation of the measurement, where it is known; None by default.

    >>> Below(0.1)
    Measurement(value=0.1, std=None, limit='below', block=None)
    """
    return Measurement(limit, std, "below")


def Above(limit: float, std: float | None = None) -> Measurement:
    """A value of which only a lower limit is known: what was measured lies above it.

    limit, std: as in `Below`.
    """
    return Measurement(limit, std, "above")


def with_block(value: Any, block: Any) -> Any:
    """The value as a measurement of a block, where one is named; of outcomes by name each."""
    if block is None:
        return value
    if isinstance(value, Mapping):
        return {name: with_block(measurement, block) for name, measurement in value.items()}
    return replace(value if isinstance(value, Measurement) else Measurement(value), block=str(block))


def with_limits(value: Any, below: Any, above: Any) -> Any:
    """The value that was told, or the limit that was told in its place; one of the three.

    >>> with_limits(None, 0.1, None)
    Measurement(value=0.1, std=None, limit='below', block=None)
    """
    if isinstance(value, Mapping) and (below, above) != (None, None):
        side = "Above" if below is None else "Below"
        limit = f"{side}({above if below is None else below})"
        raise StudyError(f"whose limit is {limit}? Tell it by name: {{{next(iter(value), 'yield')!r}: {limit}}}")
    if sum(end is not None for end in (value, below, above)) > 1:
        raise StudyError(f"tell one of value={value!r}, below={below!r} and above={above!r}; two limits are no value")
    return Below(below) if below is not None else Above(above) if above is not None else value


def read_value(x: Any, value: Any, std: float | None = None, outcome: str | None = None) -> Outcome:
    """The value of an object, its standard deviation and its limit, refused when they are no finite numbers.

    outcome: its name, where there are names.

    >>> read_value("CCO", Measurement(0.31, std=0.02))
    Outcome(value=0.31, std=0.02, limit=None, block=None)
    """
    limit = block = None
    if isinstance(value, Measurement):
        limit, block, std = value.limit, value.block, value.std if std is None else std
        value = value.value
    number, spread = _number(value), None if std is None else _number(std)
    sound = number is not None and abs(number) <= LARGEST
    if not sound or (std is not None and (spread is None or not 0 <= spread <= LARGEST)):
        raise StudyError(_complaint(x, value, number, std, outcome))
    assert number is not None
    return Outcome(number, spread, limit, block)


def _complaint(x: Any, value: Any, number: float | None, std: Any, outcome: str | None) -> str:
    """What is wrong with a value that is refused; written only then, as the text of an object takes its time."""
    whose = reprlib.repr(x) if outcome is None else f"{outcome!r} of {reprlib.repr(x)}"
    remedy = "use fail" if outcome is None else f"leave {outcome!r} out, or use fail if nothing could be measured"
    if number is None:
        return f"the value of {whose} is no number: {reprlib.repr(value)}; tell a float, or {remedy}"
    if not abs(number) <= LARGEST:
        return f"the value of {whose} is {number:g}, not a number up to {LARGEST:g} in size; " + (
            "if it could not be measured, use fail(…, reason)" if outcome is None else remedy
        )
    return f"the standard deviation of {whose} is {reprlib.repr(std)}; it must be a number from 0 to {LARGEST:g}"


def _number(value: Any) -> float | None:
    """The value as a float, also from an array of one element; None if it is no number.

    A text or a truth value may be one by mistake, and is none.
    """
    if isinstance(value, str | bytes | bool | np.bool_):
        return None
    try:
        return float(value.item() if getattr(value, "size", None) == 1 else value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


# What a study answers: try this, I expect this much, between this and that, because it resembles these.


@dataclass(frozen=True)
class Analogue:
    """A measured object that speaks for or against a suggestion, with its signed influence on the prediction.

    `limit` is "below" or "above" where the value is only a limit; `measured` is the value as text, with a sign then.

    object: what was measured.
    value: its value, as told.
    influence: its weight in the prediction; negative where it speaks for the contrary.
    """

    object: Any
    value: float
    influence: float
    limit: str | None = None

    def __repr__(self) -> str:
        return f"Analogue({brief(self.object, 80)}, value={self.measured}, influence={self.influence:.3g})"

    @property
    def measured(self) -> str:
        """The value as text: 71, <0.1, >99."""
        return f"{SIGNS[self.limit]}{self.value:.4g}"


@dataclass(frozen=True)
class Expected:
    """What is expected of an outcome: mean, standard deviation, and the ends of the 95 % interval of the true value.

    mean, std: in the units of the outcome.
    low, high: the ends of the interval.
    """

    mean: float
    std: float
    low: float
    high: float


@dataclass(frozen=True)
class Suggestion:
    """An object to try next, and what is expected of it.

    `low` and `high` are the ends of the 95 % interval of the true value, `chance` is the probability to beat the best
    observation, `improvement` the expected gain over it, 0 where it is not beaten, in the units of the values. All
    numbers are None where the object was chosen to explore, as nothing or too little is measured; `chance` is None
    where all values are the same.

    With several outcomes `outcomes` has what is expected of each, by name, and `analogues` are by name, too;
    `chance_feasible` is the probability to keep to all constraints that were measured yet, and None where none was.
    With several objectives `chance` is the probability to enter the front, `improvement` the expected growth of the
    front's hypervolume, as a share of it, both on the models' scales, and the other numbers are None. With one
    objective they are those of the objective.

    id: the trial's number.
    object: what to try.
    mean, std: what is expected of its true value, and how uncertain that is.
    notes: where it comes from: `stage` is "initial" or "enqueued" where it is not the model's own choice.
    kind: what the study takes its objects for, such as "molecules".
    key: the object's name in its study.
    """

    id: int
    object: Any
    mean: float | None = None
    std: float | None = None
    chance: float | None = None
    improvement: float | None = None
    analogues: Any = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    outcomes: Mapping[str, Expected] = field(default_factory=dict)
    chance_feasible: float | None = None
    # What the study takes its objects for: molecules are drawn.
    kind: str = field(default="", repr=False, compare=False)
    # The object's name in its study, whatever becomes of the object in the user's hands.
    key: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, value in self._fields().items():
            if isinstance(value, Mapping) and name != "object":
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    def __hash__(self) -> int:
        # Its objects and notes may be anything; equal suggestions have one number.
        return hash(self.id)

    def __reduce__(self) -> Any:
        # What is shown read-only is sent as it is.
        sent = {n: dict(v) if isinstance(v, MappingProxyType) else v for n, v in self._fields().items()}
        return _again, (sent,)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        numbers = [(name, getattr(self, name)) for name in ("mean", "std", "chance", "improvement", "chance_feasible")]
        shown = [f"{name}={number:.4g}" for name, number in numbers if number is not None]
        outcomes = [f"{name}={expected.mean:.4g}" for name, expected in self.outcomes.items()]
        notes = [f"notes={brief(dict(self.notes), 80)}"] if self.notes else []
        return f"Suggestion({', '.join([str(self.id), brief(self.object), *shown, *outcomes, *notes])})"

    def _repr_html_(self) -> str:
        return Suggestions([self])._repr_html_()

    @property
    def means(self) -> dict[str, float]:
        """What is expected of each outcome, by name."""
        return {name: expected.mean for name, expected in self.outcomes.items()}

    @property
    def stds(self) -> dict[str, float]:
        """How uncertain that is, by name."""
        return {name: expected.std for name, expected in self.outcomes.items()}

    def __str__(self) -> str:
        what = brief(self.object)
        if self.outcomes:
            outcomes = (f"{name} {e.mean:.4g} ({e.low:.4g} to {e.high:.4g})" for name, e in self.outcomes.items())
            return f"try {what}: expect {', '.join(outcomes)}"
        if self.mean is None:
            return f"try {what}: it is unlike what was tried before"
        because = ", ".join(f"{brief(a.object, 60)} ({a.measured})" for a in self.analogues[:3])
        return f"try {what}: expect {self.mean:.4g} ({self.low:.4g} to {self.high:.4g}), because of {because}"


class Suggestions(list[Suggestion]):
    """Suggestions, which a notebook shows as a table; molecules are drawn."""

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for s in self for name in s.outcomes))
        rows = [
            (s.id, _picture(s), *(_expected(s.outcomes.get(name)) for name in names), *_numbers(s, names), _because(s))
            for s in self
        ]
        header = ["id", "object", *names, *([] if names else ["expected"]), "chance", "because of"]
        return html_table("", header, rows)


def _picture(s: Suggestion) -> str:
    drawn = draw_molecule(s.object) if s.kind == "molecules" and isinstance(s.object, str) else None
    return brief(s.object, 80) if drawn is None else drawn


def _expected(one: Any) -> str:
    return "" if one is None or one.mean is None else f"{one.mean:.4g} ({one.low:.4g} to {one.high:.4g})"


def _numbers(s: Suggestion, names: list[str]) -> tuple[Any, ...]:
    chance = "" if s.chance is None else f"{100 * s.chance:.0f} %"
    return (chance,) if names else (_expected(s), chance)


def _because(s: Suggestion) -> str:
    lists = s.analogues.values() if isinstance(s.analogues, Mapping) else [s.analogues]
    reasons = dict.fromkeys(f"{brief(a.object, 40)} ({a.measured})" for analogues in lists for a in analogues[:3])
    return ", ".join(reasons) or str(s.notes.get("stage", ""))


def _again(fields: Mapping[str, Any]) -> Suggestion:
    return Suggestion(**fields)
