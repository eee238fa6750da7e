"""What is expected of objects: mean, standard deviation, and intervals of the whole distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from likewise.errors import LikewiseError
from likewise.model.transforms import Standardised, Transform
from likewise.similarity.base import Matrix, Vector

# Halvings of an interval that holds a quantile: to a billionth of its width.
HALVINGS = 40
IDENTITY = Standardised(0.0, 1.0)


# Gains are added up to so many spreads from a centre.
MOST_SPREADS = 40.0
ABOUT, STEPS = np.sinh(np.linspace(-1.0, 1.0, 80) * np.arcsinh(MOST_SPREADS)), np.linspace(0.0, 1.0, 60) ** 3


class Moments(NamedTuple):
    """Mean and standard deviation, one entry per object."""

    mean: Vector
    std: Vector


@dataclass(frozen=True, eq=False)
class Mixture:
    """A distribution for each object: a weighted mixture of Student's t on the model's scale.

    `centres` and `spreads` have a row for each part and a column for each object. `freedom` are the degrees of freedom:
    amplitudes are estimated from as many values. `sign` is −1 where the user's values are the model's negated.
    """

    weights: Vector
    centres: Matrix
    spreads: Matrix
    freedom: float
    transform: Transform = IDENTITY
    sign: float = 1.0

    def below(self, value: Any) -> Vector:
        """The chance that each object lies below a value of the model's scale."""
        return np.asarray(self.weights @ stdtr(self.freedom, (value - self.centres) / self.spreads))

    def beyond(self, value: float) -> Vector:
        """The chance that each object lies above a value of the user's scale, or below it where values are negated.

        >>> Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)), np.inf).beyond(0.0).tolist()
        [0.5]
        """
        signed = self.sign * value
        if signed >= self.transform.bounds[1]:
            return np.zeros(self.centres.shape[1])
        away = (self.centres - self.transform.forward(signed)) / self.spreads
        return np.asarray(self.weights @ stdtr(self.freedom, away))

    def gain(self, value: float) -> Vector:
        """The expected gain of each object over a value of the user's scale, or below it where values are negated.

        ∫ P(y > u) du from the value on, in steps that grow with the distance from it.

        >>> normal = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)), np.inf)
        >>> round(float(normal.gain(0.0)[0]), 2)
        0.4
        """
        signed = self.sign * value
        if signed >= self.transform.bounds[1]:
            return np.zeros(self.centres.shape[1])
        # Each part has steps of its own, small ones about its centre and from the value on; what it exceeds for certain
        # comes whole.
        start = float(self.transform.forward(signed))
        low = np.maximum(start, self.centres - MOST_SPREADS * self.spreads)
        high = np.maximum(low, self.centres + MOST_SPREADS * self.spreads)
        about = np.clip(self.centres + ABOUT[:, None, None] * self.spreads, low, high)
        ends = np.sort(np.concatenate([about, low + STEPS[:, None, None] * (high - low)]), axis=0)
        heights = np.asarray(self.transform.away(ends))
        above = stdtr(self.freedom, (self.centres - ends) / self.spreads)
        beyond = np.sum(0.5 * (above[1:] + above[:-1]) * np.diff(heights, axis=0), axis=0)
        return np.asarray(self.weights @ (heights[0] - self.transform.away(start) + beyond))

    def quantile(self, share: float) -> Vector:
        """The value, on the user's scale, that each object lies below with this chance."""
        share = share if self.sign > 0 else 1.0 - share
        reach = 12.0 + 4.0 / min(share, 1.0 - share) ** (1.0 / self.freedom)
        low = np.min(self.centres - reach * self.spreads, axis=0)
        high = np.max(self.centres + reach * self.spreads, axis=0)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            under = self.below(middle) < share
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(self.sign * self.transform.backward(0.5 * (low + high)))


class Prediction(Moments):
    """Mean and standard deviation, one entry per object, and the distribution behind them, for `interval`.

    mean, std: arrays, one number for each object.
    mixture: the distribution of each object, which `interval` reads.
    """

    mixture: Mixture

    def __new__(cls, mean: Vector, std: Vector, mixture: Mixture) -> Prediction:
        prediction = super().__new__(cls, mean, std)
        prediction.mixture = mixture
        return prediction

    def __repr__(self) -> str:
        with np.printoptions(threshold=12, edgeitems=3, precision=6):
            return f"Prediction(mean={self.mean}, std={self.std})"

    def __getnewargs__(self) -> Any:
        return self.mean, self.std, self.mixture

    @classmethod
    def normal(cls, mean: Vector, std: Vector) -> Prediction:
        """Normal distributions."""
        return cls(mean, std, Mixture(np.ones(1), mean[None], std[None], np.inf))

    def negate(self) -> Prediction:
        """The prediction of the negated values."""
        return Prediction(-self.mean, self.std, replace(self.mixture, sign=-self.mixture.sign))

    def interval(self, level: float = 0.95) -> tuple[Vector, Vector]:
        """The lower and upper ends of the central interval that holds the value with this chance, for each object.

        level: the chance, between 0 and 1; 0.95 by default.

        >>> low, high = Prediction.normal(np.zeros(1), np.ones(1)).interval(0.95)
        >>> bool(abs(high[0] - 1.96) < 1e-3 and abs(low[0] + high[0]) < 1e-6)
        True
        """
        if not 0.0 < level < 1.0:
            raise LikewiseError(f"the level of an interval lies between 0 and 1, not at {level!r}; give 0.95, say")
        return self.mixture.quantile(0.5 - level / 2), self.mixture.quantile(0.5 + level / 2)
