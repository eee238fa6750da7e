"""Trajectories that learn the curvature of the score as they climb: steps H ∇u with H learnt from the slopes (BFGS).

A step along the gradient alone zigzags where a peak is narrow in one direction and wide in another. From two slopes,
y = ∇u(x) − ∇u(x') and s = x' − x, each trajectory learns H, the inverse of the curvature, so that H y = s:

    H ← (I − r s yᵀ) H (I − r y sᵀ) + r s sᵀ,      r = 1/(sᵀy),

where the score bends downwards, sᵀy > 0. A number that is held at the end of its range takes no part in it. As with
`ascend`, a step is taken only where it raises the score, so that no trajectory ends below its start. Most trajectories
end at a few places: one that comes next to a better one ends where that one does, and goes no further itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from likewise.search.trajectories import (
    FIRST_STEP,
    GROW,
    LARGEST_STEP,
    PATIENCE,
    Indices,
    Linearise,
    Project,
    Trajectories,
    finite,
    rests,
)
from likewise.similarity.base import Matrix, Vector

Settle = Callable[[Matrix, Indices], Matrix]
Curves = NDArray[np.float64]
Flags = NDArray[np.bool_]
TINY = 1e-300
# What a number that is on no steps may differ by, to the object of a vector and back.
ROUNDING = 1e-9
# A step that failed is tried again with so much of it, at least and at most.
LEAST_SHARE, MOST_SHARE = 0.1, 0.5
# A rise of so large a share of what the slope promises is enough.
SUFFICIENT = 1e-4
# A trajectory rests where a step raises the score, and was to raise it, by less.
LEVEL = 1e-7
# A trajectory that is so close to a better one, in every number, goes no further.
MET = 1e-2
# H grows by so much at most in one step, in all directions alike.
WIDEN = 10.0


def climb_curved(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 100,
    tolerance: float | Vector = 1e-5,
    settle: Settle | None = None,
    kinds: Indices | None = None,
) -> Trajectories:
    """Climb from every start together; the arguments are those of `ascend`.

    `settle` takes vectors to those of the objects there, where some numbers are on steps: slopes between steps lead
    nowhere, and after a step that fails such numbers are held. Starts of one of `kinds` differ in numbers alone.

    >>> ridge = lambda z, which: (-(z**2) @ [1.0, 50.0], lambda: -2.0 * z * [1.0, 50.0])
    >>> found = climb_curved(ridge, np.array([[0.9, 0.4]]), lambda z: np.clip(z, -1.0, 1.0))
    >>> bool(np.all(np.abs(found.vectors) < 1e-4)) and found.steps < 15
    True
    """
    x = project(np.array(starts, dtype=float))
    taken, active, into = 0, np.arange(len(x)), np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), finite(gradient())
    share, failures, held = np.ones(len(x)), np.zeros(len(x), dtype=int), np.zeros(x.shape, dtype=bool)
    curves, learnt, rested = _begin(slopes), *np.zeros((2, len(x)), dtype=bool)
    while taken < most_steps and len(active):
        taken += 1
        slope, free = slopes[active], _free(x[active], slopes[active], project) & ~held[active]
        aim = project(x[active] + share[active][:, None] * _step(curves[active], slope, free))
        there = aim if settle is None else settle(aim, active)
        moved = there - x[active]
        values, gradient = linearise(there, active)
        rise, promise = values - scores[active], np.einsum("ij,ij->i", slope, moved)
        better = rise > SUFFICIENT * np.abs(promise)
        if better.any():
            won, after = active[better], finite(gradient()[better])
            bent = np.where(free[better], slope[better] - after, 0.0)
            curves[won], learnt[won] = _learn(curves[won], moved[better], bent, learnt[won])
            x[won], scores[won], slopes[won] = there[better], values[better], after
        share[active] = np.where(better, 1.0, share[active] * _less(rise, promise))
        failures[active] = np.where(better, 0, failures[active] + 1)
        held[active] |= ~better[:, None] & (np.abs(there - aim) > ROUNDING)
        still = better & (np.maximum(rise, np.abs(promise)) < LEVEL)
        still |= rests(moved, tolerance) | (failures[active] >= PATIENCE)
        rested[active[still]] = True
        into[active] = np.where(still, active, _better(x, scores, active, kinds))
        active = active[~still & (into[active] == active)]
    last = _last(into)
    return Trajectories(begun, x[last], scores[last], rested[last], taken)


def _better(x: Matrix, scores: Vector, active: Indices, kinds: Indices | None) -> Indices:
    """Of each active trajectory the best one that is next to it, which may be itself."""
    near = np.abs(x[active][:, None] - x).max(axis=2, initial=0.0) < MET
    if kinds is not None:
        near &= kinds[active][:, None] == kinds
    there = np.where(near, scores, -np.inf)
    return np.where(there.max(axis=1) > scores[active], there.argmax(axis=1), active)


def _last(into: Indices) -> Indices:
    """Where each one ends, as those that it has joined may have joined others."""
    while not np.array_equal(into, into[into]):
        into = into[into]
    return into


def _begin(slopes: Matrix) -> Curves:
    """H of a first step of usual length along the gradient."""
    size = FIRST_STEP / np.maximum(_length(slopes), 1e-12)
    return np.asarray(size[:, None, None] * np.eye(slopes.shape[1]))


def _step(curves: Curves, slope: Matrix, free: Flags) -> Matrix:
    """H ∇u of the free numbers, shorter where it would be longer than the largest step."""
    step = np.where(free, np.einsum("kij,kj->ki", curves, np.where(free, slope, 0.0)), 0.0)
    return np.asarray(step * np.minimum(1.0, LARGEST_STEP / np.maximum(_length(step), TINY))[:, None])


def _length(step: Matrix) -> Vector:
    return np.sqrt(np.einsum("ij,ij->i", step, step))


def _free(x: Matrix, slope: Matrix, project: Project) -> Flags:
    """Which numbers can follow the slope; the others are held at the end of their range."""
    reach = 1e-6 / np.maximum(np.abs(slope).max(axis=1, initial=0.0), TINY)
    pushed = x + reach[:, None] * slope
    return (project(pushed) != x) | (pushed == x)


def _less(rise: Vector, promise: Vector) -> Vector:
    """The share of a failed step that a parabola through both ends and the slope suggests."""
    # A score that is no number, or that is hidden, says nothing of a parabola.
    gap = np.where(np.isfinite(rise), promise - rise, np.inf)
    suggested = 0.5 * promise / np.where(gap > 0, gap, np.inf)
    return np.minimum(np.maximum(suggested, LEAST_SHARE), MOST_SHARE)


def _learn(curves: Curves, moved: Matrix, bent: Matrix, learnt: Flags) -> tuple[Curves, Flags]:
    """H with what one step has shown; it grows where the score bends upwards, which says nothing of a peak."""
    along, length = np.einsum("ij,ij->i", moved, bent), np.einsum("ij,ij->i", moved, moved)
    down = along > 1e-10 * np.sqrt(length * np.einsum("ij,ij->i", bent, bent))
    rate = 1.0 / np.where(down, along, 1.0)
    # The first curvature that is seen is taken for that of all directions.
    first = down & ~learnt
    if first.any():
        curves = np.where(first[:, None, None], (length * rate)[:, None, None] * np.eye(moved.shape[1]), curves)
    towards = np.einsum("kij,kj->ki", curves, bent)
    across = np.einsum("ij,ij->i", bent, towards)
    # From steep flanks to a flat top: where the score bends less than H says, it does so in all directions.
    wider = np.where(down, np.clip(along / np.maximum(across, TINY), 1.0, WIDEN), 1.0)
    own = rate * (1.0 + rate * wider * across)
    mixed = (rate * wider)[:, None, None] * (moved[:, :, None] * towards[:, None, :])
    updated = wider[:, None, None] * curves - mixed - mixed.transpose(0, 2, 1)
    updated += (own[:, None] * moved)[:, :, None] * moved[:, None, :]
    if not down.all():
        updated = np.where(down[:, None, None], updated, GROW * curves)
    return updated, learnt | down
