"""Boxes: what is inside, how it is drawn, and how the unit cube maps to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SpaceError
from likewise.similarity.algebra import warped
from likewise.similarity.base import is_differentiable
from likewise.similarity.coordinates import Rescaled
from likewise.similarity.kinds.gaussians import SymmetricKL
from likewise.similarity.kinds.vectors import RBF, Linear, Matern
from likewise.spaces.base import Continuous, Crossover, Moves
from likewise.spaces.numbers import Box
from likewise.testing.spaces import check_space

MIXED = Box([1e-4, 1, -3.0, 2.5, 1], [1e-1, 8, 5.0, 2.5, 1000], log=[0, -1], integer=[1, 4])


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    d = draw(st.integers(1, 5))
    kinds = draw(st.lists(st.sampled_from(["real", "log", "integer", "log integer", "fixed"]), min_size=d, max_size=d))
    lower, upper = [], []
    for kind in kinds:
        whole = kind in ("integer", "log integer")
        low = draw(st.integers(1, 20) if whole else st.floats(1e-3, 10.0))
        lower.append(low)
        upper.append(low if kind == "fixed" else low + draw(st.integers(1, 30) if whole else st.floats(1e-2, 50.0)))
    return Box(lower, upper, log=["log" in k for k in kinds], integer=["integer" in k for k in kinds])


@given(boxes(), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_laws_of_spaces(box: Box, seed: int) -> None:
    check_space(box, np.random.default_rng(seed), n=8)
    assert isinstance(box, Continuous)
    assert isinstance(box, Moves)
    assert isinstance(box, Crossover)


def test_laws_of_spaces_under_a_predicate() -> None:
    box = Box([0, 0], [1, 9], integer=[1], where=lambda x: x[0] + x[1] < 4)
    check_space(box)
    with pytest.raises(SpaceError, match="excluded"):
        box.fit([1.0, 9.0])


def test_a_dimension_whose_bounds_have_one_logarithm_is_fixed() -> None:
    box = Box([1e-3, 1.0], [np.nextafter(1e-3, 1), 2.0], log=[0])
    assert box.free.tolist() == [False, True]
    check_space(box)


@given(boxes(), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_pull_is_the_derivative_of_the_objects_in_the_vector(box: Box, seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, gradient = rng.uniform(0.1, 0.9, (2, 3, box.dimension))
    # Whole numbers are searched as if they were real, so the map is that of the box without rounding.
    real = Box(box.lower, box.upper, log=box.log)
    for k in range(box.dimension):
        step = np.zeros((3, box.dimension))
        step[:, k] = 1e-6
        change = np.array(real.from_vector(z + step)) - np.array(real.from_vector(z - step))
        numeric = np.sum(gradient * change, axis=1) / 2e-6
        np.testing.assert_allclose(box.pull(z, gradient)[:, k], numeric, rtol=1e-5, atol=1e-6)


def test_samples_are_a_latin_hypercube() -> None:
    z = Box([0, 1e-3], [1, 1e3], log=[1])
    x = z.to_vector(z.sample(40, np.random.default_rng(0)))
    np.testing.assert_array_equal(np.sort((x * 40).astype(int), axis=0), np.tile(np.arange(40)[:, None], (1, 2)))
    assert abs(np.corrcoef(x.T)[0, 1]) < 0.5


def test_whole_numbers_are_drawn_uniformly_or_log_uniformly() -> None:
    x = np.array(Box([1, 1], [4, 1000], integer=[0, 1], log=[1]).sample(4000, np.random.default_rng(0)))
    np.testing.assert_array_equal(np.bincount(x[:, 0].astype(int))[1:], 1000)
    assert np.median(x[:, 1]) == pytest.approx(np.sqrt(0.5 * 1000.5), abs=1)


def test_moves_step_whole_numbers_by_one_and_reach_far() -> None:
    box = Box([0, 0.0], [9, 1.0], integer=[0])
    x = box.fit([5, 0.5])
    moved = np.array([y for seed in range(60) for y in box.moves(x, np.random.default_rng(seed))])
    assert {4.0, 6.0} <= set(moved[:, 0])
    assert len(set(moved[:, 0])) == 10
    shifts = np.abs(moved[moved[:, 1] != 0.5, 1] - 0.5)
    assert shifts.min() < 0.01 < 0.2 < shifts.max()
    assert not Box(2.0, 2.0).moves(np.array([2.0]), np.random.default_rng(0))
    edge = {y[0] for y in Box(0, 9, integer=[0]).moves(np.array([0.0]), np.random.default_rng(0))}
    assert 1.0 in edge
    assert min(edge) > 0.0


def test_a_move_of_one_number_leaves_the_others_as_they_are() -> None:
    box = Box([1e-3] * 3, [1.0] * 3, log=[0, 1, 2])
    x = box.sample(1, np.random.default_rng(3))[0]
    assert any(np.sum(y != x) == 1 for y in box.moves(x, np.random.default_rng(0)))


@pytest.mark.parametrize("box", [MIXED, Box(-1, 2), Box([0, 1], 5)])
def test_vectors_outside_are_moved_to_the_nearest_inside(box: Box) -> None:
    z = np.random.default_rng(0).normal(0.5, 2.0, (50, box.dimension))
    inside = box.project(z)
    others = np.where(box.free, np.random.default_rng(1).random((50, box.dimension)), 0.0)
    assert np.all(np.linalg.norm(z - inside, axis=1) <= np.linalg.norm(z - others, axis=1) + 1e-12)


def test_view_scales_similarities_of_vectors_alone_and_once() -> None:
    box = Box([0.0, 1e-3], [10.0, 1e3], log=[1])
    xs = box.sample(5, np.random.default_rng(0))
    seen = box.view(2.0 * RBF(0.5) + warped(Matern(0.3), 2.0) * Linear())
    plain = 2.0 * RBF(0.5) + warped(Matern(0.3), 2.0) * Linear()
    unit = list(box.to_vector(xs))
    np.testing.assert_allclose(
        seen.between(seen.encode(xs), seen.encode(xs)), plain.between(plain.encode(unit), plain.encode(unit))
    )
    assert is_differentiable(seen)
    once = box.view(RBF(0.5))
    assert isinstance(once, Rescaled)
    assert isinstance(box.view(once), Rescaled)
    assert not isinstance(box.view(once).parts[0], Rescaled)
    assert box.view(SymmetricKL()) == SymmetricKL()


def test_gradient_through_view_and_pull_is_that_of_the_unit_cube() -> None:
    """∇ of S(from_vector(z), x') in z, for a similarity seen through the box."""
    box = Box([-5.0, 1e-3], [10.0, 1e3], log=[1])
    S: Any = box.view(RBF(0.5))
    z, other = np.random.default_rng(0).random((2, 3, 2))
    b = S.encode(box.from_vector(other))
    weights = np.ones((3, 3))
    found = box.pull(z, S.linearise(S.encode(box.from_vector(z)), b)[1](weights))
    for k in range(2):
        up, down = (S.between(S.encode(box.from_vector(z + e * np.eye(2)[k])), b).sum(axis=1) for e in (1e-6, -1e-6))
        np.testing.assert_allclose(found[:, k], (up - down) / 2e-6, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.01, 3, 0.0, 2.5], r"has shape \(4,\); the box has 5 dimensions"),
        ([0.01, 3, 6.0, 2.5, 7], r"dimension 2 is 6, outside its bounds \[-3, 5\]"),
        ([0.01, 3, 0.0, 2.6, 7], r"dimension 3 is 2.6, outside its bounds \[2.5, 2.5\]"),
        ([0.01, 3, 0.0, 2.5, 7.5], r"dimension 4 is .*7.5.*, which is not a whole number"),
        ([0.01, np.nan, 0.0, 2.5, 7], r"dimension 1 is nan"),
        ("abc", r"'abc' is not a vector of 5 numbers"),
        (None, r"None is not a vector of 5 numbers"),
        ({"a": 1}, r"is not a vector"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        MIXED.fit(x)
    assert x not in MIXED


def test_fit_takes_lists_and_numbers_and_rounds_off_noise() -> None:
    np.testing.assert_array_equal(MIXED.fit((0.1 + 1e-12, 3 + 1e-12, 5, 2.5, 7)), [0.1, 3.0, 5.0, 2.5, 7.0])
    np.testing.assert_array_equal(Box(0, 1).fit(0.25), [0.25])
    x = np.array([0.5])
    assert Box(0, 1).fit(x) is not x
    assert MIXED.to_json(MIXED.fit([0.01, 3, 0, 2.5, 7])) == [0.01, 3, 0.0, 2.5, 7]
    assert MIXED.key(MIXED.fit([0.01, 3, -0.0, 2.5, 7])) == MIXED.key(MIXED.fit([0.01, 3, 0.0, 2.5, 7]))


@pytest.mark.parametrize(
    ("lower", "upper", "options", "message"),
    [
        (1.0, 0.0, {}, r"dimension 0 has the lower bound 1 above its upper bound 0"),
        ([0.0, 1.0], [1.0, 2.0, 3.0], {}, r"rows of numbers of one length"),
        (0.0, np.inf, {}, r"finite numbers"),
        ([], [], {}, r"finite numbers, or rows"),
        ("a", 1.0, {}, r"bounds are finite numbers"),
        (0.0, 1.0, {"log": [0]}, r"dimension 0 is on a log scale.*positive, not 0"),
        (0.5, 3.0, {"integer": [0]}, r"dimension 0 is an integer.*whole, not 0.5 and 3"),
        (0.0, 1.0, {"log": [1]}, r"`log` names dimensions by index, from 0 to 0"),
        ([0.0, 0.0], 1.0, {"integer": [True]}, r"`integer` names dimensions"),
        ([0.0, 0.0], 1.0, {"integer": [0.5]}, r"`integer` names dimensions"),
    ],
)
def test_a_box_that_cannot_be_is_refused(lower: Any, upper: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Box(lower, upper, **options)


def test_flags_by_index_or_truth_value_are_the_same_box() -> None:
    one = Box([1, 1, 1], 9, log=[-1], integer=(0, 2))
    two = Box([1, 1, 1], 9, log=[False, False, True], integer=np.array([True, False, True]))
    assert one.describe() == two.describe()
    assert repr(one) == "Box(lower=[1.0, 1.0, 1.0], upper=[9.0, 9.0, 9.0], log=[2], integer=[0, 2])"


@pytest.mark.parametrize("number", ["0.5", True, np.bool_(True), 10**309, 1j, None, {}, [[0.1], [0.1, 0.2]]], ids=repr)
@pytest.mark.parametrize(
    "use",
    [
        lambda x: lw.Box(0, 1).fit([x]),
        lambda x: lw.Box([0, 0], [1, x]),
        lambda x: lw.Box([0, 0], [1, 1], step=["" if x is None else x, 0.5]),
        lambda x: lw.Float(0, 1).fit(x),
        lambda x: lw.Float(0, x),
        lambda x: lw.Simplex(2).fit([x, 0.5]),
        lambda x: lw.Simplex(2, total=x),
        lambda x: lw.Simplex(2, lower=[x, 0.5]),
        lambda x: lw.Gaussians(mean=(0, x), variance=(0.1, 1)),
    ],
)
def test_what_is_no_number_is_refused_everywhere(use: Any, number: Any) -> None:
    with pytest.raises(SpaceError):
        use(number)
