"""The space of Gaussians: unit cube, chain rule, and the bound of the divergence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.paper import Paper
from likewise.run.optimize import maximize
from likewise.similarity.base import Differentiable, is_differentiable
from likewise.similarity.differences import Differenced
from likewise.similarity.kinds.gaussians import Bhattacharyya, Gaussian, GaussianEmbedding, SymmetricKL, Wasserstein2
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.base import Continuous, Crossover, Moves
from likewise.spaces.distributions import Gaussians
from likewise.spaces.pool import Pool
from likewise.study.study import Study
from likewise.testing.spaces import check_space

SPACE = Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=2)


@st.composite
def spaces(draw: st.DrawFn) -> Gaussians:
    d = draw(st.integers(1, 3))
    low = draw(st.lists(st.floats(-5, 5), min_size=d, max_size=d))
    width = draw(st.lists(st.floats(0.0, 6), min_size=d, max_size=d))
    least = draw(st.lists(st.floats(0.01, 2), min_size=d, max_size=d))
    ratio = draw(st.lists(st.floats(1.0, 50), min_size=d, max_size=d))
    high = (np.array(low) + width).tolist()
    return Gaussians(mean=(low, high), variance=(least, (np.array(least) * ratio).tolist()))


@given(spaces(), st.integers(0, 2**31))
@example(Gaussians(mean=(5.0, 5.0 + 1.2e-7), variance=(0.5, 2.0)), 0)
@example(Gaussians(mean=(-5.0, -5.0 + 3e-9), variance=(0.02, 0.02 * (1 + 1e-7))), 0)
@settings(max_examples=12, deadline=None)
def test_laws_of_spaces(space: Gaussians, seed: int) -> None:
    check_space(space, np.random.default_rng(seed), n=8)
    assert isinstance(space, Continuous)
    assert isinstance(space, Moves)
    assert isinstance(space, Crossover)


def test_laws_of_spaces_under_a_predicate() -> None:
    check_space(Gaussians((-1.0, 1.0), (0.1, 1.0), where=lambda x: x.mean[0] < 0.5))


@given(spaces(), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_the_divergence_bound_is_attained_and_never_exceeded(space: Gaussians, seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = space.from_vector(rng.integers(2, size=(64, space.dimension)).astype(float))
    xs = [*space.sample(20, rng), *corners]
    S = SymmetricKL()
    a = S.encode(xs)
    bound = space.divergence_bound()
    assert S.distances(a, a).max() <= bound * (1 + 1e-12) + 1e-9
    if space.dimension == 2:
        every = S.encode(space.from_vector(np.array([[i, j] for i in (0.0, 1.0) for j in (0.0, 1.0)])))
        assert S.distances(every, every).max() == pytest.approx(bound, abs=1e-9)
    if bound > 0:
        similarity = SymmetricKL(constant=bound)
        assert similarity.between(a, a).min() >= -1e-9 * bound - 1e-9


@pytest.mark.parametrize("similarity", [SymmetricKL(lengthscale=5.0), Bhattacharyya(), Wasserstein2(9.0), RBF(0.7)])
def test_gradient_in_the_search_vector(similarity: Any) -> None:
    """∇ of S(from_vector(z), x') in z, through (μ, σ²), is the central difference."""
    seen: Any = SPACE.view(similarity)
    assert is_differentiable(seen)
    rng = np.random.default_rng(0)
    z, weights = rng.uniform(0.1, 0.9, (3, 4)), rng.normal(size=(3, 4))
    b = seen.encode(SPACE.sample(4, rng))
    found = SPACE.pull(z, seen.linearise(seen.encode(SPACE.from_vector(z)), b)[1](weights))
    for k in range(4):
        up, down = (
            np.sum(weights * seen.between(seen.encode(SPACE.from_vector(z + e * np.eye(4)[k])), b), axis=1)
            for e in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(found[:, k], (up - down) / 2e-6, rtol=1e-4, atol=1e-6)


def test_view_shows_similarities_of_vectors_the_parameters_on_the_unit_cube() -> None:
    """Plain GP-based optimisation: (μ, σ²), each scaled linearly to [0, 1]."""
    seen = SPACE.view(RBF(0.4))
    xs = SPACE.sample(6, np.random.default_rng(0))
    unit = [np.concatenate([(x.mean + 3.0) / 6.0, (x.variance - 0.01) / 3.99]) for x in xs]
    for x, u in zip(xs, unit, strict=True):
        assert seen(xs[0], x) == pytest.approx(RBF(0.4)(unit[0], u))
    assert isinstance(seen, Differentiable)
    assert SPACE.view(SymmetricKL()) == SymmetricKL()


def test_variances_are_searched_on_a_log_scale() -> None:
    x = np.array([g.variance for g in SPACE.sample(2000, np.random.default_rng(0))])
    assert np.median(x) == pytest.approx(np.sqrt(0.01 * 4.0), rel=0.05)
    means = np.array([g.mean for g in SPACE.sample(2000, np.random.default_rng(0))])
    assert np.median(means) == pytest.approx(0.0, abs=0.1)


def test_json_is_readable_and_a_pool_of_gaussians_uses_it() -> None:
    x = Gaussian([0.0, 1.0], [0.5, 0.25])
    assert SPACE.key(x) == '{"mean":[0.0,1.0],"variance":[0.5,0.25]}'
    full = Gaussian([0.0, 1.0], [[1.0, 0.3], [0.3, 1.0]])
    pool = Pool([x, full, x], to_json=Gaussian.to_json, from_json=Gaussian.from_json)
    assert pool.duplicates == 1
    assert pool.from_json(json.loads(pool.key(full))) == full


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.0, 1.0, 0.5, 0.5], r"is not a Gaussian; write Gaussian\(mean, variance\)"),
        (Gaussian(0.0, 1.0), r"is a Gaussian of 1 dimensions; those of this space have 2"),
        (
            Gaussian([0.0, 0.0], [[1.0, 0.3], [0.3, 1.0]]),
            r'use Gaussians\(…, covariance="full"\)',
        ),
        (Gaussian([0.0, 0.0], [1.0, 9.0]), r"dimension 3 is 9, outside its bounds \[0.01, 4\]"),
        (Gaussian([0.0, 5.0], [1.0, 1.0]), r"dimension 1 is 5, outside its bounds \[-3, 3\]"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        SPACE.fit(x)


@pytest.mark.parametrize("data", [[1, 2], {"mean": [0.0, 0.0]}, {"mean": [0.0, 0.0], "variance": [1.0, -1.0]}, 3])
def test_stored_data_that_is_no_gaussian_is_refused(data: Any) -> None:
    with pytest.raises(SpaceError):
        SPACE.from_json(data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": (0.0, 1.0), "variance": (0.0, 1.0)}, r"lower bound must be, not 0.0"),
        ({"mean": ([0.0, 0.0], 1.0), "variance": ([1.0] * 3, 2.0)}, r"do not fit each other"),
        ({"mean": ([0.0, 0.0], 1.0), "variance": (1.0, 2.0), "dimension": 3}, r"and dimension 3"),
        ({"mean": 3.0, "variance": (1.0, 2.0)}, r"`mean` is a pair of bounds"),
        ({"mean": (1.0, 0.0), "variance": (1.0, 2.0)}, r"lower bound 1 above its upper bound 0"),
        ({"mean": (0.0, 1.0), "variance": (1.0, 2.0), "dimension": 0}, r"and dimension 0"),
    ],
)
def test_a_space_that_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Gaussians(**options)


def test_bounds_as_rows_or_single_numbers_are_the_same_space() -> None:
    rows = Gaussians(mean=([-3.0, -3.0], 3.0), variance=(0.01, [4.0, 4.0]))
    assert rows.describe() == SPACE.describe()
    assert repr(rows) == repr(SPACE)
    assert Gaussians((0.0, 1.0), (0.5, 1.0)).dimension == 2


WHOLE = Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=3, covariance="full")
FULL = [
    WHOLE,
    Gaussians(mean=(0.0, 1.0), variance=(0.5, 2.0), covariance="full"),
    Gaussians(mean=([0.0, -50.0], [1.0, 50.0]), variance=([1e-4, 1.0], [1e-2, 100.0]), covariance="full"),
    Gaussians(mean=(0.0, 1.0), variance=(1.0, 1.0), dimension=2, covariance="full"),
]


@pytest.mark.parametrize("space", FULL, ids=repr)
def test_full_covariances_keep_the_laws_of_spaces(space: Gaussians) -> None:
    check_space(space, np.random.default_rng(0), n=8)
    d = len(space.numbers.lower)
    assert space.dimension == d + d * (d + 1) // 2


@pytest.mark.parametrize("space", FULL, ids=repr)
def test_variances_in_every_direction_are_within_the_bounds(space: Gaussians) -> None:
    rng = np.random.default_rng(1)
    wild = space.from_numbers(space.to_numbers(space.sample(40, rng)) + rng.normal(size=(40, space.dimension)) * 30)
    units = np.sqrt(space.numbers.least)
    for x in [*wild, *space.sample(40, rng), *space.from_vector(rng.integers(2, size=(40, space.dimension)) * 1.0)]:
        values = np.linalg.eigvalsh(x.covariance / np.multiply.outer(units, units))
        assert values[0] >= 1 - 1e-8
        assert values[-1] <= space.numbers.most[0] / space.numbers.least[0] * (1 + 1e-8)
        assert np.all((x.mean >= space.numbers.lower) & (x.mean <= space.numbers.upper))


@pytest.mark.parametrize("space", FULL, ids=repr)
def test_the_divergence_bound_of_full_covariances_is_within_twice_the_largest(space: Gaussians) -> None:
    S = SymmetricKL(full=True)
    d, (least, most) = len(space.numbers.lower), (space.numbers.least, space.numbers.most)
    ends = [Gaussian(m, v) for m in (space.numbers.lower, space.numbers.upper) for v in (least, most)]
    a = S.encode([*space.sample(60, np.random.default_rng(0)), *ends])
    largest, bound = S.distances(a, a).max(), space.divergence_bound()
    assert largest <= bound * (1 + 1e-9) <= 2 * largest * (1 + 1e-9)
    assert d == len(ends[0].mean)


@pytest.mark.parametrize(
    "similarity", [SymmetricKL(constant=9.0), Bhattacharyya(), Wasserstein2(9.0), GaussianEmbedding(2.0), RBF(0.7)]
)
def test_all_numbers_of_a_full_covariance_move_by_its_gradient(similarity: Any) -> None:
    seen: Any = WHOLE.differentiate(WHOLE.view(similarity))
    xs = WHOLE.sample(6, np.random.default_rng(3))
    weights = np.random.default_rng(0).normal(size=(3, 3))
    found = seen.linearise(seen.encode(xs[:3]), seen.encode(xs[3:]))[1](weights)
    assert np.all(np.abs(found) > 1e-12)
    expected = Differenced(seen, WHOLE).linearise(*(Differenced(seen, WHOLE).encode(part) for part in (xs[:3], xs[3:])))
    np.testing.assert_allclose(found, expected[1](weights), rtol=2e-3, atol=1e-4 * np.abs(found).max())


def test_a_diagonal_gaussian_is_at_home_among_full_covariances() -> None:
    x = Gaussian([0.0, 1.0, 2.0], [0.5, 1.0, 2.0])
    assert WHOLE.fit(x) is x
    rbf = WHOLE.view(RBF(0.5))
    assert rbf.between(rbf.encode([x]), rbf.encode(WHOLE.sample(2, np.random.default_rng(0)))).shape == (1, 2)
    diagonal, whole = (
        Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=3, covariance=kind)  # type: ignore[arg-type]
        for kind in ("diagonal", "full")
    )
    for kind in (SymmetricKL(4.0), Bhattacharyya(), Wasserstein2(9.0), GaussianEmbedding(2.0)):
        y = Gaussian([0.5, 0.0, -1.0], [1.0, 0.2, 3.0])
        # A diagonal space needs no whole covariances, whatever is asked of it.
        assert not diagonal.differentiate(whole.differentiate(kind)).full  # type: ignore[attr-defined]
        assert whole.differentiate(kind)(x, y) == pytest.approx(kind(x, y), rel=1e-9)


def test_bounds_of_full_covariances_need_one_ratio() -> None:
    with pytest.raises(SpaceError, match=r"need one ratio, not \[2.0, 4.0\]"):
        Gaussians(mean=(0, 1), variance=([1.0, 1.0], [2.0, 4.0]), covariance="full")
    with pytest.raises(SpaceError, match="covariance='round' is unknown"):
        Gaussians(mean=(0, 1), variance=(1, 2), covariance="round")  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match=r"its variances are from 100 to 1000, outside \[1, 400\]"):
        WHOLE.fit(Gaussian([0.0, 0.0, 0.0], [1.0, 1.0, 10.0]))


@pytest.mark.parametrize("method", [None, Paper(strategy="top", step="safeguarded")])
def test_a_study_goes_on_from_its_storage(method: Any, tmp_path: Any) -> None:
    space = Gaussians(mean=(-1.0, 1.0), variance=(0.1, 2.0), dimension=2, covariance="full")
    target = Gaussian([0.5, -0.5], [[1.0, 0.8], [0.8, 1.0]])
    kl = SymmetricKL(full=True)
    where = f"sqlite:///{tmp_path}/study.db"
    similarity = SymmetricKL(constant=space.divergence_bound()) if method else "auto"
    found = maximize(
        lambda x: -kl.distances(kl.encode([x]), kl.encode([target]))[0, 0] / 10,
        space,
        similarity,
        method=method,
        budget=9,
        storage=where,
    )
    assert found.value > -1.0
    assert found.object in space
    again = Study(space, similarity, method=method, storage=where)
    assert again.best.object == found.object
    assert len(again.ask(1)) == 1
