"""How alike two Gaussians are for whoever takes expectations under them.

    k(x, x') = E exp(−½‖ω − ω'‖²/ℓ²),  ω ~ x and ω' ~ x' independent
             = |I + (Σ + Σ')/ℓ²|^(−½) exp(−½ δᵀ(ℓ²I + Σ + Σ')⁻¹δ),  δ = μ − μ',

the inner product of the two mean embeddings. If an integrand f is a draw from a Gaussian process with the RBF kernel,
this is the covariance of E_x f and E_x' f: a measured expectation tells of f where the Gaussian has its mass, narrow
Gaussians vary more than wide ones, and what a wide one averages over the narrow ones within it resolve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from likewise.similarity.base import Linearised, Matrix, Similarity, Vector
from likewise.similarity.checks import check_positive
from likewise.similarity.distance import FITTED_ON, median_distance
from likewise.similarity.encodings.arrays import Encoding, count, take
from likewise.similarity.kinds.distributions import cholesky, covariances
from likewise.similarity.kinds.distributions.covariances import Columns, Gaussians
from likewise.similarity.kinds.distributions.gaussian_divergences import summed
from likewise.similarity.kinds.distributions.gaussian_similarity import GaussianSimilarity, split
from likewise.similarity.kinds.vectors import squared_distances


@dataclass(frozen=True)
class GaussianEmbedding(GaussianSimilarity):
    """E exp(−½‖ω − ω'‖²/ℓ²) for ω and ω' drawn from either Gaussian: the covariance of two expectations. PSD.

    ℓ is how far one has to go for the integrand to change. A `lengthscale` of None is settled as the median distance of
    the observed Gaussians' means in a study (of a mean to its Gaussian's draws where all means are one), and is 1
    elsewhere.

    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.distributions.gaussian import Gaussian
    >>> wide, narrow = Gaussian(0.0, 4.0), Gaussian(0.0, 0.01)
    >>> alike = GaussianEmbedding(lengthscale=1.0)
    >>> [round(alike(*pair), 3) for pair in ((narrow, narrow), (narrow, wide), (wide, wide))]
    [0.99, 0.447, 0.333]
    """

    compares = "how alike expectations under them are"
    lengthscale: float | None = None
    full: bool = False

    def __post_init__(self) -> None:
        check_positive(self.name, "lengthscale", self.lengthscale)

    psd = True

    @property
    def _square(self) -> float:
        return (self.lengthscale or 1.0) ** 2

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return np.asarray(np.exp(-self._linearised(a, b)[0]))

    def within(self, a: Encoding) -> Vector:
        return self.linearise_within(a)[0]

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        exponents, pull = self._linearised(a, b)
        scores = np.exp(-exponents)
        return scores, lambda weights: pull(-weights * scores)

    def linearise_within(self, a: Encoding) -> Linearised:
        """|I + 2Σ/ℓ²|^(−½), whose logarithm has the derivative −(ℓ²I + 2Σ)⁻¹ in Σ."""
        if self.full:
            both = self._square * np.eye(a[0].shape[1]) + 2.0 * a[1]
            logs = np.linalg.slogdet(both / self._square)[1]
        else:
            both = self._square + 2.0 * split(a)[1]
            logs = np.log(both / self._square).sum(axis=1)
        scores = np.exp(-0.5 * logs)

        def pull(weights: Vector) -> Matrix:
            slope = -weights * scores
            if not self.full:
                return np.hstack([np.zeros_like(both), slope[:, None] / both])
            return np.hstack([np.zeros_like(a[0]), cholesky.pull(a[1], slope[:, None, None] * np.linalg.inv(both))])

        return scores, pull

    def fitted(self, a: Encoding) -> Similarity:
        if self.lengthscale is not None or not count(a):
            return self
        few = take(a, slice(0, FITTED_ON))
        means, spread = (
            (few[0], np.trace(few[1], axis1=1, axis2=2)) if self.full else (split(few)[0], split(few)[1].sum(1))
        )
        square = median_distance(squared_distances(means, means), otherwise=float(np.median(spread)))
        return replace(self, lengthscale=square**0.5)

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        """−log k and its gradient; with s = ℓ² + σ + σ' it is ½Σ log(s/ℓ²) + ½Σ(μ − μ')²/s."""
        return summed(a, b, self._square, 0.5, lambda k: self._square)

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return covariances.embedding(a, b, self._square)
