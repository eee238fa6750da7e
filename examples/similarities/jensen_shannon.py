"""Two similarities of your own: the Jensen–Shannon divergence of Gaussians by quadrature, and its geometric cousin.

A divergence of Gaussians gives its value and its gradient in (μ, σ); `GaussianDivergence` makes a similarity of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from likewise.similarity.base import Matrix, Pullback, Vector, check_whole
from likewise.similarity.kinds import gaussians
from likewise.similarity.kinds.gaussians import (
    Bhattacharyya,
    Columns,
    GaussianDivergence,
    Gaussians,
    SymmetricKL,
    moments,
    precisions,
    split,
)

FACTORS = 1000  # each is at most 2, so their product stays finite


@dataclass(frozen=True)
class GeometricJensenShannon(GaussianDivergence):
    """The Jensen–Shannon divergence with the geometric mean G ∝ √(p p') in place of the mixture. Not PSD.

    ½KL(p‖G) + ½KL(p'‖G) = ½D_SYM − D_B: G is a Gaussian again, so there is a closed form. Unlike `JensenShannon` it is
    unbounded. By default exp(−d/ℓ); with a `constant`, constant − d.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> round(GeometricJensenShannon(lengthscale=1.0)(Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)), 4)
    0.6065
    """

    lengthscale: float | None = None
    constant: float | None = None
    full: bool = False

    def __post_init__(self) -> None:
        self.check_scale()

    def _diagonal(self, a: Matrix, b: Matrix) -> tuple[Matrix, Pullback]:
        (kl, pull_kl), (overlap, pull_overlap) = SymmetricKL()._diagonal(a, b), Bhattacharyya()._diagonal(a, b)
        return 0.5 * kl - overlap, lambda weights: 0.5 * pull_kl(weights) - pull_overlap(weights)

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        both = zip(gaussians.symmetric_kl(a, b), gaussians.bhattacharyya(a, b), strict=True)
        return ((0.5 * kl - overlap, 0.5 * g - h, 0.5 * G - H) for (kl, g, G), (overlap, h, H) in both)


@dataclass(frozen=True)
class JensenShannon(GaussianDivergence):
    """exp(−d/ℓ) or constant − d, d = ½KL(p‖m) + ½KL(p'‖m) with the mixture m = ½(p + p'). For diagonal Gaussians.

    The mixture of two Gaussians is no Gaussian, and there is no closed form. Both expectations are averages over the
    same evenly spread `points` ε, ω = μ + √σ·ε: deterministic, smooth in (μ, σ), zero for equal Gaussians, and the
    gradient is that of the average itself. The divergence proper is preferred to `GeometricJensenShannon`, as it is at
    most log 2 (so `constant=np.log(2)` keeps constant − d non-negative) and exp(−d/ℓ) is PSD. The average has these up
    to its error: with 128 points 0.002 in one dimension, 0.006 in two, 0.014 in five (root mean square).

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> round(JensenShannon(constant=np.log(2.0))(Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)), 2)
    0.35
    """

    lengthscale: float | None = None
    constant: float | None = None
    points: int = 128

    def __post_init__(self) -> None:
        self.check_scale()
        check_whole(self.name, "points", self.points)

    @property
    def _for_full(self) -> str:
        return "GeometricJensenShannon(full=True)"

    def _diagonal(self, a: Matrix, b: Matrix) -> tuple[Matrix, Pullback]:
        noise = _noise(self.points, a.shape[1] // 2)
        total = _softplus_sum(-r for _, here, there in _ratios(a, b, noise) for r in (here, there))

        def pull(weights: Matrix) -> Matrix:
            return _pulled(a, b, noise, weights) / (2.0 * self.points)

        return np.log(2.0) - total / (2.0 * self.points), pull


@lru_cache(maxsize=8)
def _noise(points: int, dimension: int) -> Matrix:
    """Evenly spread points of the standard normal, shape (points, d).

    A grid in the first entry and a Kronecker sequence on the generalised golden ratio in the others, through the
    normal's quantiles.
    """
    from scipy.special import ndtri

    golden = 2.0
    for _ in range(64):
        golden = (1.0 + golden) ** (1.0 / dimension)
    steps = golden ** -np.arange(1.0, dimension)
    order = np.arange(points)[:, None]
    uniform = np.hstack([(order + 0.5) / points, (0.5 + order * steps) % 1.0])
    return np.asarray(ndtri(uniform), dtype=float)


def _ratios(a: Matrix, b: Matrix, noise: Matrix) -> Iterator[tuple[Vector, Matrix, Matrix]]:
    """For each ε: log p_i/p_j at a_i's ω, and log p_j/p_i at b_j's ω, matrices of shape (n, m)."""
    centre = np.hstack([split(b)[0].mean(axis=0), np.zeros(b.shape[1] // 2)])
    (mean, variance), (mean_b, variance_b) = split(a - centre), split(b - centre)
    volume = 0.5 * np.subtract.outer(np.log(variance).sum(axis=1), np.log(variance_b).sum(axis=1))
    precision, precision_b = precisions(mean, variance), precisions(mean_b, variance_b)
    for e in noise:
        own = 0.5 * float(e @ e)
        omega, omega_b = mean + np.sqrt(variance) * e, mean_b + np.sqrt(variance_b) * e
        here = 0.5 * moments(omega, 0.0) @ precision_b.T - volume - own
        there = 0.5 * precision @ moments(omega_b, 0.0).T + volume - own
        yield e, here, there


def _softplus_sum(exponents: Iterable[Matrix]) -> Matrix:
    """Σ log(1 + eˣ) = Σ max(x, 0) + log Π(1 + e^−|x|), with one logarithm for many factors."""
    total, product = np.zeros(()), np.ones(())
    for number, x in enumerate(exponents, start=1):
        total = total + np.maximum(x, 0.0)
        product = product * (1.0 + np.exp(-np.abs(x)))
        if number % FACTORS == 0:
            total, product = total + np.log(product), np.ones(())
    return np.asarray(total + np.log(product))


def _pulled(a: Matrix, b: Matrix, noise: Matrix, weights: Matrix) -> Matrix:
    """The gradient of the sum, by the chain rule through the log-ratios and through ω = μ + √σ·ε."""
    (mean, variance), (mean_b, variance_b) = split(a), split(b)
    d, root = mean.shape[1], np.sqrt(variance)
    total = np.zeros_like(a)
    for e, here, there in _ratios(a, b, noise):
        near, far = weights * _logistic(-here), weights * _logistic(-there)
        omega, omega_b = mean + root * e, mean_b + np.sqrt(variance_b) * e
        pressed = omega * (near @ (1.0 / variance_b)) - near @ (mean_b / variance_b)
        far_sum = far.sum(axis=1)[:, None]
        shift = far_sum * mean - far @ omega_b
        square = far @ omega_b**2 - 2.0 * mean * (far @ omega_b) + far_sum * mean**2
        total[:, :d] += pressed + shift / variance
        total[:, d:] += 0.5 * ((far_sum - near.sum(axis=1)[:, None]) / variance + pressed * e / root)
        total[:, d:] -= 0.5 * square / variance**2
    return total


def _logistic(x: Matrix) -> Matrix:
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(-x, 700.0))))
