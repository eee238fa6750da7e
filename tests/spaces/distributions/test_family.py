"""Families of distributions: laws of spaces, divergences against their formulas, and whole studies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

import likewise as lw
from examples import families
from likewise.errors import SpaceError
from likewise.similarity.base import is_differentiable
from likewise.testing.spaces import check_space

MADE = [make() for make in families.FAMILIES]
DENSITIES: dict[str, Any] = {
    "Gamma": lambda w, x: stats.gamma.logpdf(w, x[0], scale=x[1]),
    "Beta": lambda w, x: stats.beta.logpdf(w, *x),
    "Dirichlet": lambda w, x: [stats.dirichlet.logpdf(row, x) for row in w],
    "Categorical": lambda w, x: stats.multinomial.logpmf(np.eye(len(x))[w], 1, x),
    "Mixture": lambda w, x: np.log(x[0] * stats.norm.pdf(w, x[1], x[3]) + (1 - x[0]) * stats.norm.pdf(w, x[2], x[4])),
}
# Natural parameters and means of what they weigh: D_SYM = ½(η − η')·(m − m').
EXPONENTIAL: dict[str, Any] = {
    "Gamma": lambda x: ([x[0], -1 / x[1]], [digamma(x[0]) + np.log(x[1]), x[0] * x[1]]),
    "Beta": lambda x: (x, digamma(x) - digamma(x.sum())),
    "Dirichlet": lambda x: (x, digamma(x) - digamma(x.sum())),
    "Categorical": lambda x: (np.log(x), x),
}


def divergence(name: str, x: np.ndarray, y: np.ndarray) -> float:
    (eta, mean), (eta_b, mean_b) = (map(np.asarray, EXPONENTIAL[name](each)) for each in (x, y))
    return 0.5 * float((eta - eta_b) @ (mean - mean_b))


@pytest.mark.parametrize("family", MADE, ids=lambda family: family.name)
def test_laws_of_spaces(family: lw.Family) -> None:
    check_space(family)
    narrowed = lw.Family(family.draw, family.log_density, family.parameters, where=lambda x: x.parameters[0] < 0.9)
    check_space(narrowed)


@pytest.mark.parametrize("family", MADE, ids=lambda family: family.name)
def test_samples_have_their_density(family: lw.Family) -> None:
    for x in family.sample(3, np.random.default_rng(1)):
        omega = x.sample(200, np.random.default_rng(0))
        np.testing.assert_allclose(
            x.log_density(omega), DENSITIES[family.name](omega, x.parameters), rtol=1e-6, atol=1e-8
        )


def near(family: lw.Family, n: int) -> list[Any]:
    """Members that are not far apart, so that a few draws tell their divergence."""
    middle = family.to_vector(family.sample(50, np.random.default_rng(2))).mean(axis=0)
    some = family.to_vector(family.sample(n, np.random.default_rng(3)))
    return family.from_vector(0.7 * middle + 0.3 * some)


@pytest.mark.parametrize("family", MADE[:4], ids=lambda family: family.name)
def test_the_divergence_and_its_gradient_are_those_of_the_formula(family: lw.Family) -> None:
    S: Any = family.differentiate(lw.MonteCarloKL(constant=50.0, samples=512))
    xs, step = near(family, 4), 1e-4
    a, b = S.encode(xs[:2]), S.encode(xs[2:])
    exact = [[divergence(family.name, x.parameters, y.parameters) for y in xs[2:]] for x in xs[:2]]
    np.testing.assert_allclose(S.distances(a, b), exact, atol=5 * S.standard_error(a, b).max())
    found = family.pull(family.to_vector(xs[:2]), S.linearise(a, b)[1](-np.ones((2, 2))))
    error = family.pull(family.to_vector(xs[:2]), S.gradient_error(a, b, np.ones((2, 2))))
    for i, x in enumerate(xs[:2]):
        for k in range(family.dimension):
            there = [
                family.from_vector(family.to_vector([x]) + e * np.eye(family.dimension)[k])[0] for e in (step, -step)
            ]
            up, down = (sum(divergence(family.name, y.parameters, z.parameters) for z in xs[2:]) for y in there)
            assert abs(found[i, k] - (up - down) / (2 * step)) < 6 * abs(error[i]).max() + 1e-3 * abs(found).max()


@pytest.mark.parametrize("make", [families.gamma, families.categorical])
def test_a_study_of_a_family_is_stored_and_goes_on(make: Any, tmp_path: Any) -> None:
    family = make()
    value = lw.Expectation(lambda omega: -np.abs(np.reshape(omega, (len(omega), -1))[:, 0] - 0.5), samples=64)
    where = f"sqlite:///{tmp_path}/study.db"
    found = lw.maximize(value, family, budget=6, storage=where)
    again = lw.Study(family, storage=where)
    assert again.best.object == found.object
    assert is_differentiable(again.committee().grams[0].similarity)
    assert again.ask(1)[0].object in family


@pytest.mark.parametrize("make", [families.gamma, families.categorical])
def test_the_papers_method_walks_in_the_parameters(make: Any) -> None:
    family, method = make(), lw.Paper(strategy="top", step="safeguarded")
    study = lw.Study(family, lw.MonteCarloJS(constant=np.log(2.0), samples=32), method=method)
    study.tell_many(
        [(x, -float(np.sum((x.parameters - 0.3) ** 2))) for x in family.sample(5, np.random.default_rng(0))]
    )
    found = method.trajectories(study)
    assert any(len(path) > 1 for path in found.paths)
    assert all(x in family for x in found.ends)


def test_a_score_that_is_given_is_used() -> None:
    def score(w: Any, x: Any) -> Any:
        return np.column_stack([np.log(w / x[1]) - digamma(x[0]), w / x[1] ** 2 - x[0] / x[1]])

    plain = families.gamma()
    scored = lw.Family(plain.draw, plain.log_density, plain.parameters, score=score, name="Gamma")
    slopes = []
    for family in (plain, scored):
        S: Any = family.differentiate(lw.MonteCarloJS(lengthscale=1.0))
        xs = near(family, 4)
        slopes.append(S.linearise(S.encode(xs[:2]), S.encode(xs[2:]))[1](np.ones((2, 2))))
    np.testing.assert_allclose(*slopes, rtol=1e-4)


def test_what_does_not_fit_is_named() -> None:
    gamma, beta = families.gamma(), families.beta()
    with pytest.raises(SpaceError, match=r"is not of the family Gamma"):
        gamma.fit(beta.fit([1.0, 1.0]))
    with pytest.raises(SpaceError, match=r"does not fit the family Gamma: among its parameters, dimension 1 is 9"):
        gamma.fit([1.0, 9.0])
    with pytest.raises(SpaceError, match=r"lie in a Box or a Simplex, not in 3"):
        lw.Family(gamma.draw, gamma.log_density, 3)  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match=r"`log_density` of a Family is a function, not None"):
        lw.Family(gamma.draw, None, gamma.parameters)  # type: ignore[arg-type]


def test_the_demo_finds_a_good_distribution() -> None:
    assert families.demo(8).value > 0.3
