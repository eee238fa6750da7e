"""Similarities of sets, bit vectors and counts: Jaccard, Dice, overlap, min–max; and of categories, equal or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Normalised, check_widths
from likewise.similarity.features import (
    Hashes,
    Integers,
    Sparse,
    counted,
    packed,
    packed_intersections,
    packed_sizes,
    products,
    stable_hash,
    unary,
)
from likewise.similarity.kinds.vectors import as_vectors, check_vectors

# Similarities of sets, bit vectors and counts: Jaccard, Dice, overlap, min–max.
#
# A NumPy array of zeros and ones is a bit vector and is packed; any other collection (set, list, tuple) is the set of
# its elements, which are strings, numbers, tuples of such, or anything with a text of its own. All lie in [0, 1]; two
# empty sets are alike (1), an empty set and another are not (0).

# Features, the size of each set and, for bit vectors, the length, which packed words do not show.
Sets = tuple[Any, ...]
# A count of c is written as c features; past this many the objects want dense vectors.
LARGEST_COUNT = 10_000
# Scores of a block that stays in cache.
BLOCK = 1 << 15


def encoded_sets(objects: Sequence[Any]) -> Sets:
    """Packed bits or hashed elements, and the size of each set."""
    arrays = [isinstance(x, np.ndarray) for x in objects]
    if any(arrays):
        if not all(arrays):
            raise SimilarityError(
                "some objects are NumPy arrays and others are not; give all as bit vectors or all as sets"
            )
        return encoded_bits(objects)
    rows, hashes = _hashes([(number, element) for number, x in enumerate(objects) for element in _elements(number, x)])
    matrix = counted(rows, hashes, len(objects))
    return matrix, np.diff(matrix.indptr)


def encoded_bits(objects: Sequence[NDArray[Any]]) -> Sets:
    """Bit vectors packed into words, how many bits of each are set, and how many there are."""
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
    return bits, packed_sizes(bits), np.full(len(objects), len(objects[0]), dtype=np.int32)


def _elements(number: int, x: Any) -> set[Any]:
    if isinstance(x, str | bytes | Mapping) or not isinstance(x, Collection):
        raise SimilarityError(f"object {number} is not a set: {x!r}; give a set, a list, or an array of zeros and ones")
    try:
        return set(x)
    except TypeError:
        raise SimilarityError(
            f"object {number} has an element that is not hashable: {x!r}; use strings, numbers or tuples"
        ) from None


def _hashes(features: Sequence[tuple[int, Any]]) -> tuple[Integers, Hashes]:
    rows = np.array([row for row, _ in features], dtype=np.int64)
    return rows, np.array([stable_hash(x) for _, x in features], dtype=np.uint64)


def shared(a: Sets, b: Sets) -> NDArray[Any]:
    """Sizes of the intersections |A ∩ B|, a matrix of shape (len(a), len(b))."""
    if isinstance(a[0], np.ndarray) != isinstance(b[0], np.ndarray):
        raise SimilarityError("sets and bit vectors cannot be compared with each other; give all objects as one kind")
    if len(a) > 2 and len(a[2]) and len(b[2]):
        check_widths(int(a[2][0]), int(b[2][0]), "bit vectors", "bits", "bit vectors that are compared need one length")
    return packed_intersections(a[0], b[0]) if isinstance(a[0], np.ndarray) else products(a[0], b[0])


def compared(a: Sets, b: Sets, score: Callable[[Any, Any, Any], Any]) -> Matrix:
    """score(|A ∩ B|, |A|, |B|), and 1 for two empty sets, in blocks that stay in cache."""
    if len(a[1]) < len(b[1]):
        return compared(b, a, score).T
    common, sizes = shared(a, b), a[1].astype(float)[:, None]
    scores = np.empty(common.shape)
    step = max(1, BLOCK // max(1, len(b[1])))
    for i in range(0, len(scores), step):
        scores[i : i + step] = score(common[i : i + step], sizes[i : i + step], b[1])
    scores[np.ix_(a[1] == 0, b[1] == 0)] = 1.0
    return scores


def jaccard(common: Any, size: Any, other: Any) -> Any:
    """|A ∩ B| / |A ∪ B|."""
    return common / np.maximum(size + other - common, 1.0)


class SetSimilarity(Normalised):
    """A similarity of sets by the sizes of A ∩ B, A and B."""

    kind = "sets"

    @abstractmethod
    def _score(self, common: Any, size: Any, other: Any) -> Any:
        """The score at these sizes, for sets that are not both empty."""

    def encode(self, objects: Sequence[Any]) -> Sets:
        return encoded_sets(objects)

    def between(self, a: Sets, b: Sets) -> Matrix:
        return compared(a, b, self._score)


@dataclass(frozen=True)
class Jaccard(SetSimilarity):
    """|A ∩ B| / |A ∪ B|, also known as Tanimoto. PSD.

    >>> Jaccard()({"salt", "pepper"}, {"salt", "garlic"}) == 1 / 3
    True
    >>> Jaccard()(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]))
    0.5
    """

    compares = "elements in common, over all elements"
    psd = True

    def _score(self, common: Any, size: Any, other: Any) -> Any:
        return jaccard(common, size, other)


@dataclass(frozen=True)
class Dice(SetSimilarity):
    """2 |A ∩ B| / (|A| + |B|). PSD.

    >>> Dice()({"salt", "pepper"}, {"salt", "garlic"})
    0.5
    """

    compares = "elements in common, over the mean size"
    psd = True

    def _score(self, common: Any, size: Any, other: Any) -> Any:
        return 2.0 * common / np.maximum(size + other, 1.0)


@dataclass(frozen=True)
class Overlap(SetSimilarity):
    """|A ∩ B| / min(|A|, |B|): 1 where one set contains the other. Not PSD.

    An empty set, contained in all, would be like everything; here it is like itself alone.

    >>> Overlap()({"salt"}, {"salt", "garlic"})
    1.0
    """

    compares = "elements in common, over the smaller set"

    def _score(self, common: Any, size: Any, other: Any) -> Any:
        return common / np.maximum(np.minimum(size, other), 1.0)


@dataclass(frozen=True)
class MinMax(Normalised):
    """Σ_k min(x_k, x'_k) / Σ_k max(x_k, x'_k) of counts or other non-negative weights. PSD.

    An object is a vector of non-negative numbers, or a dict from things to whole counts (a recipe, a bag of words).

    >>> MinMax()([2.0, 1.0, 0.0], [1.0, 1.0, 1.0])
    0.5
    >>> MinMax()({"C": 2, "O": 1}, {"C": 1, "O": 1, "N": 1})
    0.5
    """

    kind = "sets"
    compares = "counts compared by min over max"
    psd = True

    def encode(self, objects: Sequence[Any]) -> Any:
        dicts = [isinstance(x, Mapping) for x in objects]
        if 0 < sum(dicts) < len(dicts):
            raise SimilarityError("some objects are dicts of counts and others are not; give all as one kind")
        return encoded_counts(objects) if any(dicts) else _weights(objects)

    def between(self, a: Any, b: Any) -> Matrix:
        if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
            raise SimilarityError("dicts of counts and vectors cannot be compared with each other; give one kind")
        if not isinstance(a, np.ndarray):
            return compared(a, b, jaccard)
        from scipy.spatial.distance import cdist

        check_vectors(a, b)
        # min and max are half of the sum ∓ the difference.
        apart, total = cdist(a, b, "cityblock"), np.add.outer(a.sum(axis=1), b.sum(axis=1))
        return np.divide(np.maximum(total - apart, 0.0), total + apart, out=np.ones_like(total), where=total > 0)


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
    rows, hashes = _hashes([(number, thing) for number, thing, _ in entries])
    return unary_sets(rows, hashes, np.array([int(count) for _, _, count in entries], dtype=np.int64), len(objects))


def unary_sets(rows: Integers, hashes: Hashes, counts: Integers, n: int) -> Sets:
    """Sets whose intersections and unions are the sums of minima and maxima of these counts."""
    matrix: Sparse = unary(counted(np.repeat(rows, counts), np.repeat(hashes, counts), n))
    # Nearly all are ones; a byte for each is enough for what is not, and saves three of eight.
    matrix.data = np.minimum(matrix.data, 255).astype(np.uint8)
    return matrix, np.diff(matrix.indptr)


def _weights(objects: Sequence[Any]) -> Matrix:
    weights = as_vectors(objects)
    negative = np.flatnonzero((weights < 0).any(axis=1))
    if len(negative):
        number = int(negative[0])
        raise SimilarityError(f"object {number} has a negative weight: {objects[number]!r}; MinMax compares counts")
    return weights


# Similarity of categories: equal or not.


@dataclass(frozen=True)
class Equal(Normalised):
    """1 for equal objects and `otherwise` for all others: categories of which nothing more is known. PSD.

    As a field of a product, where `otherwise` is raised to the field's weight, the weight says how much it matters.
    Numbers are equal as Python says: 1, 1.0 and True are one category.

    >>> Equal()("red", "red"), Equal()("red", "blue")
    (1.0, 0.5)
    """

    kind = "categories"
    compares = "equal or not"
    otherwise: float = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.otherwise, str) or not 0.0 <= self.otherwise < 1.0:
            raise SimilarityError(f"Equal needs `otherwise` from 0 to below 1, not {self.otherwise!r}")

    psd = True
    # A power of it has another `otherwise`.
    divisible = True

    def encode(self, objects: Sequence[Any]) -> Hashes:
        return np.array([_hash(number, x) for number, x in enumerate(objects)], dtype=np.uint64)

    def between(self, a: Hashes, b: Hashes) -> Matrix:
        return np.where(a[:, None] == b, 1.0, self.otherwise)


def _hash(number: int, x: Any) -> int:
    try:
        return stable_hash(x)
    except TypeError:
        raise SimilarityError(f"object {number} cannot be hashed: {x!r}; use text, numbers or tuples of such") from None
