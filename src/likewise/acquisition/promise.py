"""What objects promise: their chances, and by how much the front is expected to grow.

A front of more than three outcomes is not cut into boxes. Whether an object enters it is then seen by draws of its
values. Its hypervolume is a mean over directions d on the positive part of the sphere (polar coordinates),

    V(P) = c_k E_d[max_{p ∈ P} min_j ((p_j − r_j)/d_j)₊ᵏ],

for k outcomes and the reference r. The constant c_k cancels in a share of it, and so do the units of every outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.acquisition.hypervolume import spread_directions
from likewise.similarity.base import Matrix, Vector

# So many draws of an object's values, and so many directions, stand for all of them.
DRAWS, RAYS = 512, 256


@dataclass(frozen=True, eq=False)
class Judgement:
    """Of each object the chance to keep to all limits, the chance to enter the front, and how much it should grow.

    Growth is a share of the front's hypervolume.
    """

    feasible: Vector
    chance: Vector
    gain: Vector


def judge_draws(
    feasible: Vector,
    moments: Sequence[tuple[Matrix, Matrix]],
    ceilings: Sequence[float],
    front: Matrix,
    weights: Sequence[Vector],
    least: Vector,
    lengths: Callable[[Any], Any],
) -> Judgement:
    """What objects promise beside a front that is not cut into boxes; `lengths` counts from the reference."""
    drawn = np.minimum(draw_outcomes(moments, weights), ceilings)
    gain = shares_of_growth(lengths(front), lengths(drawn))
    return Judgement(feasible, feasible * chances_to_enter(front, drawn, least), feasible * gain)


def draw_outcomes(moments: Sequence[tuple[Matrix, Matrix]], weights: Sequence[Vector]) -> Any:
    """Values of objects, of shape (objects, draws, outcomes), from the members' means and standard deviations.

    >>> draw_outcomes([(np.array([[2.0]]), np.array([[0.0]]))], [np.ones(1)])[0, :3].tolist()
    [[2.0], [2.0], [2.0]]
    """
    rng, found = np.random.default_rng(0), []
    for (means, stds), votes in zip(moments, weights, strict=True):
        members = rng.choice(len(votes), size=DRAWS, p=votes / votes.sum())
        found.append(means[members] + stds[members] * rng.standard_normal((DRAWS, 1)))
    return np.stack(found, axis=-1).swapaxes(0, 1)


def chances_to_enter(front: Matrix, drawn: Any, least: Vector) -> Vector:
    """The share of each object's draws that no point of the front equals or beats, and that are above `least`.

    >>> drawn = np.array([[[2.0, 0.0], [0.5, 0.5]]])
    >>> chances_to_enter(np.array([[1.0, 1.0]]), drawn, np.full(2, -np.inf)).tolist()
    [0.5]
    """
    free = np.all(drawn > least, axis=-1)
    for point in front:
        free &= np.any(drawn > point, axis=-1)
    return np.asarray(free.mean(axis=1))


def shares_of_growth(front: Matrix, drawn: Any) -> Vector:
    """By which share the hypervolume of a front is expected to grow with each object; values count from the reference.

    Of a front without volume it is the share of what is drawn.

    >>> shares_of_growth(np.array([[1.0, 1.0]]), np.full((1, 3, 2), 2.0)).round(6).tolist()
    [3.0]
    """
    outcomes = drawn.shape[-1]
    extent = np.max(front, axis=0, initial=0.0)
    extent = np.where(extent > 0, extent, np.maximum(drawn.max(axis=(0, 1)), 1e-300))
    rays = spread_directions(outcomes, np.random.default_rng(0), RAYS) * extent
    before = np.max([_reach(point, rays) for point in front], axis=0, initial=0.0) ** outcomes
    grown = [np.maximum(_reach(values[:, None], rays) ** outcomes - before, 0.0).mean() for values in drawn]
    return np.asarray(grown) / (before.mean() or 1.0)


def _reach(values: Any, rays: Matrix) -> Any:
    """How far along each ray a point dominates."""
    return np.maximum(np.min(values / rays, axis=-1), 0.0)
