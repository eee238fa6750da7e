"""How a member of a committee mixes the similarities: S = (Σ_k w_k S_k)^p + c."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from likewise.similarity.base import Similarity
from likewise.similarity.combine.algebra import Offset, Scaled, Sum, Warped, power_slope


@dataclass(frozen=True)
class Recipe:
    """Weights of the similarities, the warp of their mix, and what all objects have in common.

    The offset c lets the mean be learnt with everything else. Without it, observations that crowd around the best ones
    would raise what is expected far away from them.

    >>> Recipe((0.5, 0.5), 2.0).scores({0: 1.0, 1: 3.0})
    4.0
    """

    weights: tuple[float, ...]
    power: float = 1.0
    offset: float = 0.0

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The similarities that have a weight."""
        return tuple(k for k, w in enumerate(self.weights) if w > 0)

    def mix(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        """Σ_k w_k S_k."""
        first, *rest = self.used
        total = scores[first] if self.weights[first] == 1.0 else self.weights[first] * scores[first]
        for k in rest:
            total = total + self.weights[k] * scores[k]
        return total

    def scores(self, scores: Mapping[int, Any] | Sequence[Any]) -> Any:
        """(Σ_k w_k S_k)^p + c of matrices, rows or selves."""
        mixed = self.mix(scores)
        if self.power != 1.0:
            mixed = mixed * mixed if self.power == 2.0 else mixed**self.power
        return mixed + self.offset if self.offset else mixed

    def pull(self, scores: Mapping[int, Any], weights: Any) -> dict[int, Any]:
        """From derivatives in the member's scores to derivatives in each similarity's."""
        inside = weights if self.power == 1.0 else weights * power_slope(self.mix(scores), self.power)
        return {k: self.weights[k] * inside for k in self.used}

    def similarity(self, bases: Sequence[Similarity]) -> Similarity:
        """The same mix as a similarity of objects."""
        parts = tuple(bases[k] if self.weights[k] == 1.0 else Scaled(bases[k], self.weights[k]) for k in self.used)
        mixed = parts[0] if len(parts) == 1 else Sum(parts)
        warped = mixed if self.power == 1.0 else Warped(mixed, self.power)
        return Offset(warped, self.offset) if self.offset else warped

    def encoding(self, encodings: Sequence[Any]) -> Any:
        """The encoding that `similarity` would make, from those of the similarities."""
        return encodings[self.used[0]] if len(self.used) == 1 else tuple(encodings[k] for k in self.used)
