"""Trajectories climb, come to rest, and stay in the space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import likewise as lw
from likewise.acquisition.scorer import Scorer
from likewise.model.fit import fit
from likewise.model.scores import Gram
from likewise.search.gradient import ascend, climb, climb_curved, distinct, iterate


def scorer(seed, d, acquisition):
    rng = np.random.default_rng(seed)
    box = lw.Box(np.zeros(d), np.ones(d))
    x = rng.random((15, d))
    y = np.sin(4 * x).sum(axis=1) + 0.1 * rng.standard_normal(15)
    committee = fit([Gram.of(box.view(lw.RBF()), list(x))], y)
    return Scorer.on(committee, acquisition), box, x


@given(
    seed=st.integers(0, 1000),
    d=st.sampled_from([1, 2, 6, 20]),
    acquisition=st.sampled_from([lw.Mean(), lw.UpperConfidence(), lw.LogExpectedImprovement()]),
)
@settings(max_examples=25, deadline=None)
def test_a_safeguarded_trajectory_never_ends_below_its_start(seed, d, acquisition):
    made, box, x = scorer(seed, d, acquisition)
    ends = climb(made, box, x)
    assert np.all(ends.scores >= ends.starts)
    assert np.all((ends.vectors >= 0) & (ends.vectors <= 1))
    np.testing.assert_allclose(ends.scores, made.score(box.from_vector(ends.vectors)), atol=1e-8)


def test_safeguarded_trajectories_climb_and_come_to_rest():
    climbed, rested = [], []
    for seed in range(6):
        made, box, x = scorer(seed, 2, lw.UpperConfidence())
        ends = climb(made, box, x, most_steps=200)
        climbed.append(np.mean(ends.scores > ends.starts))
        rested.append(np.mean(ends.converged))
    assert np.mean(rested) > 0.95
    assert np.mean(climbed) > 0.95


def test_an_equilibrium_is_a_point_where_the_gradient_vanishes_or_the_space_ends():
    made, box, x = scorer(1, 2, lw.UpperConfidence())
    ends = climb(made, box, x, most_steps=300)
    _, gradient = made.linearise(box.from_vector(ends.vectors[ends.converged]))
    z, g = ends.vectors[ends.converged], gradient()
    stuck = ((z < 1e-6) & (g < 0)) | ((z > 1 - 1e-6) & (g > 0))
    free = np.where(stuck, 0.0, g)
    assert np.median(np.abs(free).max(axis=1)) < 1e-2


def test_the_unit_step_is_the_printed_iteration():
    slope = np.array([[0.1, 0.0]])
    ends = iterate(
        lambda z, _: (z[:, 0], lambda: np.broadcast_to(slope, z.shape)), np.zeros((1, 2)), lambda z: z, most_steps=3
    )
    np.testing.assert_allclose(ends.vectors, [[0.3, 0.0]])
    assert not ends.converged[0]


def test_a_gradient_that_is_not_a_number_does_not_move_or_crash():
    ends = ascend(lambda z, _: (np.zeros(len(z)), lambda: np.full(z.shape, np.nan)), np.full((2, 1), 0.5), lambda z: z)
    np.testing.assert_allclose(ends.vectors, 0.5)


@given(seed=st.integers(0, 1000), n=st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_distinct_points_are_apart_and_every_point_is_near_a_better_one(seed, n):
    rng = np.random.default_rng(seed)
    points, scores = rng.random((n, 2)), rng.random(n)
    kept = distinct(points, scores, 0.2)
    gaps = np.abs(points[kept][:, None] - points[kept][None]).max(axis=2)
    assert np.all(gaps[np.triu_indices(len(kept), 1)] > 0.2)
    for i in range(n):
        near = kept[np.abs(points[kept] - points[i]).max(axis=1) <= 0.2]
        assert scores[near].max() >= scores[i]
    assert np.all(np.diff(scores[kept]) <= 0)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("climb_all", [ascend, iterate])
def test_no_start_is_no_trouble(d, climb_all):
    ends = climb_all(lambda z, _: (np.zeros(len(z)), lambda: np.zeros_like(z)), np.zeros((0, d)), lambda z: z)
    assert ends.vectors.shape == (0, d)


@given(
    seed=st.integers(0, 1000),
    d=st.sampled_from([1, 2, 6, 20]),
    acquisition=st.sampled_from([lw.Mean(), lw.UpperConfidence(), lw.LogExpectedImprovement()]),
)
@settings(max_examples=25, deadline=None)
def test_a_trajectory_that_learns_the_curvature_never_ends_below_its_start(seed, d, acquisition):
    made, box, x = scorer(seed, d, acquisition)
    ends = climb(made, box, x, curved=True)
    assert np.all(ends.scores >= ends.starts)
    assert np.all((ends.vectors >= 0) & (ends.vectors <= 1))
    np.testing.assert_allclose(ends.scores, made.score(box.from_vector(ends.vectors)), atol=1e-8)


@given(seed=st.integers(0, 10_000), d=st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_the_top_of_a_bent_bowl_in_a_box_is_found_in_few_steps(seed, d):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    bowl = (basis * np.geomspace(1.0, 300.0, d)) @ basis.T
    top = rng.uniform(-0.3, 1.3, d)

    def hill(z, which):
        return -0.5 * np.einsum("ij,jk,ik->i", z - top, bowl, z - top), lambda: -(z - top) @ bowl

    ends = climb_curved(hill, rng.random((6, d)), lambda z: np.clip(z, 0.0, 1.0), most_steps=60)
    exact = minimize(
        lambda z: 0.5 * (z - top) @ bowl @ (z - top), np.full(d, 0.5), bounds=[(0.0, 1.0)] * d, options={"ftol": 1e-15}
    )
    assert ends.scores.max() > -exact.fun - 1e-4


def two_hills(z: Any, which: Any) -> Any:
    """Peaks at 0.2 and at 0.7, the second one higher."""
    tops, heights = np.array([0.2, 0.7]), np.array([1.0, 2.0])
    nearest = np.abs(z - tops).argmin(axis=1)
    away = z - tops[nearest][:, None]
    return heights[nearest] - (away**2).sum(axis=1), lambda: -2.0 * away


def test_a_trajectory_that_meets_a_better_one_ends_where_that_one_does() -> None:
    looked_at = []

    def counted(z: Any, which: Any) -> Any:
        looked_at.append(len(z))
        return two_hills(z, which)

    starts = np.array([[0.05], [0.055], [0.3], [0.6], [0.604], [0.9]])
    found = climb_curved(counted, starts, lambda z: np.clip(z, 0.0, 1.0))
    np.testing.assert_allclose(found.vectors[:, 0], [0.2, 0.2, 0.2, 0.7, 0.7, 0.7], atol=1e-4)
    assert np.all(found.scores >= found.starts)
    assert found.converged.all()
    assert looked_at[0] == 6
    assert looked_at[2] <= 4


def test_trajectories_of_objects_of_other_kinds_do_not_meet() -> None:
    """Two objects may have the same numbers and differ in all else."""

    def linearise(z: Any, which: Any) -> Any:
        tops = np.array([0.497, 0.503])[which][:, None]
        return which + 1.0 - ((z - tops) ** 2).sum(axis=1), lambda: -2.0 * (z - tops)

    starts = np.array([[0.5], [0.5]])
    found = climb_curved(linearise, starts, lambda z: z, kinds=np.arange(2))
    np.testing.assert_allclose(found.vectors[:, 0], [0.497, 0.503], atol=1e-4)
    assert climb_curved(linearise, starts, lambda z: z).vectors[0] == pytest.approx(0.503, abs=1e-4)


def test_a_score_that_is_no_number_ends_no_trajectory_there():
    def wall(z, which):
        return np.where(z[:, 0] > 0.5, np.nan, z[:, 0]), lambda: np.ones_like(z)

    ends = climb_curved(wall, np.array([[0.1], [0.4]]), lambda z: np.clip(z, 0.0, 1.0))
    assert np.all(ends.vectors <= 0.5)
    assert np.all(ends.scores > 0.49)


def test_numbers_on_steps_do_not_hold_up_the_others() -> None:
    """The score between two steps is that of the nearer one: its slope leads nowhere, and is not to be followed."""

    def settle(z: Any, which: Any = None) -> Any:
        return np.column_stack([np.round(8.0 * z[:, 0]) / 8.0, z[:, 1:]])

    def linearise(z: Any, which: Any) -> Any:
        there = settle(z) - [0.43, 0.3, 0.6]
        return -(there**2) @ [1.0, 5.0, 1.0], lambda: -2.0 * there * [1.0, 5.0, 1.0]

    def project(z: Any) -> Any:
        return np.clip(z, 0.0, 1.0)

    starts = settle(np.random.default_rng(0).random((12, 3)))
    found = climb_curved(linearise, starts, project, settle=settle)
    np.testing.assert_allclose(found.vectors[:, 1:], np.tile([0.3, 0.6], (12, 1)), atol=3e-3)
    assert np.all(found.scores >= found.starts)
    assert found.steps < climb_curved(linearise, starts, project).steps
