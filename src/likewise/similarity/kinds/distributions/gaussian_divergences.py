"""How alike two Gaussians are, by divergences that have closed forms (Section 4 of the paper).

The forms of diagonal Gaussians are here; those of whole covariance matrices are in `covariances.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.similarity.base import Linearised, Matrix
from likewise.similarity.kinds.distributions import covariances
from likewise.similarity.kinds.distributions.covariances import Columns, Gaussians
from likewise.similarity.kinds.distributions.gaussian_similarity import GaussianDivergence, split
from likewise.similarity.kinds.vectors import squared_distances

# Factors that are multiplied before a logarithm is taken of their product, which is far dearer.
AT_ONCE = 8


@dataclass(frozen=True)
class SymmetricKL(GaussianDivergence):
    """constant − D_SYM, the paper's similarity, or exp(−D_SYM/ℓ). Neither is PSD.

    D_SYM = ½KL(p‖p') + ½KL(p'‖p) = ¼Σ(σ/σ' + σ'/σ − 2) + ¼Σ(μ − μ')²(1/σ + 1/σ'), which is zero for equal Gaussians
    (the printed sum lacks the −2, so its constant is this one plus d/2). D_SYM is unbounded: in a `Gaussians` space
    `divergence_bound` is the smallest constant that keeps constant − D_SYM non-negative, and a study there uses no
    smaller one.
    ∇_μ D_SYM = ½(μ − μ')(1/σ + 1/σ') and ∇_σ D_SYM = ¼(1/σ' − σ'/σ²) − ¼(μ − μ')²/σ²; the last term is printed with
    the other sign.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.
    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.distributions.gaussian import Gaussian
    >>> SymmetricKL(constant=2.0)(Gaussian(0.0, 1.0), Gaussian(1.0, 1.0))
    1.5
    """

    compares = "symmetric Kullback–Leibler divergence"
    lengthscale: float | None = None
    constant: float | None = None
    full: bool = False

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        # 2 KL(p‖p') + log-ratio = Σ (σ + (μ − μ')²)/σ' − 1, expanded so that it is one matrix product each way.
        (mean, variance), (mean_b, variance_b) = split(a), split(b)
        centre = mean_b.mean(axis=0)
        mean, mean_b = mean - centre, mean_b - centre
        left = np.hstack([moments(mean, variance), precisions(mean, variance)])
        right = np.hstack([precisions(mean_b, variance_b), moments(mean_b, variance_b)])

        def pull(weights: Matrix) -> Matrix:
            w = weights.sum(axis=1)[:, None]
            shift = w * mean - weights @ mean_b
            pressed = mean * (weights @ (1.0 / variance_b)) - weights @ (mean_b / variance_b)
            spread = weights @ (variance_b + mean_b**2) + w * mean**2 - 2.0 * mean * (weights @ mean_b)
            in_variance = 0.25 * (weights @ (1.0 / variance_b) - spread / variance**2)
            return np.hstack([0.5 * (shift / variance + pressed), in_variance])

        return 0.25 * (left @ right.T) - 0.5 * mean.shape[1], pull

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return covariances.symmetric_kl(a, b)


def moments(mean: Matrix, variance: Matrix | float) -> Matrix:
    """One factor of Σ (σ + (μ − μ')²)/σ', whose other one is `precisions`."""
    return np.hstack([variance + mean**2, -2.0 * mean, np.ones((len(mean), 1))])


def precisions(mean: Matrix, variance: Matrix) -> Matrix:
    """The other factor of Σ (σ + (μ − μ')²)/σ', in (μ', σ')."""
    return np.hstack([1.0 / variance, mean / variance, np.sum(mean**2 / variance, axis=1, keepdims=True)])


def summed(a: Matrix, b: Matrix, square: float, weight: float, unit: Callable[[int], Any]) -> Linearised:
    """weight · Σ (μ − μ')²/s + ½ Σ log(s/unit), with s = square + σ + σ', and its gradient in rows (μ, σ)."""
    (mean, variance), (mean_b, variance_b) = split(a), split(b)
    d = mean.shape[1]

    def both(k: int) -> Any:
        return np.add.outer(square + variance[:, k], variance_b[:, k])

    total, volume = np.zeros((len(a), len(b))), np.ones((len(a), len(b)))
    for k in range(d):
        s = both(k)
        total += 2.0 * weight * np.subtract.outer(mean[:, k], mean_b[:, k]) ** 2 / s
        s /= unit(k)
        volume *= s
        if (k + 1) % AT_ONCE == 0 or k == d - 1:
            total += np.log(volume)
            volume.fill(1.0)

    def pull(weights: Matrix) -> Matrix:
        gradient = np.empty((len(a), 2 * d))
        for k in range(d):
            s = both(k)
            pressed = np.subtract.outer(mean[:, k], mean_b[:, k]) / s
            gradient[:, k] = 2.0 * weight * np.einsum("ij,ij->i", weights, pressed)
            gradient[:, d + k] = np.einsum("ij,ij->i", weights, 0.5 / s - weight * pressed**2)
        return gradient

    return 0.5 * total, pull


@dataclass(frozen=True)
class Bhattacharyya(GaussianDivergence):
    """∫√(p p') dω = exp(−D_B), the overlap of two Gaussians, in (0, 1]. PSD: an inner product of √p and √p'.

    D_B = Σ ¼(μ − μ')²/(σ + σ') + ½ log((σ + σ')/2) − ¼ log σ − ¼ log σ'. It has no scale to settle: how local it is,
    a warp says.

    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.distributions.gaussian import Gaussian
    >>> round(Bhattacharyya()(Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)), 4)
    0.6065
    """

    compares = "overlap of two Gaussians"
    full: bool = False
    lengthscale = 1.0
    constant = None

    psd = True

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        # The logarithms are of the ratios of the variances' arithmetic to their geometric means.
        roots, roots_b = np.sqrt(split(a)[1]), np.sqrt(split(b)[1])
        distances, pull = summed(a, b, 0.0, 0.25, lambda k: 2.0 * np.multiply.outer(roots[:, k], roots_b[:, k]))

        def pull_all(weights: Matrix) -> Matrix:
            gradient = pull(weights)
            gradient[:, roots.shape[1] :] -= 0.25 * weights.sum(axis=1)[:, None] / roots**2
            return gradient

        return distances, pull_all

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return covariances.bhattacharyya(a, b)


@dataclass(frozen=True)
class Wasserstein2(GaussianDivergence):
    """exp(−W²/ℓ) or constant − W², with W the 2-Wasserstein distance: how far mass must move.

    The *square* is used: it is smooth where Gaussians meet. W² = ‖μ − μ'‖² + Σ(√σ − √σ')² is a squared Euclidean
    distance, so exp(−W²/ℓ) is PSD for diagonal Gaussians; it is not for full covariances, where
    W² = ‖μ − μ'‖² + tr(Σ + Σ' − 2(Σ'^½ Σ Σ'^½)^½).

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.
    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.distributions.gaussian import Gaussian
    >>> Wasserstein2(constant=10.0)(Gaussian(0.0, 1.0), Gaussian(2.0, 4.0))
    5.0
    """

    compares = "how far mass must move"
    lengthscale: float | None = None
    constant: float | None = None
    full: bool = False

    @property
    def psd(self) -> bool:
        return self.constant is None and not self.full

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        d = a.shape[1] // 2
        points, points_b = (np.hstack([x[:, :d], np.sqrt(x[:, d:])]) for x in (a, b))

        def pull(weights: Matrix) -> Matrix:
            gradient = 2.0 * (weights.sum(axis=1)[:, None] * points - weights @ points_b)
            gradient[:, d:] *= 0.5 / points[:, d:]
            return gradient

        return squared_distances(points, points_b), pull

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return covariances.wasserstein2(a, b)
