"""The protocol: an acquisition turns a mean and a standard deviation into a score, with its slopes in both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from likewise.similarity.base import Matrix, Vector


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
