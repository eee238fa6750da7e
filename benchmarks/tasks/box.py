"""A task over a box of real numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.tasks.base import SAMPLES, Facts, Matrix, Sampled, Vector, generator


@dataclass(frozen=True)
class Box:
    """A function of vectors between `lower` and `upper`, one row each; `optimum` in the function's own units."""

    name: str
    function: Callable[[Matrix], Vector]
    lower: Vector
    upper: Vector
    optimum: float
    sign: float
    initial: int = 10
    budget: int = 60

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @cached_property
    def facts(self) -> Facts:
        samples = self._uniform(SAMPLES, np.random.default_rng(0))
        return Sampled(self.sign * self.optimum, self.score(list(samples))).facts

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
