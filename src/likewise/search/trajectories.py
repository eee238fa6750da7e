"""Trajectories: x ← x + η ∇u(x) from many starts at once, each to an equilibrium point (the paper's fixed point).

As printed (η = 1) the iteration mostly fails to climb (errata 10). Safeguarded, a step is taken only where it raises u:
it shrinks until it does, grows after success (by the curvature just seen), and is projected onto the space, so no
trajectory ends below its start.
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
    project: Callable[[Matrix], Matrix],
    *,
    step: Step = "safeguarded",
    most_steps: int = 100,
    tolerance: float = 1e-5,
) -> Trajectories:
    """Climb from every start together.

    `linearise` gives scores and gradients of a batch of vectors, and is told which trajectories they belong to.

    >>> hill = lambda z, which: (-((z - 0.3) ** 2).sum(axis=1), lambda: -2.0 * (z - 0.3))
    >>> ends = ascend(hill, np.array([[0.9], [0.0]]), lambda z: np.clip(z, 0.0, 1.0))
    >>> ends.vectors.round(3).tolist(), ends.converged.tolist()
    ([[0.3], [0.3]], [True, True])
    """
    climb = _safeguarded if step == "safeguarded" else _unit
    return climb(linearise, project(np.array(starts, dtype=float)), project, most_steps, tolerance)


def _unit(
    linearise: Linearise, x: Matrix, project: Callable[[Matrix], Matrix], most_steps: int, tolerance: float
) -> Trajectories:
    """g(x) = x + ∇u(x) as the paper prints it, projected onto the space."""
    every = np.arange(len(x))
    scores, gradient = linearise(x, every)
    first = scores
    converged = np.zeros(len(x), dtype=bool)
    taken = 0
    while taken < most_steps and not converged.all():
        taken += 1
        moved = project(x + np.nan_to_num(gradient()))
        converged = np.max(np.abs(moved - x), axis=1, initial=0.0) < tolerance
        x = moved
        scores, gradient = linearise(x, every)
    return Trajectories(first, x, scores, converged, taken)


def _safeguarded(
    linearise: Linearise, x: Matrix, project: Callable[[Matrix], Matrix], most_steps: int, tolerance: float
) -> Trajectories:
    active = np.arange(len(x))
    scores, gradient = linearise(x, active)
    first, slopes = scores.copy(), np.nan_to_num(gradient())
    scores = scores.copy()
    size = FIRST_STEP / np.maximum(np.linalg.norm(slopes, axis=1), 1e-12)
    failures = np.zeros(len(x), dtype=int)
    rested = np.zeros(len(x), dtype=bool)
    taken = 0
    while taken < most_steps and len(active):
        taken += 1
        here, slope = x[active], slopes[active]
        reach = size[active] * np.linalg.norm(slope, axis=1)
        stride = size[active] * np.minimum(1.0, LARGEST_STEP / np.maximum(reach, 1e-300))
        there = project(here + stride[:, None] * slope)
        moved = there - here
        values, gradient = linearise(there, active)
        # A sufficient rise, and nothing that is not a number.
        better = values > scores[active] + 1e-6 * np.abs(np.einsum("ij,ij->i", slope, moved))
        if better.any():
            won = active[better]
            after = np.nan_to_num(gradient()[better])
            size[won] = _next_size(moved[better], after - slope[better], stride[better])
            x[won], scores[won], slopes[won], failures[won] = there[better], values[better], after, 0
        lost = active[~better]
        size[lost] = SHRINK * stride[~better]
        failures[lost] += 1
        length = np.max(np.abs(moved), axis=1, initial=0.0)
        still = (length < tolerance) | (failures[active] >= PATIENCE)
        rested[active[still]] = True
        active = active[~still]
    return Trajectories(first, x, scores, rested, taken)


def _next_size(moved: Matrix, bent: Matrix, stride: Vector) -> Vector:
    """The step that the curvature along the last one suggests (Barzilai–Borwein); larger where there was none."""
    curvature = -np.einsum("ij,ij->i", moved, bent)
    squared = np.einsum("ij,ij->i", moved, moved)
    suggested = squared / np.where(curvature > 0, curvature, 1.0)
    return np.where(curvature > 1e-300, np.clip(suggested, 0.1 * stride, 50.0 * stride), GROW * stride)


def distinct(vectors: Matrix, scores: Vector, tolerance: float) -> NDArray[np.intp]:
    """Indices of the distinct points, best first: of those closer than `tolerance` the best stays.

    >>> distinct(np.array([[0.0], [0.001], [1.0]]), np.array([1.0, 2.0, 0.5]), 0.01).tolist()
    [1, 2]
    """
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    for i in order.tolist():
        if not kept or np.min(np.max(np.abs(vectors[kept] - vectors[i]), axis=1)) > tolerance:
            kept.append(i)
    return np.array(kept, dtype=np.intp)
