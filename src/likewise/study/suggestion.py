"""What a study answers: try this, I expect this much, between this and that, because it resembles these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from likewise.figures.markup import draw_molecule, html_table
from likewise.study.trial import SIGNS
from likewise.tables.brief import brief


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
    front's hypervolume, as a share of it, and the other numbers are None. With one objective they are those of the
    objective.

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
        each = [f"{name}={expected.mean:.4g}" for name, expected in self.outcomes.items()]
        notes = [f"notes={brief(dict(self.notes), 80)}"] if self.notes else []
        return f"Suggestion({', '.join([str(self.id), brief(self.object), *shown, *each, *notes])})"

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
            each = (f"{name} {e.mean:.4g} ({e.low:.4g} to {e.high:.4g})" for name, e in self.outcomes.items())
            return f"try {what}: expect {', '.join(each)}"
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
    found = dict.fromkeys(f"{brief(a.object, 40)} ({a.measured})" for each in lists for a in each[:3])
    return ", ".join(found) or str(s.notes.get("stage", ""))


def _again(fields: Mapping[str, Any]) -> Suggestion:
    return Suggestion(**fields)
