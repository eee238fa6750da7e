"""The protocol of a task: it gives the first objects, measures any object, and knows its best value.

Methods always *maximise* `score`; a task that is minimised has sign −1, and its results are stored in its own units.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

SAMPLES = 10_000


@dataclass(frozen=True)
class Facts:
    """What regret needs to know of a task, as scores: the optimum, the median, and where the top 1 % begins."""

    best: float
    median: float
    top: float


class Task(Protocol):
    """Something to optimise."""

    @property
    def name(self) -> str: ...

    @property
    def initial(self) -> int: ...

    @property
    def budget(self) -> int: ...

    @property
    def sign(self) -> float:
        """1 where the task's own value is maximised, −1 where it is minimised."""
        ...

    @property
    def facts(self) -> Facts: ...

    def start(self, seed: int) -> list[Any]:
        """The objects every method begins with."""
        ...

    def score(self, objects: Sequence[Any]) -> Vector:
        """What is maximised, at each object."""
        ...


def generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers of this task and seed, the same in every process."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


class Sampled(ABC):
    """A task over a space too large to list: the optimum is known, the rest is seen on 10,000 uniform samples."""

    sign: float
    optimum: float

    @property
    @abstractmethod
    def samples(self) -> Vector:
        """The scores of the samples."""

    @cached_property
    def facts(self) -> Facts:
        best = self.sign * self.optimum
        return Facts(best, float(np.median(self.samples)), float(np.quantile(self.samples, 0.99)))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the samples' values."""
        return float(np.std(self.samples))
