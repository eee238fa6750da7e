"""A judgement of yes or no: two molecules are alike, or they are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.tasks.base import Matrix, Vector


@dataclass(frozen=True)
class Judgement(lw.Similarity):
    """1 where Tanimoto's similarity is `least` or more, else 0: what somebody says who is asked "are these alike?".

    The matrix of such scores is indefinite: a may be like b and b like c, while a is not like c.
    """

    least: float
    seen: lw.Similarity = field(default_factory=lw.Tanimoto)

    def encode(self, objects: Sequence[Any]) -> Any:
        return self.seen.encode(objects)

    def between(self, a: Any, b: Any) -> Matrix:
        return np.where(self.seen.between(a, b) >= self.least, 1.0, 0.0)

    def within(self, a: Any) -> Vector:
        return np.ones(len(self.seen.within(a)))
