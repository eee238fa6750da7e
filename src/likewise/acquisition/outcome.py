"""An outcome as a score sees it: its committee with what is to be done with it, and what it has met so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.acquisition.improvement import HAIR, LogExpectedImprovement
from likewise.acquisition.scoring import Known
from likewise.model.committee import Committee
from likewise.model.comparison import Comparison
from likewise.similarity.base import Matrix, Vector

IMPROVEMENT = LogExpectedImprovement()
# Of some objects, by their identities.
Comparisons = dict[tuple[int, ...], Comparison]


@dataclass(frozen=True, eq=False)
class Outcome:
    """An outcome with a model: whether it is an objective, and its limits, if any, both on the model's scale.

    `reference` is what is no improvement any more, where the user has said so.
    """

    committee: Committee
    objective: bool
    limits: tuple[float, float] | None = None
    reference: float | None = None

    @property
    def improvement(self) -> LogExpectedImprovement:
        """What is expected beyond a value of this outcome."""
        return IMPROVEMENT.under(self.committee.ceiling)

    def without_ceiling(self) -> Outcome:
        """The outcome with values that may be anything."""
        committee = self.committee
        return replace(self, committee=replace(committee, transform=committee.transform.unbounded))


@dataclass(frozen=True, eq=False)
class Certain:
    """An objective that is known without a model: larger is better, in units of `scale`."""

    values: Known
    scale: float
    reference: float | None = None

    def scaled(self, values: Vector) -> Matrix:
        """The values as the means of one member."""
        return np.asarray(values, dtype=float)[None] / self.scale


def objects_of(committee: Committee) -> tuple[Any, ...]:
    """The observed objects, then those in flight."""
    waiting = next(iter(committee.waiting.values()), None)
    return committee.objects if waiting is None else waiting.objects


def places_of(committee: Committee) -> dict[int, int]:
    return {id(x): i for i, x in enumerate(objects_of(committee))}


def means_of(committee: Committee) -> Matrix:
    """Each member's mean at the observed objects, then at those in flight, of values that are not above the ceiling.

    What is in flight is still in doubt: of its values those above the ceiling lower the mean, E[min(f, c)].
    """
    means, ceiling = committee.observed_means(), committee.ceiling
    if committee.waiting:
        pending = committee.pending_means()
        if np.isfinite(ceiling):
            pending = pending - np.exp(IMPROVEMENT.score(pending, np.maximum(committee.pending_stds(), HAIR), ceiling))
        means = np.hstack([means, pending])
    return np.minimum(means, IMPROVEMENT.under(ceiling).top)


def wait(one: Outcome, objects: Sequence[Any], made: Comparisons | None = None) -> Outcome:
    """The outcome when these objects are in flight, but for those that it has already.

    `made` are the comparisons that other outcomes have made of the same objects.
    """
    met = places_of(one.committee)
    new = [x for x in objects if id(x) not in met]
    once = Comparison(new) if made is None else made.setdefault(tuple(map(id, new)), Comparison(new))
    return replace(one, committee=one.committee.with_pending(new, once))
