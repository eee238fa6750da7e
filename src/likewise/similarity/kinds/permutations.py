"""Similarities of permutations: orders of pairs, displacements, positions, and the neighbours of a closed tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Through
from likewise.similarity.base import Matrix, Normalised, Similarity, check_widths
from likewise.similarity.encoding import Encoding
from likewise.similarity.features import Packed, packed, packed_intersections, packed_sizes
from likewise.similarity.functions import DistanceSimilarity

# Similarities of permutations: orders of pairs, displacements, positions, and the neighbours of a closed tour.
#
# An object is a sequence p of the numbers 0 … n−1, each once; p[i] is the item at position i. Objects that are
# compared have one n.

Integers = NDArray[np.intp]
Orders = tuple[Packed, Integers]
ROWS_AT_ONCE = 4096


def as_permutations(objects: Sequence[Any]) -> Integers:
    """Permutations as the rows of an array.

    >>> as_permutations([(1, 0, 2)])
    array([[1, 0, 2]])
    """
    try:
        array = np.asarray(objects)
    except (TypeError, ValueError):
        _blame(objects)
    if array.size == 0 and not len(objects):
        return np.zeros((0, 0), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "iu":
        _blame(objects)
    if not np.array_equal(np.sort(array, axis=1), np.broadcast_to(np.arange(array.shape[1]), array.shape)):
        _blame(objects)
    return array.astype(np.intp)


def _blame(objects: Sequence[Any]) -> NoReturn:
    """Raise the error that names the first object that is no permutation, or not one of the others' length."""
    length: int | None = None
    for number, x in enumerate(objects):
        fault = _fault(x) or (
            f"has {len(x)} items where the ones before it have {length}; compare permutations of one length"
            if length not in (None, len(x))
            else None
        )
        if fault:
            raise SimilarityError(f"permutation {number} {fault}: {x!r}")
        length = len(x)
    raise SimilarityError("these objects are not permutations")  # pragma: no cover


def _fault(x: Any) -> str | None:
    try:
        row = np.asarray(x)
    except (TypeError, ValueError):
        return "is not a sequence of whole numbers"
    if row.ndim != 1 or row.dtype.kind not in "iu":
        return "is empty" if row.ndim == 1 and not row.size else "is not a sequence of whole numbers"
    outside = row[(row < 0) | (row >= len(row))]
    if len(outside):
        return f"has the item {outside[0]}, outside 0 … {len(row) - 1}"
    often = np.flatnonzero(np.bincount(row) > 1)
    return f"repeats the item {often[0]}; each of 0 … {len(row) - 1} occurs once" if len(often) else None


def check_lengths(n: int, other: int) -> None:
    check_widths(n, other, "permutations", "items", "compare permutations of one length")


def _differing(a: Matrix, b: Matrix) -> Matrix:
    """How many entries of each row of `a` differ from those of each row of `b`."""
    from scipy.spatial.distance import cdist

    if not (len(a) and len(b)):
        return np.zeros((len(a), len(b)))
    check_lengths(a.shape[1], b.shape[1])
    return cast(Matrix, cdist(a, b, "hamming")) * a.shape[1]


def _encode_orders(objects: Sequence[Any]) -> Orders:
    """One bit per pair of items, whether the smaller number comes first, packed in words; and the number of items."""
    p = as_permutations(objects)
    place = np.argsort(p, axis=1)
    i, j = np.triu_indices(p.shape[1], 1)
    blocks = [place[k : k + ROWS_AT_ONCE] for k in range(0, max(len(p), 1), ROWS_AT_ONCE)]
    return np.concatenate([packed(rows[:, i] < rows[:, j]) for rows in blocks]), np.full(len(p), p.shape[1])


def _discordant(a: Orders, b: Orders) -> Matrix:
    """The share of pairs of items that two permutations put in opposite orders."""
    (x, sizes), (y, others) = a, b
    if not (len(x) and len(y)):
        return np.zeros((len(x), len(y)))
    n = int(sizes[0])
    check_lengths(n, int(others[0]))
    either = np.add.outer(packed_sizes(x), packed_sizes(y))
    return (either - 2.0 * packed_intersections(x, y).astype(float)) / max(n * (n - 1) // 2, 1)


@dataclass(frozen=True)
class Kendall(Normalised):
    """The share of pairs of items that two permutations put in the same order, (1 + τ)/2 with Kendall's τ.

    PSD: τ is a mean of products of signs, and a positive constant added to a PSD kernel leaves it one.

    >>> round(Kendall()((0, 1, 2), (0, 2, 1)), 4)
    0.6667
    """

    kind = "permutations"
    compares = "pairs of items in the same order"
    psd = True

    def encode(self, objects: Sequence[Any]) -> Orders:
        return _encode_orders(objects)

    def between(self, a: Orders, b: Orders) -> Matrix:
        return 1.0 - _discordant(a, b)


@dataclass(frozen=True)
class Mallows(DistanceSimilarity):
    """exp(−d/ℓ), d the share of pairs of items in opposite orders. PSD for every ℓ, as d = (1 − τ)/2.

    With a `constant` it is constant − d, which is PSD too from a constant of ½ on.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.

    >>> round(Mallows(lengthscale=1.0)((0, 1, 2), (2, 1, 0)), 4)
    0.3679
    """

    kind = "permutations"
    compares = "falls off with pairs in opposite orders"
    lengthscale: float | None = None
    constant: float | None = None

    @property
    def psd(self) -> bool:
        return self.constant is None or self.constant >= 0.5

    def encode(self, objects: Sequence[Any]) -> Orders:
        return _encode_orders(objects)

    def distances(self, a: Orders, b: Orders) -> Matrix:
        return _discordant(a, b)


@dataclass(frozen=True)
class Positions(Normalised):
    """The share of positions that hold the same item: for assignments, where the place of an item is what counts. PSD.

    >>> Positions()((0, 1, 2, 3), (0, 1, 3, 2))
    0.5
    """

    kind = "permutations"
    compares = "share of places that hold the same item"
    psd = True

    def encode(self, objects: Sequence[Any]) -> Matrix:
        return as_permutations(objects).astype(float)

    def between(self, a: Matrix, b: Matrix) -> Matrix:
        return 1.0 - _differing(a, b) / max(a.shape[1], 1)


@dataclass(frozen=True)
class Tours(Normalised):
    """The share of steps, in either direction, that two closed tours have in common; where they start does not count.

    PSD: it is the size of the intersection of two sets of n steps, divided by n.

    >>> Tours()((0, 1, 2, 3, 4), (3, 2, 1, 0, 4))
    1.0
    """

    kind = "permutations"
    compares = "share of steps of a round trip in common"
    psd = True

    def encode(self, objects: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """For each item the one after it, and the one before it."""
        p = as_permutations(objects)
        after, before = np.zeros(p.shape), np.zeros(p.shape)
        np.put_along_axis(after, p, np.roll(p, -1, axis=1).astype(float), axis=1)
        np.put_along_axis(before, p, np.roll(p, 1, axis=1).astype(float), axis=1)
        return after, before

    def between(self, a: tuple[Matrix, Matrix], b: tuple[Matrix, Matrix]) -> Matrix:
        n = a[0].shape[1]
        missed = _differing(a[0], b[0]) + _differing(a[1], b[0])
        # Up to three items, all tours are one; with fewer, the items after and before are the same and count twice.
        return np.ones_like(missed) if n <= 3 else 2.0 - missed / n


# Permutations of named items, for similarities of permutations of 0, …, n−1.


@dataclass(frozen=True)
class Numbered(Through):
    """A similarity of permutations of 0, …, n−1, for orders of these `items`. PSD if the inner one is.

    Which item has which number makes no difference to the similarities of `likewise.similarity.kinds.permutations`.

    >>> from likewise.similarity.kinds.permutations import Positions
    >>> Numbered(Positions(), ("a", "b", "c", "d"))(("b", "a", "c", "d"), ("a", "b", "c", "d"))
    0.5
    """

    # What it reads is no permutation of numbers.
    kind = None
    inner: Similarity
    items: tuple[Any, ...]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        numbers = {item: number for number, item in enumerate(self.items)}
        return self.inner.encode([_numbers(row, x, numbers) for row, x in enumerate(objects)])


def _numbers(row: int, x: Any, numbers: dict[Any, int]) -> list[int]:
    try:
        return [numbers[item] for item in x]
    except (KeyError, TypeError):
        raise SimilarityError(
            f"object {row} is not an order of the items {', '.join(map(repr, numbers))}: {x!r}"
        ) from None
