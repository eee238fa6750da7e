"""Improvements in the user's units on a bent scale: against draws, by finite differences, and as bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import Care, LogExpectedImprovement, between_h
from likewise.acquisition.hypervolume import hypervolume
from likewise.acquisition.joint_scorer import JointScorer, UsersScale
from likewise.acquisition.scorer import ScoredOutcome, moved
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram
from likewise.model.transforms import Ranked, Standardised, YeoJohnson

SCALES = [
    UsersScale(np.array([-1.0, 0.0, 0.7]), np.array([3.0, 1.0, 0.2])),
    UsersScale(np.array([-2.0, 0.2]), np.array([0.1, 2.0])),
]
EDGES = np.array([[-1.0, -1.0], [0.3, 0.1], [0.9, 0.9], [0.9, 1.4]])
MEANS, STDS = np.array([[0.2, -3.0, 2.0], [0.5, 0.0, -9.0]]), np.array([[0.5, 0.3, 1.5], [0.1, 2.0, 0.4]])


def log_improvement(scale: UsersScale, means: Any, stds: Any) -> Any:
    steps = scale.steps(EDGES)
    return steps.stretch(LogExpectedImprovement().score(means[:, None], stds[:, None], steps.at[:, :, None]))


@pytest.mark.parametrize("scale", SCALES)
def test_improvement_is_that_of_draws_in_the_users_units(scale: UsersScale) -> None:
    found = np.exp(log_improvement(scale, MEANS, STDS))
    draws = np.random.default_rng(0).standard_normal(60_000)
    for m in range(2):
        for e in range(len(EDGES)):
            edge = scale.lengths(EDGES[[e], m])
            for i in (0, 1) if m else (0, 2):
                values = np.maximum(scale.lengths(MEANS[m, i] + STDS[m, i] * draws) - edge, 0.0)
                error = values.std() / np.sqrt(len(draws))
                assert abs(found[m, e, i] - values.mean()) < 5 * error + 1e-12


@pytest.mark.parametrize("scale", SCALES)
def test_slopes_are_finite_differences(scale: UsersScale) -> None:
    steps, h = scale.steps(EDGES), 1e-6
    slopes = LogExpectedImprovement().slopes(MEANS[:, None], STDS[:, None], steps.at[:, :, None])
    found = steps.stretch_slopes(slopes)
    in_mean = (log_improvement(scale, MEANS + h, STDS) - log_improvement(scale, MEANS - h, STDS)) / (2 * h)
    in_std = (log_improvement(scale, MEANS, STDS + h) - log_improvement(scale, MEANS, STDS - h)) / (2 * h)
    assert np.allclose(found.score, log_improvement(scale, MEANS, STDS), rtol=1e-12)
    assert np.allclose(found.in_mean, in_mean, rtol=1e-5, atol=1e-7)
    assert np.allclose(found.in_std, in_std, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_an_improvement_lies_between_its_bounds_and_falls_with_its_edge(scale: UsersScale) -> None:
    steps = scale.steps(EDGES)
    found = between_h((MEANS[:, None] - steps.at[:, :, None]) / STDS[:, None])
    high, low = steps.between(*(each * STDS[:, None] for each in found))
    exact = np.exp(log_improvement(scale, MEANS, STDS))
    assert np.all(low <= exact)
    assert np.all(exact <= high * (1 + 1e-12) + 1e-300)
    assert np.all(np.diff(exact, axis=1) <= 1e-12)


def test_a_straight_scale_is_none() -> None:
    assert UsersScale.of(Standardised(7.0, 0.01), -2.0, 3.0) is None


SMOOTH = np.random.default_rng(2).uniform(size=(24, 2))


def scorer(kind: Any) -> JointScorer:
    """Two outcomes of which the first is modelled on a bent scale."""
    first, second = np.exp(3 * SMOOTH[:, 0]), -SMOOTH[:, 0] + np.sin(3 * SMOOTH[:, 1])
    gram = Gram.of(lw.Matern(0.4), SMOOTH.tolist())
    # Some noise, so that differences are not of rounding.
    noisy = FitSettings(ratios=(1e-2, 1e-1), learn=False)
    bent = fit([gram], first, transform=kind.of(first), settings=noisy)
    plain = fit([gram], second, transform=Standardised.of(second), settings=noisy)
    return JointScorer.on([ScoredOutcome(bent, True), ScoredOutcome(plain, True)])


@pytest.mark.parametrize("kind", [YeoJohnson, Ranked])
def test_the_expected_growth_is_that_of_the_users_hypervolume(kind: Any) -> None:
    made = scorer(kind)
    assert made.scales[0] is not None
    # One member each, so that all see the same edges.
    ones = tuple(
        replace(one, committee=replace(one.committee, members=(replace(one.committee.members[0], weight=1.0),)))
        for one in made.outcomes
    )
    made = JointScorer.on(ones)
    (bent, straight), means = made.scales, made._points()[0]
    assert bent is not None
    assert straight is None
    front = np.stack([bent.lengths(means[0][0]), means[1][0]], axis=1)
    low = np.array([bent.lengths(np.array(made.reference[:1]))[0], made.reference[1]])
    x = [[0.9, 0.5]]
    found = [one.committee.moments(*_compared(one.committee, x)) for one in made.outcomes]
    each = zip(found, made.margins, made.noises, strict=True)
    moments = [(m - margin, moved(v, noise)) for (m, v), margin, noise in each]
    rng, before, grown = np.random.default_rng(3), hypervolume(front, low), []
    for _ in range(1500):
        one, two = (m[0, 0] + s[0, 0] * rng.standard_normal() for m, s in moments)
        new = np.array([[bent.lengths(np.array([one]))[0], two]])
        grown.append(hypervolume(np.vstack([front, new]), low) - before)
    error = np.std(grown) / np.sqrt(len(grown))
    assert abs(float(np.exp(made.score(x)[0])) - np.mean(grown)) < 5 * error


def _compared(committee: Any, x: Any) -> Any:
    encodings = committee.encode(x)
    return committee.rows(encodings), committee.selves(encodings)


@pytest.mark.parametrize("kind", [YeoJohnson, Ranked])
def test_bounds_hold_and_gradients_are_finite_differences(kind: Any) -> None:
    made, rng = scorer(kind), np.random.default_rng(4)
    x = rng.uniform(size=(40, 2))
    moments = _moments(made, x)
    exact = made.score_moments(moments)
    wider = [(means + 0.1, 2.0 * variances) for means, variances in moments]
    for care in Care:
        assert np.all(made.bound_moments(moments, care=care) >= exact - 1e-9)
        assert np.all(made.bound_moments(wider, care=care) >= exact - 1e-9)
    score, gradient = made.linearise(x.tolist())
    h, slopes = 1e-6, gradient()
    for j in range(2):
        step = np.eye(2)[j] * h
        up, down = (made.linearise((x + sign * step).tolist())[0] for sign in (1, -1))
        near = score > -30.0
        assert near.sum() > 5
        assert np.allclose(slopes[near, j], (up - down)[near] / (2 * h), rtol=1e-3, atol=1e-3)
    assert np.allclose(score, exact, rtol=1e-9)


def _moments(made: JointScorer, x: Any) -> list[Any]:
    return [one.committee.moments(*_compared(one.committee, x.tolist())) for one in made.outcomes]
