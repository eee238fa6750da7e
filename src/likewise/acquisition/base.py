"""The protocol: an acquisition turns a mean and a standard deviation into a score, with its slopes in both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from likewise.similarity.base import Matrix, Vector


class Slopes(NamedTuple):
    """A score and its derivatives in the mean and in the standard deviation."""

    score: Any
    in_mean: Any
    in_std: Any


class Acquisition(ABC):
    """What an object is worth, on the model's scale, where larger values are better."""

    @abstractmethod
    def score(self, mean: Any, std: Any, best: float) -> Any:
        """The worth of an object with this mean and standard deviation, when `best` is the best value so far."""

    @abstractmethod
    def slopes(self, mean: Any, std: Any, best: float) -> Slopes:
        """The score and its derivatives."""

    def bound(self, mean: Any, std: Any, best: float) -> Any:
        """What no object of this mean, with any standard deviation up to this one, is worth more than.

        Pools are searched from the highest bound down; without a bound every object is scored.
        """
        return np.full(np.shape(mean), np.inf)

    def bound_averaged(self, means: Matrix, stds: Matrix, best: float, weights: Vector) -> Vector:
        """The bounds averaged over members, one row each."""
        return self.averaged(self.bound(means, stds, best), weights)[0]

    @property
    def logarithmic(self) -> bool:
        """Whether scores are logarithms: the average over members is then taken of what they are logarithms of."""
        return False

    def averaged(self, scores: Matrix, weights: Vector) -> tuple[Vector, Matrix]:
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
