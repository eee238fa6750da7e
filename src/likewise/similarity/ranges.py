"""Vector similarities over a finite set look at its objects in the set's own range, as over a box in the unit cube.

A box is told which dimensions are logarithmic; of a set it is seen. Doses, learning rates and batch sizes are chosen a
factor apart, and what is chosen so acts so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.combine.algebra import COMBINATIONS
from likewise.similarity.combine.branches import Branches
from likewise.similarity.combine.fields import Fields
from likewise.similarity.combine.parts import Parts
from likewise.similarity.coordinates import Coordinates, Rescaled
from likewise.similarity.kinds.vectors import VectorSimilarity, as_vectors


class Branch(str):
    """The name of a branch in a path: objects of other branches have nothing there."""

    __slots__ = ()


# A step is a field, or several that are one vector.
Path = tuple[str | tuple[str, ...], ...]
# Within a smaller factor from the least to the largest number, it hardly matters on which scale they are seen.
FACTOR = 8.0


def column(objects: Sequence[Any], path: Path) -> list[Any]:
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


def rescaled(similarity: Similarity, coordinates: Callable[[Path], Coordinates | None], path: Path = ()) -> Similarity:
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
