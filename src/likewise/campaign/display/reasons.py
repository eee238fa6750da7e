"""Why something is suggested: which results speak for it, and which against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from likewise.campaign.display.naming import Names, names_of
from likewise.campaign.problem import Problem
from likewise.campaign.wording import difference
from likewise.study.suggestion import Analogue, Suggestion

BECAUSE = 3


class Reason(NamedTuple):
    """A result that speaks for a suggestion, or against it.

    like: whether the suggestion is expected to be as this result is, and not the other way round.
    high: whether the value is above the mean of all.
    """

    analogue: Analogue
    speaks_for: bool
    like: bool
    high: bool


@dataclass(frozen=True)
class Reasons:
    """What results are held against: the mean of all values, which direction is good, and what things are called.

    column: of an object that is no record.
    """

    typical: float
    sign: float = 1.0
    names: Names = field(default_factory=Names)
    column: str = ""

    @classmethod
    def of(cls, problem: Problem) -> Reasons:
        """Those of a table."""
        sheet = problem.sheet
        if sheet is None:
            return cls(0.0)
        values = [value for i in sheet.measured if (value := sheet.values[i]) == value]
        sign = problem.study.goals.sign(next(iter(problem.study.goals.objectives)))
        return cls(float(np.mean(values)) if values else 0.0, sign, names_of(sheet), sheet.roles.objects[0])

    def listed(self, suggestion: Suggestion, most: int = BECAUSE) -> list[Reason]:
        """The strongest reasons: what speaks for it first, then what speaks against it, each by its strength.

        A result moves the prediction by its weight times what its value has over the mean of all. Results of objects
        that the suggestion is unlike, with negative weights, are named only where there are no others.
        """
        found = _analogues(suggestion)
        found = tuple(a for a in found if a.influence >= 0) or found
        moved = [(self.sign * a.influence * (a.value - self.typical), a) for a in found]
        strongest = sorted(moved, key=lambda pair: -abs(pair[0]))[:most]
        ordered = sorted(strongest, key=lambda pair: (pair[0] < 0, -abs(pair[0])))
        return [Reason(a, by >= 0, a.influence >= 0, a.value > self.typical) for by, a in ordered]

    def texts(self, suggestion: Suggestion) -> tuple[str, str]:
        """What speaks for a suggestion, and what against it, in words."""
        found = self.listed(suggestion)
        sides = ([self._worded(r, suggestion) for r in found if r.speaks_for is side] for side in (True, False))
        speaking, against = ("; ".join(texts) for texts in sides)
        return speaking, against

    def text(self, suggestion: Suggestion) -> str:
        """The reasons in words, with several outcomes those of each.

        >>> near, far = Analogue("CCO", 90.0, 0.5), Analogue("CCN", 6.0, 0.4)
        >>> print(Reasons(40.0).text(Suggestion(0, "CCC", 60.0, analogues=(far, near))))
        90 of CCO; against it: low 6 of CCN
        >>> print(Reasons(40.0).text(Suggestion(0, "CCC", None, analogues={"yield": (near, far), "cost": (far,)})))
        yield: 90 of CCO; 6 of CCN. cost: 6 of CCN
        """
        if isinstance(suggestion.analogues, Mapping):
            each = {name: self.outcome_text(suggestion, name) for name in suggestion.analogues}
            return ". ".join(f"{name}: {text}" for name, text in each.items() if text)
        speaking, against = self.texts(suggestion)
        return "; ".join([*([speaking] if speaking else []), *([f"against it: {against}"] if against else [])])

    def outcome_text(self, suggestion: Suggestion, outcome: str) -> str:
        """The two results that count most for one of several outcomes, in words."""
        return "; ".join(f"{a.measured} {self.beside(a, suggestion)}" for a in suggestion.analogues[outcome][:2])

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


def _analogues(suggestion: Suggestion) -> tuple[Analogue, ...]:
    """Those of the objective, which come first where there are several outcomes."""
    found = suggestion.analogues
    return next(iter(found.values()), ()) if isinstance(found, Mapping) else found
