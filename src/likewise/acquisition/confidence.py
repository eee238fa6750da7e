"""The paper's acquisitions, the mean u₁, the upper confidence bound u₂ and the spread; and the least known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.acquisition.base import Acquisition, Slopes
from likewise.errors import LikewiseError

# What a mean counts beside the logarithm of a standard deviation, and what a deviation is at least.
MEAN_SHARE, TINY = 0.1, 1e-150


@dataclass(frozen=True)
class Mean(Acquisition):
    """u₁(x) = S_x D y = μ(x): exploitation alone.

    >>> Mean().score(1.5, 0.2, best=1.0)
    1.5
    """

    rises_with_std = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return mean

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(mean, np.ones_like(mean), np.zeros_like(mean))


@dataclass(frozen=True)
class UpperConfidence(Acquisition):
    """u₂(x) = μ(x) + κ √V(x) (Eq. UCB).

    Its gradient is ∇μ + κ sign(v) ∇v / (2√|v|), v the signed variance (errata 5; the paper divides by V, not by √V).

    kappa: how much uncertainty counts, κ; 2 by default, as in the paper.

    >>> UpperConfidence(kappa=2.0).score(1.0, 0.25, best=0.0)
    1.5
    """

    rises_with_std = True

    kappa: float = 2.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.kappa) and self.kappa >= 0):
            raise LikewiseError(f"UpperConfidence needs a non-negative kappa, not {self.kappa}; 2 is usual")

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return mean + self.kappa * std

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(self.score(mean, std, best), np.ones_like(mean), np.full_like(mean, self.kappa))


@dataclass(frozen=True)
class Spread(Acquisition):
    """√V(x): exploration alone, the second stage of the paper's two-stage batches.

    >>> Spread().score(1.0, 0.25, best=0.0)
    0.25
    """

    rises_with_std = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return std

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(std, np.zeros_like(mean), np.ones_like(mean))


@dataclass(frozen=True)
class LeastKnown(Acquisition):
    """log √V(x) + μ(x) / 10: exploration, and of what is known equally well the best.

    The mean counts a tenth, so that a standard deviation larger by a third outweighs the whole range of means.

    >>> float(LeastKnown().score(1.0, 1.0, best=0.0))
    0.1
    """

    rises_with_std = True
    logarithmic = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return np.log(np.maximum(std, TINY)) + MEAN_SHARE * mean

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(self.score(mean, std, best), np.full_like(mean, MEAN_SHARE), 1.0 / np.maximum(std, TINY))
