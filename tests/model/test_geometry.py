"""The geometric view, as the paper means it and not as it prints it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.paper import coefficients, feature_map, geometric_posterior


@given(seed=st.integers(0, 10_000), t=st.integers(1, 8), noise=st.floats(0.01, 1.0))
@settings(max_examples=50, deadline=None)
def test_theorem_1_mean_and_variance_are_projection_and_rejection(seed, t, noise):
    rng = np.random.default_rng(seed)
    x, y = rng.random((t + 1, 2)), rng.standard_normal(t)
    similarity = lw.RBF(0.5)
    mean, variance = geometric_posterior(similarity.between(x, x), y, noise)
    post = lw.condition(similarity, x[:t], y, noise=noise)
    np.testing.assert_allclose(post.mean(x[t:])[0], mean, atol=1e-8)
    np.testing.assert_allclose(post.variance(x[t:])[0], variance, atol=1e-8)


def test_the_printed_theorem_is_not_the_variance():
    """Errata 1: ‖R‖ − σ is another number than V = ‖R‖² − σ²."""
    rng = np.random.default_rng(0)
    x, noise = rng.random((7, 2)), 0.09
    kernel = lw.RBF(0.5).between(x, x)
    features = feature_map(kernel + noise * np.eye(7))
    rejection = lw.reject(features[-1], features[:-1])
    variance = lw.condition(lw.RBF(0.5), x[:6], np.zeros(6), noise=noise).variance(x[6:])[0]
    np.testing.assert_allclose(rejection @ rejection - noise, variance, atol=1e-10)
    assert abs(np.linalg.norm(rejection) - np.sqrt(noise) - variance) > 0.01


@given(seed=st.integers(0, 10_000), t=st.integers(1, 8), noise=st.floats(0.01, 1.0))
@settings(max_examples=50, deadline=None)
def test_theorem_3_influence_is_the_projection_of_the_empirical_features(seed, t, noise):
    rng = np.random.default_rng(seed)
    raw = rng.random((t + 1, t + 1))
    full = 0.5 * (raw + raw.T)
    similarity = lw.Precomputed(list(range(t + 1)), full)
    post = lw.condition(similarity, range(t), rng.random(t), noise, "as_is")
    features = lw.empirical_features(similarity, range(t), noise=noise)
    here = lw.empirical_features(similarity, range(t), [t])[0]
    np.testing.assert_array_equal(here, full[t, :t])
    projection = lw.project(here, features)
    influence = post.influence([t])[0]
    scale = np.linalg.cond(features)
    np.testing.assert_allclose(influence @ features, projection, atol=1e-10 * scale)
    np.testing.assert_allclose(influence, coefficients(here, features), atol=1e-9 * scale**2)
    np.testing.assert_allclose(lw.project(here[None], features)[0], projection)
    np.testing.assert_allclose(lw.reject(here, features), here - projection)
