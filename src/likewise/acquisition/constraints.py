"""The chance that an outcome keeps to its limits, in logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from likewise.acquisition.base import Acquisition, Care, Slopes
from likewise.acquisition.improvement import LOG_ROOT_TWO_PI, log_between
from likewise.similarity.base import Matrix, Vector

# Less than any chance that matters, and its logarithm is a number.
LEAST = 1e-300


@dataclass(frozen=True)
class Within(Acquisition):
    """log P[low < f(x) < high] = log(Φ(a) − Φ(b)), a = (μ − low)/σ and b = (μ − high)/σ.

    >>> round(float(np.exp(Within(-1.0, 1.0).score(0.0, 1.0, best=0.0))), 4)
    0.6827
    """

    logarithmic = True

    low: float
    high: float

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        a, b = (mean - self.low) / std, (mean - self.high) / std
        return log_ndtr(a) if np.isinf(self.high) else log_between(a, b)

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        a, b = (mean - self.low) / std, (mean - self.high) / std
        log = self.score(mean, std, best)
        first, second = (np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - log) if np.all(np.isfinite(z)) else 0.0 for z in (a, b))
        turned = (a * first if np.isfinite(self.low) else 0.0) - (b * second if np.isfinite(self.high) else 0.0)
        return Slopes(log, (first - second) / std, -turned / std)

    def bound(self, mean: Any, std: Any, best: Any) -> Any:
        # Above the lower limit certainty helps, below it doubt does; how near the upper one is, is left out.
        return np.where(mean < self.low, log_ndtr((mean - self.low) / std), 0.0)

    def average_bound(self, means: Matrix, stds: Matrix, best: Any, weights: Vector, care: Care = Care.FAIR) -> Vector:
        chances = np.where(means < self.low, ndtr((means - self.low) / stds), 1.0)
        return np.log(np.maximum(weights @ chances, LEAST))
