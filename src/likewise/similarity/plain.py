"""Similarities without an encoding: a plain function of two objects, a matrix that is already there, an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Matrix, Similarity, Vector, assign

CHECKED_PAIRS = 64
# A share of the largest score: rounding leaves as much of a distance of zero.
NO_LIKENESS = 1e-6
Indices = NDArray[np.intp]


def object_key(x: Any) -> Any:
    """Something hashable that equal objects share.

    >>> object_key([1, {"a": 2}]) == object_key([1, {"a": 2}])
    True
    """
    if isinstance(x, np.ndarray):
        return ("array", x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, dict):
        return ("dict", frozenset((k, object_key(v)) for k, v in x.items()))
    if isinstance(x, list | tuple):
        return (type(x).__name__, *(object_key(v) for v in x))
    if isinstance(x, set):
        return frozenset(x)
    try:
        hash(x)
    except TypeError:
        return ("id", id(x))
    return x


@dataclass(eq=False)
class _Register:
    """The distinct objects seen so far, numbered; it holds them, so that an identity stays theirs."""

    objects: list[Any] = field(default_factory=list)
    numbers: dict[Any, int] = field(default_factory=dict)

    def number(self, x: Any) -> int:
        key = object_key(x)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.objects)
            self.objects.append(x)
        return found


@dataclass(frozen=True, eq=False)
class FunctionSimilarity(Similarity):
    """A plain function of two objects, called once for each pair that is ever compared. Not assumed PSD.

    The first pairs are called in both orders, to notice a function that is not symmetric.
    """

    function: Function
    declared_psd: bool = False
    check_symmetry: bool = True
    _register: _Register = field(default_factory=_Register, repr=False)
    _scores: dict[tuple[int, int], float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise SimilarityError(f"a similarity is a Similarity or a function of two objects, not {self.function!r}")

    @property
    def psd(self) -> bool:
        return self.declared_psd

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def encode(self, objects: Sequence[Any]) -> Indices:
        return np.array([self._register.number(x) for x in objects], dtype=np.intp)

    def between(self, a: Indices, b: Indices) -> Matrix:
        return np.array([[self._score(int(i), int(j)) for j in b] for i in a], dtype=float).reshape(len(a), len(b))

    def within(self, a: Indices) -> Vector:
        return np.array([self._score(int(i), int(i)) for i in a], dtype=float)

    def _score(self, i: int, j: int) -> float:
        key = (i, j) if i <= j or not self.check_symmetry else (j, i)
        score = self._scores.get(key)
        if score is None:
            score = self._called(*key)
            if self.check_symmetry and i != j and len(self._scores) < CHECKED_PAIRS:
                self._check_symmetric(key[0], key[1], score)
            self._scores[key] = score
        return score

    def _called(self, i: int, j: int) -> float:
        x, y = self._register.objects[i], self._register.objects[j]
        call = f"{self.name}({x!r}, {y!r})"
        try:
            given = self.function(x, y)
        except Exception as error:
            raise SimilarityError(
                f"{call} raised {type(error).__name__}: {error}; a similarity has a score for every pair of objects"
            ) from error
        try:
            return float(given)
        except (TypeError, ValueError):
            raise SimilarityError(f"{call} did not give a number but {given!r}; return a score of 0 or more") from None

    def _check_symmetric(self, i: int, j: int, score: float) -> None:
        mirrored = self._called(j, i)
        if not np.isclose(score, mirrored, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise asymmetry(self._register.objects[i], self._register.objects[j], score, mirrored)


def asymmetry(x: Any, y: Any, score: float, mirrored: float) -> SimilarityError:
    """The error for S(x, y) ≠ S(y, x)."""
    return SimilarityError(
        f"similarity is not symmetric: S({x!r}, {y!r}) = {score:.6g} but S({y!r}, {x!r}) = {mirrored:.6g}; "
        "wrap it in likewise.symmetrised"
    )


def similarity(function: Function, *, psd: bool = False) -> Similarity:
    """A similarity from a plain function of two objects.

    >>> same_length = similarity(lambda x, y: 1.0 / (1 + abs(len(x) - len(y))))
    >>> same_length("ab", "abc")
    0.5
    """
    return FunctionSimilarity(function, declared_psd=psd)


def as_similarity(given: Similarity | Function) -> Similarity:
    """A similarity as it is, a plain function wrapped."""
    return given if isinstance(given, Similarity) else similarity(given)


@dataclass(frozen=True, eq=False, init=False)
class Precomputed(Similarity):
    """Objects and the matrix of their similarities, computed elsewhere. Not assumed PSD.

    >>> Precomputed(["a", "b"], [[1.0, 0.2], [0.2, 1.0]])("a", "b")
    0.2
    """

    matrix: Matrix
    _register: _Register = field(repr=False)

    def __init__(self, objects: Sequence[Any], matrix: Any) -> None:
        scores = np.asarray(matrix, dtype=float)
        if scores.shape != (len(objects), len(objects)):
            raise SimilarityError(
                f"Precomputed has {len(objects)} objects but a matrix of shape {scores.shape}; "
                f"it needs ({len(objects)}, {len(objects)})"
            )
        register = _Register()
        for row, x in enumerate(objects):
            if register.number(x) != row:
                raise SimilarityError(f"Precomputed has the object {x!r} twice (row {row}); give each object once")
        check_scores(scores, objects, objects)
        check_symmetric(scores, objects)
        check_no_distance(scores, np.diagonal(scores), objects, objects)
        assign(self, matrix=scores, _register=register)

    def encode(self, objects: Sequence[Any]) -> Indices:
        found = [self._register.numbers.get(object_key(x)) for x in objects]
        for x, row in zip(objects, found, strict=True):
            if row is None:
                raise SimilarityError(
                    f"{x!r} is not among the {len(self.matrix)} objects of this precomputed similarity; "
                    "add its row and column to the matrix"
                )
        return np.array(found, dtype=np.intp)

    def between(self, a: Indices, b: Indices) -> Matrix:
        return self.matrix[np.ix_(a, b)]

    def within(self, a: Indices) -> Vector:
        return self.matrix[a, a]


def check_scores(scores: Matrix, rows: Sequence[Any], columns: Sequence[Any], *, signed: bool = False) -> None:
    """Refuse scores that are not finite, or negative where they may not be, naming the pair."""
    wrong = ~np.isfinite(scores)
    if not signed:
        # Rounding may leave a score a hair below zero; that is no reason to stop.
        wrong |= scores < -1e-9 * max(1.0, float(np.max(np.abs(scores), initial=0.0, where=np.isfinite(scores))))
    if not wrong.any():
        return
    i, j = map(int, np.argwhere(wrong)[0])
    score = float(scores[i, j])
    kind = "negative" if np.isfinite(score) else "not a finite number"
    remedy = (
        "add a constant, use exp(−distance), or write a Similarity that is `signed`"
        if np.isfinite(score)
        else "return a finite score for every pair of objects"
    )
    raise SimilarityError(f"similarity is {kind}: S({rows[i]!r}, {columns[j]!r}) = {score:.6g}; {remedy}")


def check_symmetric(scores: Matrix, objects: Sequence[Any]) -> None:
    """Refuse a square matrix of scores that is not symmetric, naming the pair."""
    gap = np.abs(scores - scores.T)
    limit = 1e-6 * max(1.0, float(np.max(np.abs(scores), initial=0.0)))
    if gap.size and gap.max() > limit:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise asymmetry(objects[i], objects[j], float(scores[i, j]), float(scores[j, i]))


def check_no_distance(scores: Matrix, selves: Vector, objects: Sequence[Any], others: Sequence[Any]) -> None:
    """Refuse scores in which objects are like others and none, by `selves`, is like itself, naming a pair."""
    largest = float(np.max(scores, initial=0.0))
    if largest > 0 and np.max(selves) <= NO_LIKENESS * largest:
        i, j = map(int, np.unravel_index(int(scores.argmax()), scores.shape))
        raise SimilarityError(
            f"similarity looks like a distance: S({objects[i]!r}, {others[j]!r}) = {largest:.6g}, but "
            f"S({objects[i]!r}, {objects[i]!r}) = {selves[i]:.6g}, and no object is more like itself; "
            "of a distance d use exp(−d/ℓ), with ℓ a typical distance"
        )
