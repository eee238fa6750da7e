"""A kernel of distributions by their maximum mean discrepancy, as AIRBO has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.tasks.base import Matrix, Vector


@dataclass(frozen=True)
class MMDKernel(lw.Similarity):
    """exp(−MMD²/2θ²), MMD² = k(x, x) + k(x', x') − 2 k(x, x') with k the `embedding`'s closed form. PSD.

    A `theta` of None is settled as the median MMD of the observed objects, and is 1 elsewhere.
    """

    theta: float | None = None
    embedding: lw.GaussianEmbedding = field(default_factory=lw.GaussianEmbedding)
    psd = True

    def encode(self, objects: Sequence[Any]) -> Any:
        return self.embedding.encode(objects)

    def between(self, a: Any, b: Any) -> Matrix:
        return self.linearise(a, b)[0]

    def within(self, a: Any) -> Vector:
        return np.ones(len(self.embedding.within(a)))

    def linearise(self, a: Any, b: Any) -> Any:
        """The scores, and their gradient in the parameters of `a`."""
        across, pull_across = self.embedding.linearise(a, b)
        selves, pull_selves = self.embedding.linearise_within(a)
        scale = 2.0 * (self.theta or 1.0) ** 2
        gaps = selves[:, None] + self.embedding.within(b)[None, :] - 2.0 * across
        scores = np.exp(-np.maximum(gaps, 0.0) / scale)

        def pull(weights: Matrix) -> Matrix:
            slopes = -weights * scores / scale
            return pull_selves(slopes.sum(axis=1)) + pull_across(-2.0 * slopes)

        return scores, pull

    def linearise_within(self, a: Any) -> Any:
        ones = self.within(a)
        width = self.embedding.linearise_within(a)[1](ones).shape[1]
        return ones, lambda weights: np.zeros((len(ones), width))

    def fitted(self, a: Any) -> lw.Similarity:
        if self.theta is not None:
            return self
        settled = self.embedding.fitted(a)
        assert isinstance(settled, lw.GaussianEmbedding)
        scores = settled.between(a, a)
        selves = np.diagonal(scores)
        gaps = (selves[:, None] + selves[None, :] - 2.0 * scores)[np.triu_indices(len(scores), 1)]
        typical = float(np.median(gaps[gaps > 0])) if np.any(gaps > 0) else 1.0
        return replace(self, embedding=settled, theta=typical**0.5)
