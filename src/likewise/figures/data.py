"""What the pictures are handed: plain numbers, whoever computed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """Values in the order they were told, and the best so far; `rounds` are the places at which rounds begin."""

    values: Vector
    best: Vector
    rounds: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Expectations:
    """Mean of what is suggested, and the ends of its 95 % interval, in order."""

    mean: Vector
    low: Vector
    high: Vector

    @property
    def reach(self) -> tuple[Vector, Vector]:
        """How far the interval goes below and above the mean, which a skewed distribution may have outside."""
        return np.maximum(self.mean - self.low, 0.0), np.maximum(self.high - self.mean, 0.0)


class LeftOut(Protocol):
    """Measured values, and what the others predict for each: the mean and the ends of its 95 % interval."""

    @property
    def values(self) -> Vector: ...
    @property
    def mean(self) -> Vector: ...
    @property
    def low(self) -> Vector: ...
    @property
    def high(self) -> Vector: ...
    def inside(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Which values lie in their central interval of this probability."""
        ...


@dataclass(frozen=True, eq=False)
class Map:
    """Objects in the plane, by their similarity alone; values are NaN where nothing was measured.

    `picks` are the places of the suggestions, in their order; `share` is the part of the similarity that two dimensions
    can show.
    """

    objects: list[Any]
    points: Matrix
    values: Vector
    picks: list[int]
    share: float

    def groups(self) -> dict[str, list[int]]:
        """The places of the objects that are drawn alike: measured, suggested, and the others."""
        measured = np.flatnonzero(~np.isnan(self.values)).tolist()
        known = {*measured, *self.picks}
        others = [place for place in range(len(self.values)) if place not in known]
        return {"others": others, "measured": measured, "suggested": self.picks}


@dataclass(frozen=True, eq=False)
class Front:
    """Objectives of measured objects, a row each, which of them are on the front and which keep to the limits.

    `mean`, `low` and `high` are what is expected of suggestions; `larger` says whether more of an objective is better.
    """

    names: Sequence[str]
    larger: Sequence[bool]
    values: Matrix
    best: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    mean: Matrix
    low: Matrix
    high: Matrix


@dataclass(frozen=True, eq=False)
class Volumes:
    """The hypervolume after each measurement; `rounds` are the places at which rounds begin."""

    values: Vector
    rounds: Sequence[int] = ()
