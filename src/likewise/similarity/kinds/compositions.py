"""Similarities of compositions: vectors of non-negative parts of which only the shares count, such as recipes.

An object is a sequence of non-negative numbers, not all zero, in any unit; its shares are p = x / Σ_k x_k. Both
similarities are differentiable in x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Linearised, LogNormal, Matrix, Normalised, Vector, check_widths
from likewise.similarity.kinds.vectors import Lengthscale, SquaredExponential, as_vectors, lengthscale_prior

Shares = tuple[Matrix, Vector]
LEAST_SHARE = 1e-6


def as_shares(objects: Sequence[Any]) -> Shares:
    """The shares of each composition, and its total.

    >>> as_shares([[1.0, 3.0]])[0]
    array([[0.25, 0.75]])
    """
    x = as_vectors(objects)
    for number in map(int, np.flatnonzero((x < 0).any(axis=1) | ~(x.sum(axis=1) > 0))):
        negative = np.flatnonzero(x[number] < 0)
        fault = f"part {negative[0]} is {x[number, negative[0]]:g}" if len(negative) else "all parts are zero"
        raise SimilarityError(
            f"composition {number} is not one, {fault}: {objects[number]!r}; give parts of 0 or more, one above 0"
        )
    total = x.sum(axis=1)
    return x / np.where(total > 0, total, 1.0)[:, None], total


def _through_shares(gradient: Matrix, shares: Shares) -> Matrix:
    """From a gradient in the shares to one in the parts: p = x/Σx has dp_k/dx_l = (1[k = l] − p_k)/Σx."""
    p, total = shares
    return (gradient - np.sum(gradient * p, axis=1)[:, None]) / total[:, None]


@dataclass(frozen=True)
class Hellinger(Normalised):
    """Σ_k √(p_k q_k), the Bhattacharyya coefficient, 1 − H² with Hellinger's distance H. PSD, from 0 to 1.

    Its slope is infinite where a share is zero and the other's is not; there it is taken at a share of 10⁻⁶, so that a
    search leaves the edge, with a long but finite step.

    >>> round(Hellinger()([1.0, 1.0], [9.0, 1.0]), 4)
    0.8944
    """

    kind = "compositions"
    compares = "overlap of the shares of a mixture"
    psd = True

    def encode(self, objects: Sequence[Any]) -> tuple[Matrix, Vector, Matrix]:
        """The shares, the total, and the square roots of the shares."""
        p, total = as_shares(objects)
        return p, total, np.sqrt(p)

    def between(self, a: Any, b: Any) -> Matrix:
        _check_parts(a[0], b[0])
        return np.asarray(a[2] @ b[2].T)

    def linearise(self, a: Any, b: Any) -> Linearised:
        def pull(weights: Matrix) -> Matrix:
            return _through_shares(0.5 * (weights @ b[2]) / np.sqrt(np.maximum(a[0], LEAST_SHARE)), a[:2])

        return self.between(a, b), pull


@dataclass(frozen=True, eq=False)
class Aitchison(SquaredExponential):
    """exp(−½ Σ_k (c_k − c'_k)²/ℓ_k²), c = log p − mean log p: an RBF kernel of Aitchison's centred log-ratios. PSD.

    A share of zero has no logarithm: `zero` is added to every share, (p_k + zero)/(1 + n zero), which is smooth and
    keeps the order of the parts; shares far below `zero` all look alike. One lengthscale, one per part, or None to
    leave it to the data; it is measured in log-ratios, which reach log(1 + 1/zero) between two parts.

    lengthscale: in log-ratios, one or one for each part; None (default) leaves it to the data.

    >>> kernel = Aitchison(lengthscale=2.0)
    >>> round(kernel([0.2, 0.3, 0.5], [0.5, 0.3, 0.2]), 4), round(kernel([2, 3, 5], [20, 30, 50]), 4)
    (0.8118, 1.0)
    """

    kind = "compositions"
    compares = "ratios of the shares of a mixture"
    lengthscale: Lengthscale = None
    zero: float = 1e-3

    def __post_init__(self) -> None:
        if not (np.isfinite(self.zero) and self.zero > 0):
            raise SimilarityError(f"Aitchison needs a positive zero, the share that stands for none, not {self.zero}")
        super().__post_init__()

    def encode(self, objects: Sequence[Any]) -> tuple[Matrix, Vector, Matrix]:
        """The shares, the total, and the centred log-ratios."""
        p, total = as_shares(objects)
        logs = np.log(p + self.zero)
        return p, total, logs - logs.mean(axis=1, keepdims=True) if logs.shape[1] else logs

    def _points(self, a: Any) -> Matrix:
        return cast(Matrix, a[2])

    def _check_pair(self, a: Any, b: Any) -> None:
        _check_parts(a[0], b[0])

    def linearise(self, a: Any, b: Any) -> Linearised:
        scores, pull = super().linearise(a, b)

        def pull_parts(weights: Matrix) -> Matrix:
            slope = pull(weights)
            centred = slope - slope.mean(axis=1, keepdims=True)
            return _through_shares(centred / (a[0] + self.zero), a[:2])

        return scores, pull_parts

    def _prior(self, dimension: int) -> LogNormal:
        """The prior of vectors in the unit cube, stretched to the range of the log-ratios."""
        unit = lengthscale_prior(dimension)
        return LogNormal(unit.location + float(np.log(np.log1p(1.0 / self.zero))), unit.scale)


def _check_parts(p: Matrix, q: Matrix) -> None:
    if len(p) and len(q):
        check_widths(p.shape[1], q.shape[1], "compositions", "parts", "give absent parts as 0")
