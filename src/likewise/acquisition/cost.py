"""Worth for money: a score per unit of what an object costs, of those that can still be afforded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.acquisition.base import Care
from likewise.acquisition.scorer import Scorer
from likewise.acquisition.scoring import Known, Moments, Rows, Scoring, Selves
from likewise.errors import LikewiseError
from likewise.model.committee import Committee
from likewise.similarity.base import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Priced(Scoring):
    """log u(x) − log cost(x) where cost(x) is not more than what is `left`, and −∞ elsewhere.

    Where it does not divide, log u(x) of those that can be afforded.
    """

    inner: Scoring
    costs: Known
    left: float
    divides: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.inner, Scorer) and not self.inner.acquisition.logarithmic:
            raise LikewiseError(
                f"{self.inner.acquisition!r} is no gain that could be divided by a cost; "
                "leave acquisition out, or give LogExpectedImprovement()"
            )

    @property
    def feasibility(self) -> Scorer | None:  # type: ignore[override]
        return self.inner.feasibility

    @property
    def committees(self) -> tuple[Committee, ...]:
        return self.inner.committees

    @property
    def known(self) -> tuple[Known, ...]:
        return (*self.inner.known, self.costs)

    def score(self, objects: Sequence[Any]) -> Vector:
        return self._per_cost(self.inner.score(objects), self.costs(objects))

    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        raise AssertionError("a cost has no gradient")

    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        return self._per_cost(self.inner.score_moments(moments, known[:-1]), known[-1])

    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        return self._per_cost(self.inner.bound_moments(moments, known[:-1], care=care), known[-1])

    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        return self.inner.hide_known(score, moments, rows, selves)

    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        return self.inner.lower(score, log_chance)

    def with_pending(self, objects: Sequence[Any]) -> Priced:
        return replace(self, inner=self.inner.with_pending(objects))

    def spend(self, objects: Sequence[Any]) -> Priced:
        """What is left when these objects are bought, which are then in flight."""
        return replace(self.with_pending(objects), left=self.left - float(np.sum(self.costs(objects))))

    def log_gains(self, objects: Sequence[Any], scores: Vector) -> Vector:
        """log u(x) of objects with these scores."""
        return scores + self._divisor(self.costs(objects))

    def extends(self, earlier: Scoring) -> bool:
        return (
            isinstance(earlier, Priced)
            and self.divides == earlier.divides
            and self.costs == earlier.costs
            and self.left <= earlier.left
            and self.inner.extends(earlier.inner)
        )

    def lean(self) -> Priced:
        return replace(self, inner=self.inner.lean(), costs=_absent)

    def _per_cost(self, score: Vector, costs: Vector) -> Vector:
        # A hair more, so that what costs exactly what is left can be afforded.
        return np.where(costs <= self.left * (1.0 + 1e-12), score - self._divisor(costs), -np.inf)

    def _divisor(self, costs: Vector) -> Vector:
        return np.log(costs) if self.divides else np.zeros_like(costs)


def _absent(objects: Sequence[Any]) -> Vector:
    raise AssertionError("costs come with the rows")
