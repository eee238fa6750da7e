"""A task over a table: objects that are all measured, to be found in few looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.tasks.base import Facts, Vector, generator

KINDS = ("molecules", "reaction", "string", "vector", "composition", "series", "mixed")


@dataclass(frozen=True)
class Part:
    """One column of the objects. Kinds: molecule, category, string, number, series."""

    name: str
    kind: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Pool:
    """Objects of a table, known by their row; `values` in the table's own units, `note` on the rows left out."""

    name: str
    kind: str
    parts: tuple[Part, ...]
    values: Vector
    sign: float = 1.0
    initial: int = 10
    budget: int = 90
    note: str = ""

    @cached_property
    def facts(self) -> Facts:
        scores = self.sign * self.values
        return Facts(float(scores.max()), float(np.median(scores)), float(np.quantile(scores, 0.99)))

    def start(self, seed: int) -> list[int]:
        rng = generator(self.name, seed)
        return [int(i) for i in rng.choice(len(self.values), self.initial, replace=False)]

    def score(self, objects: Sequence[int]) -> Vector:
        return self.sign * self.values[np.asarray(objects, dtype=int)]
