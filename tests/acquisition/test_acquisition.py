"""Acquisitions: accurate everywhere, with the slopes they claim."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.acquisitions import LAST, STEPS, Care, bound_h, log_h
from likewise.acquisition.scorer import Scorer, draw, draw_normal
from likewise.model.fit import FitSettings, fit
from likewise.model.posterior import Posterior
from likewise.model.regression import HAIR
from likewise.model.scores import Gram


def exact_log_h(z):
    with mpmath.workdps(60):
        z = mpmath.mpf(z)
        return float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z)))


@pytest.mark.parametrize("z", [-900.0, -300.0, -40.0, -26.0, -24.9, -25.1, -5.0, -1.001, -0.999, 0.0, 2.0, 8.0, 40.0])
def test_log_expected_improvement_is_accurate_where_it_underflows(z):
    np.testing.assert_allclose(log_h(z), exact_log_h(z), rtol=1e-9)


@given(st.floats(-2e3, 50.0))
@settings(max_examples=200, deadline=None)
def test_log_h_is_accurate_for_every_z(z):
    np.testing.assert_allclose(log_h(z), exact_log_h(z), rtol=1e-7, atol=1e-9)


def test_log_h_never_overflows_or_breaks():
    values = log_h(np.array([-1e8, -1e3, -1e3 - 1e-9, 1e8]))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(log_h(np.linspace(-2000, 10, 20001))) > 0)


@given(st.lists(st.floats(-60.0, 60.0), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_the_table_of_h_lies_slightly_above_it(z):
    above = np.log(bound_h(np.array(z))) - np.maximum(log_h(z), log_h(-float(LAST)))
    assert np.all(above >= 0.0)
    assert np.all(above <= 1e-8 + np.maximum(np.abs(np.minimum(z, 0.0)) + 1.0, 2.0) / STEPS)


@given(st.data(), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_the_bound_of_the_average_is_one(data, members):
    of_members = st.lists(st.floats(0.01, 3.0), min_size=members, max_size=members)
    stds, means, votes = (np.array(data.draw(of_members)) for _ in range(3))
    votes /= votes.sum()
    acquisition = lw.LogExpectedImprovement()
    score = acquisition.average(acquisition.score(means[:, None] - 2.0, stds[:, None], 0.5), votes)[0]
    bound = acquisition.average_bound(means[:, None] - 2.0, stds[:, None], 0.5, votes)
    assert bound >= score or bound == pytest.approx(score, rel=1e-9)
    # Where nothing is known of a variance, nothing is excluded; certain failures are as bad as can be.
    assert acquisition.average_bound(np.zeros((1, 1)), np.full((1, 1), np.inf), 0.0, np.ones(1)) == np.inf
    assert np.isfinite(acquisition.average_bound(np.full((1, 1), -9e9), np.full((1, 1), 1e-9), 0.0, np.ones(1)))


@given(st.lists(st.floats(40.0, 1e6), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_the_bound_tells_apart_what_is_hopeless(below):
    """Beyond the table's end bounds are scores, so that a pool with nothing good left is still searched by them."""
    means, stds, votes = -np.array([below, below]), np.full((2, len(below)), 1.0), np.array([0.3, 0.7])
    acquisition = lw.LogExpectedImprovement()
    score = acquisition.average(acquisition.score(means, stds, 0.0), votes)[0]
    np.testing.assert_allclose(acquisition.average_bound(means, stds, 0.0, votes), score, rtol=1e-9)
    # Unless that is not asked for.
    rough = acquisition.average_bound(means, stds, 0.0, votes, Care.ROUGH)
    assert np.all(rough >= score)
    assert np.ptp(rough) == 0.0


@given(mean=st.floats(-3, 3), std=st.floats(0.05, 2.0))
@settings(max_examples=50, deadline=None)
def test_slopes_are_finite_differences(acquisition, mean, std):
    h = 1e-6
    score, in_mean, in_std = acquisition.slopes(np.array(mean), np.array(std), 1.0)
    np.testing.assert_allclose(score, acquisition.score(mean, std, 1.0))
    numeric = (acquisition.score(mean + h, std, 1.0) - acquisition.score(mean - h, std, 1.0)) / (2 * h)
    np.testing.assert_allclose(in_mean, numeric, rtol=1e-4, atol=1e-6)
    numeric = (acquisition.score(mean, std + h, 1.0) - acquisition.score(mean, std - h, 1.0)) / (2 * h)
    np.testing.assert_allclose(in_std, numeric, rtol=1e-4, atol=1e-6)


def test_averages_are_of_the_improvement_and_not_of_its_logarithm():
    scores, weights = np.log(np.array([[1.0], [3.0]])), np.array([0.25, 0.75])
    average, shares = lw.LogExpectedImprovement().average(scores, weights)
    np.testing.assert_allclose(np.exp(average), 2.5)
    np.testing.assert_allclose(shares[:, 0], [0.1, 0.9])
    average, shares = lw.UpperConfidence().average(np.array([[1.0], [3.0]]), weights)
    np.testing.assert_allclose(average, 2.5)
    np.testing.assert_allclose(shares[:, 0], weights)


def scorer(acquisition, spectrum="clip", pending=()):
    rng = np.random.default_rng(3)
    x = rng.random((12, 2))
    y = np.sin(5 * x[:, 0]) + x[:, 1]
    grams = [Gram.of(s, list(x)) for s in (lw.RBF(0.4), lw.Matern(0.6))]
    # With some noise: the square of a matrix has the square of its condition number, and digits are lost.
    committee = fit(grams, y, settings=FitSettings(spectra=(spectrum,), ratios=(1e-3, 1e-2, 1e-1, 5e-1)))
    made = replace(Scorer.on(committee, acquisition), novel=False)
    return made.with_pending(list(pending)) if len(pending) else made


@pytest.mark.parametrize("spectrum", ["clip", "as_is", "krein"])
@pytest.mark.parametrize("pending", [(), ([0.2, 0.3], [0.7, 0.1])])
def test_the_scorers_gradient_is_a_finite_difference(acquisition, spectrum, pending):
    """Errata 5 included: u₂'s second part divides by 2√V."""
    made = scorer(acquisition, spectrum, [np.array(x) for x in pending])
    x = np.random.default_rng(9).random((5, 2))
    values, gradient = made.linearise(list(x))
    np.testing.assert_allclose(values, made.score(list(x)), rtol=1e-6, atol=1e-12)
    h = 1e-5
    for k in range(2):
        step = h * np.eye(2)[k]
        numeric = (made.score(list(x + step)) - made.score(list(x - step))) / (2 * h)
        np.testing.assert_allclose(gradient()[:, k], numeric, rtol=2e-3, atol=1e-4)


def test_the_printed_gradient_of_the_upper_confidence_bound_is_wrong():
    post = lw.condition(lw.RBF(0.5), [[0.1, 0.2], [0.8, 0.5]], [1.0, 0.0], noise=0.01)
    x, kappa, h = np.array([[0.4, 0.6]]), 2.0, 1e-6
    mean_slope, variance_slope = post.gradients(x)
    v = post.variance(x)[:, None]
    right = mean_slope + kappa * variance_slope / (2 * np.sqrt(v))
    printed = mean_slope + kappa * variance_slope / (2 * v)

    def bound(z):
        return post.mean(z) + kappa * post.std(z)

    numeric = np.array([(bound(x + h * e) - bound(x - h * e))[0] / (2 * h) for e in np.eye(2)])
    np.testing.assert_allclose(right[0], numeric, atol=1e-6)
    assert np.abs(printed[0] - numeric).max() > 0.01


def test_pending_objects_condition_the_variance_and_leave_the_mean():
    rng = np.random.default_rng(5)
    x, pending, new = rng.random((8, 2)), rng.random((3, 2)), rng.random((20, 2))
    gram = Gram.of(lw.RBF(0.3), list(x))
    committee = fit(
        [gram], np.sin(4 * x[:, 0]), settings=FitSettings(learn=False, warps=(1.0,), ratios=(1e-2,), offset=0.0)
    )
    waiting = committee.with_pending(list(pending))
    post = Posterior(gram, committee.members[0].regression)
    after = post.given_all(list(pending), post.mean(list(pending)), noise=HAIR * post.regression.amplitude)
    encodings = waiting.encode(list(new))
    means, variances = waiting.moments(waiting.rows(encodings), waiting.selves(encodings))
    np.testing.assert_allclose(means[0], after.mean(list(new)), atol=1e-9)
    np.testing.assert_allclose(variances[0], after.variance(list(new)), atol=1e-7)


def test_thompson_draws_have_the_posteriors_moments():
    made = scorer(lw.Mean())
    x = list(np.random.default_rng(0).random((4, 2)))
    draws = draw(made.committee, x, 20_000, np.random.default_rng(1))
    encodings = made.committee.encode(x)
    mixture = made.committee.mixture(
        *made.committee.moments(made.committee.rows(encodings), made.committee.selves(encodings))
    )
    np.testing.assert_allclose(draws.mean(axis=0), mixture.mean, atol=0.05)
    np.testing.assert_allclose(draws.std(axis=0), mixture.std, atol=0.05)


def test_draws_of_an_indefinite_covariance_are_finite():
    draws = draw_normal(np.zeros(2), np.array([[0.0, 1.0], [1.0, 0.0]]), 10, np.random.default_rng(0))
    assert np.isfinite(draws).all()


def test_a_negative_kappa_is_refused():
    with pytest.raises(lw.LikewiseError, match="kappa"):
        lw.UpperConfidence(-1.0)
