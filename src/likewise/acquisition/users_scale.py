"""Improvements in the user's units, where the model's scale bends them.

A hypervolume is that of the user's values; on a bent scale of the model a step is worth more here and less there. With
T the map to the model's scale, taken as straight between a few knots, and w its inverse's slopes,

    g̃(e) = E[(T⁻¹(y) − T⁻¹(e))₊] = ∫_e^∞ w(s) P[y > s] ds = Σ_r w_r (g(s_r) − g(s_{r+1})),     g(s) = E[(y − s)₊],

over the knots s_r above e, of which e is the first. From the top down that is g̃_r = B_r g_r with

    B_r = w_r (1 − ρ_r) + ρ_r B_{r+1},     ρ_r = g(s_{r+1})/g(s_r),

a mean of slopes, so that no digits are lost. As g̃ falls with its edge, whatever raises edges makes less of a front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.base import Slopes
from likewise.model.targets.transforms import Transform
from likewise.similarity.base import Matrix, Vector

# So many straight pieces stand for the bent scale, from the reference to so far above the best value.
PIECES, ABOVE = 6, 1.0
# No piece is worth less than this share of the largest, and slopes that differ by less than that are the same.
LEAST, EQUAL = 1e-3, 1e-6


@dataclass(frozen=True, eq=False)
class UsersScale:
    """Knots on the model's scale, and how many of the user's units a unit is worth from each knot on."""

    knots: Vector
    weights: Vector

    @classmethod
    def of(cls, transform: Transform, reference: float, best: float) -> UsersScale | None:
        """The scale from the reference to beyond the best value; None where it is straight.

        >>> from likewise.model.targets.transforms import Standardised
        >>> UsersScale.of(Standardised(3.0, 2.0), -1.0, 1.0) is None
        True
        """
        knots = np.linspace(reference, max(best, reference) + ABOVE, PIECES + 1)
        weights = np.diff(np.asarray(transform.away(knots), dtype=float)) / np.diff(knots)
        if not np.all(np.isfinite(weights)) or np.ptp(weights) <= EQUAL * weights.max():
            return None
        return cls(knots[:-1], np.maximum(weights, LEAST * weights.max()))

    def lengths(self, values: Vector) -> Vector:
        """How far values on the model's scale are above the first knot, in the user's units."""
        ends = np.append(self.knots[1:], np.inf)
        parts = np.clip(values[:, None], self.knots, ends) - self.knots
        below = np.minimum(values - self.knots[0], 0.0) * self.weights[0]
        return np.asarray(parts @ self.weights + below)

    def convex(self) -> UsersScale:
        """A scale on which nothing is worth less, and more spread is never worth less: slopes do not fall."""
        return UsersScale(self.knots, np.maximum.accumulate(self.weights))

    def steps(self, edges: Matrix) -> Steps:
        """The edges of each member, one column each, among the knots."""
        both = np.sort(np.concatenate([edges.T, np.tile(self.knots, (edges.shape[1], 1))], axis=1), axis=1)
        places = np.maximum(np.searchsorted(self.knots, both, side="right") - 1, 0)
        rows = [np.searchsorted(mine, own) for mine, own in zip(both, edges.T, strict=True)]
        return Steps(both, self.weights[places], np.stack(rows))


def users_scales(
    transforms: Sequence[Transform], means: Sequence[Vector], reference: Sequence[float]
) -> tuple[UsersScale | None, ...]:
    """The user's scale of each measured objective, the first ones; one alone is improved on the scale of its model."""
    if len(means) == 1:
        return (None,) * len(transforms)
    tops = [float(np.max(mean, initial=low)) for mean, low in zip(means, reference, strict=True)]
    return tuple(UsersScale.of(*each) for each in zip(transforms, reference, tops, strict=False))


def lengths_above(reference: Sequence[float], scales: Sequence[UsersScale | None], values: Any) -> Any:
    """How far values of the objectives, the last axis, are above the reference in the units in which a front grows.

    >>> lengths_above([1.0, 1.0], [None, UsersScale(np.array([1.0, 2.0]), np.array([1.0, 3.0]))], np.full((1, 2), 3.0))
    array([[2., 4.]])
    """
    found = values - np.asarray(reference)
    for j, scale in enumerate(scales):
        if scale is not None:
            *ends, begin = scale.lengths(np.append(values[..., j].ravel(), reference[j]))
            found[..., j] = (np.array(ends) - begin).reshape(values.shape[:-1])
    return found


@dataclass(frozen=True, eq=False)
class Steps:
    """Edges and knots of each member, from the lowest up, the weights of what follows, and which are edges."""

    at: Matrix
    weights: Matrix
    rows: NDArray[np.intp]

    def pick(self, found: Any) -> Any:
        """Of arrays of shape (members, steps, objects) those at the edges."""
        return np.take_along_axis(found, self.rows[:, :, None], axis=1)

    def stretch(self, logs: Any) -> Any:
        """log g̃ at the edges from log g at all steps."""
        return self.pick(logs + np.log(self._means(logs)[0]))

    def stretch_slopes(self, slopes: Slopes) -> Slopes:
        """The same with its derivatives, from those of log g."""
        means, ratios = self._means(slopes.score)
        inside = self._slopes(np.stack([slopes.in_mean, slopes.in_std]), ratios) / means
        return Slopes(self.pick(slopes.score + np.log(means)), *map(self.pick, inside))

    def _means(self, logs: Any) -> tuple[Any, Any]:
        """B and ρ at each step; ρ is 0 at the last one."""
        with np.errstate(invalid="ignore"):
            ratios = np.exp(np.minimum(np.diff(logs, axis=1), 0.0))
        # Where nothing is expected above either step, the slope that comes next counts.
        ratios = np.where(np.isnan(ratios), 0.0, ratios)
        means = np.empty_like(logs)
        means[:, -1] = self.weights[:, -1, None]
        for r in range(logs.shape[1] - 2, -1, -1):
            w, ratio = self.weights[:, r, None], ratios[:, r]
            means[:, r] = w * (1.0 - ratio) + ratio * means[:, r + 1]
        return means, ratios

    def _slopes(self, inside: Any, ratios: Any) -> Any:
        """∂g̃/g at each step from ∂g/g, of several derivatives: w_r (∂_r − ρ_r ∂_{r+1}) + ρ_r ∂̃_{r+1}."""
        found = np.empty_like(inside)
        found[:, :, -1] = self.weights[:, -1, None] * inside[:, :, -1]
        for r in range(inside.shape[2] - 2, -1, -1):
            w, ratio = self.weights[:, r, None], ratios[:, r]
            found[:, :, r] = w * (inside[:, :, r] - ratio * inside[:, :, r + 1]) + ratio * found[:, :, r + 1]
        return found

    def between(self, highs: Any, lows: Any) -> tuple[Any, Any]:
        """What g̃ lies between at the edges, from what g lies between at all steps; one member a row."""
        most, least = np.zeros_like(highs), np.zeros_like(lows)
        above = (np.zeros_like(highs[:, 0]),) * 4
        for r in range(highs.shape[1] - 1, -1, -1):
            w, (high, low, stretched_high, stretched_low) = self.weights[:, r, None], above
            most[:, r] = stretched_high + w * np.maximum(highs[:, r] - low, 0.0)
            least[:, r] = stretched_low + w * np.maximum(lows[:, r] - high, 0.0)
            above = highs[:, r], lows[:, r], most[:, r], least[:, r]
        return self.pick(most), self.pick(least)
