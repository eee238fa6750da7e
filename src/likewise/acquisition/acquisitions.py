"""Acquisitions: a mean and a standard deviation become a score, with its slopes in both.

Expected improvement, the probability of improvement, upper confidence bounds and the mean, and the chance that an
outcome keeps to its limits. Everything is in logarithms, so that nothing underflows far below the best value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from likewise.errors import LikewiseError
from likewise.similarity.base import Matrix, Vector

# The protocol: an acquisition turns a mean and a standard deviation into a score, with its slopes in both.


class Care(Enum):
    """How tight a bound is to be, which is what it costs."""

    # What is hopeless is not told apart.
    ROUGH = 0
    FAIR = 1
    # The lowest bound there is, at whatever price.
    TIGHT = 2


class Slopes(NamedTuple):
    """A score and its derivatives in the mean and in the standard deviation."""

    score: Any
    in_mean: Any
    in_std: Any


class Acquisition(ABC):
    """What an object is worth, on the model's scale, where larger values are better."""

    # Whether scores are logarithms: the average over members is then taken of what they are logarithms of.
    logarithmic: ClassVar[bool] = False
    # Whether a score never falls as the standard deviation grows.
    rises_with_std: ClassVar[bool] = False
    # Whether it counts what one measurement can find beyond the best: doubt that is shared with that is no hope.
    noise_aware: ClassVar[bool] = False

    @abstractmethod
    def score(self, mean: Any, std: Any, best: Any) -> Any:
        """The worth of an object with this mean and standard deviation, when `best` is the best value so far."""

    @abstractmethod
    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        """The score and its derivatives."""

    def under(self, ceiling: float) -> Acquisition:
        """The same where no value is above a ceiling; the order of means or bounds of confidence is what it was."""
        return self

    def bound(self, mean: Any, std: Any, best: Any) -> Any:
        """What no object of this mean, with any standard deviation up to this one, is worth more than.

        Pools are searched from the highest bound down; without a bound every object is scored.
        """
        return self.score(mean, std, best) if self.rises_with_std else np.full(np.shape(mean), np.inf)

    def average_bound(self, means: Matrix, stds: Matrix, best: Any, weights: Vector, care: Care = Care.FAIR) -> Vector:
        """The bounds averaged over members, one row each."""
        return self.average(self.bound(means, stds, best), weights)[0]

    def average(self, scores: Matrix, weights: Vector) -> tuple[Vector, Matrix]:
        """The score averaged over members (one row each), and its derivative in each member's score."""
        if len(weights) == 1:
            return scores[0], np.ones_like(scores)
        if not self.logarithmic:
            return weights @ scores, np.broadcast_to(weights[:, None], scores.shape)
        shifted = scores + np.log(weights)[:, None]
        top = shifted.max(axis=0)
        top = np.where(np.isfinite(top), top, 0.0)
        shares = np.exp(shifted - top)
        total = shares.sum(axis=0)
        with np.errstate(divide="ignore"):
            average = top + np.log(total)
        return average, shares / np.where(total > 0, total, 1.0)


# The paper's acquisitions, the mean u₁, the upper confidence bound u₂ and the spread; and the least known.

# What a mean counts beside the logarithm of a standard deviation, and what a deviation is at least.
MEAN_SHARE, LEAST_SPREAD = 0.1, 1e-150


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
        return np.log(np.maximum(std, LEAST_SPREAD)) + MEAN_SHARE * mean

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        return Slopes(self.score(mean, std, best), np.full_like(mean, MEAN_SHARE), 1.0 / np.maximum(std, LEAST_SPREAD))


# Improvement over the best value, in logarithms, so that nothing underflows far below it.
#
# With z = (μ − best)/σ: expected improvement is σ·h(z), h(z) = φ(z) + zΦ(z), and the probability of improvement Φ(z).
# For z ≪ 0 the terms of h cancel; there h(z) = φ(z)·(1 − |z| m(|z|)) with the Mills ratio m(x) = √(π/2) erfcx(x/√2),
# and beyond that an asymptotic series.
#
# Where no value is above a ceiling c, an improvement is at most c − best, and what is expected of it is
#
#     E[(min(f, c) − best)₊] = g(best) − g(c),      g(e) = E[(f − e)₊] = σ h((μ − e)/σ).
#
# It rises with σ as long as μ is nearer to the best value than to the ceiling, and falls with it beyond.

LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
NEAR, FAR = -1.0, -1e3
# A table of h(−u), read at the next lower u: so many steps to one, up to a u where h still is a number.
STEPS, LAST = 1024, 36
TINY = np.finfo(float).tiny
# Less than any improvement that is read from inside the table.
HOPELESS = 1e-270
# What is believed to be at the ceiling counts as so much below it: what else may reach it is still told apart. Bounds
# have so much slack, as differences lose digits beside it.
HAIR, SLACK = 1e-6, 1e-6


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


def log_less(log: Any, other: Any) -> Any:
    """log(eᵃ − eᵇ) from a ≥ b.

    >>> round(float(np.exp(log_less(np.log(3.0), np.log(2.0)))), 6)
    1.0
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(other), log, log + np.log(-np.expm1(np.minimum(other - log, -1e-300))))


def log_between(a: Any, b: Any) -> Any:
    """log(Φ(a) − Φ(b)) for a ≥ b."""
    # In the tail where both are small, the difference keeps its digits.
    flip = a + b > 0
    return log_less(log_ndtr(np.where(flip, -b, a)), log_ndtr(np.where(flip, -a, b)))


@dataclass(frozen=True)
class LogExpectedImprovement(Acquisition):
    """log E[max(min(f(x), ceiling) − best, 0)]; without a ceiling log σ + log h(z).

    ceiling: what no value is above, on the model's scale; ∞ by default, and a study with `bounds` sets it.

    >>> round(float(LogExpectedImprovement().score(0.0, 1.0, best=0.0)), 4)
    -0.9189
    >>> round(float(LogExpectedImprovement(ceiling=0.1).score(0.0, 1.0, best=0.0)), 4)
    -3.0364
    """

    logarithmic = True
    noise_aware = True

    ceiling: float = np.inf

    def under(self, ceiling: float) -> LogExpectedImprovement:
        return replace(self, ceiling=min(self.ceiling, ceiling))

    @property
    def top(self) -> float:
        """The largest value that can still be improved on."""
        return self.ceiling - HAIR

    def start(self, best: Any) -> Any:
        """From where on improvements count."""
        return best if np.isinf(self.ceiling) else np.minimum(best, self.top)

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        log = log_h((mean - self.start(best)) / std)
        return np.log(std) + (log if np.isinf(self.ceiling) else log_less(log, log_h((mean - self.ceiling) / std)))

    def _falls(self, mean: Any, start: Any) -> Any:
        """Whether an improvement is worth less the more doubt there is."""
        return mean - start > self.ceiling - mean

    def bound(self, mean: Any, std: Any, best: Any) -> Any:
        score, start = self.score(mean, std, best), self.start(best)
        if np.isinf(self.ceiling):
            return score
        certain = np.log(np.maximum(np.minimum(mean, self.ceiling) - start, TINY))
        return np.where(self._falls(mean, start), certain, score) + SLACK

    def average_bound(self, means: Matrix, stds: Matrix, best: Any, weights: Vector, care: Care = Care.FAIR) -> Vector:
        improvement = weights @ self.more(means, stds, best)
        bounds = np.log(np.maximum(improvement, HOPELESS))
        # The table has an end; what lies beyond it for all members is computed in logarithms, where it matters.
        far = improvement < HOPELESS
        if far.any() and care is not Care.ROUGH:
            bounds[far] = self.average(self.bound(means[:, far], stds[:, far], best), weights)[0]
        return bounds

    def more(self, mean: Any, std: Any, best: Any) -> Any:
        """Slightly more than the improvement at any standard deviation up to this one, at a tenth of its price."""
        start, spread = self.start(best), np.maximum(std, TINY)
        z = (mean - start) / spread
        found = std * bound_h(z)
        if np.isinf(self.ceiling):
            return found
        # Below the middle an improvement is at most the chance of one times the room that there is.
        certain, hoped = np.minimum(mean, self.ceiling) - start, (self.ceiling - start) * ndtr(z)
        capped = np.where(self._falls(mean, start), certain, hoped)
        return np.minimum(found, capped) * (1.0 + SLACK)

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        z = (mean - self.start(best)) / std
        log, log_chance, above = log_h(z), log_ndtr(z), -np.inf
        if np.isfinite(self.ceiling):
            above = (mean - self.ceiling) / std
            log, log_chance = log_less(log, log_h(above)), log_between(z, above)
        # h'(z) = Φ(z), and the chain rule leaves φ(z)/h(z) for the standard deviation.
        first, second = (np.exp(-0.5 * np.square(own) - LOG_ROOT_TWO_PI - log) for own in (z, above))
        return Slopes(np.log(std) + log, np.exp(log_chance - log) / std, (first - second) / std)


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


# The chance that an outcome keeps to its limits, in logarithms.

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
