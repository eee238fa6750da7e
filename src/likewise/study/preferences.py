"""What is best where there are several objectives: nobody knows but the user, who says it by a preference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.similarity.base import Vector

Values = Mapping[str, float]


class Preference(ABC):
    """What makes one number of the values of several objectives."""

    @abstractmethod
    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        """How much each of these observations is preferred; larger is better."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The objectives that it speaks of."""


@dataclass(frozen=True)
class Weighted(Preference):
    """The weighted mean of the objectives, each scaled from 0, the worst measured, to 1, the best measured.

    weights: a positive number for each objective, by name; an objective without one does not count.

    >>> Weighted({"yield": 2.0, "cost": 1.0}).scores(
    ...     [{"yield": 80.0, "cost": 9.0}, {"yield": 50.0, "cost": 3.0}], {"yield": "maximize", "cost": "minimize"}
    ... ).round(3).tolist()
    [0.667, 0.333]
    """

    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping) or not self.weights:
            raise StudyError(f"Weighted({self.weights!r}) weighs nothing; give {{'yield': 2.0, 'cost': 1.0}}")
        for name, weight in self.weights.items():
            if not (_is_number(weight) and weight > 0):
                raise StudyError(f"the weight of {name!r} is {weight!r}; it must be a positive number")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        total = np.zeros(len(values))
        for name, weight in self.weights.items():
            column = np.array([one[name] for one in values])
            column = column if directions[name] == "maximize" else -column
            extent = float(np.ptp(column)) if len(column) else 0.0
            total += weight * (column - column.min(initial=np.inf)) / (extent or 1.0)
        return total / sum(self.weights.values())


@dataclass(frozen=True)
class Desirability(Preference):
    """The geometric mean of desirabilities, each from 0 at a value that is of no use to 1 at one that is good enough.

    ranges: (of no use, good enough) for each objective, by name: (50, 90) for a yield, (10, 2) for a cost.

    >>> Desirability({"yield": (50, 90), "cost": (10, 2)}).scores([{"yield": 70.0, "cost": 6.0}], {}).tolist()
    [0.5]
    """

    ranges: Mapping[str, tuple[float, float]]

    def __post_init__(self) -> None:
        if not isinstance(self.ranges, Mapping) or not self.ranges:
            raise StudyError(
                f"Desirability({self.ranges!r}) wants nothing; give {{'yield': (50, 90), 'cost': (10, 2)}}"
            )
        for name, ends in self.ranges.items():
            fine = isinstance(ends, Sequence) and len(ends) == 2 and all(map(_is_number, ends))
            if not fine or ends[0] == ends[1]:
                raise StudyError(f"the range of {name!r} is {ends!r}; give two numbers: (of no use, good enough)")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.ranges)

    def scores(self, values: Sequence[Values], directions: Mapping[str, str]) -> Vector:
        each = [
            np.clip((np.array([one[name] for one in values]) - none) / (enough - none), 0.0, 1.0)
            for name, (none, enough) in self.ranges.items()
        ]
        return np.asarray(np.prod(each, axis=0) ** (1.0 / len(each)))


def check_preference(preference: Any, objectives: Mapping[str, str]) -> Preference | None:
    """The preference of a user, refused where it speaks of something else."""
    if preference is None:
        return None
    if not isinstance(preference, Preference):
        raise StudyError(f"preference={preference!r} is no preference; give Weighted({{…}}) or Desirability({{…}})")
    for name in preference.names:
        if name not in objectives:
            names = ", ".join(map(repr, objectives))
            raise StudyError(f"the preference speaks of {name!r}, which is no objective; those are {names}")
    return preference


def _is_number(number: Any) -> bool:
    return isinstance(number, int | float | np.number) and not isinstance(number, bool) and bool(np.isfinite(number))
