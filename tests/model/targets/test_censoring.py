"""Limits as likelihoods: what sites come to, beside sampling, and what predictions and their intervals do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal

import likewise as lw
from likewise.model.censoring import ABOVE, BELOW, EXACT, sites
from likewise.model.fit import FitSettings, fit, recondition
from likewise.model.model import Data, Model
from likewise.model.scores import Gram
from likewise.similarity.base import Matrix, Vector

ONE_MODEL = FitSettings((1.0,), (0.01,), mixes=False, learn=False, rescale=False)


def covariance(x: Vector, noise: float = 0.02, width: float = 0.4) -> Matrix:
    return np.exp(-0.5 * ((x[:, None] - x) / width) ** 2) + noise * np.eye(len(x))


def posterior(matrix: Matrix, values: Vector, variances: Vector) -> tuple[Vector, Vector]:
    """Moments of the readings, given values with these variances in the place of limits."""
    gain = matrix @ np.linalg.inv(matrix + np.diag(np.maximum(variances, 1e-12)))
    return gain @ values, np.sqrt(np.diag(matrix - gain @ matrix))


def sampled(matrix: Matrix, values: Vector, limits: Vector, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """The same by Gibbs sampling of the readings behind the limits, each from its truncated normal distribution."""
    from scipy.stats import truncnorm

    precision, open_ = np.linalg.inv(matrix), np.flatnonzero(limits != EXACT)
    chains = np.repeat(values[:, None], 4000, axis=1)
    kept = []
    for step in range(60):
        for i in open_:
            others = np.delete(np.arange(len(values)), i)
            std = precision[i, i] ** -0.5
            mean = -(precision[i, others] @ chains[others]) / precision[i, i]
            low, high = (-np.inf, values[i]) if limits[i] == BELOW else (values[i], np.inf)
            chains[i] = truncnorm.rvs((low - mean) / std, (high - mean) / std, mean, std, random_state=rng)
        if step >= 40:
            kept.append(chains.copy())
    every = np.concatenate(kept, axis=1)
    return every.mean(axis=1), every.std(axis=1)


@pytest.mark.parametrize(
    ("limits", "values"),
    [
        ([EXACT, BELOW, EXACT, EXACT, BELOW], [0.8, -0.2, 0.4, 1.0, 0.6]),
        ([BELOW, BELOW, ABOVE, EXACT, EXACT], [-0.5, 0.0, 0.3, 0.9, 0.7]),
        ([ABOVE, ABOVE, ABOVE, ABOVE, ABOVE], [0.5, 0.2, 0.9, -1.0, 0.3]),
    ],
)
def test_sites_agree_with_sampling(limits: list[float], values: list[float]) -> None:
    x, rng = np.array([0.0, 0.25, 0.5, 1.0, 1.3]), np.random.default_rng(0)
    matrix, sides, y = covariance(x), np.array(limits), np.array(values)
    z, v, _ = sites(matrix, y, sides)
    mean, std = posterior(matrix, z, v)
    true_mean, true_std = sampled(matrix, y, sides, rng)
    some = sides != EXACT
    assert np.max(np.abs(mean - true_mean)[some]) < 0.06
    assert np.max(np.abs(std / np.where(some, true_std, std) - 1.0)) < 0.15


GRID = np.linspace(-9.0, 9.0, 36_001)


def normal(x: Vector, mean: float, variance: float) -> Vector:
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)


def moments(density: Vector) -> tuple[float, float, float]:
    """Mass, mean and variance of a density on the grid."""
    mass = density.sum()
    mean = density @ GRID / mass
    return float(mass * (GRID[1] - GRID[0])), float(mean), float(density @ (GRID - mean) ** 2 / mass)


@pytest.mark.parametrize("side", [BELOW, ABOVE])
@pytest.mark.parametrize(("end", "noise"), [(0.0, 1e-3), (-0.7, 0.3), (1.1, 1.0)])
def test_one_limit_is_exact_for_the_reading_and_for_what_is_read(side: float, end: float, noise: float) -> None:
    z, v, log_evidence = sites(np.array([[1.0 + noise]]), np.array([end]), np.array([side]))
    mass, mean, variance = moments(normal(GRID, 0.0, 1.0 + noise) * (side * (GRID - end) > 0))
    weight = 1.0 / (1.0 + noise) + 1.0 / v[0]
    assert [z[0] / v[0] / weight, 1.0 / weight] == pytest.approx([mean, variance], abs=1e-3)
    assert log_evidence == pytest.approx(np.log(mass), abs=1e-3)
    # A failed or successful run: the latent value has the same site, with the noise.
    mass, mean, variance = moments(normal(GRID, 0.0, 1.0) * ndtr(side * (GRID - end) / np.sqrt(noise)))
    weight = 1.0 + 1.0 / (v[0] + noise)
    assert [z[0] / (v[0] + noise) / weight, 1.0 / weight] == pytest.approx([mean, variance], abs=1e-6)
    assert log_evidence == pytest.approx(np.log(mass), abs=1e-6)


@pytest.mark.parametrize("alike", [-0.8, 0.0, 0.6, 0.99])
@pytest.mark.parametrize("sides", [(ABOVE, ABOVE), (ABOVE, BELOW), (EXACT, BELOW)])
def test_two_limits_rest_where_each_site_keeps_the_moments_of_its_limit(alike: float, sides: tuple[float, ...]) -> None:
    matrix, values, limits = np.array([[1.1, alike], [alike, 1.1]]), np.array([0.2, -0.3]), np.array(sides)
    z, v, log_evidence = sites(matrix, values, limits)
    for i in np.flatnonzero(limits != EXACT):
        gain = matrix[i, 1 - i] / (matrix[1 - i, 1 - i] + v[1 - i])
        cavity = gain * z[1 - i], matrix[i, i] - gain * matrix[i, 1 - i]
        _, mean, variance = moments(normal(GRID, *cavity) * (limits[i] * (GRID - values[i]) > 0))
        weight = 1.0 / cavity[1] + 1.0 / v[i]
        assert [(cavity[0] / cavity[1] + z[i] / v[i]) / weight, 1.0 / weight] == pytest.approx(
            [mean, variance], abs=1e-3
        )
    if limits.all():
        turned = np.outer(limits, limits) * matrix
        exact = np.log(multivariate_normal(np.zeros(2), turned).cdf(-limits * values))
        assert log_evidence == pytest.approx(exact, abs=0.05)


def test_sites_turn_with_their_limits() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random(25), rng.standard_normal(25)
    sides = np.where(y > 0, ABOVE, BELOW)
    for noise in (1e-3, 0.03, 1.0):
        z, v, log_evidence = sites(covariance(x, noise, 2.0) + 1.0, np.full(25, -0.3), sides)
        turned = sites(covariance(x, noise, 2.0) + 1.0, np.full(25, 0.3), -sides)
        assert np.all(v > 0)
        assert np.allclose(turned.values, -z, rtol=1e-6)
        assert turned.log_evidence == pytest.approx(log_evidence, rel=1e-9)


def test_sites_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(3)
    x, order = rng.random(12), rng.permutation(12)
    y, sides = rng.standard_normal(12), rng.choice([BELOW, EXACT, ABOVE], 12)
    one, other = sites(covariance(x), y, sides), sites(covariance(x[order]), y[order], sides[order])
    assert np.allclose(one[0][order], other[0], atol=1e-6)
    assert np.allclose(one[1][order], other[1], rtol=1e-5)


def test_a_limit_that_contradicts_everything_is_a_number() -> None:
    matrix = covariance(np.array([0.0, 0.0, 0.0]), noise=1e-6)
    z, v, _ = sites(matrix, np.array([0.0, 0.0, -50.0]), np.array([EXACT, EXACT, BELOW]))
    assert np.all(np.isfinite([*z, *v]))
    assert z[2] < -49.0


def told(x: Vector, values: Vector, limits: Vector | None = None) -> Data:
    return Data([[v] for v in x.tolist()], values, None, None, None, limits)


@pytest.mark.parametrize("similarity", [lw.Matern(0.3), lw.RBF(), lambda a, b: float(abs(a[0] - b[0]) < 0.4)])
def test_a_limit_that_says_nothing_changes_nothing(similarity: object) -> None:
    x, at = np.linspace(0.0, 1.0, 14), [[v] for v in (0.03, 0.47, 0.99, 1.4)]
    y = 10.0 + np.sin(6.0 * x)
    chosen = similarity if isinstance(similarity, lw.Similarity) else lw.from_function(similarity)  # type: ignore[arg-type]
    without = Model((chosen,)).committee(told(x, y))[0].predict(at)
    more, values = np.append(x, [0.5, 0.2]), np.append(y, [1e6, -40.0])
    sides = np.append(np.zeros(14), [BELOW, ABOVE])
    found = Model((chosen,)).committee(told(more, values, sides))[0].predict(at)
    assert np.allclose(found.mean, without.mean)
    assert np.allclose(found.std, without.std)


def test_a_limit_just_beyond_what_is_believed_changes_next_to_nothing() -> None:
    x, at = [[v] for v in np.linspace(0.0, 1.0, 14)], [[0.03], [0.47], [0.99]]
    y = 10.0 + np.sin(6.0 * np.ravel(x))
    without = fit([Gram.of(lw.Matern(0.3), x)], y, settings=ONE_MODEL).predict(at)
    sides = np.append(np.zeros(14), BELOW)
    found = fit([Gram.of(lw.Matern(0.3), [*x, [0.77]])], np.append(y, 10.9), None, sides, settings=ONE_MODEL).predict(
        at
    )
    assert np.allclose(found.mean, without.mean, atol=0.02)
    assert np.allclose(found.std, without.std, rtol=0.05)


def test_a_very_uncertain_value_changes_next_to_nothing() -> None:
    x, at = [[v] for v in np.linspace(0.0, 1.0, 10)], [[0.03], [0.47], [1.5]]
    y = np.sin(6.0 * np.ravel(x))
    scale = fit([Gram.of(lw.Matern(0.3), x)], y, settings=ONE_MODEL).transform
    noise = np.append(np.full(10, 1e-9), 1e8)
    without = fit([Gram.of(lw.Matern(0.3), x)], y, noise[:10], settings=ONE_MODEL, transform=scale)
    grams = [Gram.of(lw.Matern(0.3), [*x, [0.5]])]
    found = fit(grams, np.append(y, 0.3), noise, settings=ONE_MODEL, transform=scale)
    assert np.isclose(found.members[0].regression.amplitude, without.members[0].regression.amplitude, rtol=1e-3)
    assert np.allclose(found.predict(at).mean, without.predict(at).mean, atol=1e-3)
    assert np.allclose(found.predict(at).std, without.predict(at).std, rtol=0.02)


def test_what_is_below_a_limit_is_not_at_the_limit() -> None:
    x = np.linspace(0.0, 1.0, 16)
    y = 40.0 * (x - 0.3)
    sides, values = np.where(y < 0.1, BELOW, EXACT), np.maximum(y, 0.1)
    near = [[0.03], [0.15]]
    limited = Model((lw.RBF(),)).committee(told(x, values, sides))[0].predict(near)
    as_number = Model((lw.RBF(),)).committee(told(x, values))[0].predict(near)
    assert np.all(limited.mean < -1.0)
    assert np.all(np.abs(as_number.mean - 0.1) < 1.0)
    low, high = limited.interval(0.95)
    assert np.all(low < [-8.0, -6.0])
    assert np.all(high < 2.0)


def test_intervals_hold_where_a_third_is_below_the_limit() -> None:
    held, errors, naive = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.random(60)
        f = 50.0 + 10.0 * np.linalg.cholesky(covariance(x, 1e-8, 0.15)) @ rng.standard_normal(60)
        y, at = (f + 0.5 * rng.standard_normal(60))[:30], [[v] for v in x[30:].tolist()]
        limit = np.quantile(y, 0.3)
        sides, values = np.where(y < limit, BELOW, EXACT), np.maximum(y, limit)
        found = Model((lw.RBF(),)).committee(told(x[:30], values, sides))[0].predict(at)
        low, high = found.interval(0.95)
        held.append(np.mean((low <= f[30:]) & (f[30:] <= high)))
        errors.append(np.mean((found.mean - f[30:]) ** 2))
        naive.append(np.mean((Model((lw.RBF(),)).committee(told(x[:30], values))[0].predict(at).mean - f[30:]) ** 2))
    assert np.mean(held) >= 0.9
    assert np.mean(errors) < 0.6 * np.mean(naive)


def test_conditioning_again_on_the_same_is_the_same() -> None:
    x = np.linspace(0.0, 1.0, 20)
    y, sides = np.sin(5.0 * x), np.where(np.sin(5.0 * x) < -0.3, BELOW, EXACT)
    grams = [Gram.of(lw.Matern(0.3), [[v] for v in x.tolist()])]
    first = fit(grams, np.maximum(y, -0.3), None, sides, settings=ONE_MODEL)
    again = recondition(first, grams, np.maximum(y, -0.3), None, sides)
    at = [[0.1], [0.9], [0.95]]
    assert np.allclose(first.predict(at).mean, again.predict(at).mean, atol=0.02)


@pytest.mark.parametrize("kind", [BELOW, ABOVE])
def test_nothing_but_limits_is_enough_to_predict(kind: float) -> None:
    x = np.linspace(0.0, 1.0, 7)
    found = Model((lw.RBF(),)).committee(told(x, np.full(7, 0.1), np.full(7, kind)))[0].predict([[0.5], [3.0]])
    assert np.all(np.isfinite([found.mean, found.std]))
    assert kind * (found.mean[0] - 0.1) > 0
