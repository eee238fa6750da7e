"""What similarities of Gaussians share: how they are encoded, and what their gradients are in.

Diagonal Gaussians are encoded as rows (μ, σ) and have gradients in these numbers, in this order. With `full=True` a
similarity compares whole covariance matrices (`covariances.py`); gradients are then in μ and in the log-Cholesky
coordinates of Σ (`cholesky.py`). A `Gaussians` space says which of the two its members need.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Linearised, Matrix, Similarity
from likewise.similarity.checks import check_widths
from likewise.similarity.distance import DistanceSimilarity
from likewise.similarity.encodings.arrays import Encoding, count
from likewise.similarity.kinds.distributions import cholesky
from likewise.similarity.kinds.distributions.covariances import Columns, Gaussians
from likewise.similarity.kinds.distributions.gaussian import Gaussian


class GaussianSimilarity(Similarity):
    """A similarity of Gaussians made from a function d of two of them that has a closed form, with its gradient."""

    kind = "Gaussians"
    full: bool = False

    @abstractmethod
    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        """d(a_i, b_j), and the map W ↦ Σ_j W_ij ∇d(a_i, b_j) in (μ, σ), for rows (μ, σ)."""

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        """For each b_j: d(a_i, b_j) and its gradients in a_i's μ and Σ, for whole covariances."""
        raise NotImplementedError  # pragma: no cover

    @property
    def _for_full(self) -> str:
        """What to use for full covariances."""
        return f"{self.name}(full=True)"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        self._check(objects)
        n, d = len(objects), objects[0].dimension if len(objects) else 0
        means = np.array([x.mean for x in objects], dtype=float).reshape(n, d)
        if self.full:
            return means, np.array([x.covariance for x in objects], dtype=float).reshape(n, d, d)
        return np.hstack([means, np.array([x.variance for x in objects], dtype=float).reshape(n, d)])

    def _check(self, objects: Sequence[Any]) -> None:
        d = objects[0].dimension if len(objects) and isinstance(objects[0], Gaussian) else 0
        for number, x in enumerate(objects):
            # Trajectories encode thousands of Gaussians an ask: one test for what is as it should be.
            if isinstance(x, Gaussian) and len(x.mean) == d and (self.full or x.variance.ndim == 1):
                continue
            if not isinstance(x, Gaussian):
                raise SimilarityError(f"{self.name} compares Gaussians; object {number} is {x!r}")
            if x.dimension != d:
                raise SimilarityError(
                    f"object {number} is a Gaussian of {x.dimension} dimensions where the first one has {d}: {x!r}; "
                    "Gaussians that are compared need one dimension"
                )
            raise SimilarityError(
                f"object {number} has a full covariance: {x!r}; use {self._for_full}, or give variances alone"
            )

    def _linearised(self, a: Encoding, b: Encoding) -> Linearised:
        if not (count(a) and count(b)):
            return np.zeros((count(a), count(b))), lambda weights: np.zeros((count(a), self._width(a)))
        width, other = self._dimension(a), self._dimension(b)
        check_widths(width, other, "Gaussians", "dimensions", "Gaussians that are compared need one dimension")
        distances, pull = self._from_columns(a, b) if self.full else self._diagonal(a, b)
        return np.maximum(distances, 0.0), pull

    def _from_columns(self, a: Gaussians, b: Gaussians) -> Linearised:
        def pull(weights: Matrix) -> Matrix:
            in_mean, in_covariance = np.zeros_like(a[0]), np.zeros_like(a[1])
            for w, (_, mean, covariance) in zip(weights.T, self._columns(a, b), strict=True):
                in_mean += w[:, None] * mean
                in_covariance += w[:, None, None] * covariance
            return np.hstack([in_mean, cholesky.pull(a[1], in_covariance)])

        return np.stack([distances for distances, *_ in self._columns(a, b)], axis=1), pull

    def _dimension(self, a: Encoding) -> int:
        return int(a[0].shape[1]) if self.full else int(a.shape[1]) // 2

    def _width(self, a: Encoding) -> int:
        d = self._dimension(a)
        return d + cholesky.count(d) if self.full else 2 * d


class GaussianDivergence(GaussianSimilarity, DistanceSimilarity):
    """A similarity made from a divergence of Gaussians, which is zero for equal ones."""

    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        return self._linearised(a, b)[0]

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        distances, pull = self._linearised(a, b)
        return self.scores(distances), lambda weights: pull(weights * self.slopes(distances))


def split(a: Matrix) -> tuple[Matrix, Matrix]:
    """Means and variances of rows (μ, σ)."""
    d = a.shape[1] // 2
    return a[:, :d], a[:, d:]
