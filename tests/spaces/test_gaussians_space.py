"""The space of Gaussians: unit cube, chain rule, and the bound of the divergence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.similarity.base import Differentiable, is_differentiable
from likewise.similarity.kinds.distributions.gaussians import Bhattacharyya, Gaussian, SymmetricKL, Wasserstein2
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.base import Continuous, Crossover, Moves
from likewise.spaces.gaussians import Gaussians
from likewise.spaces.pools.pool import Pool
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
    pool = Pool([x, full, x], codec=(Gaussian.to_json, Gaussian.from_json))
    assert pool.duplicates == 1
    assert pool.from_json(json.loads(pool.key(full))) == full


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.0, 1.0, 0.5, 0.5], r"is not a Gaussian; write Gaussian\(mean, variance\)"),
        (Gaussian(0.0, 1.0), r"not a Gaussian of 2 independent dimensions"),
        (Gaussian([0.0, 0.0], [[1.0, 0.3], [0.3, 1.0]]), r"not a Gaussian of 2 independent dimensions"),
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
