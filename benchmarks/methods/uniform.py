"""Random search: what any method has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.methods.base import Method
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.pool import Pool


@dataclass
class Uniform:
    """Uniform in a box or over permutations; without repetition over a pool."""

    task: Any
    rng: np.random.Generator
    measured: set[Any] = field(default_factory=set)

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        if isinstance(self.task, Pool):
            self.measured.update(objects)

    def ask(self, n: int) -> list[Any]:
        if isinstance(self.task, Box):
            return list(self.rng.uniform(self.task.lower, self.task.upper, (n, self.task.dimension)))
        if isinstance(self.task, Pool):
            left = np.setdiff1d(np.arange(len(self.task.values)), list(self.measured))
            return [int(i) for i in self.rng.choice(left, n, replace=False)]
        return [tuple(int(i) for i in self.rng.permutation(self.task.n)) for _ in range(n)]


def _start(task: Task, seed: int) -> Uniform:
    return Uniform(task, np.random.default_rng([seed, 1]))


RANDOM = Method("random", lambda task: "uniform, without repetition on pools", ("numpy",), lambda task: True, _start)
