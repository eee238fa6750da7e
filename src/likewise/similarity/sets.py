"""Similarities of sets, bit vectors and counts: Jaccard, Dice, overlap, min–max.

A NumPy array of zeros and ones is a bit vector and is packed; any other collection (set, list, tuple) is the set of its
elements, which are strings, numbers, tuples of such, or anything with a text of its own. All lie in [0, 1]; two empty
sets are alike (1), an empty set and another are not (0).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.bits import packed, packed_intersections, packed_sizes
from likewise.similarity.hashed import Hashes, Integers, Sparse, counted, products, stable_hash, unary

Sets = tuple[Any, NDArray[Any]]
# A count of c is written as c features; past this many the objects want dense vectors.
LARGEST_COUNT = 10_000


def encoded_sets(objects: Sequence[Any]) -> Sets:
    """Packed bits or hashed elements, and the size of each set."""
    arrays = [isinstance(x, np.ndarray) for x in objects]
    if any(arrays):
        if not all(arrays):
            raise SimilarityError(
                "some objects are NumPy arrays and others are not; give all as bit vectors or all as sets"
            )
        return encoded_bits(objects)
    rows, hashes = _hashed([(number, element) for number, x in enumerate(objects) for element in _elements(number, x)])
    matrix = counted(rows, hashes, len(objects))
    return matrix, np.diff(matrix.indptr)


def encoded_bits(objects: Sequence[NDArray[Any]]) -> Sets:
    """Bit vectors packed into words, and how many bits of each are set."""
    for number, x in enumerate(objects):
        if x.ndim != 1 or not np.isin(x, (0, 1)).all():
            raise SimilarityError(
                f"object {number} is an array but no bit vector: {x!r}; use zeros and ones, or a set for a set"
            )
        if len(x) != len(objects[0]):
            raise SimilarityError(
                f"object {number} has {len(x)} bits where object 0 has {len(objects[0])}; "
                "bit vectors that are compared need one length"
            )
    bits = packed(np.stack(objects))
    return bits, packed_sizes(bits)


def _elements(number: int, x: Any) -> set[Any]:
    if isinstance(x, str | bytes | Mapping) or not isinstance(x, Collection):
        raise SimilarityError(f"object {number} is not a set: {x!r}; give a set, a list, or an array of zeros and ones")
    try:
        return set(x)
    except TypeError:
        raise SimilarityError(
            f"object {number} has an element that is not hashable: {x!r}; use strings, numbers or tuples"
        ) from None


def _hashed(features: Sequence[tuple[int, Any]]) -> tuple[Integers, Hashes]:
    rows = np.array([row for row, _ in features], dtype=np.int64)
    return rows, np.array([stable_hash(x) for _, x in features], dtype=np.uint64)


def shared(a: Sets, b: Sets) -> NDArray[Any]:
    """Sizes of the intersections |A ∩ B|, a matrix of shape (len(a), len(b))."""
    if isinstance(a[0], np.ndarray) != isinstance(b[0], np.ndarray):
        raise SimilarityError("sets and bit vectors cannot be compared with each other; give all objects as one kind")
    if a[0].shape[1] != b[0].shape[1]:
        raise SimilarityError(
            f"bit vectors of about {64 * a[0].shape[1]} and {64 * b[0].shape[1]} bits cannot be compared; "
            "bit vectors that are compared need one length"
        )
    return packed_intersections(a[0], b[0]) if isinstance(a[0], np.ndarray) else products(a[0], b[0])


def ratio(part: Any, whole: Matrix) -> Matrix:
    """part / whole, and 1 where the whole is 0: two empty sets are alike."""
    return np.divide(part, whole, out=np.ones(whole.shape), where=whole > 0)


def jaccard(a: Sets, b: Sets) -> Matrix:
    """|A ∩ B| / |A ∪ B|."""
    common = shared(a, b)
    union = np.add.outer(a[1], b[1], dtype=float)
    union -= common
    return ratio(common, union)


class SetSimilarity(Similarity):
    """A similarity of sets by the sizes of A, B and A ∩ B."""

    @abstractmethod
    def between(self, a: Sets, b: Sets) -> Matrix: ...

    def encode(self, objects: Sequence[Any]) -> Sets:
        return encoded_sets(objects)

    def within(self, a: Sets) -> Vector:
        return np.ones(len(a[1]))


@dataclass(frozen=True)
class Jaccard(SetSimilarity):
    """|A ∩ B| / |A ∪ B|, also known as Tanimoto. PSD.

    >>> Jaccard()({"salt", "pepper"}, {"salt", "garlic"}) == 1 / 3
    True
    >>> Jaccard()(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]))
    0.5
    """

    @property
    def psd(self) -> bool:
        return True

    def between(self, a: Sets, b: Sets) -> Matrix:
        return jaccard(a, b)


@dataclass(frozen=True)
class Dice(SetSimilarity):
    """2 |A ∩ B| / (|A| + |B|). PSD.

    >>> Dice()({"salt", "pepper"}, {"salt", "garlic"})
    0.5
    """

    @property
    def psd(self) -> bool:
        return True

    def between(self, a: Sets, b: Sets) -> Matrix:
        return ratio(2.0 * shared(a, b), np.add.outer(a[1], b[1], dtype=float))


@dataclass(frozen=True)
class Overlap(SetSimilarity):
    """|A ∩ B| / min(|A|, |B|): 1 where one set contains the other. Not PSD.

    An empty set, contained in all, would be like everything; here it is like itself alone.

    >>> Overlap()({"salt"}, {"salt", "garlic"})
    1.0
    """

    def between(self, a: Sets, b: Sets) -> Matrix:
        smaller = np.minimum.outer(a[1], b[1]).astype(float)
        smaller[np.logical_xor.outer(a[1] == 0, b[1] == 0)] = 1.0
        return ratio(shared(a, b), smaller)


@dataclass(frozen=True)
class MinMax(Similarity):
    """Σ_k min(x_k, x'_k) / Σ_k max(x_k, x'_k) of counts or other non-negative weights. PSD.

    An object is a vector of non-negative numbers, or a dict from things to whole counts (a recipe, a bag of words).

    >>> MinMax()([2.0, 1.0, 0.0], [1.0, 1.0, 1.0])
    0.5
    >>> MinMax()({"C": 2, "O": 1}, {"C": 1, "O": 1, "N": 1})
    0.5
    """

    @property
    def psd(self) -> bool:
        return True

    def encode(self, objects: Sequence[Any]) -> Any:
        dicts = [isinstance(x, Mapping) for x in objects]
        if any(dicts) != all(dicts):
            raise SimilarityError("some objects are dicts of counts and others are not; give all as one kind")
        return encoded_counts(objects) if any(dicts) else _weights(objects)

    def between(self, a: Any, b: Any) -> Matrix:
        if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
            raise SimilarityError("dicts of counts and vectors cannot be compared with each other; give one kind")
        if not isinstance(a, np.ndarray):
            return jaccard(a, b)
        from scipy.spatial.distance import cdist

        # min and max are half of the sum ∓ the difference.
        apart, total = cdist(a, b, "cityblock"), np.add.outer(a.sum(axis=1), b.sum(axis=1))
        return ratio(np.maximum(total - apart, 0.0), total + apart)

    def within(self, a: Any) -> Vector:
        return np.ones(len(a) if isinstance(a, np.ndarray) else len(a[1]))


def encoded_counts(objects: Sequence[Mapping[Any, Any]]) -> Sets:
    """Dicts of counts as the sets in which a thing counted c times is c elements."""
    entries = [(number, thing, count) for number, x in enumerate(objects) for thing, count in x.items()]
    for number, thing, count in entries:
        if not (isinstance(count, int | np.integer) or (isinstance(count, float) and count.is_integer())):
            raise SimilarityError(f"object {number} counts {thing!r} as {count!r}; counts are whole numbers in a dict")
        if not 0 <= count <= LARGEST_COUNT:
            raise SimilarityError(
                f"object {number} counts {thing!r} as {count!r}; counts in a dict go from 0 to {LARGEST_COUNT}, "
                "give larger ones as vectors"
            )
    rows, hashes = _hashed([(number, thing) for number, thing, _ in entries])
    return unary_sets(rows, hashes, np.array([int(count) for _, _, count in entries], dtype=np.int64), len(objects))


def unary_sets(rows: Integers, hashes: Hashes, counts: Integers, n: int) -> Sets:
    """Sets whose intersections and unions are the sums of minima and maxima of these counts."""
    matrix: Sparse = unary(counted(np.repeat(rows, counts), np.repeat(hashes, counts), n))
    return matrix, np.diff(matrix.indptr)


def _weights(objects: Sequence[Any]) -> Matrix:
    from likewise.similarity.vectors import as_vectors

    weights = as_vectors(objects)
    negative = np.flatnonzero((weights < 0).any(axis=1))
    if len(negative):
        number = int(negative[0])
        raise SimilarityError(f"object {number} has a negative weight: {objects[number]!r}; MinMax compares counts")
    return weights
