"""What methods that know only numbers and categories see of an object.

A box is its numbers. Of a pool's parts, numbers stay numbers, categories and the molecules of a reaction become
categories, a string becomes a category per position. A lone molecule or a series has no such columns: it is given by
its first ten principal components (of the Morgan bits, of the values). Strings of unequal length are filled up with
gaps, series are brought to their median length, and columns that are the same in every row are left out. What these
methods suggest is then moved to the nearest row that is not measured yet: mismatches count one, numbers their squared
difference over the column's range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks.base import Matrix, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.pool import Part, Pool
from benchmarks.tasks.qap import Assignment

COMPONENTS = 10
GAP = "\0"


@dataclass(frozen=True)
class Column:
    """A number between bounds, or a category of some levels; `rows` are the pool members' entries (levels as codes)."""

    name: str
    low: float = 0.0
    high: float = 1.0
    levels: int = 0
    rows: Vector = field(default_factory=lambda: np.empty(0))


class BoxFeatures:
    """The coordinates of a box, as they are."""

    def __init__(self, task: Box) -> None:
        bounds = zip(task.lower, task.upper, strict=True)
        self.columns = [Column(f"x{i}", float(low), float(high)) for i, (low, high) in enumerate(bounds)]

    def encode(self, x: Vector) -> list[float]:
        return [float(v) for v in x]

    def decode(self, entries: list[Any]) -> Vector:
        return np.array(entries, dtype=float)


class PoolFeatures:
    """The columns of a pool. `decode` gives the nearest row not yet taken, and takes it."""

    def __init__(self, task: Pool) -> None:
        made = [column for part in task.parts for column in _columns(task, part)]
        self.columns = [column for column in made if np.ptp(column.rows) > 0]
        self.table = np.stack([column.rows for column in self.columns], axis=1)
        self.taken = np.zeros(len(self.table), dtype=bool)

    def encode(self, row: int) -> list[float | int]:
        self.taken[row] = True
        entries = zip(self.columns, self.table[row], strict=True)
        return [int(v) if column.levels else float(v) for column, v in entries]

    def decode(self, entries: list[Any]) -> int:
        distance = np.where(self.taken, np.inf, self._distances(np.array(entries, dtype=float)))
        row = int(np.argmin(distance))
        self.taken[row] = True
        return row

    def _distances(self, entries: Vector) -> Vector:
        ranges = np.array([1.0 if column.levels else max(column.high - column.low, 1e-12) for column in self.columns])
        categories = np.array([column.levels > 0 for column in self.columns])
        gap = (self.table - entries) / ranges
        return np.where(categories, gap != 0, gap**2).sum(axis=1)


class KeyFeatures:
    """Random keys: a permutation is the order of n numbers."""

    def __init__(self, task: Assignment) -> None:
        self.columns = [Column(f"key{i}") for i in range(task.n)]

    def encode(self, p: tuple[int, ...]) -> list[float]:
        # The place of each element, in the middle of its share of [0, 1].
        return [float(k) for k in (np.argsort(p) + 0.5) / len(p)]

    def decode(self, entries: list[Any]) -> tuple[int, ...]:
        return tuple(int(i) for i in np.argsort(entries))


Features = BoxFeatures | PoolFeatures | KeyFeatures


def features(task: Any) -> Features:
    """The columns of a task."""
    if isinstance(task, Box):
        return BoxFeatures(task)
    return PoolFeatures(task) if isinstance(task, Pool) else KeyFeatures(task)


def codes(values: Any) -> tuple[NDArray[np.int64], int]:
    """Each value as the number of its level, and how many levels there are."""
    levels, found = np.unique(np.asarray(values), return_inverse=True)
    return found, len(levels)


def letters(strings: Sequence[str]) -> NDArray[np.str_]:
    """A row per string and a column per position."""
    longest = max(map(len, strings))
    return np.array([list(string.ljust(longest, GAP)) for string in strings])


def of_one_length(series: Sequence[Sequence[float]]) -> Matrix:
    """A row per series, those of other lengths brought to the median length by straight lines between their points."""
    n = int(np.median([len(x) for x in series]))
    at = np.linspace(0.0, 1.0, n)
    return np.array([x if len(x) == n else np.interp(at, np.linspace(0.0, 1.0, len(x)), x) for x in series])


def _columns(task: Pool, part: Part) -> list[Column]:
    if part.kind == "number":
        return [_number(part.name, np.array(part.values, dtype=float))]
    if part.kind == "string":
        return [_category(f"{part.name}{i}", column) for i, column in enumerate(letters(part.values).T)]
    if part.kind == "series":
        return _components(part.name, of_one_length(part.values))
    if part.kind == "molecule" and len(task.parts) == 1:
        from benchmarks.methods.fingerprints import fingerprints

        return _components(part.name, fingerprints(part.values).astype(float))
    return [_category(part.name, part.values)]


def _number(name: str, rows: Vector) -> Column:
    return Column(name, float(rows.min()), float(rows.max()), 0, rows)


def _category(name: str, values: Any) -> Column:
    rows, levels = codes(values)
    return Column(name, levels=levels, rows=rows.astype(float))


def _components(name: str, matrix: Matrix) -> list[Column]:
    from sklearn.decomposition import PCA

    scores = PCA(min(COMPONENTS, *matrix.shape), svd_solver="randomized", random_state=0).fit_transform(matrix)
    return [_number(f"{name}{i}", column) for i, column in enumerate(scores.T)]
