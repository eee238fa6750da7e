"""Mixing scores: S = (Σ_k w_k S_k)^p + c, the arithmetic of sums, scales and powers of similarities, on plain arrays.

The members of a committee mix the scores of its similarities by it, and `algebra` makes similarities of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from likewise.similarity.base import Similarity

NOTHING = 1e-30
WHOLE = frozenset(map(float, range(1, 9)))


@dataclass(frozen=True)
class Mix:
    """Weights of the similarities, the power of their sum, and what all objects have in common.

    The offset c lets the mean be learnt with everything else: a priori it is N(0, c · amplitude). Without it,
    observations that crowd around the best ones would raise what is expected far away from them.

    >>> Mix((0.5, 0.5), 2.0).scores({0: 1.0, 1: 3.0})
    4.0
    """

    weights: tuple[float, ...]
    power: float = 1.0
    offset: float = 0.0

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The similarities that have a weight."""
        return tuple(k for k, w in enumerate(self.weights) if w > 0) or (0,)

    def psd(self, parts: Sequence[Similarity]) -> bool:
        """Whether the mix of these similarities is PSD: those in use are, and the power is a whole number."""
        return self.power == int(self.power) and all(parts[k].psd for k in self.used)

    def scores(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        """(Σ_k w_k S_k)^p + c of matrices, rows or selves."""
        mixed = self._sum(scores)
        if self.power != 1.0:
            # Rounding may leave a score a hair below zero, where a root is no number.
            mixed = raised(mixed if self.power == 2.0 else np.maximum(mixed, 0.0), self.power)
        return mixed + self.offset if self.offset else mixed

    def pull(self, scores: Mapping[int, Any] | Sequence[Any], weights: Any) -> dict[int, Any]:
        """From derivatives in the mix to derivatives in each similarity's scores."""
        inside = weights if self.power == 1.0 else weights * power_slope(self._sum(scores), self.power)
        return {k: self.weights[k] * inside for k in self.used}

    def _sum(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        first, *rest = self.used
        total = scores[first] if self.weights[first] == 1.0 else self.weights[first] * scores[first]
        for k in rest:
            total = total + self.weights[k] * scores[k]
        return total


def raised(scores: Any, power: float) -> Any:
    """s^p; small whole powers are products, which take a tenth of the time.

    >>> float(raised(3.0, 5.0)), round(float(raised(4.0, 1.5)), 9)
    (243.0, 8.0)
    """
    if power not in WHOLE:
        return scores**power
    found, square, left = None, scores, int(power)
    while left:
        if left % 2:
            found = square if found is None else found * square
        left //= 2
        square = square * square if left else square
    return found


def power_slope(scores: Any, power: float) -> Any:
    """d s^p / ds = p s^(p−1), taken as 0 next to s = 0, where it may be infinite."""
    if power == 1.0:
        return np.ones_like(scores)
    if power in WHOLE:
        return power * raised(scores, power - 1.0)
    nothing = np.abs(scores) < NOTHING
    return np.where(nothing, 0.0, power * np.where(nothing, 1.0, scores) ** (power - 1.0))
