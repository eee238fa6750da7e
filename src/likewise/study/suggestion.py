"""What a study answers: try this, I expect this much, between this and that, because it resembles these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Analogue:
    """A measured object that speaks for or against a suggestion, with its signed influence on the prediction."""

    object: Any
    value: float
    influence: float


@dataclass(frozen=True)
class Suggestion:
    """An object to try next, and what is expected of it.

    `low` and `high` are the ends of the 95 % interval of the true value, `chance` is the probability to beat the best
    observation, `improvement` the expected gain over it, 0 where it is not beaten, in the units of the values. All
    numbers are None while there is nothing to predict from.
    """

    id: int
    object: Any
    mean: float | None = None
    std: float | None = None
    chance: float | None = None
    improvement: float | None = None
    analogues: tuple[Analogue, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    # The object's name in its study, whatever becomes of the object in the user's hands.
    key: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        if self.mean is None:
            return f"try {self.object!r}: it is unlike what was tried before"
        because = ", ".join(f"{a.object!r} ({a.value:.4g})" for a in self.analogues[:3])
        return f"try {self.object!r}: expect {self.mean:.4g} ({self.low:.4g} to {self.high:.4g}), because of {because}"
