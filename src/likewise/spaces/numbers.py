"""Numbers that a person can set: single ones between bounds, boxes of several, in steps and on a scale."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector, assign
from likewise.similarity.coordinates import Coordinates, rescaled
from likewise.spaces.base import RESOLUTION, Generator, Space, checked_numbers, checked_where, checked_whole, child

# Ranges as text: `20..120/5 log`, from, to, in steps of, and on which scale.

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"\s*({NUMBER}?)\s*\.\.\s*({NUMBER})\s*(?:/\s*({NUMBER}))?((?:\s+(?:log|int))*)\s*")


class Range(NamedTuple):
    """From `low` to `high`, in steps of `step` if any, on a logarithmic scale or not, whole numbers or not."""

    low: float
    high: float
    step: float | None = None
    log: bool = False
    integer: bool = False


def is_range(text: str) -> bool:
    """Whether the text is meant as a range.

    >>> is_range("20..120"), is_range("DMF|THF")
    (True, False)
    """
    return ".." in text


def read_range(text: str) -> Range:
    """The range that the text describes; a SpaceError where it is none.

    >>> read_range("20..120/5"), read_range("1e-3..1 log").log, read_range("1..8 int").integer
    (Range(low=20.0, high=120.0, step=5.0, log=False, integer=False), True, True)
    """
    found = RANGE.fullmatch(text)
    # Three points could be a range and a decimal point, on either side.
    if found is None or not found[1] or "..." in text:
        raise SpaceError(
            f"{text.strip()!r} is no range; write it as 20..120, 20..120/5 in steps of 5, 1..8 int, or 0.001..1 log"
        )
    words = found[4].split()
    step = None if found[3] is None else float(found[3])
    return Range(float(found[1]), float(found[2]), step, "log" in words, "int" in words)


def write_range(found: Range) -> str:
    """The text that `read_range` reads.

    >>> write_range(Range(20.0, 120.0, 5.0))
    '20..120/5'
    """
    step = "" if found.step is None or (found.integer and found.step == 1) else f"/{_short(found.step)}"
    words = f"{' int' if found.integer else ''}{' log' if found.log else ''}"
    return f"{_short(found.low)}..{_short(found.high)}{step}{words}"


def _short(number: float) -> str:
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))


# Numbers that are set in steps: each is the lower bound and a whole number of steps.

# A number this close to a step, in steps, is on it.
CLOSE = 1e-6


def as_steps(step: Any, dimension: int) -> Vector:
    """The step of each dimension, 0 where there is none; a SpaceError for anything else.

    >>> as_steps([5, None], 2).tolist(), as_steps(None, 2).tolist()
    ([5.0, 0.0], [0.0, 0.0])
    """
    given = list(step) if isinstance(step, list | tuple | np.ndarray) else [step] * dimension
    message = f"step={step!r}: give a positive number, or one for each of {dimension} dimensions with None for no steps"
    steps = checked_numbers([0.0 if number is None else number for number in given], message)
    if steps.shape != (dimension,) or np.any(steps < 0):
        raise SpaceError(message)
    return steps


def check_step(what: str, low: float, high: float, step: float) -> None:
    """A complaint about bounds that are no whole number of steps apart."""
    count = (high - low) / step
    if abs(count - round(count)) > CLOSE * max(1.0, count):
        below, above = (float(settle(np.array([low + k * step]), low, step)[0]) for k in (int(count), int(count) + 1))
        raise SpaceError(
            f"{what} goes from {low:g} to {high:g}, which is no whole number of steps of {step:g}; "
            f"let it end at {below:g} or {above:g}"
        )


def settle(numbers: Vector, low: float, step: float) -> Vector:
    """The nearest numbers that are a whole number of steps from `low`, with no more digits than both have.

    >>> settle(np.array([0.31, 0.42]), 0.0, 0.1).tolist()
    [0.3, 0.4]
    """
    places = max(_places(low), _places(step))
    return np.asarray(np.round(low + step * np.round((numbers - low) / step), places))


def _places(number: float) -> int:
    """How many decimal places the number is written with."""
    exponent = Decimal(repr(float(number))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def settle_columns(x: Matrix, lower: Vector, step: Vector, whole: NDArray[np.bool_]) -> Matrix:
    """Each column on its steps, if it has any; `whole` are those whose numbers are whole."""
    settled = np.where(whole, np.round(x), x)
    for k in np.flatnonzero((step > 0) & ~(whole & (step == 1.0))).tolist():
        settled[:, k] = settle(x[:, k], float(lower[k]), float(step[k]))
    return settled


# Vectors of numbers between bounds: settings, concentrations, hyperparameters.

TOLERANCE = 1e-9
STRIDES = (0.3, 0.1, 0.03, 0.01)
TRIES_PER_STRIDE = 4

Flags = NDArray[np.bool_]
Which = Sequence[int] | Sequence[bool] | Flags


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(Space):
    """Vectors of numbers between bounds.

    - `lower`, `upper`: the bounds of each dimension, included, in your own units; a number is a box of one dimension. A
      dimension whose bounds are equal is fixed.
    - `log`: the dimensions that are searched on a logarithmic scale, by index or by one truth value each; by default
      none. For what is chosen a factor apart, as a concentration or a learning rate.
    - `integer`: the dimensions that are whole numbers, in the same way; by default none.
    - `step`: the steps in which the numbers can be set, in your own units and counted from the lower bound: one for all
      dimensions, or one for each with None for those without; by default none.
    - `where`: a function that says whether an object is allowed; by default all are.

    Objects are arrays in your own units; the search, and similarities of vectors, see the unit cube. Samples are a
    Latin hypercube: each of n equal slices of each dimension is hit once.

    >>> box = Box([1e-4, 1], [1e-1, 8], log=[0], integer=[1])
    >>> box.fit([0.01, 3])
    array([0.01, 3.  ])
    >>> box.to_vector([[0.1, 8]]).tolist(), box.dimension
    ([[1.0, 1.0]], 2)
    >>> Box(20, 120, step=5).from_numbers([[83.1]])
    [array([85.])]
    """

    kind = "vectors"
    short = "box:0..1,20..120"
    lower: Vector
    upper: Vector
    log: Flags
    integer: Flags
    step: Vector
    scalar: bool
    where: Callable[[Any], bool] | None

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        log: Which = (),
        integer: Which = (),
        step: float | Sequence[float | None] | Vector | None = None,
        where: Callable[[Any], bool] | None = None,
    ) -> None:
        start, end = _bounds(lower, upper)
        flags = {"log": _flags("log", log, len(start)), "integer": _flags("integer", integer, len(start))}
        steps = np.where(flags["integer"], np.maximum(given := as_steps(step, len(start)), 1.0), given)
        # Whether the bounds are plain numbers: then a record's part is a plain number, too.
        scalar = np.ndim(lower) == 0 and np.ndim(upper) == 0
        assign(self, lower=start, upper=end, step=steps, scalar=scalar, where=checked_where(where), **flags)
        self._check()

    @classmethod
    def from_text(cls, text: str) -> Self:
        bounds = [part.split("..") for part in text.split(",")]
        return cls([float(low) for low, _ in bounds], [float(high) for _, high in bounds])

    def _check(self) -> None:
        for k, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low > high:
                raise SpaceError(f"dimension {k} has the lower bound {low:g} above its upper bound {high:g}; swap them")
            if self.log[k] and low <= 0:
                raise SpaceError(f"dimension {k} is on a log scale, so its lower bound must be positive, not {low:g}")
            if self.integer[k] and (low != round(low) or high != round(high)):
                raise SpaceError(f"dimension {k} is an integer, so its bounds must be whole, not {low:g} and {high:g}")
            if self.integer[k] and self.step[k] != round(self.step[k]):
                raise SpaceError(f"dimension {k} is an integer, so its step must be whole, not {self.step[k]:g}")
            if self.step[k]:
                check_step(f"dimension {k}", float(low), float(high), float(self.step[k]))

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value}" for key, value in self._describe().items() if key != "space")
        return f"Box({inside})"

    @property
    def dimension(self) -> int:
        """Number of dimensions, fixed ones included."""
        return len(self.lower)

    @cached_property
    def stepped(self) -> bool:
        return bool(self._on_steps.any())

    @cached_property
    def _on_steps(self) -> Flags:
        return np.asarray(self.step > 0)

    @property
    def size(self) -> float:
        counted = self._on_steps | (self.lower == self.upper)
        levels = np.round((self.upper - self.lower) / np.where(self._on_steps, self.step, 1.0)) + 1
        return math.prod(map(int, levels)) if counted.all() else math.inf

    @property
    def resolution(self) -> Vector:
        """Numbers in steps differ by one step or not at all, however many there are."""
        return np.where(self._on_steps, 0.0, RESOLUTION)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The coordinates in which the box is the unit cube."""
        return Coordinates.spanning(self.lower, self.upper, self.log)

    @cached_property
    def free(self) -> Flags:
        """The dimensions that are not fixed: those with some width on their scale."""
        start, end = self.coordinates.forward(np.stack([self.lower, self.upper]))
        return np.asarray(end > start)

    @cached_property
    def _cells(self) -> Coordinates:
        # A whole number k stands for [k − ½, k + ½], so that the first and last are drawn as often as the others.
        half = np.where(self._on_steps & self.free, 0.5 * self.step, 0.0)
        half = np.where(self.log, np.minimum(half, 0.5 * self.lower), half)
        return Coordinates.spanning(self.lower - half, self.upper + half, self.log)

    def _draw(self, n: int, rng: Generator) -> list[Vector]:
        slices = rng.permuted(np.tile(np.arange(n)[:, None], (1, self.dimension)), axis=0)
        return self._settled(self._cells.backward((slices + rng.random((n, self.dimension))) / max(n, 1)))

    def _settled(self, x: Matrix) -> list[Vector]:
        """The nearest objects: on their steps, all within the bounds."""
        settled = np.asarray(x, dtype=float)
        if self.stepped:
            settled = settle_columns(settled, self.lower, self.step, self.integer)
        # Adding zero turns −0 into 0, which has another JSON form.
        return list(np.minimum(np.maximum(settled, self.lower), self.upper) + 0.0)

    @cached_property
    def _tops(self) -> Vector:
        """The ends of the unit cube, in which a fixed dimension has no width."""
        return self.free.astype(float)

    @cached_property
    def _ends(self) -> tuple[Vector, Vector]:
        """The bounds, with a little more for rounding."""
        slack = TOLERANCE * np.where(self.free, self.upper - self.lower, np.maximum(np.abs(self.lower), 1.0))
        return self.lower - slack, self.upper + slack

    def _fit(self, x: Any) -> Vector:
        array = np.atleast_1d(
            checked_numbers(x, lambda: f"{x!r} is not a vector of {self.dimension} numbers", finite=False)
        )
        if array.shape != (self.dimension,):
            raise SpaceError(f"{x!r} has shape {array.shape}; the box has {self.dimension} dimensions")
        least, most = self._ends
        inside = (array >= least) & (array <= most)
        if not inside.all():
            k = int(np.argmin(inside))
            raise SpaceError(
                f"dimension {k} is {array[k]:g}, outside its bounds [{self.lower[k]:g}, {self.upper[k]:g}]"
            )
        if not self.stepped:
            return self._settled(array[None])[0]
        whole = ~self.integer | (np.abs(array - np.round(array)) <= TOLERANCE)
        if not whole.all():
            k = int(np.argmin(whole))
            raise SpaceError(f"dimension {k} is {array[k]!r}, which is not a whole number; round it")
        settled = self._settled(array[None])[0]
        off = self._on_steps & (np.abs(array - settled) > CLOSE * self.step)
        if off.any():
            k = int(np.argmax(off))
            raise SpaceError(
                f"dimension {k} is {array[k]:g}, which is not on the steps of {self.step[k]:g} from {self.lower[k]:g}; "
                f"the nearest is {settled[k]:g}"
            )
        return settled

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.coordinates.forward(self.to_numbers(objects))

    def from_vector(self, vectors: Matrix) -> list[Vector]:
        return self._settled(self.coordinates.backward(self.project(vectors)))

    @property
    def spans(self) -> Vector:
        """The width of each dimension; 1 where it is fixed."""
        return np.where(self.free, self.upper - self.lower, 1.0)

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return np.array(objects, dtype=float).reshape(len(objects), self.dimension)

    def from_numbers(self, numbers: Matrix) -> list[Vector]:
        return self._settled(numbers)

    def project(self, vectors: Matrix) -> Matrix:
        return np.minimum(np.maximum(vectors, 0.0), self._tops)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        """dx/dz times the gradient; a fixed dimension does not move."""
        slope = self.coordinates.slope(self.coordinates.backward(np.asarray(vectors, dtype=float)))
        return np.where(self.free, gradient / slope, 0.0)

    def moves(self, x: Any, rng: Generator) -> list[Vector]:
        """Each number in steps one up, one down, and anywhere; the others shaken at several scales, one or all."""
        candidates = np.vstack([self._steps(x, rng), self._shaken(x, rng)])
        settled = np.array(self._settled(candidates)).reshape(-1, self.dimension)
        return self.keep_allowed(np.unique(settled[np.any(settled != x, axis=1)], axis=0))

    def _steps(self, x: Vector, rng: Generator) -> Matrix:
        rows = np.flatnonzero(self.free & self._on_steps)
        anywhere = np.array(self._draw(1, rng)[0])[rows]
        steps = np.tile(np.asarray(x, dtype=float), (3, len(rows), 1))
        each = np.arange(len(rows))
        here, step = steps[0, each, rows], self.step[rows]
        steps[:, each, rows] = np.stack([here - step, here + step, anywhere])
        return steps.reshape(-1, self.dimension)

    def _shaken(self, x: Vector, rng: Generator) -> Matrix:
        real = np.flatnonzero(self.free & ~self._on_steps)
        if not len(real):
            return np.zeros((0, self.dimension))
        strides = np.repeat(STRIDES, TRIES_PER_STRIDE)
        noise = np.zeros((len(strides), self.dimension))
        noise[:, real] = strides[:, None] * rng.standard_normal((len(strides), len(real)))
        alone = np.arange(len(strides)) % 2 == 0
        noise[alone] *= np.eye(self.dimension)[rng.choice(real, size=alone.sum())]
        moved = self.coordinates.backward(self.project(self.to_vector([x]) + noise))
        return np.where(noise != 0, moved, x)

    def crossover(self, x: Any, other: Any, rng: Generator) -> Vector:
        """Numbers in steps from one parent or the other; the others from between the two, or a little beyond."""
        z, w = self.to_vector([x, other])

        def blend() -> Vector:
            share = np.where(
                self._on_steps, rng.integers(2, size=self.dimension), rng.uniform(-0.25, 1.25, self.dimension)
            )
            return self.from_vector((z + share * (w - z))[None])[0]

        return child(self, blend, x)

    def to_json(self, x: Any) -> list[float]:
        return [int(value) if whole else float(value) for value, whole in zip(x, self.integer, strict=True)]

    def _describe(self) -> dict[str, Any]:
        steps = {} if np.all(self.step <= self.integer) else {"step": self.step.tolist()}
        return {
            "space": "Box",
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "log": np.flatnonzero(self.log).tolist(),
            "integer": np.flatnonzero(self.integer).tolist(),
            **steps,
        }

    def includes(self, described: Mapping[str, Any]) -> bool:
        """Whether its bounds are as wide, and its steps, where it has some, lead to all that the others led to."""
        if described.get("space") != "Box":
            return False
        before = Box(**{name: content for name, content in described.items() if name not in ("space", "where")})
        same = before.dimension == self.dimension and all(
            np.array_equal(getattr(before, name), getattr(self, name)) for name in ("log", "integer")
        )
        return same and bool(
            np.all((self.lower <= before.lower) & (before.upper <= self.upper) & self._reaches(before))
        )

    def _reaches(self, before: Box) -> Flags:
        """In which dimensions the numbers in steps of another box, where it has some, are in steps of this one."""
        step = np.where(self._on_steps, self.step, 1.0)
        strides = np.stack([before.lower - self.lower, np.where(before.free, before.step, 0.0)]) / step
        whole = np.all(np.abs(strides - np.round(strides)) <= CLOSE, axis=0)
        return ~self._on_steps | (whole & (before._on_steps | ~before.free))

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see the unit cube, so that a lengthscale is a fraction of the range."""
        return rescaled(similarity, lambda path: None if path else self.coordinates)


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Vector, Vector]:
    message = f"bounds are finite numbers, or rows of numbers of one length, not {lower!r} and {upper!r}"
    try:
        start, end = np.broadcast_arrays(*(np.atleast_1d(checked_numbers(bound, message)) for bound in (lower, upper)))
    except ValueError:
        raise SpaceError(message) from None
    if start.ndim != 1 or not start.size:
        raise SpaceError(message)
    return start.copy(), end.copy()


def _flags(what: str, which: Which, dimension: int) -> Flags:
    """One truth value per dimension, from indices (negative ones count from the end) or from truth values."""
    given = np.asarray(which)
    if given.dtype == bool and given.shape == (dimension,):
        return given.copy()
    flags = np.zeros(dimension, dtype=bool)
    if not given.size:
        return flags
    if given.ndim != 1 or given.dtype.kind not in "iu" or np.any((given < -dimension) | (given >= dimension)):
        raise SpaceError(
            f"`{what}` names dimensions by index, from 0 to {dimension - 1}, or by {dimension} truth values, "
            f"not {which!r}"
        )
    flags[given] = True
    return flags


# Single numbers between bounds: a temperature, a time, a number of cycles. Objects are plain Python numbers.

# How far a number without steps moves, as shares of its range: several times each.
REPEATED_STRIDES = np.repeat(STRIDES, 3)[:, None]


class Scalar(Space):
    """What Float and Int share: the numbers are those of a box of one dimension, without the array around them."""

    kind = "numbers"

    @property
    @abstractmethod
    def box(self) -> Box:
        """The box of one dimension."""

    def includes(self, described: Mapping[str, Any]) -> bool:
        if described.get("space") != type(self).__name__:
            return False
        before = type(self)(**{name: content for name, content in described.items() if name not in ("space", "where")})
        return self.box.includes(before.box.describe())

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls.from_range(read_range(text))

    @classmethod
    @abstractmethod
    def from_range(cls, found: Range) -> Self:
        """The numbers of a range that was written as text."""

    @property
    def integer(self) -> bool:
        """Whether the numbers are whole."""
        return bool(self.box.integer[0])

    def _numbers(self, arrays: Sequence[Vector]) -> list[Any]:
        kind = int if self.integer else float
        return [kind(array[0]) for array in arrays]

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        return self._numbers(self.box.sample(n, rng))

    def _fit(self, x: Any) -> Any:
        number = checked_numbers(x, lambda: self._refusal(x), finite=False)
        if number.ndim > 1 or number.size != 1:
            raise SpaceError(self._refusal(x))
        try:
            return self._numbers([self.box.fit(number)])[0]
        except SpaceError as error:
            raise SpaceError(str(error).replace("dimension 0 is ", "the number is ")) from None

    def _refusal(self, x: Any) -> str:
        return f"{x!r} is not a number between {self.box.lower[0]:g} and {self.box.upper[0]:g}"

    @property
    def size(self) -> float:
        return self.box.size

    @property
    def levels(self) -> tuple[Any, ...] | None:
        """All the numbers, where they move in steps; None where they do not."""
        if not np.isfinite(self.size):
            return None
        count, box = int(self.size), self.box
        return tuple(self._numbers(box.from_numbers(box.lower + box.step * np.arange(count)[:, None])))

    @property
    def stepped(self) -> bool:
        return self.box.stepped

    @property
    def resolution(self) -> Vector:
        return self.box.resolution

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.box.to_vector(objects)

    def from_vector(self, vectors: Matrix) -> list[Any]:
        return self._numbers(self.box.from_vector(vectors))

    def project(self, vectors: Matrix) -> Matrix:
        return self.box.project(vectors)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self.box.pull(vectors, gradient)

    @property
    def spans(self) -> Vector:
        """The width of the range; 1 where it is fixed."""
        return self.box.spans

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return self.box.to_numbers(objects)

    def from_numbers(self, numbers: Matrix) -> list[Any]:
        return self._numbers(self.box.from_numbers(numbers))

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """One step up, one down and anywhere; without steps, shaken at several scales."""
        if self.box.step[0]:
            step = float(self.box.step[0])
            near = self.from_numbers(np.array([[x - step], [x + step], [self._draw(1, rng)[0]]], dtype=float))
        elif self.box.free[0]:
            shaken = self.to_vector([x]) + REPEATED_STRIDES * rng.standard_normal((len(REPEATED_STRIDES), 1))
            near = self.from_vector(shaken)
        else:
            near = []
        return self.keep_allowed([y for y in dict.fromkeys(near) if y != x])

    def crossover(self, x: Any, other: Any, rng: Generator) -> Any:
        """In steps one of the two; else a number from between them, or a little beyond."""
        child = self._numbers([self.box.crossover(np.array([float(x)]), np.array([float(other)]), rng)])[0]
        return child if self.allowed([child])[0] else x

    def at(self, value: Any) -> Scalar:
        """The number fixed to this value."""
        return Int(value, value) if self.integer else Float(value, value)

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see the unit interval, so that a lengthscale is a fraction of the range."""
        return self.box.view(similarity)


@dataclass(frozen=True)
class Float(Scalar):
    """A number between bounds.

    - `low`, `high`: the bounds, included, in your own unit.
    - `step`: the steps in which it can be set, counted from `low`; by default any number can be. Nothing between two
      steps is ever proposed, or scored.
    - `log`: whether it is searched on a logarithmic scale, as for concentrations; False by default.
    - `where`: a function that says whether a number is allowed; by default all are.

    >>> import numpy as np
    >>> temperature = Float(20, 120, step=5)
    >>> temperature.fit(80), 82 in temperature, len(temperature.levels)
    (80.0, False, 21)
    """

    short = "float:20..120/5"
    low: float
    high: float
    step: float | None = None
    log: bool = False
    _: KW_ONLY
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        self.box  # noqa: B018

    @classmethod
    def from_range(cls, found: Range) -> Self:
        return cls(found.low, found.high, found.step, log=found.log)

    @cached_property
    def box(self) -> Box:
        if isinstance(self.step, int | float) and not self.step > 0:
            raise SpaceError(f"step={self.step!r} is not positive; leave it out where any number can be set")
        return _box(self.low, self.high, log=self.log, step=self.step)


@dataclass(frozen=True)
class Int(Scalar):
    """A whole number between bounds.

    - `low`, `high`: the bounds, included.
    - `log`: whether it is searched on a logarithmic scale; False by default.
    - `step`: the steps in which it can be set, counted from `low`; 1 by default.
    - `where`: a function that says whether a number is allowed; by default all are.

    >>> cycles = Int(1, 8)
    >>> cycles.fit(3.0), 9 in cycles, cycles.levels
    (3, False, (1, 2, 3, 4, 5, 6, 7, 8))
    """

    short = "int:1..8"
    low: int
    high: int
    log: bool = False
    _: KW_ONLY
    step: int = 1
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if checked_whole("the step of an Int", self.step) is None or self.step < 1:
            raise SpaceError(f"step={self.step!r}: the step of an Int is a whole number from 1")
        self.box  # noqa: B018

    @classmethod
    def from_range(cls, found: Range) -> Self:
        ends: Any = [round(end) if end == round(end) else end for end in (found.low, found.high, found.step or 1)]
        return cls(ends[0], ends[1], found.log, step=ends[2])

    @cached_property
    def box(self) -> Box:
        return _box(self.low, self.high, log=self.log, step=self.step, integer=True)


def scalar_of(box: Box) -> Scalar:
    """The numbers of a box of one dimension as plain numbers."""
    low, high, log, step = box.lower[0], box.upper[0], bool(box.log[0]), float(box.step[0])
    if box.integer[0]:
        return Int(int(low), int(high), log, step=int(step), where=box.where)
    return Float(float(low), float(high), step or None, log, where=box.where)


def _box(low: Any, high: Any, *, log: Any, step: Any, integer: bool = False) -> Box:
    """The box of one dimension; errors name the number and no dimension."""
    message = f"the bounds of a number are two finite numbers, not {low!r} and {high!r}; for several use a Box"
    if checked_numbers(low, message).ndim or checked_numbers(high, message).ndim:
        raise SpaceError(message)
    if not isinstance(log, bool | np.bool_):
        raise SpaceError(f"log={log!r}: write log=True or log=False")
    try:
        return Box(low, high, log=[bool(log)], integer=[integer], step=step)
    except SpaceError as error:
        raise SpaceError(str(error).replace("dimension 0 has", "the number has").replace("dimension 0", "it")) from None
