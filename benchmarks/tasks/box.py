"""A task over a box of real numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.tasks.base import SAMPLES, Matrix, Sampled, Vector, generator


@dataclass(frozen=True)
class Box(Sampled):
    """A function of vectors between `lower` and `upper`, one row each; `optimum` in the function's own units.

    `noise` is that of measurements, as a share of the values' spread.
    """

    name: str
    function: Callable[[Matrix], Vector]
    lower: Vector
    upper: Vector
    optimum: float
    sign: float
    initial: int = 10
    budget: int = 60
    noise: float = 0.0

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @cached_property
    def samples(self) -> Vector:
        return self.score(list(self._uniform(SAMPLES, np.random.default_rng(0))))

    def start(self, seed: int) -> list[Vector]:
        return list(self._uniform(self.initial, generator(self.name, seed)))

    def score(self, objects: Sequence[Vector]) -> Vector:
        return self.sign * self.function(np.asarray(objects, dtype=float))

    def _uniform(self, n: int, rng: np.random.Generator) -> Matrix:
        return rng.uniform(self.lower, self.upper, (n, self.dimension))


@dataclass(frozen=True)
class Gaussian(Box):
    """A box whose vectors (μ, σ²) are the parameters of diagonal Gaussians."""

    @property
    def omega_dimension(self) -> int:
        return self.dimension // 2
