"""Vectors in other coordinates: the unit cube of a box, or the numbers that a space reads from its objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Linearised, Matrix, Similarity, Vector
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.kinds.vectors import Linear, VectorSimilarity, as_vectors, check_vectors


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Other coordinates, dimension by dimension: z = (t(x) − lower)/width, t the logarithm where `log` says so."""

    lower: Vector
    width: Vector
    log: NDArray[np.bool_]

    @classmethod
    def spanning(cls, lower: Vector, upper: Vector, log: NDArray[np.bool_]) -> Coordinates:
        """The coordinates in which the box from `lower` to `upper` is the unit cube; fixed dimensions keep width 1."""
        safe_lower, safe_upper = np.where(log, lower, 1.0), np.where(log, upper, 1.0)
        start = np.where(log, np.log(safe_lower), lower)
        width = np.where(log, np.log(safe_upper), upper) - start
        return cls(start, np.where(width > 0, width, 1.0), log)

    @cached_property
    def _plain(self) -> bool:
        """Whether no coordinate is a logarithm."""
        return not self.log.any()

    @cached_property
    def encoder(self) -> Rescaled:
        """What encodes vectors in these coordinates, whatever compares them."""
        return Rescaled(Linear(), self)

    def forward(self, x: Matrix) -> Matrix:
        inside = x if self._plain else np.where(self.log, np.log(np.where(self.log, x, 1.0)), x)
        z: Matrix = (inside - self.lower) / self.width
        return z

    def backward(self, z: Matrix) -> Matrix:
        inside = self.lower + z * self.width
        return inside if self._plain else np.where(self.log, np.exp(np.where(self.log, inside, 0.0)), inside)

    def slope(self, x: Matrix) -> Matrix:
        """dz/dx, one number for each dimension where it is the same for all vectors."""
        if self._plain:
            return 1.0 / self.width
        return np.where(self.log, 1.0 / np.where(self.log, x, 1.0), 1.0) / self.width


@dataclass(frozen=True, eq=False)
class Rescaled(Through):
    """A similarity of vectors that looks at them in other coordinates, such as a box's unit cube."""

    inner: Similarity
    coordinates: Coordinates

    @property
    def encoder(self) -> Similarity:
        own = self.inner.encoder
        plain = isinstance(own, VectorSimilarity) and type(own).encode is VectorSimilarity.encode
        return self.coordinates.encoder if plain else self

    def part_encoding(self, a: Any, i: int) -> Any:
        return a[1]

    def encode(self, objects: Sequence[Any]) -> Any:
        x = as_vectors(objects) if len(objects) else np.zeros((0, len(self.coordinates.lower)))
        check_vectors(x, self.coordinates.lower[None])
        return x, self.inner.encode(self.coordinates.forward(x))  # type: ignore[arg-type]

    def linearise(self, a: Any, b: Any) -> Linearised:
        scores, pull = self.inner.linearise(a[1], b[1])  # type: ignore[attr-defined]
        return scores, lambda weights: pull(weights) * self.coordinates.slope(a[0])

    def linearise_within(self, a: Any) -> Linearised:
        scores, pull = self.inner.linearise_within(a[1])  # type: ignore[attr-defined]
        return scores, lambda weights: pull(weights) * self.coordinates.slope(a[0])


@dataclass(frozen=True, eq=False)
class NumbersOf(Through):
    """A similarity of vectors that looks at the numbers which a space reads from its objects, by `to_numbers`."""

    inner: Similarity
    space: Any

    def encode(self, objects: Sequence[Any]) -> Any:
        return self.inner.encode(self.space.to_numbers(objects))

    def linearise(self, a: Any, b: Any) -> Linearised:
        return self.inner.linearise(a, b)  # type: ignore[attr-defined]

    def linearise_within(self, a: Any) -> Linearised:
        return self.inner.linearise_within(a)  # type: ignore[attr-defined]
