"""A score for any object: the committee's members score it, and their scores are averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.influence.committee import Committee
from likewise.similarity.base import Differentiable, Matrix, Pullback, Vector


@dataclass(frozen=True, eq=False)
class Scorer:
    """An acquisition on a committee; `best` is the best value so far on the model's scale."""

    committee: Committee
    acquisition: Acquisition
    best: float
    feasibility: Committee | None = None

    def score(self, objects: Sequence[Any]) -> Vector:
        """The worth of each object."""
        encodings = self.committee.encode(objects)
        score = self.score_rows(self.committee.rows(encodings), self.committee.selves(encodings))
        return score if self.feasibility is None else self.weighed(score, objects)

    def score_rows(self, rows: Mapping[int, Matrix], selves: Mapping[int, Vector]) -> Vector:
        """The worth of objects whose scores with the observed ones are at hand."""
        means, variances = self.committee.moments(rows, selves)
        scores = self.acquisition.score(means, np.sqrt(variances), self.best)
        return self.acquisition.averaged(scores, self.committee.weights)[0]

    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        """The worth of each object, and its gradient in the object's vector when asked for.

        The gradient is one pullback from the score through members and likenesses to the object.
        """
        committee = self.committee
        encodings = committee.encode(objects)
        rows, selves, row_pulls, self_pulls = self._linearised_rows(encodings)
        means, variances = committee.moments(rows, selves)
        stds = np.sqrt(variances)
        slopes = self.acquisition.slopes(means, stds, self.best)
        score, shares = self.acquisition.averaged(slopes.score, committee.weights)

        def gradient() -> Matrix:
            on_rows: dict[int, Any] = {}
            on_selves: dict[int, Any] = {}
            for i, member in enumerate(committee.members):
                in_variance = shares[i] * slopes.in_std[i] / (2.0 * stds[i])
                mixed, own = member.recipe.scores(rows), member.recipe.scores(selves)
                row_slope, self_slope = member.model.pull(mixed, own, shares[i] * slopes.in_mean[i], in_variance)
                for k, w in member.recipe.pull(rows, row_slope).items():
                    on_rows[k] = on_rows.get(k, 0.0) + w
                for k, w in member.recipe.pull(selves, self_slope).items():
                    on_selves[k] = on_selves.get(k, 0.0) + w
            return cast(Matrix, sum(row_pulls[k](on_rows[k]) + self_pulls[k](on_selves[k]) for k in on_rows))

        return (score if self.feasibility is None else self.weighed(score, objects)), gradient

    def _linearised_rows(
        self, encodings: Mapping[int, Any]
    ) -> tuple[dict[int, Matrix], dict[int, Vector], dict[int, Pullback], dict[int, Pullback]]:
        rows, selves, row_pulls, self_pulls = {}, {}, {}, {}
        for k, encoding in encodings.items():
            gram = self.committee.grams[k]
            similarity = cast(Differentiable, gram.similarity)
            selves[k], self_pulls[k] = similarity.linearise_within(encoding)
            rows[k], row_pulls[k] = similarity.linearise(encoding, gram.encodings)
            if self.committee.waiting:
                rows[k], row_pulls[k] = _beside(
                    rows[k], row_pulls[k], *similarity.linearise(encoding, self.committee.waiting[k])
                )
        return rows, selves, row_pulls, self_pulls

    def weighed(self, score: Vector, objects: Sequence[Any]) -> Vector:
        """The score lowered where objects like these have failed."""
        assert self.feasibility is not None
        chance = np.clip(self.feasibility.predict(objects).mean, 0.01, 1.0)
        return score + np.log(chance) if self.acquisition.logarithmic else score - (1.0 - chance) * np.abs(score)

    def with_pending(self, objects: Sequence[Any]) -> Scorer:
        """The scorer when these objects are in flight: less variance near them, and their means as values to beat."""
        without = self.committee.with_pending(())
        if not len(objects):
            return replace(self, committee=without)
        encodings = without.encode(objects)
        means, _ = without.moments(without.rows(encodings), without.selves(encodings))
        best = max(self.best, float((without.weights @ means).max()))
        return replace(self, committee=without.with_pending(objects), best=best)


def _beside(left: Matrix, pull_left: Pullback, right: Matrix, pull_right: Pullback) -> tuple[Matrix, Pullback]:
    """Two blocks of columns as one."""
    t = left.shape[1]
    return np.hstack([left, right]), lambda w: pull_left(w[:, :t]) + pull_right(w[:, t:])
