"""Quadratic assignment: which facility goes where, as a permutation p that minimises Σ A_ij B_{p(i)p(j)}."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks.base import SAMPLES, Matrix, Sampled, Vector, generator


@dataclass(frozen=True)
class Assignment(Sampled):
    """A quadratic assignment problem; objects are tuples of 0 … n−1."""

    name: str
    flow: Matrix
    distance: Matrix
    optimum: float
    sign: float = -1.0
    initial: int = 20
    budget: int = 180

    @property
    def n(self) -> int:
        return len(self.flow)

    @cached_property
    def samples(self) -> Vector:
        rng = np.random.default_rng(0)
        return -self._costs(rng.permuted(np.tile(np.arange(self.n), (SAMPLES, 1)), axis=1))

    def start(self, seed: int) -> list[tuple[int, ...]]:
        rng = generator(self.name, seed)
        return [tuple(int(i) for i in rng.permutation(self.n)) for _ in range(self.initial)]

    def score(self, objects: Sequence[tuple[int, ...]]) -> Vector:
        return -self._costs(np.asarray(objects, dtype=int))

    def _costs(self, p: NDArray[np.int64]) -> Vector:
        return np.einsum("ij,nij->n", self.flow, self.distance[p[:, :, None], p[:, None, :]])


def assignment(path: Path) -> Assignment:
    """The instance in a QAPLIB file, its best known value in the table `instances.csv` beside it."""
    if not path.is_file():
        raise SystemExit(f"there is no file {path}; give a .dat file, or say with --data where the data sets are")
    numbers = np.array(path.read_text().split(), dtype=float)
    n = int(numbers[0])
    flow, distance = numbers[1 : 1 + 2 * n * n].reshape(2, n, n)
    return Assignment(path.stem, flow, distance, _best_known(path))


def _best_known(path: Path) -> float:
    table = path.parent / "instances.csv"
    rows = [line.split(",") for line in table.read_text().splitlines()] if table.is_file() else []
    known = [float(row[2]) for row in rows if row[0] == path.stem]
    if not known:
        raise SystemExit(f"{table} has no best known value of {path.stem}; add a line: {path.stem},size,value")
    return known[0]
