"""What a study would settle for: the objects of which most is expected, measured ones or any of the space.

The best observation may be the luckiest one; the largest expected value is what all observations together say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.acquisition.confidence import Mean
from likewise.acquisition.scorer import Scorer
from likewise.model.committee import Committee
from likewise.search.base import SearchState
from likewise.search.choose import choose_search
from likewise.similarity.base import Vector
from likewise.spaces.base import Generator, Space
from likewise.spaces.codec.copies import copied
from likewise.study.explanation import LEVEL
from likewise.study.observations import average_replicates
from likewise.study.trial import Trial
from likewise.tables.brief import brief


@dataclass(frozen=True)
class Recommendation:
    """An object of which much is expected.

    `mean` and `std` are what is expected of its true value, `low` and `high` the ends of the 95 % interval. `value` is
    what was measured, the mean of its replicates, and None for an object that was not.

    object: an object of the study's space.
    """

    object: Any
    mean: float
    std: float
    low: float
    high: float
    value: float | None = None

    def __repr__(self) -> str:
        return f"Recommendation({self})"

    def __str__(self) -> str:
        measured = "not measured" if self.value is None else f"measured {self.value:.4g}"
        return f"{brief(self.object)}: expect {self.mean:.4g} ({self.low:.4g} to {self.high:.4g}), {measured}"


def recommend(
    n: int, committee: Committee, told: Sequence[Trial], sign: float, elsewhere: Sequence[Any] = ()
) -> list[Recommendation]:
    """The `n` objects with the largest expected value, of the measured ones and of those elsewhere."""
    measured = average_replicates(told)
    objects = [*(trial.object for trial in measured), *elsewhere]
    believed = committee.predict(objects)
    users = believed if sign > 0 else believed.negate()
    low, high = users.interval(LEVEL)
    values = [*(trial.value for trial in measured), *(None for _ in elsewhere)]
    # Of equal ones what is measured comes first.
    best = np.argsort(-believed.mean, kind="stable")[:n].tolist()
    mean, std, start, end = (row.tolist() for row in (users.mean, users.std, low, high))
    return [Recommendation(copied(objects[i]), mean[i], std[i], start[i], end[i], values[i]) for i in best]


def expected_best(
    n: int, space: Space, committee: Committee, told: Sequence[Trial], failed: Sequence[Any], rng: Generator
) -> list[Any]:
    """Objects of the space that were not measured, at the peaks of the mean, highest first."""
    search = choose_search(space, differentiable=committee.differentiable).thorough()
    taken = space.excluded | {space.key(x) for x in [*failed, *(trial.object for trial in told)]}
    observed = [told[i].object for i in np.argsort(-_means(committee, told), kind="stable").tolist()]
    state = SearchState(space, observed, taken, rng)
    found = search.equilibria(Scorer.on(committee, Mean()), state)
    return found.objects[:n]


def _means(committee: Committee, told: Sequence[Trial]) -> Vector:
    return committee.predict([trial.object for trial in told]).mean
