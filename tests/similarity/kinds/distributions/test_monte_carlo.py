"""Monte Carlo divergences: against the closed forms, within their own standard errors."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples.similarities.jensen_shannon import JensenShannon

from likewise.errors import SimilarityError
from likewise.similarity.base import is_differentiable
from likewise.similarity.functions import DistanceSimilarity
from likewise.similarity.kinds.gaussians import Gaussian, SymmetricKL, diagonal_gaussians
from likewise.similarity.kinds.monte_carlo import MonteCarloDivergence, MonteCarloJS, MonteCarloKL
from likewise.testing.similarities import check_similarity

SEEDS = range(40)


def log_density(omega: Any, x: Gaussian) -> Any:
    return x.log_density(omega)


def score(omega: Any, x: Gaussian) -> Any:
    return x.score(omega)


def some(n: int, d: int, seed: int = 0) -> list[Gaussian]:
    rng = np.random.default_rng(seed)
    return diagonal_gaussians(rng.normal(size=(n, d)), rng.uniform(0.7, 1.6, (n, d)))


KINDS: list[tuple[type[Any], DistanceSimilarity]] = [
    (MonteCarloKL, SymmetricKL(constant=20.0)),
    (MonteCarloJS, JensenShannon(constant=20.0, points=4096)),
]


@pytest.mark.parametrize(("kind", "closed"), KINDS)
@pytest.mark.parametrize("d", [1, 3])
def test_value_agrees_with_the_closed_form_within_its_standard_error(
    kind: type[Any], closed: DistanceSimilarity, d: int
) -> None:
    xs = some(6, d)
    exact = closed.distances(closed.encode(xs), closed.encode(xs))
    off = ~np.eye(6, dtype=bool)
    S: MonteCarloDivergence = kind(samples=300, constant=20.0)
    error = S.standard_error(S.encode(xs), S.encode(xs), repeats=100)[off]
    ratios = []
    for seed in SEEDS:
        S = kind(samples=300, constant=20.0, seed=1000 + seed)
        a = S.encode(xs)
        ratios.append((S.distances(a, a) - exact)[off] / error)
    # Pairs share their noise, so these are 40 independent draws: their root mean square is 1 ± 0.11.
    assert 0.6 < np.sqrt(np.mean(np.square(ratios))) < 1.4


@pytest.mark.parametrize(("kind", "closed"), KINDS)
@pytest.mark.parametrize("form", [{"constant": 20.0}, {"lengthscale": 1.5}])
def test_derivative_agrees_with_the_closed_form_within_its_standard_error(
    kind: type[Any], closed: Any, form: dict[str, float]
) -> None:
    xs, weights = some(5, 2, seed=4), np.random.default_rng(0).normal(size=(2, 3))
    exact_form = replace(closed, **{"constant": None, "lengthscale": None, **form})
    exact = exact_form.linearise(exact_form.encode(xs[:2]), exact_form.encode(xs[2:]))[1](weights)
    found = []
    for seed in SEEDS:
        S = kind(Gaussian.sample, log_density, samples=1000, seed=seed, score=score, **form)
        found.append(S.linearise(S.encode(xs[:2]), S.encode(xs[2:]))[1](weights))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(SEEDS))
    # exp(−d/ℓ) of an estimated d is a little biased, of the order of its variance.
    slack = 0.0 if "constant" in form else 0.01
    assert np.all(np.abs(np.mean(found, axis=0) - exact) < 4.5 * error + slack)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_evenly_spread_draws_give_a_third_of_the_error(d: int) -> None:
    """At 256 draws, over all seeds and pairs; a sampler with a generator of its own has plain draws."""

    def plain(x: Gaussian, n: int, rng: np.random.Generator) -> Any:
        return x.sample(n, np.random.default_rng(rng.integers(2**32)))

    xs, closed = some(6, d), SymmetricKL(constant=20.0)
    distances = closed.distances(closed.encode(xs[:3]), closed.encode(xs[3:]))
    slopes = closed.linearise(closed.encode(xs[:3]), closed.encode(xs[3:]))[1](np.ones((3, 3)))
    errors = {}
    for name, sample in (("even", Gaussian.sample), ("plain", plain)):
        found = []
        for seed in range(20):
            S = MonteCarloKL(sample, log_density, constant=20.0, seed=seed, score=score)
            a, b = S.encode(xs[:3]), S.encode(xs[3:])
            off = S.distances(a, b) - distances, S.linearise(a, b)[1](np.ones((3, 3))) - slopes
            found.append(
                [np.linalg.norm(off[0]) / np.linalg.norm(distances), np.linalg.norm(off[1]) / np.linalg.norm(slopes)]
            )
        errors[name] = np.sqrt(np.mean(np.square(found), axis=0))
    assert np.all(errors["even"] < errors["plain"] / 3)
    assert np.all(errors["even"] < [0.01, 0.03])


def test_the_error_of_a_gradient_is_told() -> None:
    xs, weights = some(4, 2, seed=4), np.ones((2, 2))
    closed = SymmetricKL(constant=20.0)
    exact = closed.linearise(closed.encode(xs[:2]), closed.encode(xs[2:]))[1](weights)
    S = MonteCarloKL(constant=20.0, score=score)
    a, b = S.encode(xs[:2]), S.encode(xs[2:])
    error = S.gradient_error(a, b, weights)
    assert np.all(np.abs(S.linearise(a, b)[1](weights) - exact) < 5 * error)
    assert np.linalg.norm(error) < 0.05 * np.linalg.norm(exact)


def test_the_closed_forms_of_full_covariances_are_the_mean_over_draws() -> None:
    rng = np.random.default_rng(0)
    roots = np.tril(rng.normal(size=(4, 2, 2)), -1) + np.eye(2)
    xs = [Gaussian(mean, root @ root.T) for mean, root in zip(rng.normal(size=(4, 2)), roots, strict=True)]
    closed, S = SymmetricKL(constant=20.0, full=True), MonteCarloKL(constant=20.0, score=score, samples=1024)
    a, b = S.encode(xs[:2]), S.encode(xs[2:])
    exact = closed.linearise(closed.encode(xs[:2]), closed.encode(xs[2:]))
    np.testing.assert_allclose(S.between(a, b), exact[0], atol=5 * S.standard_error(a, b).max())
    error = S.gradient_error(a, b, np.ones((2, 2)))
    assert np.all(np.abs(S.linearise(a, b)[1](np.ones((2, 2))) - exact[1](np.ones((2, 2)))) < 5 * error)


def test_what_is_no_distribution_is_named() -> None:
    with pytest.raises(SimilarityError, match=r"3 is no distribution: .* give the functions sample"):
        MonteCarloKL().encode([3])


def test_errata_6_the_derivative_is_one_half_of_the_printed_one() -> None:
    x, other = Gaussian(0.3, 0.8), Gaussian(1.4, 1.2)
    rng = np.random.default_rng(0)
    omega, omega_b = x.sample(400_000, rng), other.sample(400_000, rng)
    ratio = 1.0 + x.log_density(omega) - other.log_density(omega)
    printed = x.score(omega_b).mean(axis=0) - (x.score(omega) * ratio[:, None]).mean(axis=0)
    S = SymmetricKL(constant=10.0)
    exact = S.linearise(S.encode([x]), S.encode([other]))[1](np.ones((1, 1)))[0]
    np.testing.assert_allclose(0.5 * printed, exact, atol=0.02)
    assert np.all(np.abs(printed - exact) > 0.3)


@pytest.mark.parametrize("kind", [MonteCarloKL, MonteCarloJS])
def test_laws_of_similarities(kind: type[Any]) -> None:
    check_similarity(kind(Gaussian.sample, log_density, samples=32), some(6, 2))
    constant = kind(Gaussian.sample, log_density, samples=32, constant=1e3)
    check_similarity(constant, some(6, 2))


@pytest.mark.parametrize("kind", [MonteCarloKL, MonteCarloJS])
def test_equal_objects_are_exactly_alike_and_do_not_pull(kind: type[Any]) -> None:
    S = kind(Gaussian.sample, log_density, samples=16, lengthscale=1.0, score=score)
    a = S.encode(some(3, 2))
    np.testing.assert_array_equal(np.diag(S.distances(a, a)), 0.0)
    _, pull = S.linearise(a, a)
    np.testing.assert_allclose(pull(np.eye(3)), np.zeros((3, 4)), atol=1e-14)
    own, pull_own = S.linearise_within(a)
    np.testing.assert_array_equal(own, 1.0)
    np.testing.assert_array_equal(pull_own(np.ones(3)), np.zeros((3, 4)))


@pytest.mark.parametrize("kind", [MonteCarloKL, MonteCarloJS])
def test_differentiable_is_said_by_the_score(kind: type[Any]) -> None:
    plain, scored = (kind(Gaussian.sample, log_density, score=s) for s in (None, score))
    assert not is_differentiable(plain)
    for S in (scored, replace(scored, seed=3), copy.deepcopy(scored), pickle.loads(pickle.dumps(scored))):
        assert is_differentiable(S)
        assert isinstance(S, kind)
        assert S.name == kind.__name__
    settled = scored.fitted(scored.encode(some(4, 1)))
    assert is_differentiable(settled)
    assert settled.lengthscale is not None


def test_common_random_numbers_make_differences_less_noisy() -> None:
    """The change of D_SYM under a small move, with shared noise and with noise of its own."""
    x, near, other = Gaussian(0.0, 1.0), Gaussian(0.02, 1.0), Gaussian(1.0, 2.0)

    def change(first: int, second: int) -> float:
        S, T = (MonteCarloKL(Gaussian.sample, log_density, samples=200, constant=9.0, seed=s) for s in (first, second))
        return S(x, other) - T(near, other)

    shared = np.std([change(s, s) for s in SEEDS])
    fresh = np.std([change(s, s + 1000) for s in SEEDS])
    assert shared < 0.2 * fresh


def test_distributions_that_are_not_gaussian() -> None:
    """Poisson distributions: D_SYM = ½(λ − λ')(log λ − log λ')."""
    from scipy.special import gammaln

    S = MonteCarloKL(
        lambda rate, n, rng: rng.poisson(rate, n),
        lambda k, rate: k * np.log(rate) - rate - gammaln(k + 1),
        samples=20_000,
        constant=9.0,
    )
    a, b = S.encode([2.0]), S.encode([3.0])
    assert S.distances(a, b)[0, 0] == pytest.approx(0.5 * np.log(1.5), abs=4 * S.standard_error(a, b)[0, 0])


def uniform(x: float, n: int, rng: np.random.Generator) -> Any:
    return x + rng.random(n)


def uniform_log_density(omega: Any, x: float) -> Any:
    return np.where((omega >= x) & (omega <= x + 1), 0.0, -np.inf)


def test_different_supports() -> None:
    """JS of U[0, 1] and U[½, 3/2] is ½ log 2; their KL divergence is infinite."""
    js = MonteCarloJS(uniform, uniform_log_density, samples=4000, constant=np.log(2.0))
    assert js(0.0, 0.5) == pytest.approx(0.5 * np.log(2.0), abs=0.03)
    assert js(0.0, 7.0) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(SimilarityError, match=r"infinite.*MonteCarloJS"):
        MonteCarloKL(uniform, uniform_log_density)(0.0, 0.5)


def test_no_objects() -> None:
    S = MonteCarloKL(Gaussian.sample, log_density, samples=8, score=score)
    a, none = S.encode(some(2, 1)), S.encode([])
    assert S.between(a, none).shape == (2, 0)
    assert S.linearise(a, none)[1](np.zeros((2, 0))).shape == (2, 2)
    assert S.linearise_within(none)[1](np.zeros(0)).shape[0] == 0


@pytest.mark.parametrize(
    ("sample", "density", "message"),
    [
        (lambda x, n, rng: rng.random(n + 1), lambda w, x: np.zeros(len(w)), r"gave shape \(9,\); give 8 samples"),
        (uniform, lambda w, x: np.zeros((len(w), 1)), r"shape \(8, 1\); give one number per sample"),
        (uniform, lambda w, x: np.full(len(w), np.nan), r"is NaN somewhere"),
        (uniform, lambda w, x: np.full(len(w), -np.inf), r"must belong together"),
    ],
)
def test_functions_that_do_not_fit_are_named(sample: Any, density: Any, message: str) -> None:
    with pytest.raises(SimilarityError, match=message):
        MonteCarloKL(sample, density, samples=8).encode([0.0])


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SimilarityError, match="samples, 2 or more, not 1"):
        MonteCarloKL(Gaussian.sample, log_density, samples=1)
    S = MonteCarloKL(Gaussian.sample, log_density, samples=8, score=lambda w, x: np.zeros(len(w)))
    a = S.encode(some(2, 1))
    with pytest.raises(SimilarityError, match=r"score of 8 samples .* give one row per sample"):
        S.linearise(a, a)[1](np.ones((2, 2)))
