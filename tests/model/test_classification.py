"""Outcomes as signs of a latent value: evidence and chances agree with what can be computed exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from likewise.acquisition.feasibility import classify


@pytest.mark.parametrize("prior_mean", [0.0, 0.7])
@pytest.mark.parametrize("ratio", [1e-3, 0.3])
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, -1, 1)])
def test_the_evidence_is_the_probability_of_an_orthant(signs: tuple[int, ...], ratio: float, prior_mean: float) -> None:
    places = np.array([0.0, 0.4, 1.1])
    scores, y = np.exp(-0.5 * np.subtract.outer(places, places) ** 2), np.array(signs, dtype=float)
    covariance = np.outer(y, y) * (scores + ratio * np.eye(3))
    exact = float(np.log(multivariate_normal(np.zeros(3), covariance).cdf(y * prior_mean)))
    assert classify(scores, y, ratio, prior_mean).log_evidence == pytest.approx(exact, abs=0.05)


def test_one_outcome_is_exact() -> None:
    sites = classify(np.ones((1, 1)), np.ones(1), 0.5, 0.3)
    assert sites.log_evidence == pytest.approx(float(norm.logcdf(0.3 / np.sqrt(1.5))), abs=1e-6)


@given(st.integers(0, 1000), st.floats(0.05, 3.0), st.sampled_from([1e-3, 0.03, 1.0]))
@settings(max_examples=30, deadline=None)
def test_sites_lean_to_their_outcomes_and_turn_with_them(seed: int, lengthscale: float, ratio: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.random((25, 2))
    scores = np.exp(-0.5 * ((x[:, None] - x) ** 2).sum(axis=2) / lengthscale**2) + 1.0
    y = np.where(x[:, 0] + 0.3 * rng.standard_normal(25) > 0.5, 1.0, -1.0)
    sites, turned = classify(scores, y, ratio), classify(scores, -y, ratio)
    assert np.all(np.isfinite(sites.values))
    assert np.all(sites.variances > 0)
    assert turned.log_evidence == pytest.approx(sites.log_evidence, rel=1e-6, abs=1e-6)
    assert sites.log_evidence < 0.0
    np.testing.assert_allclose(turned.values, -sites.values, rtol=1e-4, atol=1e-6)
