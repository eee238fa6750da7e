"""Values on a scale that suits the model: one transform shared by all members of a committee."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from likewise.similarity.base import Vector

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
# Between bounds, and from so many standard deviations on a bound is far.
INSIDE, INSIDE_WEIGHTS = np.polynomial.legendre.leggauss(40)
FAR = 8.0

# Numbers whose squares are numbers lie between this and its reciprocal.
SMALL = 1e-140
# Beyond the values seen, what is bent reaches as far again as they span.
REACH = 1.0
# How steep it is there, as a share of the scale of the values: what is uncertain there must not look certain.
LEAK = 1e-6
# What brings a median of distances to a standard deviation of normal values, and the least share of the standard
# deviation of all values that this may be: what is less is that of ties.
NORMAL, LEAST_SPREAD = 1.4826, 1e-3
# The largest logarithm that is taken back: whatever is larger is out of reach anyway.
FARTHEST = 50.0


class Transform(ABC):
    """An increasing map from the user's values to the model's."""

    @classmethod
    @abstractmethod
    def of(cls, values: Vector) -> Self:
        """The transform that suits these values."""

    @abstractmethod
    def forward(self, values: Any) -> Any:
        """The model's values."""

    @property
    @abstractmethod
    def origin(self) -> float:
        """A value of the user's, near which the others lie."""

    @abstractmethod
    def away(self, values: Any) -> Any:
        """The user's values less the origin: however far that is from zero, it costs no digits."""

    def backward(self, values: Any) -> Any:
        """The user's values."""
        return self.origin + self.away(values)

    @abstractmethod
    def slope(self, values: Any) -> Any:
        """d forward / d value at the user's values."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the user's values are known to lie."""
        return -np.inf, np.inf

    @property
    def unbounded(self) -> Transform:
        """The same without bounds."""
        return self

    def within(self, low: float, high: float) -> Transform:
        """The same, where the user's values are known to lie between two values; infinite where there is no end."""
        return self.unbounded if low == -np.inf and high == np.inf else Bounded(self.unbounded, low, high)

    def moments(self, mean: Vector, std: Vector) -> tuple[Vector, Vector]:
        """Mean and standard deviation on the user's scale of a normal variable on the model's."""
        centre, spread = self.moments_away(mean, std)
        return self.origin + centre, spread

    def moments_away(self, mean: Vector, std: Vector) -> tuple[Vector, Vector]:
        """The same, with the mean less the origin."""
        at_nodes = self.away(mean[..., None] + std[..., None] * NODES)
        centre = at_nodes @ NODE_WEIGHTS
        return centre, root_mean_square(at_nodes - centre[..., None], NODE_WEIGHTS)


@dataclass(frozen=True)
class Standardised(Transform):
    """z = (y − centre)/scale.

    >>> Standardised.of(np.array([1.0, 3.0])).forward(3.0)
    1.0
    """

    centre: float
    scale: float

    @classmethod
    def of(cls, values: Vector) -> Self:
        """The transform that gives these values mean 0 and standard deviation 1.

        Constant values have their own size for a scale: nothing else tells how far others may be.

        >>> Standardised.of(np.array([40.0])).scale, Standardised.of(np.zeros(3)).scale
        (40.0, 1.0)
        """
        size = float(np.max(np.abs(values))) if len(values) else 0.0
        if size == 0.0:
            return cls(0.0, 1.0)
        if not SMALL < size < 1.0 / SMALL:
            # The squares of such values are no numbers; those of their shares of the largest are.
            within = cls.of(values / size)
            return cls(size * within.centre, size * within.scale)
        spread = float(np.std(values))
        return cls(float(np.mean(values)), spread if spread > 1e-12 * size else size)

    def forward(self, values: Any) -> Any:
        return (values - self.centre) / self.scale

    @property
    def origin(self) -> float:
        return self.centre

    def away(self, values: Any) -> Any:
        return self.scale * values

    def slope(self, values: Any) -> Any:
        return np.full(np.shape(values), 1.0 / self.scale)

    def moments_away(self, mean: Vector, std: Vector) -> tuple[Vector, Vector]:
        return self.away(mean), self.scale * std


@dataclass(frozen=True, eq=False)
class Ranked(Transform):
    """Normal scores of the ranks, straight lines between the values and a little beyond them.

    >>> Ranked.of(np.array([1.0, 2.0, 1000.0])).forward(2.0).round(6)
    np.float64(0.0)
    """

    knots: Vector
    scores: Vector

    @classmethod
    def of(cls, values: Vector) -> Self:
        """The transform of these values; equal ones share their mean rank."""
        ranks = mean_ranks(values)
        scores = ndtri((ranks - 0.375) / (len(values) + 0.25))
        spread = float(np.std(scores))
        knots, first = np.unique(values, return_index=True)
        return cls(knots, scores[first] / (spread if spread > 0 else 1.0))

    def _line(self, at: Any, x: Vector, y: Vector) -> Any:
        if len(x) < 2:
            return np.asarray(at) - x[0] + y[0]
        inside = np.interp(at, x, y)
        # Beyond the ends, the slope over the outer tenth: the two outermost points alone would be a lottery.
        at_ends = max(2, len(x) // 10)
        # Values that differ by less than their digits have no slope between them.
        least = 1e-12 * (x[-1] - x[0])
        low = (y[at_ends - 1] - y[0]) / max(x[at_ends - 1] - x[0], least)
        high = (y[-1] - y[-at_ends]) / max(x[-1] - x[-at_ends], least)
        below, above = np.minimum(np.asarray(at) - x[0], 0.0), np.maximum(np.asarray(at) - x[-1], 0.0)
        return inside + low * below + high * above

    def forward(self, values: Any) -> Any:
        return self._line(values, self.knots, self.scores)

    @property
    def origin(self) -> float:
        return float(self.knots[0])

    def away(self, values: Any) -> Any:
        span = float(self.knots[-1] - self.knots[0])
        values_away = self._line(values, self.scores, self.knots - self.knots[0])
        if span == 0.0:
            return values_away
        # Between the outermost values of a heavy tail a line is steep: it is not to be followed for long.
        inside = np.clip(values_away, -REACH * span, (1.0 + REACH) * span)
        return inside + LEAK * (values_away - inside)

    def slope(self, values: Any) -> Any:
        if len(self.knots) < 2:
            return np.ones(np.shape(values))
        step = 0.5 * (self.knots[-1] - self.knots[0]) / len(self.knots)
        return (self.forward(np.asarray(values) + step) - self.forward(np.asarray(values) - step)) / (2.0 * step)


@dataclass(frozen=True)
class YeoJohnson(Transform):
    """Power transform of standardised values: ((1 + z)^λ − 1)/λ for z ≥ 0 and its mirror image with 2 − λ below.

    >>> t = YeoJohnson.of(np.exp(np.linspace(-2, 2, 30)))
    >>> bool(t.power < 1.0 and np.isclose(t.backward(t.forward(2.0)), 2.0))
    True
    """

    inner: Standardised
    power: float
    outer: Standardised
    reach: tuple[float, float]

    @classmethod
    def of(cls, values: Vector) -> Self:
        """The transform with the exponent under which the values look most normal."""
        from scipy.optimize import minimize_scalar

        inner = Standardised.of(values)
        z = inner.forward(values)

        # Logarithms once for all exponents.
        logs, above, n = np.log1p(np.abs(z)), z >= 0, len(z)
        total = float(np.sum(np.sign(z) * logs))

        def cost(power: float) -> float:
            bent = np.where(above, _power(logs, power), -_power(logs, 2.0 - power))
            away = bent - bent.sum() / n
            # A weak pull towards λ = 1 (no bending), worth a handful of observations.
            fit = 0.5 * n * math.log(max(float(away @ away) / n, 1e-300))
            return fit - (power - 1.0) * total + 2.0 * (power - 1.0) ** 2

        power = float(minimize_scalar(cost, bounds=(-1.0, 3.0), method="bounded").x)
        span = float(np.ptp(values))
        return cls(
            inner,
            power,
            Standardised.of(_bend(z, power)),
            (float(values.min()) - REACH * span, float(values.max()) + REACH * span),
        )

    def forward(self, values: Any) -> Any:
        return self.outer.forward(_bend(np.asarray(self.inner.forward(values)), self.power))

    @property
    def origin(self) -> float:
        return self.inner.origin

    def away(self, values: Any) -> Any:
        # A strong power has a bounded image: the inverse of what lies beyond it would be astronomical.
        low, high = self.reach[0] - self.origin, self.reach[1] - self.origin
        values_away = np.clip(self.inner.away(_unbend(np.asarray(self.outer.backward(values)), self.power)), low, high)
        # A little beyond it, so that what is uncertain there does not look certain.
        least, most = (float(self.forward(end)) for end in self.reach)
        inside = np.clip(values, least, most)
        return values_away + LEAK * _unit(self.inner, self.reach) * (values - inside)

    def slope(self, values: Any) -> Any:
        z = np.asarray(self.inner.forward(values))
        return np.exp((self.power - 1.0) * np.sign(z) * np.log1p(np.abs(z))) / (self.inner.scale * self.outer.scale)


@dataclass(frozen=True)
class Tamed(Transform):
    """asinh((y − median)/spread), then a power: straight in the middle, and logarithms of both tails.

    The spread is by the median distance from the median, so that the tails have no say in it. Accuracies of 0.1 and 0.4
    among many above 0.9 are brought near to these, and the differences between the best ones stay.

    >>> y = np.array([0.115, 0.4, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975])
    >>> Tamed.of(y).forward(y).round(1).tolist(), Standardised.of(y).forward(y).round(1).tolist()
    ([-1.7, -1.6, 0.0, 0.2, 0.4, 0.7, 0.9, 1.0], [-2.1, -1.2, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6])
    """

    inner: Standardised
    outer: YeoJohnson
    reach: tuple[float, float]

    @classmethod
    def of(cls, values: Vector) -> Self:
        inner, span = robust(values), float(np.ptp(values))
        tame = np.arcsinh(inner.forward(values))
        reach = float(values.min()) - REACH * span, float(values.max()) + REACH * span
        return cls(inner, YeoJohnson.of(tame), reach)

    def forward(self, values: Any) -> Any:
        return self.outer.forward(np.arcsinh(self.inner.forward(np.asarray(values, dtype=float))))

    @property
    def origin(self) -> float:
        return self.inner.origin

    def away(self, values: Any) -> Any:
        tame = np.clip(self.outer.backward(values), -FARTHEST, FARTHEST)
        low, high = self.reach[0] - self.origin, self.reach[1] - self.origin
        values_away = np.clip(self.inner.away(np.sinh(tame)), low, high)
        least, most = (float(self.forward(end)) for end in self.reach)
        return values_away + LEAK * _unit(self.inner, self.reach) * (values - np.clip(values, least, most))

    def slope(self, values: Any) -> Any:
        z = np.asarray(self.inner.forward(values))
        return self.outer.slope(np.arcsinh(z)) / np.hypot(1.0, z) / self.inner.scale


@dataclass(frozen=True, eq=False)
class Bounded(Transform):
    """Another transform, where no value of the user's lies below `low` or above `high`.

    What a model expects beyond a bound is at the bound. Values that were measured stay as they are: noise may take them
    past it.

    >>> Bounded(Standardised(50.0, 10.0), 0.0, 100.0).backward(np.array([-9.0, 1.0])).tolist()
    [0.0, 60.0]
    """

    inner: Transform
    low: float
    high: float

    @classmethod
    def of(cls, values: Vector) -> Self:
        return cls(Standardised.of(values), -np.inf, np.inf)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def unbounded(self) -> Transform:
        return self.inner

    def forward(self, values: Any) -> Any:
        return self.inner.forward(values)

    @property
    def origin(self) -> float:
        return self.inner.origin

    def away(self, values: Any) -> Any:
        return np.clip(self.inner.away(values), self.low - self.origin, self.high - self.origin)

    def moments_away(self, mean: Vector, std: Vector) -> tuple[Vector, Vector]:
        """By the shares at the bounds and quadrature between them: across a bound it is wrong by up to 0.02 std."""
        ends = [self.inner.forward(end) if np.isfinite(end) else end for end in self.bounds]
        spread = np.maximum(std, np.finfo(float).tiny)
        low, high = (np.clip((end - mean) / spread, -FAR, FAR) for end in ends)
        half = 0.5 * (high - low)[..., None]
        between = low[..., None] + half * (1.0 + INSIDE)
        weights = half * INSIDE_WEIGHTS * np.exp(-0.5 * between**2) / np.sqrt(2.0 * np.pi)
        weights = np.concatenate([ndtr(low)[..., None], weights, ndtr(-high)[..., None]], axis=-1)
        nodes = np.concatenate([low[..., None], between, high[..., None]], axis=-1)
        values = self.away(mean[..., None] + std[..., None] * nodes)
        centre = np.sum(weights * values, axis=-1)
        deviation = root_mean_square(np.sqrt(weights) * (values - centre[..., None]), np.ones(weights.shape[-1]))
        # What is far from both bounds is as it is without them.
        away, free = (low <= -FAR) & (high >= FAR), self.inner.moments_away(mean, std)
        return np.where(away, free[0], centre), np.where(away, free[1], deviation)

    def backward(self, values: Any) -> Any:
        # Once more, as a sum may be rounded past a bound.
        return np.clip(super().backward(values), self.low, self.high)

    def slope(self, values: Any) -> Any:
        return self.inner.slope(values)


def _unit(inner: Standardised, reach: tuple[float, float]) -> float:
    """The scale of the values; of those that differ in their last digits alone, their range."""
    span = (reach[1] - reach[0]) / (1.0 + 2.0 * REACH)
    return min(inner.scale, span) if span > 0.0 else inner.scale


def robust(values: Vector) -> Standardised:
    """Values less their median, in standard deviations by the median distance from it.

    Where half of the values are all but the same, their standard deviation is the unit.

    >>> robust(np.array([1.0, 2.0, 3.0, 4.0, 1000.0]))
    Standardised(centre=3.0, scale=1.4826)
    """
    centre, usual = float(np.median(values)), Standardised.of(values)
    spread = NORMAL * float(np.median(np.abs(values - centre)))
    return Standardised(centre, spread if spread > LEAST_SPREAD * usual.scale else usual.scale)


def _bend(z: Any, power: float) -> Any:
    return np.where(z >= 0, _box_cox(np.maximum(z, 0.0), power), -_box_cox(np.maximum(-z, 0.0), 2.0 - power))


def _unbend(z: Any, power: float) -> Any:
    return np.where(z >= 0, _unbox_cox(np.maximum(z, 0.0), power), -_unbox_cox(np.maximum(-z, 0.0), 2.0 - power))


def _box_cox(z: Any, power: float) -> Any:
    return _power(np.log1p(z), power)


def _power(log: Any, power: float) -> Any:
    """((1 + z)^λ − 1)/λ from log(1 + z)."""
    return log if abs(power) < 1e-8 else np.expm1(power * log) / power


def _unbox_cox(z: Any, power: float) -> Any:
    if abs(power) < 1e-8:
        return np.expm1(np.minimum(z, FARTHEST))
    # With a negative power the image is bounded; beyond its end the inverse saturates instead of failing.
    return np.expm1(np.minimum(np.log(np.maximum(1.0 + power * z, 1e-6)) / power, FARTHEST))


def root_mean_square(away: Any, weights: Vector) -> Any:
    """√(Σ w a²) along the last axis; the squares neither overflow nor vanish.

    >>> round(float(root_mean_square(np.array([3e200, 4e200]), np.ones(2)) / 1e200), 6)
    5.0
    """
    size = np.max(np.abs(away), axis=-1)
    unit = np.where(size > 0, size, 1.0)
    return size * np.sqrt((away / unit[..., None]) ** 2 @ weights)


def mean_ranks(values: Vector) -> Vector:
    """Ranks from 1 on; equal values share the mean of theirs.

    >>> mean_ranks(np.array([5.0, 1.0, 5.0, 7.0])).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[inverse], dtype=float)
