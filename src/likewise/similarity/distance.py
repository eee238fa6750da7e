"""From a distance to a similarity: exp(−d/ℓ), or constant − d."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Linearised, Matrix, Similarity, Vector, level_within
from likewise.similarity.checks import check_positive
from likewise.similarity.encodings.arrays import Encoding, count, take

FITTED_ON = 200


def median_distance(distances: Matrix, otherwise: float = 1.0) -> float:
    """The median of the positive distances among objects, to an eighth of an octave; `otherwise` where there are none.

    Rounded, it stays as it is when an object is added, and all scores with it; it need not be more exact than that.

    >>> median_distance(np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 5.0], [0.0, 5.0, 0.0]]))
    4.0
    """
    above = distances[np.triu_indices(len(distances), 1)]
    if not np.any(above > 0):
        return otherwise
    return float(2.0 ** (np.round(8.0 * np.log2(np.median(above[above > 0]))) / 8.0))


class DistanceSimilarity(Similarity):
    """A similarity made from a distance (or divergence) d ≥ 0 with d(x, x) = 0.

    With a `constant` it is constant − d, which must dominate every distance in play; else it is exp(−d/ℓ). A
    `lengthscale` of None is settled as the median distance of the observed objects in a study, and is 1 elsewhere.
    Subclasses are frozen dataclasses with these two fields.
    """

    lengthscale: float | None
    constant: float | None

    @abstractmethod
    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        """d(a_i, b_j), a matrix of shape (len(a), len(b))."""

    def __post_init__(self) -> None:
        self.check_scale()

    def check_scale(self) -> None:
        """Refuse a lengthscale or constant that is not positive; a subclass with an `__init__` of its own calls it."""
        check_positive(self.name, "lengthscale", self.lengthscale)
        check_positive(self.name, "constant", self.constant)
        if self.lengthscale is not None and self.constant is not None:
            raise SimilarityError(f"{self.name} takes a lengthscale (exp(−d/ℓ)) or a constant (constant − d), not both")

    def scores(self, distances: Any) -> Any:
        """The similarity at these distances."""
        if self.constant is not None:
            return self.constant - distances
        return np.exp(-distances / (self.lengthscale or 1.0))

    def slopes(self, distances: Any) -> Any:
        """The derivative of the similarity in the distance."""
        if self.constant is not None:
            return -np.ones_like(distances)
        return -self.scores(distances) / (self.lengthscale or 1.0)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return cast(Matrix, self.scores(self.distances(a, b)))

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, self.scores(np.zeros(count(a))))

    @property
    def self_bounded(self) -> bool:
        return True

    def linearise_within(self, a: Encoding) -> Linearised:
        return level_within(self, a)

    def fitted(self, a: Encoding) -> Similarity:
        if self.lengthscale is not None or self.constant is not None:
            return self
        few = take(a, slice(0, FITTED_ON))
        return replace(self, lengthscale=median_distance(self.distances(few, few)))  # type: ignore[type-var]
