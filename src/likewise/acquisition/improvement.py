"""Improvement over the best value, in logarithms, so that nothing underflows far below it.

With z = (μ − best)/σ: expected improvement is σ·h(z), h(z) = φ(z) + zΦ(z), and the probability of improvement Φ(z).
For z ≪ 0 the terms of h cancel; there h(z) = φ(z)·(1 − |z| m(|z|)) with the Mills ratio m(x) = √(π/2) erfcx(x/√2), and
beyond that an asymptotic series.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from likewise.acquisition.base import Acquisition, Care, Slopes
from likewise.similarity.base import Matrix, Vector

LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
NEAR, FAR = -1.0, -1e3
# A table of h(−u), read at the next lower u: so many steps to one, up to a u where h still is a number.
STEPS, LAST = 1024, 36
TINY = np.finfo(float).tiny
# Less than any improvement that is read from inside the table.
HOPELESS = 1e-270


def mills(x: Any) -> Any:
    """(1 − Φ(x))/φ(x) for x ≥ 0.

    >>> round(float(mills(0.0)), 6)
    1.253314
    """
    return np.sqrt(0.5 * np.pi) * erfcx(x / np.sqrt(2.0))


def log_h(z: Any) -> Any:
    """log(φ(z) + zΦ(z)), accurate for every z.

    >>> round(float(log_h(-40.0)), 4)
    -808.2986
    """
    z = np.asarray(z, dtype=float)
    out = np.empty_like(z)
    # Each formula only where it is needed: a pool has millions of objects, and most of them lie in the middle.
    near, far = z > NEAR, z <= FAR
    out[near] = _log_h_near(z[near])
    out[far] = _log_h_far(-z[far])
    middle = ~(near | far)
    out[middle] = _log_h_middle(-z[middle])
    return out


def _log_h_near(z: Any) -> Any:
    return np.log(np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI) + z * ndtr(z))


def _log_h_middle(x: Any) -> Any:
    # 1 − x m(x) loses digits as x grows; its series 1/x² − 3/x⁴ + 15/x⁶ − 105/x⁸ … takes over where it is accurate.
    u = 1.0 / (x * x)
    series = u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * (945.0 - u * 10395.0)))))
    gap = np.where(x > 25.0, series, 1.0 - x * mills(x))
    return -0.5 * x * x - LOG_ROOT_TWO_PI + np.log(gap)


def _log_h_far(x: Any) -> Any:
    u = (1.0 / x) ** 2
    return -0.5 * x**2 - LOG_ROOT_TWO_PI - 2.0 * np.log(x) + np.log1p(-u * (3.0 - 15.0 * u))


@cache
def _table() -> Vector:
    return np.exp(log_h(-np.arange(LAST * STEPS + 1) / STEPS))


def bound_h(z: Any) -> Any:
    """Slightly more than h(z), at a tenth of its price: h(z) = max(z, 0) + h(−|z|), whose second term is looked up.

    >>> round(float(bound_h(np.array([0.5]))[0] / np.exp(log_h(0.5))) - 1.0, 3)
    0.0
    """
    places = np.minimum(np.abs(z) * STEPS, LAST * STEPS).astype(np.intp)
    # A little more, for the rounding of either term.
    return (np.maximum(z, 0.0) + _table()[places]) * (1.0 + 1e-9)


def between_h(z: Any) -> tuple[Any, Any]:
    """Slightly more and slightly less than h(z), from the same table.

    >>> more, less = between_h(np.array([-0.5]))
    >>> bool(less[0] <= np.exp(log_h(-0.5)) <= more[0] <= 1.01 * less[0])
    True
    """
    places = np.minimum(np.abs(z) * STEPS, LAST * STEPS).astype(np.intp)
    above = np.maximum(z, 0.0)
    after = np.where(places < LAST * STEPS, _table()[np.minimum(places + 1, LAST * STEPS)], 0.0)
    return (above + _table()[places]) * (1.0 + 1e-9), (above + after) * (1.0 - 1e-9)


@dataclass(frozen=True)
class LogExpectedImprovement(Acquisition):
    """log E[max(f(x) − best, 0)] = log σ + log h(z).

    >>> round(float(LogExpectedImprovement().score(0.0, 1.0, best=0.0)), 4)
    -0.9189
    """

    logarithmic = True
    rises_with_std = True
    noise_aware = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return np.log(std) + log_h((mean - best) / std)

    def average_bound(self, means: Matrix, stds: Matrix, best: Any, weights: Vector, care: Care = Care.FAIR) -> Vector:
        improvement = weights @ (stds * bound_h((means - best) / np.maximum(stds, TINY)))
        bounds = np.log(np.maximum(improvement, HOPELESS))
        # The table has an end; what lies beyond it for all members is computed in logarithms, where it matters.
        far = improvement < HOPELESS
        if far.any() and care is not Care.ROUGH:
            bounds[far] = self.average(self.bound(means[:, far], stds[:, far], best), weights)[0]
        return bounds

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        z = (mean - best) / std
        log = log_h(z)
        # h'(z) = Φ(z), and the chain rule leaves φ(z)/h(z) for the standard deviation.
        in_mean = np.exp(log_ndtr(z) - log) / std
        in_std = np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - log) / std
        return Slopes(np.log(std) + log, in_mean, in_std)


@dataclass(frozen=True)
class ProbabilityOfImprovement(Acquisition):
    """log P[f(x) > best] = log Φ(z).

    >>> round(float(np.exp(ProbabilityOfImprovement().score(0.0, 1.0, best=0.0))), 4)
    0.5
    """

    logarithmic = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return log_ndtr((mean - best) / std)

    def bound(self, mean: Any, std: Any, best: Any) -> Any:
        # Above the best value certainty helps, below it doubt does.
        return np.where(mean < best, self.score(mean, std, best), 0.0)

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        z = (mean - best) / std
        log = log_ndtr(z)
        ratio = np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - log)
        return Slopes(log, ratio / std, -z * ratio / std)
