"""Why something is suggested: which results speak for it, and which against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isinf
from typing import NamedTuple

import numpy as np

from likewise.campaign.display.naming import Names, names_of
from likewise.campaign.problem import Problem
from likewise.campaign.wording import difference
from likewise.study.goals import Limits
from likewise.study.suggestion import Analogue, Suggestion

BECAUSE = 3


class Reason(NamedTuple):
    """A result that speaks for a suggestion, or against it.

    like: whether the suggestion is expected to be as this result is, and not the other way round.
    high: whether the value is above the mean of all, or above the limit.
    """

    analogue: Analogue
    speaks_for: bool
    like: bool
    high: bool


@dataclass(frozen=True)
class Scale:
    """What the results of an outcome are held against: the mean of all, and which direction is good; or its limits."""

    typical: float = 0.0
    sign: float = 1.0
    limits: Limits | None = None

    def gain(self, value: float) -> float:
        """How much better a value is than the mean of all, or how far within the limits; negative if it is worse.

        >>> Scale(40.0, -1.0).gain(55.0), Scale(limits=Limits(-float("inf"), 2.0)).gain(0.5)
        (-15.0, 1.5)
        """
        if self.limits is None:
            return self.sign * (value - self.typical)
        return min(value - self.limits.low, self.limits.high - value)

    def is_high(self, value: float) -> bool:
        """Whether a value is above the mean of all, or above the limit."""
        if self.limits is None:
            return value > self.typical
        return value > (self.limits.low if isinf(self.limits.high) else self.limits.high)


@dataclass(frozen=True)
class Reasons:
    """Results in words: for or against a suggestion.

    scales: what results are held against, by outcome; under the empty name where there is one outcome without a name.
    names: what things are called.
    column: of an object that is no record.
    """

    scales: Mapping[str, Scale] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    column: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Reasons:
        """Those of a table."""
        sheet, goals = problem.sheet, problem.study.goals
        if sheet is None:
            return cls()
        scales = {}
        for outcome in goals.named_outcomes if goals.named else ("",):
            column = outcome or sheet.roles.value
            values = [sheet.results(i)[column] for i in sheet.measured if column in sheet.results(i)]
            limits = None if not outcome or outcome in goals.objectives else goals.constraints.get(outcome)
            sign = goals.sign(outcome or next(iter(goals.objectives)))
            scales[outcome] = Scale(float(np.mean(values)) if values else 0.0, sign, limits)
        return cls(scales, names_of(sheet), sheet.roles.objects[0])

    def moved(self, analogue: Analogue, outcome: str = "") -> float:
        """By how much a result makes a prediction better, or worse: its weight times what its value has over others."""
        return analogue.influence * self.scales.get(outcome, Scale()).gain(analogue.value)

    def side(self, analogue: Analogue, outcome: str = "") -> str:
        """Whether a result speaks for a suggestion or against it, in a word."""
        return "for" if self.moved(analogue, outcome) >= 0 else "against"

    def listed(self, suggestion: Suggestion, outcome: str = "", most: int = BECAUSE) -> list[Reason]:
        """The strongest reasons: what speaks for it first, then what speaks against it, each by its strength.

        Results of objects that the suggestion is unlike, with negative weights, are named only where there are no
        others.
        """
        found = suggestion.analogues[outcome] if isinstance(suggestion.analogues, Mapping) else suggestion.analogues
        found = tuple(a for a in found if a.influence >= 0) or found
        scale, moved = self.scales.get(outcome, Scale()), [(self.moved(a, outcome), a) for a in found]
        strongest = sorted(moved, key=lambda pair: -abs(pair[0]))[:most]
        ordered = sorted(strongest, key=lambda pair: (pair[0] < 0, -abs(pair[0])))
        return [Reason(a, by >= 0, a.influence >= 0, scale.is_high(a.value)) for by, a in ordered]

    def texts(self, suggestion: Suggestion, outcome: str = "") -> tuple[str, str]:
        """What speaks for a suggestion, and what against it, in words."""
        found = self.listed(suggestion, outcome)
        sides = ([self._worded(r, suggestion) for r in found if r.speaks_for is side] for side in (True, False))
        speaking, against = ("; ".join(texts) for texts in sides)
        return speaking, against

    def text(self, suggestion: Suggestion, outcome: str = "") -> str:
        """The reasons in words, with several outcomes those of each.

        >>> near, far = Analogue("CCO", 90.0, 0.5), Analogue("CCN", 6.0, 0.4)
        >>> print(Reasons({"": Scale(40.0)}).text(Suggestion(0, "CCC", 60.0, analogues=(far, near))))
        90 of CCO; against it: low 6 of CCN
        >>> goals = Reasons({"yield": Scale(40.0), "cost": Scale(20.0, -1.0)})
        >>> print(goals.text(Suggestion(0, "CCC", None, analogues={"yield": (near, far), "cost": (near,)})))
        yield: 90 of CCO; against it: low 6 of CCN. cost: against it: high 90 of CCO
        """
        if isinstance(suggestion.analogues, Mapping) and not outcome:
            each = {name: self.text(suggestion, name) for name in suggestion.analogues}
            return ". ".join(f"{name}: {text}" for name, text in each.items() if text)
        speaking, against = self.texts(suggestion, outcome)
        return "; ".join([*([speaking] if speaking else []), *([f"against it: {against}"] if against else [])])

    def _worded(self, reason: Reason, suggestion: Suggestion) -> str:
        value, what = reason.analogue.measured, self.beside(reason.analogue, suggestion)
        level = "" if reason.speaks_for and reason.like else "high " if reason.high else "low "
        return f"{level}{value} {what}{'' if reason.like else ', which is unlike it'}"

    def beside(self, analogue: Analogue, suggestion: Suggestion) -> str:
        """A measured object; of a record only what is different."""
        fields = difference(analogue.object, suggestion.object)
        if fields is None:
            return f"of {self.names.object(analogue.object, self.column)}"
        return f"with {self.names.object(fields)}"
