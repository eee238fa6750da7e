"""From goals and beliefs to a score: what is worth most where there are several outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.acquisition.fronts import layers
from likewise.acquisition.hypervolume import EXACT, spread_directions
from likewise.acquisition.joint import JointScorer
from likewise.acquisition.outcome import Certain, Outcome, wait
from likewise.acquisition.promise import Judgement
from likewise.acquisition.scorer import Scorer
from likewise.model.committee import Committee
from likewise.model.comparison import Comparison
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Generator
from likewise.study.goals import Computed, Goals
from likewise.study.methods.base import AllBeliefs, Told

# So many objects whose other outcomes are still to come count as in flight for these, the latest ones.
AWAITED = 64


@dataclass(frozen=True, eq=False)
class Signed:
    """A computed objective of which more is better; the same instance for a whole study, as pools keep its values."""

    computed: Computed

    def __call__(self, objects: Sequence[Any]) -> Vector:
        sign = 1.0 if self.computed.direction == "maximize" else -1.0
        return sign * self.computed.values(objects)


@dataclass(frozen=True, eq=False)
class JointGoals:
    """The goals of a study as a score."""

    goals: Goals
    signed: dict[str, Signed] = field(init=False)

    def __post_init__(self) -> None:
        found = {name: Signed(computed) for name, computed in sorted(self.goals.computed.items())}
        object.__setattr__(self, "signed", found)

    def scorer(self, beliefs: AllBeliefs, told: Told, rng: Generator, feasibility: Scorer | None = None) -> JointScorer:
        """The score by these beliefs; outcomes that were never measured do not count yet."""
        return JointScorer.on(*self._parts(beliefs, told), feasibility, self._directions(beliefs, rng))

    def judge(self, beliefs: AllBeliefs, told: Told, comparison: Comparison) -> Judgement:
        """What is to be said of objects by these beliefs."""
        directions = self._directions(beliefs, np.random.default_rng(0))
        return JointScorer.on(*self._parts(beliefs, told), directions=directions, settle=False).judge(comparison)

    def _parts(self, beliefs: AllBeliefs, told: Told) -> tuple[list[Outcome], list[Certain]]:
        """What is measured and what is computed."""
        outcomes = [
            wait(self._outcome(name, one.committee), awaited(told, name)) for name, one in sorted(beliefs.items())
        ]
        return outcomes, [self._certain(name, function, told) for name, function in self.signed.items()]

    def _directions(self, beliefs: AllBeliefs, rng: Generator) -> Matrix | None:
        objectives = sum(name in self.goals.objectives for name in beliefs) + len(self.signed)
        return spread_directions(objectives, rng) if objectives > EXACT else None

    def chance_feasible(self, beliefs: AllBeliefs, objects: Sequence[Any]) -> Vector:
        """The chance of each object to keep to all limits; those of outcomes that were never measured do not count."""
        limited = [name for name in sorted(beliefs) if name in self.goals.constraints]
        if not limited:
            return np.ones(len(objects))
        outcomes = tuple(self._outcome(name, beliefs[name].committee) for name in limited)
        # Without a front the chance leads, and no objective is looked at.
        return JointScorer(outcomes, (), (), None).judge(Comparison(objects)).feasible

    def _outcome(self, name: str, committee: Committee) -> Outcome:
        goals, sign, scale = self.goals, self.goals.sign(name), committee.transform
        limits = reference = None
        if name in goals.constraints:
            # A limit that no value can be beyond is none.
            (low, high), (least, most) = goals.constraints[name].signed(sign), scale.bounds
            low = -np.inf if low <= least else float(scale.forward(low))
            high = np.inf if high >= most else float(scale.forward(high))
            limits = None if np.isinf(low) and np.isinf(high) else (low, high)
        if name in goals.reference:
            reference = float(scale.forward(sign * goals.reference[name]))
        return Outcome(committee, name in goals.objectives, limits, reference)

    def _certain(self, name: str, function: Signed, told: Told) -> Certain:
        values = function(told.objects)
        scale = float(np.std(values)) or max(1.0, float(np.max(np.abs(values), initial=0.0)))
        given = self.goals.reference.get(name)
        sign = self.goals.sign(name)
        return Certain(function, scale, None if given is None else sign * given / scale)


def awaited(told: Told, name: str) -> list[Any]:
    """The latest objects of which other outcomes were told, and this one was not."""
    here = {id(x) for x in told.outcomes[name].objects}
    return [x for x in told.objects if id(x) not in here][-AWAITED:]


def best_first(told: Told, goals: Goals) -> list[Any]:
    """The measured objects, best first: by value, or by how many fronts lie before theirs."""
    measured = [name for name in goals.measured if name in told.outcomes]
    if not measured:
        return list(told.objects)
    if len(measured) == 1 and not goals.computed:
        data = told.outcomes[measured[0]]
        order = np.argsort(-data.values, kind="stable").tolist()
        met = {id(x) for x in data.objects}
        return [*(data.objects[i] for i in order), *(x for x in told.objects if id(x) not in met)]
    values, objects = _values(told, measured, goals)
    order = np.argsort(layers(values), kind="stable").tolist()
    met = {id(x) for x in objects}
    return [*(objects[i] for i in order), *(x for x in told.objects if id(x) not in met)]


def _values(told: Told, measured: Sequence[str], goals: Goals) -> tuple[Matrix, list[Any]]:
    """The objects of which all these outcomes were measured, and their values; larger is better."""
    each = [
        dict(zip(map(id, told.outcomes[n].objects), told.outcomes[n].values.tolist(), strict=True)) for n in measured
    ]
    objects = [x for x in told.objects if all(id(x) in values for values in each)]
    columns = [[values[id(x)] for x in objects] for values in each]
    columns += [Signed(computed)(objects).tolist() for _, computed in sorted(goals.computed.items())]
    return np.array(columns, dtype=float).T, objects
