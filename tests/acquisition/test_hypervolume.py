"""Expected hypervolume improvement: against Monte Carlo, against a grid in mpmath, its gradients, its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.acquisitions import Care, LogExpectedImprovement, Within, between_h, log_h
from likewise.acquisition.hypervolume import Front, cells, hypervolume, log_volume, nondominated, reference_point
from likewise.acquisition.joint_scorer import JointScorer
from likewise.acquisition.scorer import IMPROVEMENT, Certain, ScoredOutcome, Scorer
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram, ObjectScores

OUTCOMES = [1, 2, 3]
OBJECTS = [[float(v)] for v in np.linspace(0.0, 1.0, 9)]


def values_of(front: Front, points: Any) -> Any:
    """The volume that exact points add, one member each."""
    logs = []
    with np.errstate(divide="ignore"):
        for j, edges in enumerate(front.edges):
            logs.append(np.log(np.maximum(points[None, :, j] - edges[:, :1], 0.0)))
        return np.exp(log_volume(front, logs)[0])


def front_of(points: Any, reference: Any, members: int = 1) -> Front:
    outcomes = points.shape[1]
    means = [np.tile(points[:, j], (members, 1)) for j in range(outcomes)]
    return Front.of(means, [np.full(members, 1.0 / members)] * outcomes, reference)


@given(seed=st.integers(0, 10**6), outcomes=st.sampled_from(OUTCOMES), n=st.integers(0, 12), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_boxes_hold_what_a_point_adds(seed: int, outcomes: int, n: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((n, outcomes))
    points = np.round(points, 1) if ties else points
    reference, new = np.zeros(outcomes), 1.3 * rng.random((20, outcomes))
    front = front_of(points, reference)
    before = hypervolume(points, reference)
    added = [hypervolume(np.vstack([points, one]), reference) - before for one in new]
    np.testing.assert_allclose(values_of(front, new), added, atol=1e-12)
    assert len(front.cells) <= (n + 1 if outcomes == 2 else 2 * n + 1)


def mixture(rng: np.random.Generator, members: int) -> tuple[Any, Any, Any]:
    weights = rng.dirichlet(np.ones(members))
    return weights, rng.normal(0.4, 0.4, (members, 1)), np.exp(rng.normal(-1.5, 0.5, (members, 1)))


def log_expected(front: Front, believed: Sequence[tuple[Any, Any, Any]]) -> float:
    logs = []
    for edges, (weights, means, stds) in zip(front.edges, believed, strict=True):
        scores = IMPROVEMENT.score(means[:, None], stds[:, None], edges.T[:, :, None])
        logs.append(IMPROVEMENT.average(scores.reshape(len(weights), -1), weights)[0].reshape(len(edges), 1))
    return float(log_volume(front, logs)[0][0])


@pytest.mark.parametrize("outcomes", OUTCOMES)
@pytest.mark.parametrize("members", [1, 3])
def test_the_expectation_is_that_of_a_million_draws(outcomes: int, members: int) -> None:
    rng = np.random.default_rng(10 * outcomes + members)
    points, reference = rng.random((6, outcomes)), np.zeros(outcomes)
    front = front_of(points, reference, members)
    believed = [mixture(rng, members) for _ in range(outcomes)]
    draws = np.empty((10**6, outcomes))
    for j, (weights, means, stds) in enumerate(believed):
        who = rng.choice(members, size=len(draws), p=weights)
        draws[:, j] = rng.normal(means[who, 0], stds[who, 0])
    one = front_of(points, reference)
    gains = np.concatenate([values_of(one, part) for part in np.split(draws, 20)])
    error = gains.std() / np.sqrt(len(gains))
    assert np.exp(log_expected(front, believed)) == pytest.approx(gains.mean(), abs=5.0 * error)


@pytest.mark.parametrize("shift", [0.0, -3.0, -12.0])
def test_the_expectation_is_that_of_a_grid_in_many_digits(shift: float) -> None:
    """Two outcomes and three points, by quadrature between the edges in 40 digits, also where it nearly vanishes."""
    points, reference = np.array([[0.2, 0.9], [0.5, 0.6], [0.8, 0.1]]), np.zeros(2)
    front = front_of(points, reference, 2)
    weights, means, stds = np.array([0.3, 0.7]), np.array([[0.6], [0.4]]) + shift, np.array([[0.2], [0.3]])
    found = log_expected(front, [(weights, means, stds)] * 2)
    mpmath.mp.dps = 40

    def density(y: Any) -> Any:
        parts = zip(weights.tolist(), means[:, 0].tolist(), stds[:, 0].tolist(), strict=True)
        return sum(w * mpmath.npdf(y, m, s) for w, m, s in parts)

    def gain(edge: float) -> Any:
        """E[(y − edge)₊]."""
        cuts = [0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 9.0]
        return mpmath.quad(lambda y: (y - edge) * density(y), [edge + cut for cut in cuts])

    edges, heights = [0.0, 0.2, 0.5, 0.8], [0.9, 0.6, 0.1, 0.0]
    lower = [gain(e) for e in edges]
    strips = [a - b for a, b in zip(lower, [*lower[1:], mpmath.mpf(0)], strict=True)]
    exact = mpmath.log(sum(strip * gain(h) for strip, h in zip(strips, heights, strict=True)))
    assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def committee(
    seed: int, objects: Sequence[Any] = OBJECTS, scale: float = 1.0, offset: float = 0.0, high: float = np.inf
) -> Any:
    rng = np.random.default_rng(seed)
    values = np.sin(5.0 * np.ravel(objects) + seed) + 0.1 * rng.standard_normal(len(objects))
    grams = [Gram.of(lw.RBF(0.3), objects), Gram.of(lw.Matern(0.2), objects)]
    return fit(grams, scale * values + offset, settings=FitSettings(learn=False, rescale=False, bounds=(-np.inf, high)))


def scorer(
    outcomes: int, limits: tuple[float, float] | None = None, high: float = np.inf, **options: Any
) -> JointScorer:
    found = [ScoredOutcome(committee(j, high=high), True) for j in range(outcomes)]
    kept = [] if limits is None else [ScoredOutcome(committee(7), False, limits)]
    return JointScorer.on([*found, *kept], **options)


CASES = {
    "one": lambda: scorer(1),
    "two": lambda: scorer(2),
    "three": lambda: scorer(3),
    "limits": lambda: scorer(2, (-0.3, np.inf)),
    "between": lambda: scorer(1, (-0.3, 0.6)),
    "nothing feasible": lambda: scorer(2, (2.5, np.inf)),
    "one under a ceiling": lambda: scorer(1, (-0.3, np.inf), high=1.1),
    "two under ceilings": lambda: scorer(2, high=1.1),
    "two at their ceilings": lambda: scorer(2, (-0.3, np.inf), high=0.7),
    "four under ceilings": lambda: scorer(
        4, high=1.0, directions=np.abs(np.random.default_rng(0).standard_normal((8, 4))) + 0.1
    ),
    "four": lambda: scorer(4, directions=np.abs(np.random.default_rng(0).standard_normal((8, 4))) + 0.1),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pending", [0, 2])
def test_gradients_are_finite_differences(case: str, pending: int) -> None:
    made = CASES[case]().with_pending([[0.33], [0.81]][:pending])
    x, step = np.array([[0.07], [0.29], [0.55], [0.68], [0.93]]), 1e-6
    score, gradient = made.linearise(x)
    np.testing.assert_allclose(score, made.score(x), rtol=1e-9)
    slopes = (made.score(x + step) - made.score(x - step)) / (2 * step)
    np.testing.assert_allclose(gradient()[:, 0], slopes, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pending", [0, 2])
def test_bounds_are_bounds(case: str, pending: int) -> None:
    """Of any smaller variance, of any smaller mean, and of whatever becomes pending."""
    made = CASES[case]().with_pending([[0.33], [0.81]][:pending])
    rng = np.random.default_rng(0)
    shape = [(len(c.members), 300) for c in made.committees]
    moments = [(rng.normal(0.0, 1.5, s), np.exp(rng.normal(-2.0, 2.0, s))) for s in shape]
    bounds = made.bound_moments(moments)
    assert np.all(made.bound_moments(moments, care=Care.ROUGH) >= bounds)
    endless = [(mean, np.full_like(variance, np.inf)) for mean, variance in moments]
    assert np.all(made.bound_moments(endless) >= bounds)
    for share in (1.0, 0.5, 1e-3):
        lower = [(mean - (1.0 - share), share * variance) for mean, variance in moments]
        assert np.all(made.score_moments(lower) <= bounds + 1e-9 * np.abs(bounds))
    more = made.with_pending([[0.5], [0.62]])
    if more.extends(made):
        assert np.all(more.score_moments(moments) <= bounds + 1e-9 * np.abs(bounds))
        np.testing.assert_array_less(more.score_moments(moments), made.score_moments(moments) + 1e-9)


def test_one_objective_is_expected_improvement_to_the_last_digit() -> None:
    made, x = committee(0), [[v] for v in np.linspace(0.01, 0.98, 41)]
    joint = JointScorer.on([ScoredOutcome(made, True, reference=-9.0)])
    alone = replace(Scorer.on(made, LogExpectedImprovement()), novel=False)
    for pending in ([], [[0.33]], [[0.81]]):
        joint, alone = joint.with_pending(pending), alone.with_pending(pending)
        np.testing.assert_allclose(joint.score(x), alone.score(x), rtol=1e-10 if len(alone.committee.waiting) else 0.0)


def test_the_scale_of_an_outcome_changes_nothing() -> None:
    x = [[v] for v in np.linspace(0.0, 1.0, 41)]
    plain = JointScorer.on([ScoredOutcome(committee(j), True) for j in range(2)]).score(x)
    other = [ScoredOutcome(committee(0, scale=1e6, offset=-5e5), True), ScoredOutcome(committee(1, scale=1e-3), True)]
    np.testing.assert_allclose(JointScorer.on(other).score(x), plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("outcomes", [2, 3])
def test_the_order_of_outcomes_changes_nothing(outcomes: int) -> None:
    x = [[v] for v in np.linspace(0.0, 1.0, 41)]
    given = [ScoredOutcome(committee(j), True) for j in range(outcomes)]
    np.testing.assert_allclose(JointScorer.on(given[::-1]).score(x), JointScorer.on(given).score(x), rtol=1e-9)


def test_without_anything_feasible_the_chance_leads() -> None:
    made, x = CASES["nothing feasible"](), [[v] for v in np.linspace(0.0, 1.0, 41)]
    assert made.front is None
    best = int(np.argmax(made.score(x)))
    assert best == int(np.argmax(made.judge(ObjectScores(x)).feasible))


def test_what_is_certain_counts_as_it_is() -> None:
    """A certain objective is a committee that knows: the product of its gain and of the other's improvement."""
    cheap = Certain(lambda objects: -np.ravel(objects), 0.5, reference=-2.0)
    made = JointScorer.on([ScoredOutcome(committee(0), True, reference=-9.0)], [cheap])
    x = [[v] for v in np.linspace(0.0, 1.0, 11)]
    draws = np.random.default_rng(0).standard_normal(200_000)
    own, (member, *_) = made.committees[0], made.committees[0].members
    assert member.weight > 0
    encodings = own.encode(x)
    means, variances = own.moments(own.rows(encodings), own.selves(encodings))
    observed = np.stack([own.weights @ own.observed_means(), -np.ravel(OBJECTS) / 0.5], axis=1)
    before = hypervolume(observed, np.array([-9.0, -2.0]))
    at = 7
    chosen = np.random.default_rng(1).choice(len(own.weights), p=own.weights, size=len(draws))
    values = means[chosen, at] + np.sqrt(variances[chosen, at]) * draws
    after = (np.vstack([observed, [v, -x[at][0] / 0.5]]) for v in values[:4000])
    gains = np.array([hypervolume(points, np.array([-9.0, -2.0])) for points in after]) - before
    error = 6.0 * gains.std() / np.sqrt(4000) + 1e-3
    assert float(np.exp(made.score(x)[at])) == pytest.approx(gains.mean(), abs=error)


@pytest.mark.parametrize("z", [-50.0, -36.0, -3.3, -1e-9, 0.0, 0.7, 40.0])
def test_a_table_lies_on_both_sides(z: float) -> None:
    more, less = between_h(np.array([z]))
    assert less[0] <= np.exp(log_h(z)) * (1.0 + 1e-12)
    assert more[0] >= np.exp(log_h(z)) * (1.0 - 1e-12)


@pytest.mark.parametrize("limits", [(-0.5, np.inf), (-0.5, 0.7)])
def test_the_chance_to_keep_to_limits_has_its_slopes(limits: tuple[float, float]) -> None:
    within, mean, std, step = Within(*limits), np.linspace(-6.0, 6.0, 25), np.full(25, 0.8), 1e-6
    slopes = within.slopes(mean, std, 0.0)
    in_mean = (within.score(mean + step, std, 0.0) - within.score(mean - step, std, 0.0)) / (2 * step)
    in_std = (within.score(mean, std + step, 0.0) - within.score(mean, std - step, 0.0)) / (2 * step)
    np.testing.assert_allclose(slopes.in_mean, in_mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(slopes.in_std, in_std, rtol=1e-4, atol=1e-5)


def test_equal_points_and_constant_outcomes_are_no_trouble() -> None:
    points = np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 1.0]])
    assert nondominated(points, [0.0, 0.0]).tolist() == [0]
    assert len(cells(points[:1])) == 2
    assert np.all(reference_point(np.ones((3, 2))) < 1.0)
