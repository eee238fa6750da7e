"""Vectors in other coordinates: the unit cube of a box, the numbers of a space, the range of a finite set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.algebra import COMBINATIONS, Fields, Through
from likewise.similarity.base import Linearised, Matrix, Similarity, Vector
from likewise.similarity.kinds.vectors import Linear, VectorSimilarity, as_vectors, check_vectors
from likewise.similarity.records import Branches, Parts

# Vectors in other coordinates: the unit cube of a box, or the numbers that a space reads from its objects.


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


# Vector similarities over a finite set look at its objects in the set's own range, as over a box in the unit cube.
#
# A box is told which dimensions are logarithmic; of a set it is seen. Doses, learning rates and batch sizes are chosen
# a factor apart, and what is chosen so acts so.


class Branch(str):
    """The name of a branch in a path: objects of other branches have nothing there."""

    __slots__ = ()


# A step is a field, or several that are one vector.
FieldPath = tuple[str | tuple[str, ...], ...]
# Within a smaller factor from the least to the largest number, it hardly matters on which scale they are seen.
FACTOR = 8.0


def column(objects: Sequence[Any], path: FieldPath) -> list[Any]:
    """The values at a path through the fields of records; none where some record has no such field.

    >>> column([{"part": {"t": 20}}, {"part": {"t": 40}}], ("part", "t"))
    [20, 40]
    """
    found = list(objects)
    for name in path:
        if isinstance(name, Branch):
            found = [x for x in found if name in x]
        if not all(isinstance(x, Mapping) and name in x for x in found):
            return []
        found = [x[name] for x in found]
    return found


def span(objects: Sequence[Any]) -> Coordinates | None:
    """The coordinates in which these objects fill the unit cube; None when they are not vectors of one length.

    A column whose numbers are spread more evenly on a logarithmic scale is seen on that.

    >>> span([[0.0, 10.0], [4.0, 30.0]]).forward(np.array([[2.0, 20.0]]))
    array([[0.5, 0.5]])
    >>> span([[0.001], [0.01], [0.1]]).forward(np.array([[0.01]])).round(3)
    array([[0.5]])
    """
    if not objects or isinstance(objects[0], str | dict | set | frozenset | bool):
        return None
    try:
        vectors = as_vectors(objects)
    except (SimilarityError, TypeError, ValueError):
        return None
    lower, upper = vectors.min(axis=0), vectors.max(axis=0)
    return Coordinates.spanning(lower, upper, _geometric(vectors, lower, upper))


def _geometric(vectors: Matrix, lower: Vector, upper: Vector) -> NDArray[np.bool_]:
    """The columns that are positive, wide, and centred better by their logarithms."""
    flags = (lower > 0) & (upper >= FACTOR * lower)
    for k in np.flatnonzero(flags):
        levels = np.unique(vectors[:, k])
        flags[k] = _off_centre(np.log(levels)) < _off_centre(levels)
    return np.asarray(flags)


def _off_centre(levels: Vector) -> float:
    """How far the mean is from the middle, in ranges."""
    low, high = levels.min(), levels.max()
    return abs(float(np.mean((levels - low) / (high - low))) - 0.5)


def rescaled(
    similarity: Similarity, coordinates: Callable[[FieldPath], Coordinates | None], path: FieldPath = ()
) -> Similarity:
    """The similarity with its vector similarities rescaled to the coordinates of the field at their path.

    Only combinations that hand the objects on unchanged are looked into; what is already rescaled stays as it is.
    """
    if isinstance(similarity, Parts):
        inside = zip(similarity.fields, similarity.parts, strict=True)
        own = [path if isinstance(part, Fields) else (*path, name) for name, part in inside]
        return similarity.rebuilt(
            [rescaled(part, coordinates, at) for part, at in zip(similarity.parts, own, strict=True)]
        )
    if isinstance(similarity, Fields):
        return similarity.rebuilt([rescaled(similarity.wrapped, coordinates, (*path, similarity.names))])
    if isinstance(similarity, Branches):
        inside = zip(similarity.fields, similarity.parts, strict=True)
        return similarity.rebuilt([rescaled(part, coordinates, (*path, Branch(name))) for name, part in inside])
    if isinstance(similarity, COMBINATIONS):
        return similarity.rebuilt([rescaled(part, coordinates, path) for part in similarity.parts])
    if isinstance(similarity, VectorSimilarity):
        there = coordinates(path)
        return similarity if there is None else Rescaled(similarity, there)
    return similarity
