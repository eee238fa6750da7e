"""A similarity from a plain function that says how far apart two objects are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from likewise.similarity.base import Function, Matrix
from likewise.similarity.distance import DistanceSimilarity
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_function import FunctionSimilarity


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


def from_distance(function: Function, *, lengthscale: float | None = None) -> FunctionDistance:
    """A similarity, exp(−d/ℓ), from a plain function that says how far apart two objects are.

    function: of two objects; symmetric, 0 for an object and itself, and never negative.
    lengthscale: ℓ, the distance at which two objects are alike by 37 %. None (default): a study takes the median
        distance of what it has observed; elsewhere it is 1.

    >>> apart = from_distance(lambda x, y: abs(x - y), lengthscale=2.0)
    >>> apart(1, 1), round(apart(1, 3), 2)
    (1.0, 0.37)
    """
    return FunctionDistance(FunctionSimilarity(function), lengthscale)
