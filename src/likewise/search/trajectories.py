"""Trajectories: x ← x + η ∇u(x) from many starts at once, each to an equilibrium point (the paper's fixed point).

Whether the iteration climbs as it is printed (η = 1) depends on the scale of x and of u (errata 10). Safeguarded, a
step is taken only where it raises u: it shrinks until it does, grows after success (by the curvature just seen), and is
projected onto the space, so no trajectory ends below its start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Matrix, Vector

Indices = NDArray[np.intp]
Linearise = Callable[[Matrix, Indices], tuple[Vector, Callable[[], Matrix]]]
Project = Callable[[Matrix], Matrix]
Visit = Callable[[Matrix], None]
Step = Literal["safeguarded", "unit"]
FIRST_STEP, LARGEST_STEP = 0.1, 0.5
SHRINK, GROW, PATIENCE = 0.2, 2.0, 12


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Where the trajectories started and ended, and whether each came to rest."""

    starts: Vector
    vectors: Matrix
    scores: Vector
    converged: NDArray[np.bool_]
    steps: int


def ascend(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 100,
    tolerance: float | Vector = 1e-5,
    first: float | None = None,
    largest: float = LARGEST_STEP,
    visit: Visit | None = None,
) -> Trajectories:
    """Climb from every start together, by safeguarded steps.

    `linearise` gives scores and gradients of a batch of vectors, and is told which trajectories they belong to. A
    trajectory rests when it moves by less than `tolerance`, one for all numbers or one for each. `first` is the first
    η, by default that of a step of 0.1; none is longer than `largest`. `visit` is shown all places after every step.

    >>> hill = lambda z, which: (-((z - 0.3) ** 2).sum(axis=1), lambda: -2.0 * (z - 0.3))
    >>> ascend(hill, np.array([[0.9], [0.0]]), lambda z: np.clip(z, 0.0, 1.0)).vectors.round(3).tolist()
    [[0.3], [0.3]]
    """
    x = project(np.array(starts, dtype=float))
    active = np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), finite(gradient())
    size = FIRST_STEP / np.maximum(np.linalg.norm(slopes, axis=1), 1e-12) if first is None else np.full(len(x), first)
    failures, rested = np.zeros(len(x), dtype=int), np.zeros(len(x), dtype=bool)
    taken = 0
    _show(visit, x)
    while taken < most_steps and len(active):
        taken += 1
        here, slope = x[active], slopes[active]
        stride = _stride(size[active], slope, largest)
        there = project(here + stride[:, None] * slope)
        moved = there - here
        values, gradient = linearise(there, active)
        # A sufficient rise, and nothing that is not a number.
        better = values > scores[active] + 1e-6 * np.abs(np.einsum("ij,ij->i", slope, moved))
        if better.any():
            won = active[better]
            after = finite(gradient()[better])
            size[won] = _next_size(moved[better], after - slope[better], stride[better])
            x[won], scores[won], slopes[won], failures[won] = there[better], values[better], after, 0
        lost = active[~better]
        size[lost], failures[lost] = SHRINK * stride[~better], failures[lost] + 1
        still = rests(moved, tolerance) | (failures[active] >= PATIENCE)
        rested[active[still]] = True
        active = active[~still]
        _show(visit, x)
    return Trajectories(begun, x, scores, rested, taken)


def iterate(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 200,
    tolerance: float | Vector = 1e-7,
    visit: Visit | None = None,
) -> Trajectories:
    """x ← g(x) = x + ∇u(x) from every start, as the paper prints it, each step projected onto the space.

    The arguments are those of `ascend`.

    >>> hill = lambda z, which: (-((z - 0.3) ** 2).sum(axis=1) / 4, lambda: -(z - 0.3) / 2)
    >>> iterate(hill, np.array([[0.9]]), lambda z: z, most_steps=2).vectors.round(6).tolist()
    [[0.45]]
    """
    x = project(np.array(starts, dtype=float))
    active = np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), gradient()
    taken = 0
    _show(visit, x)
    while taken < most_steps and len(active):
        taken += 1
        there = project(x[active] + np.nan_to_num(slopes))
        still = rests(there - x[active], tolerance)
        x[active] = there
        scores[active], gradient = linearise(there, active)
        slopes, active = gradient()[~still], active[~still]
        _show(visit, x)
    rested = np.ones(len(x), dtype=bool)
    rested[active] = False
    return Trajectories(begun, x, scores, rested, taken)


def _stride(size: Vector, slope: Matrix, largest: float) -> Vector:
    """The sizes, smaller where a step would be longer than the largest."""
    return size * np.minimum(1.0, largest / np.maximum(size * np.linalg.norm(slope, axis=1), 1e-300))


def finite(slopes: Matrix) -> Matrix:
    """The slopes with 0 in the place of what is no number."""
    return slopes if np.isfinite(slopes).all() else np.nan_to_num(slopes)


def rests(moved: Matrix, tolerance: float | Vector) -> NDArray[np.bool_]:
    return np.asarray(np.all(np.abs(moved) < tolerance, axis=1))


def _show(visit: Visit | None, x: Matrix) -> None:
    if visit is not None:
        visit(x.copy())


def _next_size(moved: Matrix, bent: Matrix, stride: Vector) -> Vector:
    """The step that the curvature along the last one suggests (Barzilai–Borwein); larger where there was none."""
    curvature = -np.einsum("ij,ij->i", moved, bent)
    squared = np.einsum("ij,ij->i", moved, moved)
    suggested = squared / np.where(curvature > 0, curvature, 1.0)
    return np.where(curvature > 1e-300, np.clip(suggested, 0.1 * stride, 50.0 * stride), GROW * stride)


def distinct(vectors: Matrix, scores: Vector, tolerance: float) -> NDArray[np.intp]:
    """Indices of the distinct points, best first: of those closer than `tolerance` in every number the best stays.

    >>> distinct(np.array([[0.0], [0.001], [1.0]]), np.array([1.0, 2.0, 0.5]), 0.01).tolist()
    [1, 2]
    """
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    for i in order.tolist():
        if not kept or np.min(np.max(np.abs(vectors[kept] - vectors[i]), axis=1)) > tolerance:
            kept.append(i)
    return np.array(kept, dtype=np.intp)
