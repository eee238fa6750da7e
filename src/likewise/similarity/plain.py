"""Similarities without an encoding: a plain function of two objects, a matrix that is already there, an embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Symmetrised
from likewise.similarity.base import Matrix, Similarity, Vector

CHECKED_PAIRS = 64
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

    function: Callable[[Any, Any], float]
    declared_psd: bool = False
    check_symmetry: bool = True
    _register: _Register = field(default_factory=_Register, repr=False)
    _scores: dict[tuple[int, int], float] = field(default_factory=dict, repr=False)

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
        try:
            return float(self.function(x, y))
        except (TypeError, ValueError) as error:
            raise SimilarityError(f"{self.name}({x!r}, {y!r}) did not give a number: {error}") from error

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


def similarity(function: Callable[[Any, Any], float], *, psd: bool = False) -> Similarity:
    """A similarity from a plain function of two objects.

    >>> same_length = similarity(lambda x, y: 1.0 / (1 + abs(len(x) - len(y))))
    >>> same_length("ab", "abc")
    0.5
    """
    return FunctionSimilarity(function, declared_psd=psd)


def as_similarity(given: Similarity | Callable[[Any, Any], float]) -> Similarity:
    """A similarity as it is, a plain function wrapped."""
    if isinstance(given, Similarity):
        return given
    if callable(given):
        return similarity(given)
    raise SimilarityError(f"a similarity is a Similarity or a function of two objects, not {given!r}")


def symmetrised(given: Similarity | Callable[[Any, Any], float]) -> Similarity:
    """½(S(x, x') + S(x', x)).

    >>> symmetrised(lambda x, y: 1.0 if x < y else 0.5)(1, 2)
    0.75
    """
    if isinstance(given, Similarity):
        return Symmetrised(given)
    return Symmetrised(FunctionSimilarity(given, check_symmetry=False))


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
        object.__setattr__(self, "matrix", scores)
        object.__setattr__(self, "_register", register)

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
        "add a constant, use exp(−distance), or declare a PSD kernel with psd=True"
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
