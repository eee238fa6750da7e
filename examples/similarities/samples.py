"""Two similarities of your own: of objects known by samples, arrays of draws (n_i,) or (n_i, d) of any sizes.

A distance makes a similarity by `DistanceSimilarity`. Both here are built on the squared 2-Wasserstein distance, as
`Wasserstein2` is for Gaussians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, check_whole, check_widths
from likewise.similarity.functions import DistanceSimilarity
from likewise.similarity.kinds.vectors import squared_distances

Quantiles = tuple[Matrix, NDArray[np.intp]]


def as_samples(objects: Sequence[Any]) -> list[Matrix]:
    """Each object as an array of shape (n_i, d), one d for all; the error names the object that is no such sample."""
    samples: list[Matrix] = []
    for number, x in enumerate(objects):
        try:
            array = np.asarray(x, dtype=float)
        except (TypeError, ValueError):
            raise SimilarityError(f"object {number} is not an array of samples: {x!r}") from None
        if array.ndim not in (1, 2) or not array.size or not np.all(np.isfinite(array)):
            raise SimilarityError(
                f"object {number} is not a sample of finite numbers, shape (n,) or (n, d): {x!r}; drop what is missing"
            )
        samples.append(array.reshape(len(array), -1))
        if samples[-1].shape[1] != samples[0].shape[1]:
            raise SimilarityError(
                f"object {number} has draws of {samples[-1].shape[1]} numbers where the first one has "
                f"{samples[0].shape[1]}; samples that are compared need one dimension"
            )
    return samples


def _check_dimensions(one: int, other: int) -> None:
    check_widths(one, other, "samples", "dimensions", "samples that are compared need one dimension")


@dataclass(frozen=True)
class SampleWasserstein(DistanceSimilarity):
    """exp(−W²/ℓ) or constant − W², with W the 2-Wasserstein distance of two samples.

    In one dimension W² = ∫(F⁻¹ − G⁻¹)² du, exactly, by sorting; there exp(−W²/ℓ) is PSD. In more it is the optimal
    transport of the package POT, and not PSD; for many objects `SlicedWasserstein` is far quicker.

    >>> SampleWasserstein(constant=10.0)([0.0, 1.0], [2.0, 2.0, 3.0, 3.0])
    6.0
    """

    lengthscale: float | None = None
    constant: float | None = None

    def __post_init__(self) -> None:
        self.check_scale()

    def encode(self, objects: Sequence[Any]) -> list[Matrix]:
        return [np.sort(x, axis=0) if x.shape[1] == 1 else x for x in as_samples(objects)]

    def distances(self, a: list[Matrix], b: list[Matrix]) -> Matrix:
        if a and b:
            _check_dimensions(a[0].shape[1], b[0].shape[1])
        if len({x.shape for x in (*a, *b)}) == 1 and a[0].shape[1] == 1:
            return squared_distances(np.array(a)[:, :, 0], np.array(b)[:, :, 0]) / len(a[0])
        return np.array([[_transport(x, y) for y in b] for x in a], dtype=float).reshape(len(a), len(b))


def _transport(x: Matrix, y: Matrix) -> float:
    if x.shape[1] == 1:
        return _by_quantiles(x[:, 0], y[:, 0])
    if x is y or np.array_equal(x, y):
        return 0.0
    import ot

    return max(float(ot.emd2(ot.unif(len(x)), ot.unif(len(y)), squared_distances(x, y))), 0.0)


def _by_quantiles(x: Matrix, y: Matrix) -> float:
    """∫(F⁻¹ − G⁻¹)² du of two sorted samples, whose quantile functions step where i/n or j/m is passed."""
    n, m = len(x), len(y)
    # In units of 1/(n·m) the steps are whole numbers, so that common ones are found exactly.
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    shares = np.diff(ends, prepend=0) / (n * m)
    return float(shares @ (x[(ends - 1) // m] - y[(ends - 1) // n]) ** 2)


@dataclass(frozen=True)
class SlicedWasserstein(DistanceSimilarity):
    """exp(−d/ℓ) or constant − d, d the mean over directions of the squared 2-Wasserstein distance of the projections.

    Each sample is encoded once as its quantiles in all directions, so that d is a squared Euclidean distance and
    exp(−d/ℓ) is PSD. Directions are drawn from `seed`; in one dimension there is one, and d is W² up to the resolution
    of the `quantiles`.

    >>> round(SlicedWasserstein(constant=10.0)([0.0, 1.0], [2.0, 2.0, 3.0, 3.0]), 9)
    6.0
    """

    lengthscale: float | None = None
    constant: float | None = None
    directions: int = 32
    quantiles: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        self.check_scale()
        check_whole(self.name, "directions", self.directions)
        check_whole(self.name, "quantiles", self.quantiles)
        check_whole(self.name, "seed", self.seed, least=0)

    @property
    def psd(self) -> bool:
        return self.constant is None

    def encode(self, objects: Sequence[Any]) -> Quantiles:
        """The quantiles in all directions, and the dimension, which they do not show."""
        samples = as_samples(objects)
        if not samples:
            return np.zeros((0, 0)), np.zeros(0, dtype=np.intp)
        directions = self._directions(samples[0].shape[1])
        grid = (np.arange(self.quantiles) + 0.5) / self.quantiles
        rows = [np.quantile(x @ directions, grid, axis=0, method="inverted_cdf").ravel() for x in samples]
        dimensions = np.full(len(samples), len(directions))
        return np.array(rows) / np.sqrt(self.quantiles * directions.shape[1]), dimensions

    def _directions(self, d: int) -> Matrix:
        if d == 1:
            return np.ones((1, 1))
        raw = np.random.default_rng(self.seed).standard_normal((d, self.directions))
        return np.asarray(raw / np.linalg.norm(raw, axis=0))

    def distances(self, a: Quantiles, b: Quantiles) -> Matrix:
        if len(a[0]) and len(b[0]):
            _check_dimensions(int(a[1][0]), int(b[1][0]))
        return squared_distances(a[0], b[0])
