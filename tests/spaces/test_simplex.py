"""Compositions: the projection is the nearest point, moves keep the total."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from likewise.errors import SpaceError
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.base import Continuous, Crossover, Moves
from likewise.spaces.simplex import Simplex
from likewise.testing.spaces import check_space

simplices = st.builds(Simplex, st.integers(2, 6), total=st.sampled_from([1.0, 100.0, 0.3]))


@given(simplices, st.integers(0, 2**31))
@settings(max_examples=12, deadline=None)
def test_laws_of_spaces(space: Simplex, seed: int) -> None:
    check_space(space, np.random.default_rng(seed), n=8)
    assert isinstance(space, Continuous)
    assert isinstance(space, Moves)
    assert isinstance(space, Crossover)


def test_laws_of_spaces_under_a_predicate() -> None:
    check_space(Simplex(4, where=lambda x: x[0] < 0.4))


@given(arrays.arrays(float, (4, 5), elements=st.floats(-10, 10)), st.integers(0, 2**31))
@settings(deadline=None)
def test_projection_is_the_nearest_point(vectors: np.ndarray, seed: int) -> None:
    """The nearest point p of a convex set is where (v − p)·(q − p) ≤ 0 for every other point q of it."""
    space = Simplex(5)
    p = space.project(vectors)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    corners = [*np.eye(5), *space.sample(20, np.random.default_rng(seed))]
    for q in corners:
        assert np.all(np.sum((vectors - p) * (q - p), axis=1) <= 1e-9 * (1 + np.abs(vectors).max()))


@given(arrays.arrays(float, (3, 4), elements=st.floats(-5, 5)))
def test_pull_is_the_derivative_along_the_simplex(gradient: np.ndarray) -> None:
    space = Simplex(4, total=20.0)
    z = np.full((3, 4), 0.25)
    pulled = space.pull(z, gradient)
    np.testing.assert_allclose(pulled.sum(axis=1), 0.0, atol=1e-9)
    for k in range(1, 4):
        step = 1e-6 * (np.eye(4)[k] - np.eye(4)[0])
        change = np.array(space.from_vector(z + step)) - np.array(space.from_vector(z - step))
        np.testing.assert_allclose(pulled @ step, 0.5 * np.sum(gradient * change, axis=1), atol=1e-9)


def test_samples_are_uniform() -> None:
    """Under Dirichlet(1, …, 1) a part is at most t with probability 1 − (1 − t)^(n − 1)."""
    x = np.array(Simplex(3, total=2.0).sample(4000, np.random.default_rng(0)))
    assert np.mean(x <= 0.5, axis=0) == pytest.approx(np.full(3, 1 - 0.75**2), abs=0.04)


def test_moves_shift_mass_between_two_parts() -> None:
    space = Simplex(5, total=10.0)
    x = np.array([4.0, 6.0, 0.0, 0.0, 0.0])
    moved = space.moves(x, np.random.default_rng(0))
    assert len(moved) > 5
    for y in moved:
        assert np.sum(y != x) == 2
        assert y.sum() == pytest.approx(10.0)
        assert y.min() >= 0
    assert any(y[0] == 0 or y[1] == 0 for y in moved)


def test_view_looks_at_fractions() -> None:
    small, large = Simplex(3), Simplex(3, total=100.0)
    x, y = small.sample(2, np.random.default_rng(0))
    assert large.view(RBF(0.2))(100 * x, 100 * y) == pytest.approx(RBF(0.2)(x, y))
    assert small.view(RBF(0.2))(x, y) == pytest.approx(RBF(0.2)(x, y))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.5, 0.5], r"has shape \(2,\); the composition has 3 parts"),
        ([0.5, 0.7, -0.2], r"part 2 is -0.2; the parts of a composition are not negative"),
        ([0.5, 0.4, 0.2], r"add up to 1.1, not to 1"),
        ([0.5, np.nan, 0.5], r"part 1 is nan"),
        (["a", "b", "c"], r"is not a composition of 3 numbers"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Simplex(3).fit(x)


def test_fit_rounds_off_noise() -> None:
    x = Simplex(3).fit([0.3333333, 0.3333333, 0.3333333])
    assert x.sum() == pytest.approx(1.0, abs=1e-15)
    assert Simplex(3).fit([1.0 + 1e-8, -1e-8, 0.0]).min() == 0.0


@pytest.mark.parametrize(("n", "total"), [(1, 1.0), (2.5, 1.0), (3, 0.0), (3, np.inf)])
def test_a_simplex_that_cannot_be_is_refused(n: Any, total: float) -> None:
    with pytest.raises(SpaceError):
        Simplex(n, total=total)
