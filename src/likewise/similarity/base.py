"""The protocol: a similarity encodes objects once, and compares encodings as arrays.

Scores have to be finite, symmetric and not negative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.encoding import Encoding, count_rows, take

# What parameters and pairs of objects have to be, wherever similarities take them.


def check_positive(name: str, what: str, value: float | None) -> None:
    """Refuse a parameter that is given and not positive."""
    if value is not None and not positive_numbers(value):
        raise SimilarityError(f"{name} needs a positive {what}, not {value!r}")


def positive_numbers(values: Any) -> bool:
    """Whether these are one or several numbers, and all positive.

    >>> [positive_numbers(values) for values in (0.5, [1, 2], "1", [], True)]
    [True, True, False, False, False]
    """
    numbers = np.asarray(values)
    return numbers.size > 0 and numbers.dtype.kind in "iuf" and bool(np.all(np.isfinite(numbers) & (numbers > 0)))


def check_whole(name: str, what: str, value: Any, least: int = 1) -> None:
    """Refuse a parameter that is no whole number, or one below `least`."""
    if not isinstance(value, int | np.integer) or value < least:
        raise SimilarityError(f"{name} needs a whole number for {what}, {least} or more, not {value!r}")


def check_widths(one: int, other: int, things: str, units: str, remedy: str) -> None:
    """Refuse to compare things of different widths.

    >>> check_widths(2, 3, "vectors", "numbers", "vectors that are compared need one length")
    Traceback (most recent call last):
    likewise.errors.SimilarityError: vectors of 2 and of 3 numbers cannot be compared; vectors that are ...
    """
    if one != other:
        raise SimilarityError(f"{things} of {one} and of {other} {units} cannot be compared; {remedy}")


# The protocol: a similarity encodes objects once and compares encodings as arrays.
#
# Three methods make a similarity. Two further protocols are optional, and said by having the methods, not by a flag:
# learnable parameters (`parameters`, `with_parameters`, `sensitivity`) and derivatives in the objects
# (`Differentiable`). Derivatives are *pullbacks*: instead of the tensor ∂S_ij/∂x_i they return the map W ↦ Σ_j W_ij
# ∂S_ij/∂x_i, which is all that a gradient of a scalar needs, costs no more memory than S itself, and composes through
# sums, products and warps.

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Function = Callable[[Any, Any], float]
Pullback = Callable[[Any], Matrix]
ParameterPullback = Callable[[Matrix], dict[str, Vector]]
# Scores with the map to their derivatives: in the objects, and in the parameters.
Linearised = tuple[Matrix, Pullback]
Sensitivity = tuple[Matrix, ParameterPullback]


@dataclass(frozen=True)
class LogNormal:
    """Prior of a positive parameter: log θ ~ N(location, scale²).

    >>> round(LogNormal(0.0, 1.0).mode, 4)
    0.3679
    """

    location: float
    scale: float

    @property
    def mode(self) -> float:
        return float(np.exp(self.location - self.scale**2))

    def log_density(self, values: Vector) -> float:
        """Σ log p(θ), up to a constant."""
        z = (np.log(values) - self.location) / self.scale
        return float(-np.sum(0.5 * z**2 + np.log(values)))

    def log_slope(self, values: Vector) -> Vector:
        """∂ log p(θ) / ∂ log θ."""
        slope: Vector = -(np.log(values) - self.location) / self.scale**2 - 1.0
        return slope


@dataclass(frozen=True)
class Parameter:
    """A positive parameter (one entry or several) and what is believed of it before any data."""

    value: Vector
    prior: LogNormal


def trait(method: Callable[[Any], Any]) -> Any:
    """A property that a subclass may also set to a plain value: `psd = True`.

    To type checkers it is Any, as they let nothing but a property take the place of a property.
    """
    return property(method)


# Blocks of pairs: larger ones waste work, smaller ones waste calls.
PAIRED = 16


class Similarity(ABC):
    """How alike two objects are: a symmetric, non-negative score, not necessarily positive definite.

    `compares` says in a few words what it looks at, for the list of those that the command line knows by name; it is
    empty where text cannot describe one, as it takes functions.
    """

    compares: ClassVar[str] = ""

    @abstractmethod
    def encode(self, objects: Sequence[Any]) -> Encoding:
        """What is computed once per object (see `likewise.similarity.encoding`)."""

    @abstractmethod
    def between(self, a: Encoding, b: Encoding) -> Matrix:
        """Scores S(a_i, b_j), a matrix of shape (len(a), len(b))."""

    @abstractmethod
    def within(self, a: Encoding) -> Vector:
        """Scores S(a_i, a_i) of each object with itself."""

    def paired(self, a: Encoding, b: Encoding) -> Vector:
        """Scores S(a_i, b_i): the diagonals of small blocks, unless a similarity knows something better."""
        blocks = [slice(i, i + PAIRED) for i in range(0, count_rows(a), PAIRED)]
        return np.concatenate(
            [np.zeros(0), *(np.diagonal(self.between(take(a, part), take(b, part))) for part in blocks)]
        )

    @trait
    def psd(self) -> bool:
        """Whether every matrix of scores is positive semi-definite."""
        return False

    @trait
    def self_bounded(self) -> bool:
        """Whether no score exceeds √(S(x, x) S(y, y)); a PSD similarity has no such score."""
        return self.psd

    @trait
    def signed(self) -> bool:
        """Whether scores may be negative; allowed to PSD kernels alone (linear, cosine)."""
        return False

    @trait
    def kind(self) -> str | None:
        """The kind of object it reads ("molecules"), where it reads one kind alone."""
        return None

    @trait
    def divisible(self) -> bool:
        """Whether every positive power of it is PSD, as of a Gaussian kernel: then learning need not treat it."""
        return False

    @trait
    def differentiable(self) -> bool:
        """Whether it has derivatives in the objects: unless said otherwise, if it and its parts have the methods."""
        has_methods = hasattr(self, "linearise") and hasattr(self, "linearise_within")
        return has_methods and all(part.differentiable for part in self.parts)

    @trait
    def portable(self) -> bool:
        """Whether a copy of it in another process encodes as it does: a frozen dataclass is what its fields say."""
        frozen = is_dataclass(self) and type(self).__dataclass_params__.frozen
        return frozen and all(part.portable for part in self.parts)

    @trait
    def price(self) -> float:
        """Microseconds of one processor to encode an object that was read already, where that is worth knowing."""
        return sum(part.price for part in self.parts)

    @trait
    def pair_price(self) -> float:
        """Microseconds of one processor to compare two encoded objects, where that is more than array work; else 0.

        It is a number of the code and not of the machine: searches look at fewer objects where comparing is dear, and
        the same seed has to give the same answer everywhere.
        """
        return sum(part.pair_price for part in self.parts)

    @property
    def parts(self) -> tuple[Similarity, ...]:
        """The similarities this one is built from."""
        return ()

    @property
    def encoder(self) -> Similarity:
        """The similarity that makes its encodings: itself, or the one that it wraps."""
        return self

    @trait
    def name(self) -> str:
        """What tables and messages call it."""
        return type(self).__name__

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        """The same combination of other parts."""
        return self

    def fitted(self, a: Encoding) -> Similarity:
        """The same similarity with what it leaves to the data (a median distance) settled on these objects."""
        if not self.parts:
            return self
        return self.rebuilt([part.fitted(self.part_encoding(a, i)) for i, part in enumerate(self.parts)])

    @trait
    def branched(self) -> bool:
        """Whether it has branches, whose values may vary more or less than those of others."""
        return any(part.branched for part in self.parts)

    def with_spread(self, a: Encoding, values: Vector) -> Similarity:
        """The same similarity with how much its branches vary read off the values of these objects."""
        if not self.branched:
            return self
        each = enumerate(self.parts)
        return self.rebuilt([part.with_spread(self.part_encoding(a, i), values) for i, part in each])

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        """The parameters that can be learnt, for objects like these."""
        return {
            f"{i}.{name}": parameter
            for i, part in enumerate(self.parts)
            for name, parameter in part.parameters(self.part_encoding(a, i)).items()
        }

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        """The same similarity with these parameters."""
        if not self.parts or not values:
            return self
        return self.rebuilt(
            [
                part.with_parameters({k.split(".", 1)[1]: v for k, v in values.items() if k.split(".", 1)[0] == str(i)})
                for i, part in enumerate(self.parts)
            ]
        )

    def sensitivity(self, a: Encoding) -> Sensitivity:
        """Scores S(a_i, a_j), and the map W ↦ Σ_ij W_ij ∂S_ij/∂ log θ for each parameter θ."""
        return self.between(a, a), lambda weights: {}

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        """The encoding that part `i` made, out of this similarity's encoding."""
        return a[i]

    def __call__(self, x: Any, other: Any) -> float:
        """The score of two objects."""
        return float(self.between(self.encode([x]), self.encode([other]))[0, 0])

    def __add__(self, other: Similarity | Function) -> Similarity:
        """The sum with another similarity or a plain function."""
        return _algebra().Sum((self, _algebra().as_similarity(other)))

    def __radd__(self, other: Function | int) -> Similarity:
        """A plain function plus this; 0, with which `sum` begins, changes nothing."""
        if isinstance(other, int) and other == 0:
            return self
        return _algebra().as_similarity(cast(Function, other)) + self

    def __mul__(self, other: Similarity | Function | float) -> Similarity:
        """The product with another similarity or a plain function, or this one scaled by a number."""
        if callable(other):
            return _algebra().Product((self, _algebra().as_similarity(other)))
        if isinstance(other, str):
            raise SimilarityError(f"{self.name} is multiplied by a number or a similarity, not by {other!r}")
        return _algebra().Scaled(self, float(other))

    def __rmul__(self, other: Function | float) -> Similarity:
        """A plain function times this, or this one scaled by a number."""
        return _algebra().as_similarity(other) * self if callable(other) else self * other


class Normalised(Similarity):
    """A similarity by which every object scores 1 with itself, and no two score more."""

    @property
    def self_bounded(self) -> bool:
        return True

    def within(self, a: Encoding) -> Vector:
        return np.ones(count_rows(a))

    def linearise_within(self, a: Encoding) -> Linearised:
        return level_within(self, a)


def level_within(similarity: Any, a: Encoding) -> Linearised:
    """`linearise_within` of a similarity by which all objects score alike with themselves: a gradient of zeros."""
    nothing = take(a, slice(0, 0))
    return similarity.within(a), lambda weights: similarity.linearise(a, nothing)[1](np.zeros((count_rows(a), 0)))


def _algebra() -> Any:
    """What is made of similarities, which itself is made of this file."""
    from likewise.similarity import algebra

    return algebra


@runtime_checkable
class Differentiable(Protocol):
    """A similarity that can be differentiated in the vector of its first object."""

    def encode(self, objects: Sequence[Any]) -> Encoding: ...

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        """Scores S(a_i, b_j), and the map W ↦ Σ_j W_ij ∇S(a_i, b_j), the gradient in a_i's vector."""
        ...

    def linearise_within(self, a: Encoding) -> Linearised:
        """Scores S(a_i, a_i), and the map w ↦ w_i ∇S(a_i, a_i), the total gradient in a_i's vector."""
        ...


def assign(owner: Any, **values: Any) -> None:
    """Set the fields of a frozen dataclass that has an `__init__` of its own."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def numbered(slopes: Mapping[str, Vector], part: int = 0) -> dict[str, Vector]:
    """The slopes of a part's parameters under the part's number."""
    return {f"{part}.{name}": slope for name, slope in slopes.items()}


def is_differentiable(similarity: Similarity) -> TypeGuard[Differentiable]:
    """Whether the similarity has derivatives in the objects, for the type checker."""
    return similarity.differentiable


def map_leaves(function: Callable[[Similarity], Similarity], similarity: Similarity) -> Similarity:
    """The similarity with `function` applied to each of its parts that has no parts."""
    if not similarity.parts:
        return function(similarity)
    return similarity.rebuilt([map_leaves(function, part) for part in similarity.parts])


# What scores must be, whoever is compared: finite, symmetric, not negative, and no distances.
#
# The same rule holds for every block of scores that is computed, with observed objects and with candidates. It costs a
# minimum and a maximum of the block.

# A share of the largest score: rounding leaves as much of a distance of zero.
SYMMETRISE = "wrap it in likewise.symmetrised"
NO_LIKENESS = 1e-6
# Sums of squares of larger scores are no numbers.
LARGEST = 1e140
# Rounding may leave a score a hair below zero; that is no reason to stop.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Named:
    """Stands for an object in a message, where the object itself is not at hand."""

    text: str

    def __repr__(self) -> str:
        return self.text


OBSERVED, NEW = Named("an observed object"), Named("a new object")


def check_scores(scores: Matrix, rows: Sequence[Any], columns: Sequence[Any], *, signed: bool = False) -> None:
    """Refuse scores that are no matrix, not finite, or negative where they may not be, naming the pair."""
    check_shape("between", scores, (len(rows), len(columns)))
    if not _good(scores, signed):
        i, j = map(int, np.argwhere(_wrong(scores, signed))[0])
        raise refusal(rows[i], columns[j], float(scores[i, j]))


def check_shape(method: str, scores: Any, shape: tuple[int, ...]) -> None:
    """Refuse what a method of a similarity gave, where it is no array of this shape of real numbers.

    >>> check_shape("between", np.ones((2, 3)), (3, 2))
    Traceback (most recent call last):
    likewise.errors.SimilarityError: `between` of the similarity gave an array of shape (2, 3) and of float64, ...
    """
    right = isinstance(scores, np.ndarray) and scores.shape == shape and scores.dtype.kind in "fiub"
    if not right:
        array = isinstance(scores, np.ndarray)
        shown = f"an array of shape {scores.shape} and of {scores.dtype}" if array else f"{scores!r:.80}"
        each = "a row for each first and a column for each second object" if len(shape) == 2 else "one for each object"
        raise SimilarityError(
            f"`{method}` of the similarity gave {shown}, not an array of numbers of shape {shape}; return {each}"
        )


def check_selves(selves: Vector, objects: Sequence[Any], *, signed: bool = False) -> None:
    """Refuse such scores of objects with themselves, naming the object."""
    check_shape("within", selves, (len(objects),))
    if not _good(selves, signed):
        i = int(np.argmax(_wrong(selves, signed)))
        raise refusal(objects[i], objects[i], float(selves[i]))


def _good(scores: Any, signed: bool) -> bool:
    # A NaN among them is their minimum.
    least = float(np.minimum.reduce(scores, axis=None, initial=0.0))
    most = float(np.maximum.reduce(scores, axis=None, initial=0.0))
    return bool(-least <= LARGEST and most <= LARGEST) and (signed or least >= _limit(least, most))


def _limit(least: float, most: float) -> float:
    return -ROUNDING * max(1.0, most, -least)


def _wrong(scores: Any, signed: bool) -> Any:
    finite = np.abs(scores) <= LARGEST
    if signed:
        return ~finite
    least, most = (float(end(scores, initial=0.0, where=finite)) for end in (np.min, np.max))
    return ~finite | (scores < _limit(least, most))


def refusal(x: Any, other: Any, score: float) -> SimilarityError:
    """The error for a score that is not finite, too large or negative."""
    if not np.isfinite(score):
        kind, remedy = "not a finite number", "return a finite score for every pair of objects"
    elif abs(score) > LARGEST:
        kind, remedy = "too large to compute with", f"divide all scores, so that none is above {LARGEST:g}"
    else:
        kind, remedy = "negative", "add a constant, use exp(−distance), or write a Similarity that is `signed`"
    return SimilarityError(f"similarity is {kind}: S({x!r}, {other!r}) = {score:.6g}; {remedy}")


def asymmetry(x: Any, y: Any, score: float, mirrored: float, remedy: str = SYMMETRISE) -> SimilarityError:
    """The error for S(x, y) ≠ S(y, x)."""
    return SimilarityError(
        f"similarity is not symmetric: S({x!r}, {y!r}) = {score:.6g} but S({y!r}, {x!r}) = {mirrored:.6g}; {remedy}"
    )


def check_symmetric(scores: Matrix, objects: Sequence[Any], remedy: str = SYMMETRISE) -> None:
    """Refuse a square matrix of scores that is not symmetric, naming the pair."""
    gap = np.abs(scores - scores.T)
    limit = 1e-6 * max(1.0, float(np.max(np.abs(scores), initial=0.0)))
    if gap.size and gap.max() > limit:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise asymmetry(objects[i], objects[j], float(scores[i, j]), float(scores[j, i]), remedy)


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
