"""The inner product of Gaussians' mean embeddings: its integral, its forms, and what it is the covariance of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.kinds.gaussians import (
    Gaussian,
    GaussianEmbedding,
    covariance_from_numbers,
    covariance_to_numbers,
    diagonal_gaussians,
)
from likewise.similarity.kinds.vectors import RBF
from likewise.testing.similarities import check_similarity


def gaussians(n: int, d: int, seed: int) -> list[Gaussian]:
    rng = np.random.default_rng(seed)
    return diagonal_gaussians(rng.uniform(-3, 3, (n, d)), np.exp(rng.uniform(-4, 1.4, (n, d))))


def correlated(n: int, d: int, seed: int) -> list[Gaussian]:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n, d, d))
    matrices = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(d)
    return [Gaussian(m, c) for m, c in zip(rng.normal(size=(n, d)), matrices, strict=True)]


@pytest.mark.parametrize("lengthscale", [0.5, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_its_double_integral(lengthscale: float, seed: int) -> None:
    x, y = gaussians(2, 1, seed)
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    drawn = [g.mean[0] + g.variance[0] ** 0.5 * nodes[:, None] for g in (x, y)]
    expected = weights @ RBF(lengthscale).between(*drawn) @ weights / (2 * np.pi)
    assert GaussianEmbedding(lengthscale)(x, y) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_with_full_covariances_it_is_the_mean_over_draws(seed: int) -> None:
    x, y = correlated(2, 3, seed)
    rng = np.random.default_rng(seed)
    apart = x.sample(200_000, rng) - y.sample(200_000, rng)
    draws = np.exp(-0.5 * np.sum(apart**2, axis=1) / 1.5**2)
    error = 5 * draws.std() / len(draws) ** 0.5
    assert GaussianEmbedding(1.5, full=True)(x, y) == pytest.approx(draws.mean(), abs=error)


def in_variances(gradient: np.ndarray, xs: list[Gaussian]) -> np.ndarray:
    """A gradient in log-Cholesky coordinates of diagonal Gaussians as one in their variances."""
    d = xs[0].dimension
    return np.hstack([gradient[:, :d], gradient[:, d : 2 * d] / np.array([2.0 * x.variance for x in xs])])


@given(st.integers(1, 20), st.integers(0, 999), st.floats(0.1, 10.0))
@settings(max_examples=30, deadline=None)
def test_full_forms_of_diagonal_gaussians_are_the_diagonal_forms(d: int, seed: int, lengthscale: float) -> None:
    xs, weights = gaussians(5, d, seed), np.random.default_rng(seed).normal(size=(3, 2))
    diagonal, full = GaussianEmbedding(lengthscale), GaussianEmbedding(lengthscale, full=True)
    (s, pull), (t, pull_full) = (S.linearise(S.encode(xs[:3]), S.encode(xs[3:])) for S in (diagonal, full))
    np.testing.assert_allclose(s, t, rtol=1e-8)
    np.testing.assert_allclose(pull(weights), in_variances(pull_full(weights), xs[:3]), rtol=1e-6, atol=1e-12)
    (s, pull), (t, pull_full) = (S.linearise_within(S.encode(xs)) for S in (diagonal, full))
    np.testing.assert_allclose(s, t, rtol=1e-8)
    found = in_variances(pull_full(np.arange(5.0)), xs)
    np.testing.assert_allclose(pull(np.arange(5.0)), found, rtol=1e-6, atol=1e-12)


@given(st.integers(1, 12), st.integers(0, 999))
@settings(max_examples=30, deadline=None)
def test_it_is_positive_semidefinite_and_moves_with_the_variance(d: int, seed: int) -> None:
    alike = GaussianEmbedding(1.5)
    xs = gaussians(8, d, seed)
    a = alike.encode(xs)
    S = alike.between(a, a)
    np.testing.assert_allclose(np.diag(S), alike.within(a), rtol=1e-10)
    assert np.linalg.eigvalsh(S)[0] > -1e-10
    slopes = alike.linearise_within(a)[1](np.ones(8))
    for k in range(2 * d):
        step = 1e-5 * a[:, k] * (np.arange(2 * d) == k)[:, None] if k >= d else 0.0 * a.T
        up, down = (alike.within(a + sign * step.T) for sign in (1, -1))
        expected = (up - down) / (2e-5 * a[:, k]) if k >= d else np.zeros(8)
        np.testing.assert_allclose(slopes[:, k], expected, rtol=1e-5, atol=1e-9)


def moved(x: Gaussian, step: np.ndarray) -> Gaussian:
    """The Gaussian with its mean and its log-Cholesky coordinates moved."""
    numbers = covariance_to_numbers(x.covariance[None]) + step[x.dimension :]
    return Gaussian(x.mean + step[: x.dimension], covariance_from_numbers(numbers)[0])


@pytest.mark.parametrize("full", [False, True])
def test_laws_of_similarities(full: bool) -> None:
    check_similarity(
        GaussianEmbedding(1.5, full=full),
        gaussians(6, 2, 3),
        wrong=["x", [0.0, 1.0], Gaussian(0.0, 1.0)],
        perturb=moved if full else lambda x, v: Gaussian(x.mean + v[:2], x.variance + v[2:]),
    )


def test_expectations_of_a_random_integrand_have_this_covariance() -> None:
    """f = Σ a cos(wω + b)·√(2/n) with w ~ N(0, 1/ℓ²) is a draw from the process, and its expectations are closed."""
    rng, lengthscale = np.random.default_rng(0), 0.8
    xs = gaussians(4, 1, 5)
    mean, variance = np.array([x.mean[0] for x in xs]), np.array([x.variance[0] for x in xs])
    w, b = rng.normal(size=(1, 400_000)) / lengthscale, rng.uniform(0, 2 * np.pi, (1, 400_000))
    features = np.sqrt(2.0) * np.exp(-0.5 * w**2 * variance[:, None]) * np.cos(w * mean[:, None] + b)
    alike = GaussianEmbedding(lengthscale)
    expected = alike.between(alike.encode(xs), alike.encode(xs))
    np.testing.assert_allclose(features @ features.T / 400_000, expected, atol=0.01)


def test_the_lengthscale_is_the_median_distance_of_the_means() -> None:
    xs = [Gaussian([0.0, 0.0], 1.0), Gaussian([3.0, 4.0], 2.0), Gaussian([3.0, 4.0], 0.1)]
    for full in (False, True):
        alike = GaussianEmbedding(full=full)
        settled = alike.fitted(alike.encode(xs))
        assert isinstance(settled, GaussianEmbedding)
        assert settled.lengthscale == pytest.approx(5.0, rel=2 ** (1 / 16) - 1)
        assert settled.fitted(settled.encode(xs)) is settled
        assert alike.fitted(alike.encode(xs[1:2])).lengthscale == 2.0  # type: ignore[attr-defined]
        assert alike.fitted(alike.encode([])) is alike
    with pytest.raises(SimilarityError, match="positive lengthscale, not 0"):
        GaussianEmbedding(0)


def test_a_study_of_gaussians_expects_more_of_narrow_ones() -> None:
    """Where wide Gaussians tell that the middle is good, the next one to try is a narrow one in the middle."""

    def payoff(x: Gaussian) -> float:
        return float(1 / np.sqrt(1 + x.variance[0]) * np.exp(-0.5 * x.mean[0] ** 2 / (1 + x.variance[0])))

    study = lw.Study(lw.Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0)), seed=0)
    for mean in np.linspace(-3, 3, 9):
        x = Gaussian(mean, 3.0)
        study.tell(x, payoff(x))
    (first,) = study.ask()
    assert abs(first.object.mean[0]) < 1.0
    assert first.object.variance[0] < 0.5
    assert first.std > 0.01
