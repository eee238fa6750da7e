"""Similarities without an encoding: a plain function of two objects, a matrix that is already there, an embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity import effort
from likewise.similarity.base import Function, Linearised, Matrix, Similarity, Vector, assign
from likewise.similarity.encodings.arrays import Indices
from likewise.similarity.pairs import Entries, Pairs, object_key
from likewise.similarity.scores import (
    LARGEST,
    asymmetry,
    check_no_distance,
    check_scores,
    check_symmetric,
    refusal,
)

CHECKED_PAIRS = 64
# What rounding may leave below zero in a function of scores that are not tiny.
ROUNDED = 1e-6
# Microseconds of a call, unless the user says otherwise: of a function nothing is known, and many are slow.
CALL = 100.0
# ∇S(x, x') in the numbers of x.
Gradient = Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class FunctionSimilarity(Similarity):
    """A plain function of two objects. Not assumed PSD.

    It is called once for each pair of objects that are observed or in a pool; scores with objects that a search merely
    visited are kept for a while. The first pairs are called in both orders, to notice a function that is not symmetric.
    """

    # A copy would number its objects anew.
    portable = False
    function: Function
    declared_psd: bool = False
    check_symmetry: bool = True
    gradient: Gradient | None = None
    pair_price: float = CALL
    _pairs: Pairs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_function(self.function)
        if self.gradient is not None and not callable(self.gradient):
            raise SimilarityError(
                f"a gradient is a function of two objects, as the similarity is, not {self.gradient!r}"
            )
        assign(self, _pairs=Pairs(directed=not self.check_symmetry))

    @property
    def psd(self) -> bool:
        return self.declared_psd

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def encode(self, objects: Sequence[Any]) -> Entries:
        return self._pairs.entries(objects)

    def between(self, a: Entries, b: Entries) -> Matrix:
        return self._pairs.scores(a, b, self._checked)

    def within(self, a: Entries) -> Vector:
        return np.array([self._pairs.score(x, x, self._checked) for x in a], dtype=float)

    @property
    def differentiable(self) -> bool:
        return self.gradient is not None

    def linearise(self, a: Entries, b: Entries) -> Linearised:
        def pull(weights: Matrix) -> Matrix:
            # Without others to compare with, a gradient of zeros needs a width.
            rows = [self._slope(x.object, [y.object for y in b], w) for x, w in zip(a, weights, strict=True)]
            return np.array(rows) if rows else np.zeros((0, 0))

        return self.between(a, b), pull

    def linearise_within(self, a: Entries) -> Linearised:
        """S(x, x), whose total derivative is twice that in its first argument, as S is symmetric."""

        def pull(weights: Vector) -> Matrix:
            rows = [2.0 * w * self._gradient(x.object, x.object) for x, w in zip(a, weights, strict=True)]
            return np.array(rows) if rows else np.zeros((0, 0))

        return self.within(a), pull

    def _slope(self, x: Any, others: Sequence[Any], weights: Vector) -> Vector:
        """Σ_j w_j ∇S(x, x_j), without calls for what has no weight."""
        terms = [w * self._gradient(x, y) for y, w in zip(others, weights, strict=True) if w]
        return cast(Vector, sum(terms)) if terms else np.zeros_like(self._gradient(x, x))

    def _gradient(self, x: Any, y: Any) -> Vector:
        given = cast(Gradient, self.gradient)(x, y)
        try:
            slope = np.atleast_1d(np.asarray(given, dtype=float))
        except (TypeError, ValueError):
            slope = np.array(np.nan)
        width = x.size if isinstance(x, np.ndarray) else slope.size
        if slope.ndim != 1 or slope.size != width or not np.all(np.isfinite(slope)):
            raise SimilarityError(
                f"the gradient of {self._call(x, y)} is {given!r}; "
                "give the derivatives in the numbers of the first object, one finite number for each"
            )
        return slope

    def _checked(self, x: Any, y: Any) -> float:
        score = self._called(x, y)
        self.check(x, y, score)
        if self.check_symmetry and x is not y and self._pairs.added < CHECKED_PAIRS:
            mirrored = self._called(y, x)
            # As exact as a matrix of scores has to be: single precision, that of JAX and torch, rounds at 1e-7.
            if not np.isclose(score, mirrored, rtol=1e-6, atol=1e-6, equal_nan=True):
                raise asymmetry(x, y, score, mirrored)
        return score

    def check(self, x: Any, y: Any, score: float) -> None:
        """Refuse what the function gave of two objects, where it cannot be."""
        if not -ROUNDED <= score <= LARGEST:
            raise refusal(x, y, score)

    def _called(self, x: Any, y: Any) -> float:
        effort.count(calls=1)
        try:
            given = self.function(x, y)
        except Exception as error:
            raise SimilarityError(
                f"{self._call(x, y)} raised {type(error).__name__}: {error}; "
                "a similarity has a score for every pair of objects"
            ) from error
        try:
            return float(given)
        except (TypeError, ValueError):
            raise SimilarityError(
                f"{self._call(x, y)} did not give a number but {given!r}; return a score of 0 or more"
            ) from None

    def _call(self, x: Any, y: Any) -> str:
        return f"{self.name}({x!r}, {y!r})"


def from_function(
    function: Function, *, psd: bool = False, gradient: Gradient | None = None, microseconds: float = CALL
) -> Similarity:
    """A similarity from a plain function of two objects.

    `function(x, x')` returns the score, 0 or more, the same in both orders.
    `psd` says that every matrix of its scores is positive semi-definite; by default that is not assumed.
    `gradient(x, x')` returns ∇S(x, x') in the numbers of x, in their own units; only objects with numbers have one, as
    those of a `Box` or a `Simplex`. Without it a study in such a space takes finite differences of the function, which
    cost two calls for each number.
    `microseconds` is about how long a call takes; 100 by default. By it a search in a space that cannot be listed knows
    how many objects it may look at: some 4,000 calls an ask at 100, ten times as many at 10. For a function that takes
    a microsecond say 1, and the search is as thorough as with the similarities of this package.

    >>> same_length = from_function(lambda x, y: 1.0 / (1 + abs(len(x) - len(y))))
    >>> same_length("ab", "abc")
    0.5
    >>> near = from_function(lambda x, y: 10.0 - (x - y) ** 2, gradient=lambda x, y: -2.0 * (x - y))
    >>> near.linearise(near.encode([1.0]), near.encode([3.0]))[1](np.ones((1, 1))).tolist()
    [[4.0]]
    """
    if not (isinstance(microseconds, int | float | np.number) and 0 <= microseconds < np.inf):
        raise SimilarityError(f"microseconds={microseconds!r} must be a number, 0 or more: how long a call takes")
    return FunctionSimilarity(function, declared_psd=psd, gradient=gradient, pair_price=float(microseconds))


def as_similarity(given: Similarity | Function) -> Similarity:
    """A similarity as it is, a plain function of two objects wrapped; anything else is refused.

    >>> as_similarity(len)
    Traceback (most recent call last):
    ...
    likewise.errors.SimilarityError: the function len takes 1 argument; a similarity is a function of two objects
    """
    if isinstance(given, Similarity):
        return given
    return from_function(given)


def check_function(function: Any) -> None:
    """A complaint about what cannot be called with two objects, as far as it says what it takes."""
    if isinstance(function, type) and issubclass(function, Similarity):
        name = function.__name__
        raise SimilarityError(f"{name} is a class of similarities, not one of them; write {name}()")
    if not callable(function):
        raise SimilarityError(f"a similarity is a Similarity or a function of two objects, not {function!r}")
    try:
        taken = signature(function)
        taken.bind(None, None)
    except ValueError:
        return
    except TypeError:
        count = len(taken.parameters)
        name = getattr(function, "__name__", type(function).__name__)
        raise SimilarityError(
            f"the function {name} takes {count} argument{'' if count == 1 else 's'}; "
            "a similarity is a function of two objects"
        ) from None


@dataclass(frozen=True, eq=False, init=False)
class Precomputed(Similarity):
    """Objects and the matrix of their similarities, computed elsewhere. Not assumed PSD.

    objects: the objects that are compared, each once.
    matrix: their scores, a row and a column for each object in this order; symmetric.

    >>> Precomputed(["a", "b"], [[1.0, 0.2], [0.2, 1.0]])("a", "b")
    0.2
    """

    # Objects are known by their identity here.
    portable = False
    matrix: Matrix
    # Held, so that an identity stays theirs.
    _objects: tuple[Any, ...] = field(repr=False)
    _rows: dict[Any, int] = field(repr=False)

    def __init__(self, objects: Sequence[Any], matrix: Any) -> None:
        try:
            scores = np.asarray(matrix, dtype=float)
        except (TypeError, ValueError) as error:
            raise SimilarityError(
                f"Precomputed needs a matrix of numbers: {error}; give the score of each pair"
            ) from None
        if scores.shape != (len(objects), len(objects)):
            raise SimilarityError(
                f"Precomputed has {len(objects)} objects but a matrix of shape {scores.shape}; "
                f"it needs ({len(objects)}, {len(objects)})"
            )
        rows: dict[Any, int] = {}
        for row, x in enumerate(objects):
            if rows.setdefault(object_key(x), row) != row:
                raise SimilarityError(f"Precomputed has the object {x!r} twice (row {row}); give each object once")
        check_scores(scores, objects, objects)
        check_symmetric(scores, objects, "give the mean of the matrix and its transpose, (M + M.T) / 2")
        check_no_distance(scores, np.diagonal(scores), objects, objects)
        assign(self, matrix=scores, _objects=tuple(objects), _rows=rows)

    def encode(self, objects: Sequence[Any]) -> Indices:
        found = [self._rows.get(object_key(x)) for x in objects]
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
