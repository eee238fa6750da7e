"""Vectors of numbers between bounds: settings, concentrations, hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector, assign
from likewise.similarity.coordinates import Coordinates
from likewise.similarity.ranges import rescaled
from likewise.spaces.base import RESOLUTION, Generator, Space, checked_where
from likewise.spaces.drawing import child
from likewise.spaces.numbers.steps import CLOSE, as_steps, check_step, settle_columns

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
        inside = ", ".join(f"{key}={value}" for key, value in self.describe().items() if key != "space")
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
        try:
            array = np.atleast_1d(np.array(x, dtype=float))
        except (TypeError, ValueError):
            raise SpaceError(f"{x!r} is not a vector of {self.dimension} numbers") from None
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

    def describe(self) -> dict[str, Any]:
        steps = {} if np.all(self.step <= self.integer) else {"step": self.step.tolist()}
        return {
            "space": "Box",
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "log": np.flatnonzero(self.log).tolist(),
            "integer": np.flatnonzero(self.integer).tolist(),
            **steps,
        }

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see the unit cube, so that a lengthscale is a fraction of the range."""
        return rescaled(similarity, lambda path: None if path else self.coordinates)


def _bounds(lower: ArrayLike, upper: ArrayLike) -> tuple[Vector, Vector]:
    try:
        if not all(np.asarray(bound).dtype.kind in "iufO" for bound in (lower, upper)):
            raise TypeError("texts and truth values")
        start, end = np.broadcast_arrays(*(np.atleast_1d(np.array(bound, dtype=float)) for bound in (lower, upper)))
    except (TypeError, ValueError):
        raise SpaceError(f"bounds are numbers, or rows of numbers of one length, not {lower!r} and {upper!r}") from None
    if start.ndim != 1 or not start.size or not (np.all(np.isfinite(start)) and np.all(np.isfinite(end))):
        raise SpaceError(f"bounds are finite numbers, or rows of them, not {lower!r} and {upper!r}")
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
