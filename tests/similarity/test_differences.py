"""Gradients by finite differences are those of the formulas, in any units and at bounds, and lead a study uphill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SimilarityError
from likewise.search.choose import AlternatingSearch, choose_search
from likewise.search.climbing import ClimbingSearch
from likewise.search.gradient import GradientSearch
from likewise.similarity.base import Similarity, is_differentiable
from likewise.similarity.differences import Differenced

UNITS = lw.Box([0.0, 1e-6, -500.0, 3.0], [1e-3, 1.0, 500.0, 3.0], log=[1])
CASES: list[tuple[Any, Similarity]] = [
    (UNITS, UNITS.view(lw.RBF(0.4))),
    (UNITS, UNITS.view(lw.Linear(2.0))),
    # The root of a share has no derivative at 0.
    (lw.Simplex(4, total=100.0, where=lambda x: bool(np.min(x) > 5.0)), lw.Hellinger()),
    (lw.Simplex(4), lw.RBF(0.3)),
    (lw.Gaussians(mean=(-3, 3), variance=(0.01, 4), dimension=2), lw.Bhattacharyya()),
    (lw.Gaussians(mean=(-3, 3), variance=(0.01, 4), dimension=2), lw.GaussianEmbedding(1.0)),
]


def gradients(similarity: Any, space: Any, objects: list[Any], others: list[Any]) -> np.ndarray:
    """Weighted rows and selves, in the search coordinates."""
    a, b = similarity.encode(objects), similarity.encode(others)
    weights = np.random.default_rng(1).normal(size=(len(objects), len(others)))
    total = similarity.linearise(a, b)[1](weights) + similarity.linearise_within(a)[1](weights[:, 0])
    return np.asarray(space.pull(space.to_vector(objects), total))


@pytest.mark.parametrize(("space", "similarity"), CASES)
def test_differences_are_the_formulas_derivative(space: Any, similarity: Similarity) -> None:
    xs = space.sample(12, np.random.default_rng(0))
    exact = gradients(similarity, space, xs[:6], xs[6:])
    found = gradients(Differenced(similarity, space), space, xs[:6], xs[6:])
    assert np.abs(exact).max() > 0
    np.testing.assert_allclose(found, exact, atol=2e-6 * np.abs(exact).max())


def test_at_bounds_they_are_one_sided_and_never_leave_the_space() -> None:
    space = lw.Box([0.0, 0.0], [10.0, 1.0])

    def inside(x: Any, y: Any) -> float:
        assert np.all((x >= 0) & (x <= [10.0, 1.0]))
        return float(np.exp(-np.sqrt(x[0]) * np.sqrt(y[0]) / 10 - (x[1] - y[1]) ** 2))

    corners, others = [np.array([5.0, 0.0]), np.array([5.0, 1.0])], [np.array([4.0, 0.5])]
    own = lw.from_function(
        inside, gradient=lambda x, y: inside(x, y) * np.array([-np.sqrt(y[0] / x[0]) / 20, 2 * (y[1] - x[1])])
    )
    plain = Differenced(lw.from_function(inside), space)
    a, b = plain.encode(corners), plain.encode(others)
    expected = own.linearise(own.encode(corners), own.encode(others))[1](np.ones((2, 1)))
    np.testing.assert_allclose(plain.linearise(a, b)[1](np.ones((2, 1))), expected, rtol=1e-3)


def rbf(x: Any, y: Any) -> float:
    return float(np.exp(-0.5 * np.sum((x - y) ** 2) / 4.0))


def rbf_slope(x: Any, y: Any) -> Any:
    return -(x - y) / 4.0 * rbf(x, y)


def single(x: Any, y: Any) -> Any:
    return np.exp(np.float32(-0.125) * np.sum((x - y).astype(np.float32) ** 2))


def judgement(x: Any, y: Any) -> float:
    return 1.0 if np.linalg.norm(x - y) < 3.0 else 0.0


def told(similarity: Any, method: Any = None, space: Any = None, n: int = 8) -> Any:
    space = space or lw.Box([0.0, 0.0], [10.0, 10.0])
    study = lw.Study(space, similarity, method=method, seed=1)
    study.tell_many(
        [(x, -float(np.sum((np.asarray(x)[:2] - 3) ** 2)) / 50) for x in space.sample(n, np.random.default_rng(0))]
    )
    return study


@pytest.mark.parametrize("strategy", ["two_stage", "top"])
@pytest.mark.parametrize("step", ["unit", "safeguarded"])
def test_the_papers_trajectories_of_a_plain_function_are_those_of_the_formula(strategy: Any, step: Any) -> None:
    method = lw.Paper(strategy=strategy, step=step)
    found = [
        method.trajectories(told(S, method)) for S in (lw.RBF(2.0), rbf, lw.from_function(rbf, gradient=rbf_slope))
    ]
    for other in found[1:]:
        assert other.converged.tolist() == found[0].converged.tolist()
        np.testing.assert_allclose(other.ends, found[0].ends, atol=1e-4)
        np.testing.assert_allclose(other.u2, found[0].u2, atol=1e-6)


@pytest.mark.parametrize(
    "similarity", [rbf, single, lw.from_function(rbf, gradient=rbf_slope), lw.warped(rbf, 2) + rbf]
)
def test_the_default_climbs_along_the_gradient_of_a_plain_function(similarity: Any) -> None:
    study = told(similarity)
    assert study.committee().differentiable
    assert isinstance(search_of(study), GradientSearch)
    best = study.ask(1)[0]
    assert np.linalg.norm(best.object - 3.0) < 1.5


def test_a_score_that_jumps_has_no_gradient_and_is_climbed_from_neighbour_to_neighbour() -> None:
    noise = np.random.default_rng(5)
    for jumping in (judgement, lambda x, y: round(rbf(x, y), 2), lambda x, y: rbf(x, y) if x is y else noise.random()):
        study = told(lw.symmetrised(jumping))
        assert not study.committee().differentiable
        assert isinstance(search_of(study), ClimbingSearch)
        assert study.ask(1)


def search_of(study: Any) -> Any:
    return choose_search(study.space, differentiable=study.committee().differentiable)


def test_whole_numbers_stay_whole_and_the_others_move() -> None:
    space = lw.Box([0.0, 0.0], [10.0, 10.0], integer=[1])

    def whole(x: Any, y: Any) -> float:
        assert x[1] == round(x[1])
        return rbf(x, y)

    study = told(whole, space=space)
    assert isinstance(search_of(study), AlternatingSearch)
    np.testing.assert_allclose(study.ask(1)[0].object, [3.0, 3.0], atol=1.0)


def test_a_plain_function_of_a_records_field_has_a_gradient() -> None:
    space = lw.Record(solvent=["water", "DMF"], t=lw.Box(0.0, 10.0))
    seen = space.view(lw.Parts(solvent=lw.Equal(0.5), t=rbf))
    assert is_differentiable(seen)
    records = [{"solvent": s, "t": np.array([t])} for s, t in (("water", 1.0), ("DMF", 2.5))]
    a = seen.encode(records)
    slopes = seen.linearise(a, a)[1](np.array([[0.0, 1.0], [1.0, 0.0]]))
    expected = 0.5 * rbf_slope(np.array([1.0]), np.array([2.5]))
    np.testing.assert_allclose(slopes, [expected, -expected], rtol=1e-6)


def test_recipes_with_names_and_single_numbers_are_moved_too() -> None:
    recipes = lw.Simplex(names=["a", "b", "c"])

    def near(x: Any, y: Any) -> float:
        return float(np.exp(-sum(abs(x[name] - y[name]) for name in "abc")))

    for seed in range(4):
        S = recipes.differentiate(lw.from_function(near))
        assert is_differentiable(S.fitted(S.encode(recipes.sample(5, np.random.default_rng(seed)))))
    number = lw.Float(1e-3, 1.0, log=True)
    S = number.differentiate(lw.from_function(lambda x, y: 1.0 / (1.0 + abs(np.log(x / y)))))
    a, b = S.encode([0.1]), S.encode([0.2])
    expected = 1.0 / 0.1 / (1.0 + np.log(2.0)) ** 2
    np.testing.assert_allclose(S.linearise(a, b)[1](np.ones((1, 1))), [[expected]], rtol=1e-6)  # type: ignore[attr-defined]


def test_a_gradient_that_is_none_is_told_with_the_pair() -> None:
    with pytest.raises(SimilarityError, match="a gradient is a function of two objects, as the similarity is, not 3"):
        lw.from_function(rbf, gradient=3)  # type: ignore[arg-type]
    for wrong in (None, [[1.0]], [np.nan], "up", [1.0, 2.0]):
        S: Any = lw.from_function(rbf, gradient=lambda x, y, given=wrong: given)
        a = S.encode([np.array([1.0]), np.array([2.0])])
        with pytest.raises(SimilarityError, match=r"the gradient of rbf\(array\(\[1\.\]\), array\(\[1\.\]\)\) is"):
            S.linearise_within(a)[1](np.ones(2))


def test_a_log_density_without_a_score_has_its_gradient() -> None:
    """Common random numbers: the same draws for both, so that only the differences differ."""
    space = lw.Gaussians(mean=(-3, 3), variance=(0.2, 4), dimension=2)
    plain = lw.MonteCarloKL(lw.Gaussian.sample, lambda omega, x: x.log_density(omega), constant=300.0, samples=32)
    known = lw.MonteCarloKL(
        plain.sample, plain.log_density, constant=300.0, samples=32, score=lambda omega, x: x.score(omega)
    )
    xs = space.sample(8, np.random.default_rng(0))
    exact = gradients(known, space, xs[:3], xs[3:])
    found = gradients(space.differentiate(plain), space, xs[:3], xs[3:])
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-7 * np.abs(exact).max())
    method = lw.Paper(strategy="top")
    study = lw.Study(space, plain, method=method)
    study.tell_many([(x, -float(x.mean @ x.mean)) for x in xs[:4]])
    assert len(method.trajectories(study).paths) == 4
