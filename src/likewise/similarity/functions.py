"""Similarities from plain functions: a score of two objects, a distance, or a matrix that is already there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    LARGEST,
    Function,
    Linearised,
    Matrix,
    Similarity,
    Vector,
    assign,
    asymmetry,
    check_no_distance,
    check_positive,
    check_scores,
    check_symmetric,
    level_within,
    refusal,
)
from likewise.similarity.encoding import Encoding, Indices, count_rows, take

# Scores of a generation: the last two are at hand, some 35 MB.
GENERATION = 1 << 17


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


class Entry:
    """An object that stands for all that are equal to it, for as long as an encoding or a score holds it."""

    __slots__ = ("__weakref__", "object")

    def __init__(self, x: Any) -> None:
        self.object = x


Entries = list[Entry]


class Pairs:
    """The scores of pairs of objects that were called for of late, each called once; a bounded number of them.

    >>> calls = []
    >>> pairs = Pairs()
    >>> a, b = pairs.entries(["ab", "cd"])
    >>> [pairs.score(x, y, lambda x, y: calls.append((x, y)) or 0.5) for x, y in ((a, b), (b, a), (a, b))], calls
    ([0.5, 0.5, 0.5], [('ab', 'cd')])
    """

    def __init__(self, *, directed: bool = False, generation: int = GENERATION) -> None:
        self.directed, self.added, self._generation = directed, 0, generation
        self._held: WeakValueDictionary[Any, Entry] = WeakValueDictionary()
        self._recent: dict[tuple[Entry, Entry], float] = {}
        self._older = self._recent

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has no scores: they belong to entries that are not copied.
        return partial(Pairs, directed=self.directed, generation=self._generation), ()

    def __len__(self) -> int:
        """How many objects are held, by anyone."""
        return len(self._held)

    def entries(self, objects: Iterable[Any]) -> Entries:
        """The entries of these objects; equal objects have one."""
        # Made first, so that it is held while it is looked up.
        return [self._held.setdefault(object_key(entry.object), entry) for entry in map(Entry, objects)]

    def scores(self, a: Sequence[Entry], b: Sequence[Entry], called: Callable[[Any, Any], float]) -> Matrix:
        """The matrix of the scores of each in `a` with each in `b`; `called` gives those that are not at hand."""
        half = a is b and not self.directed
        scores = np.empty((len(a), len(b)))
        for i, x in enumerate(a):
            start = i if half else 0
            scores[i, start:] = [self.score(x, y, called) for y in b[start:]]
        return np.triu(scores) + np.triu(scores, 1).T if half else scores

    def score(self, x: Entry, y: Entry, called: Callable[[Any, Any], float]) -> float:
        """The score of two objects; unless the order counts, that of the same two in the other order."""
        for pair in ((x, y),) if self.directed else ((x, y), (y, x)):
            for scores in (self._recent, self._older):
                if (score := scores.get(pair)) is not None:
                    return score
        score = called(x.object, y.object)
        self.added += 1
        if len(self._recent) >= self._generation:
            self._older, self._recent = self._recent, {}
        self._recent[x, y] = score
        return score


# Similarities without an encoding: a plain function of two objects, a matrix that is already there, an embedding.

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

    It is seldom called twice for a pair: a model and a pool keep their scores, and those of the last hundred thousand
    pairs are at hand. The first pairs are called in both orders, to notice a function that is not symmetric.
    """

    # A copy has entries of its own.
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
    check_microseconds(microseconds)
    return FunctionSimilarity(function, declared_psd=psd, gradient=gradient, pair_price=float(microseconds))


def check_microseconds(microseconds: Any) -> None:
    """Raises a SimilarityError if this is not a time of a call."""
    if not (isinstance(microseconds, int | float | np.number) and 0 <= microseconds < np.inf):
        raise SimilarityError(f"microseconds={microseconds!r} must be a number, 0 or more: how long a call takes")


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


# From a distance to a similarity: exp(−d/ℓ), or constant − d.

FITTED_ON = 200


def median_distance(distances: Matrix, otherwise: float = 1.0) -> float:
    """The median of the positive distances among objects, to an eighth of an octave; `otherwise` where there are none.

    Rounded, it stays as it is when an object is added, and all scores with it; it need not be more exact than that.

    >>> median_distance(np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 5.0], [0.0, 5.0, 0.0]]))
    4.0
    """
    above = distances[np.triu_indices(len(distances), 1)]
    if not np.any(above > 0):
        return otherwise
    return float(2.0 ** (np.round(8.0 * np.log2(np.median(above[above > 0]))) / 8.0))


class DistanceSimilarity(Similarity):
    """A similarity made from a distance (or divergence) d ≥ 0 with d(x, x) = 0.

    With a `constant` it is constant − d, which must dominate every distance in play; else it is exp(−d/ℓ). A
    `lengthscale` of None is settled as the median distance of the observed objects in a study, and is 1 elsewhere.
    Subclasses are frozen dataclasses with these two fields.
    """

    lengthscale: float | None
    constant: float | None

    @abstractmethod
    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        """d(a_i, b_j), a matrix of shape (len(a), len(b))."""

    def __post_init__(self) -> None:
        self.check_scale()

    def check_scale(self) -> None:
        """Refuse a lengthscale or constant that is not positive; a subclass with an `__init__` of its own calls it."""
        check_positive(self.name, "lengthscale", self.lengthscale)
        check_positive(self.name, "constant", self.constant)
        if self.lengthscale is not None and self.constant is not None:
            raise SimilarityError(f"{self.name} takes a lengthscale (exp(−d/ℓ)) or a constant (constant − d), not both")

    def scores(self, distances: Any) -> Any:
        """The similarity at these distances."""
        if self.constant is not None:
            return self.constant - distances
        return np.exp(-distances / (self.lengthscale or 1.0))

    def slopes(self, distances: Any) -> Any:
        """The derivative of the similarity in the distance."""
        if self.constant is not None:
            return -np.ones_like(distances)
        return -self.scores(distances) / (self.lengthscale or 1.0)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return cast(Matrix, self.scores(self.distances(a, b)))

    def within(self, a: Encoding) -> Vector:
        return cast(Vector, self.scores(np.zeros(count_rows(a))))

    @property
    def self_bounded(self) -> bool:
        return True

    def linearise_within(self, a: Encoding) -> Linearised:
        return level_within(self, a)

    def fitted(self, a: Encoding) -> Similarity:
        if self.lengthscale is not None or self.constant is not None:
            return self
        few = take(a, slice(0, FITTED_ON))
        return replace(self, lengthscale=median_distance(self.distances(few, few)))  # type: ignore[type-var]


# A similarity from a plain function that says how far apart two objects are.

# A share of the largest distance: in single precision a root leaves less of a distance of zero.
NO_DISTANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Distances(FunctionSimilarity):
    """The values of a plain function that says how far apart two objects are."""

    def check(self, x: Any, y: Any, score: float) -> None:
        if not (score >= -ROUNDED and np.isfinite(score)):
            raise SimilarityError(
                f"distance is {'negative' if np.isfinite(score) else 'not a finite number'}: "
                f"{self._call(x, y)} = {score:.6g}; return 0 for an object and itself, and more for all others"
            )


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

    @property
    def pair_price(self) -> float:
        return self.function.pair_price

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.function.encode(objects)

    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        return self.function.between(a, b)

    def fitted(self, a: Encoding) -> Similarity:
        """The similarity with its lengthscale settled; a similarity in place of a distance is noticed here."""
        few = take(a, slice(0, FITTED_ON))
        distances = self.distances(few, few)
        own, largest = np.diagonal(distances), float(np.max(distances, initial=0.0))
        if np.max(own, initial=0.0) > NO_DISTANCE * largest:
            i = int(own.argmax())
            raise SimilarityError(
                f"the distance of an object from itself is not 0: {self.name}({few[i].object!r}, {few[i].object!r}) = "
                f"{own[i]:.6g}; give a similarity as it is, without from_distance"
            )
        return super().fitted(a)


def from_distance(
    function: Function, *, lengthscale: float | None = None, microseconds: float = CALL
) -> FunctionDistance:
    """A similarity, exp(−d/ℓ), from a plain function that says how far apart two objects are.

    function: of two objects; symmetric, 0 for an object and itself, and never negative.
    lengthscale: ℓ, the distance at which two objects are alike by 37 %. None (default): a study takes the median
        distance of what it has observed; elsewhere it is 1.
    microseconds: about how long a call takes, as for `from_function`; 100 by default.

    >>> apart = from_distance(lambda x, y: abs(x - y), lengthscale=2.0)
    >>> apart(1, 1), round(apart(1, 3), 2)
    (1.0, 0.37)
    """
    check_microseconds(microseconds)
    return FunctionDistance(Distances(function, pair_price=float(microseconds)), lengthscale)
