"""Single numbers between bounds: a temperature, a time, a number of cycles. Objects are plain Python numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.spaces.base import Generator, Space, checked_where, checked_whole
from likewise.spaces.box import STRIDES as SCALES
from likewise.spaces.box import Box
from likewise.spaces.numbers.ranges_text import Range, read_range

# How far a number without steps moves, as shares of its range: several times each.
STRIDES = np.repeat(SCALES, 3)[:, None]


class Scalar(Space):
    """What Float and Int share: the numbers are those of a box of one dimension, without the array around them."""

    kind = "numbers"

    @property
    @abstractmethod
    def box(self) -> Box:
        """The box of one dimension."""

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
        if x is None or isinstance(x, str | bool | np.bool_) or np.ndim(x) > 1 or np.size(x) != 1:
            raise SpaceError(f"{x!r} is not a number between {self._shown}")
        try:
            return self._numbers([self.box.fit(x)])[0]
        except SpaceError as error:
            raise SpaceError(str(error).replace("dimension 0 is ", "the number is ")) from None

    @property
    def _shown(self) -> str:
        return f"{self.box.lower[0]:g} and {self.box.upper[0]:g}"

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
            shaken = self.to_vector([x]) + STRIDES * rng.standard_normal((len(STRIDES), 1))
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
    if np.ndim(low) or np.ndim(high) or isinstance(low, bool) or isinstance(high, bool):
        raise SpaceError(f"the bounds of a number are two numbers, not {low!r} and {high!r}; for several use a Box")
    if not isinstance(log, bool | np.bool_):
        raise SpaceError(f"log={log!r}: write log=True or log=False")
    try:
        return Box(low, high, log=[bool(log)], integer=[integer], step=step)
    except SpaceError as error:
        raise SpaceError(str(error).replace("dimension 0 has", "the number has").replace("dimension 0", "it")) from None
