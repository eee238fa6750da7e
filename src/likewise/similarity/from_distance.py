"""A similarity from a plain function that says how far apart two objects are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Matrix, Similarity
from likewise.similarity.distance import FITTED_ON, DistanceSimilarity
from likewise.similarity.encodings.arrays import Encoding, take
from likewise.similarity.from_function import ROUNDED, FunctionSimilarity

# A share of the largest distance: in single precision a root leaves less of a distance of zero.
NO_DISTANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Distances(FunctionSimilarity):
    """The values of a plain function that says how far apart two objects are."""

    def check(self, x: Any, y: Any, score: float) -> None:
        if not (score >= -ROUNDED and np.isfinite(score)):
            raise SimilarityError(
                f"distance is {'negative' if np.isfinite(score) else 'not a finite number'}: "
                f"{self._call(x, y)} = {score:.6g}; return 0 for an object and itself, and more for all others"
            )


@dataclass(frozen=True, eq=False)
class FunctionDistance(DistanceSimilarity):
    """exp(−d/ℓ) of a plain function d, or constant − d; not assumed PSD."""

    portable = False
    function: FunctionSimilarity
    lengthscale: float | None = None
    constant: float | None = None

    @property
    def name(self) -> str:
        return self.function.name

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.function.encode(objects)

    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        return self.function.between(a, b)

    def fitted(self, a: Encoding) -> Similarity:
        """The similarity with its lengthscale settled; a similarity in place of a distance is noticed here."""
        few = take(a, slice(0, FITTED_ON))
        distances = self.distances(few, few)
        own, largest = np.diagonal(distances), float(np.max(distances, initial=0.0))
        if np.max(own, initial=0.0) > NO_DISTANCE * largest:
            i = int(own.argmax())
            raise SimilarityError(
                f"the distance of an object from itself is not 0: {self.name}({few[i].object!r}, {few[i].object!r}) = "
                f"{own[i]:.6g}; give a similarity as it is, without from_distance"
            )
        return super().fitted(a)


def from_distance(function: Function, *, lengthscale: float | None = None) -> FunctionDistance:
    """A similarity, exp(−d/ℓ), from a plain function that says how far apart two objects are.

    function: of two objects; symmetric, 0 for an object and itself, and never negative.
    lengthscale: ℓ, the distance at which two objects are alike by 37 %. None (default): a study takes the median
        distance of what it has observed; elsewhere it is 1.

    >>> apart = from_distance(lambda x, y: abs(x - y), lengthscale=2.0)
    >>> apart(1, 1), round(apart(1, 3), 2)
    (1.0, 0.37)
    """
    return FunctionDistance(Distances(function), lengthscale)
