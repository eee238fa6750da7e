"""Points of a simplex with bounds, of which only so many parts are not zero: nearest ones and random ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Generator

SLACK = 1e-12
# So many exchanges between two parts, for each part, make a point at random.
EXCHANGES = 4


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares p with lower ≤ p ≤ upper and Σ p = 1, of which at most `most` are not zero.

    >>> some = Shares(np.array([0.2, 0.0, 0.0]), np.array([1.0, 0.5, 0.5]), 2)
    >>> some.project(np.array([[0.1, 0.9, 0.4]])).round(3).tolist()
    [[0.5, 0.5, 0.0]]
    """

    lower: Vector
    upper: Vector
    most: int

    def check(self) -> None:
        """A complaint where there are none."""
        if np.any(self.lower < 0) or np.any(self.lower > self.upper):
            k = int(np.argmax((self.lower < 0) | (self.lower > self.upper)))
            raise SpaceError(
                f"part {k} has bounds from {self.lower[k]:g} to {self.upper[k]:g} of the total; "
                "give 0 ≤ lower ≤ upper for each part"
            )
        if self._must.sum() > self.most:
            raise SpaceError(
                f"{self._must.sum()} parts have a lower bound above 0, but at most {self.most} parts may be used; "
                "lower some of these bounds to 0, or allow more parts"
            )
        least, largest = float(self.lower.sum()), self._largest(self._must, self.most - int(self._must.sum()))
        if least > 1 + SLACK or largest < 1 - SLACK:
            raise SpaceError(
                f"with these bounds {self.most} parts add up to between {least:g} and {largest:g} of the total; "
                "loosen the bounds so that they can add up to all of it"
            )

    @cached_property
    def _must(self) -> NDArray[np.bool_]:
        return np.asarray(self.lower > 0)

    @cached_property
    def free(self) -> bool:
        """Whether there are no bounds but 0, and all parts may be used."""
        return bool(self.most >= len(self.lower) and not self.lower.any() and np.all(self.upper >= 1))

    def _largest(self, chosen: NDArray[np.bool_], slots: int) -> float:
        """What the chosen parts and so many more can add up to."""
        others = np.sort(self.upper[~chosen])[::-1]
        return float(self.upper[chosen].sum() + others[: max(slots, 0)].sum())

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points: all parts lowered alike, to clip(v − τ, lower, upper), until they add up to 1.

        Of more parts than may be used, the largest are kept; where they cannot add up to 1, those that can.
        """
        vectors = np.asarray(vectors, dtype=float)
        if self.free:
            return _project_free(vectors)
        upper = np.where(self._supports(vectors), self.upper, 0.0)
        found = np.clip(vectors - _threshold(vectors, self.lower, upper)[:, None], self.lower, upper)
        # What rounding leaves goes to the part that has most room for it.
        left = 1.0 - found.sum(axis=1)
        room = np.where(left[:, None] > 0, upper - found, found - self.lower)
        rows = np.arange(len(found))
        found[rows, np.argmax(room, axis=1)] += left
        return found

    def _supports(self, vectors: Matrix) -> NDArray[np.bool_]:
        """Which parts of each row are used."""
        if self.most >= len(self.lower):
            return np.ones(vectors.shape, dtype=bool)
        order = np.argsort(-np.where(self._must, np.inf, vectors), axis=1, kind="stable")
        if np.sort(self.upper)[: self.most].sum() >= 1:
            used = np.zeros(vectors.shape, dtype=bool)
            np.put_along_axis(used, order[:, : self.most], True, axis=1)
            return used
        return np.array([self._support(row) for row in order.tolist()]).reshape(vectors.shape)

    def _support(self, order: list[int]) -> NDArray[np.bool_]:
        """The first parts in this order that can still add up to 1."""
        used = self._must.copy()
        for k in order:
            slots = self.most - int(used.sum())
            if slots and not used[k]:
                used[k] = True
                used[k] = self._largest(used, slots - 1) >= 1 - SLACK
        return used

    def sample(self, n: int, rng: Generator) -> Matrix:
        """Random points; those of one set of parts are spread evenly, and each number of parts is as frequent."""
        width = len(self.lower)
        if self.free:
            return rng.dirichlet(np.ones(width), size=n)
        if self.most >= width:
            return self._mix(self.project(rng.dirichlet(np.ones(width), size=n)), np.ones((n, width), dtype=bool), rng)
        count = rng.integers(max(1, int(self._must.sum())), self.most + 1, size=n)
        ranks = np.argsort(np.argsort(np.where(self._must, -1.0, rng.random((n, width))), axis=1), axis=1)
        drawn = rng.dirichlet(np.ones(width), size=n)
        x = self.project(np.where(ranks < count[:, None], drawn, drawn - 2.0))
        return self._mix(x, x > 0, rng)

    def _mix(self, x: Matrix, used: NDArray[np.bool_], rng: Generator) -> Matrix:
        """The points after exchanges between two used parts at random, as far as the bounds allow."""
        rows = np.arange(len(x))
        for _ in range(EXCHANGES * min(self.most, x.shape[1])):
            lots = np.where(used, rng.random(x.shape), -1.0)
            i, j = np.argsort(-lots, axis=1, kind="stable")[:, :2].T
            both = x[rows, i] + x[rows, j]
            pair = used[rows, i] & used[rows, j]
            low = np.maximum(self.lower[i], both - self.upper[j])
            high = np.maximum(np.minimum(self.upper[i], both - self.lower[j]), low)
            new = np.where(pair, low + rng.random(len(x)) * (high - low), x[rows, i])
            x[rows, j], x[rows, i] = np.where(pair, both - new, x[rows, j]), new
        return self.project(x)


def _project_free(vectors: Matrix) -> Matrix:
    """The nearest points where there are no bounds but 0."""
    falling = -np.sort(-vectors, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, vectors.shape[1] + 1)
    kept = np.maximum(np.sum(falling > excess, axis=1), 1)
    lowered: Matrix = np.maximum(vectors - excess[np.arange(len(vectors)), kept - 1][:, None], 0.0)
    return lowered / lowered.sum(axis=1, keepdims=True)


def _threshold(vectors: Matrix, lower: Vector, upper: Matrix) -> Vector:
    """The τ of each row for which Σ clip(v − τ, lower, upper) = 1: the sum is linear between the bends."""
    bends = np.sort(np.hstack([vectors - upper, vectors - lower]), axis=1)
    sums = np.clip(vectors[:, None, :] - bends[:, :, None], lower, upper[:, None, :]).sum(axis=2)
    last = np.clip(np.sum(sums >= 1.0, axis=1), 1, bends.shape[1] - 1)
    rows = np.arange(len(vectors))
    (before, after), (high, low) = bends[rows, [last - 1, last]], sums[rows, [last - 1, last]]
    fall = np.where(high > low, high - low, 1.0)
    return np.asarray(before + np.clip((high - 1.0) / fall, 0.0, 1.0) * (after - before))
