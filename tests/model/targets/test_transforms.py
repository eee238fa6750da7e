"""Transforms of the values are increasing, invertible, and come back with honest moments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, skew, yeojohnson

from likewise.model.transforms import Ranked, Standardised, Tamed, YeoJohnson, _bend, mean_ranks

TRANSFORMS = [Standardised, Ranked, YeoJohnson, Tamed]
VALUES = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=30, unique=True).filter(lambda v: np.ptp(v) > 1e-3)


@pytest.mark.parametrize("kind", TRANSFORMS)
@given(values=VALUES)
@example(values=[0.0, 1.0, 5e-324])
@settings(max_examples=50, deadline=None)
def test_forward_is_increasing_and_backward_undoes_it(kind, values):
    y = np.array(values)
    transform = kind.of(y)
    grid = np.sort(np.concatenate([y, np.linspace(y.min() - 1, y.max() + 1, 25)]))
    z = transform.forward(grid)
    assert np.all(np.diff(z) >= -1e-9)
    inside = (grid >= y.min()) & (grid <= y.max())
    np.testing.assert_allclose(transform.backward(z)[inside], grid[inside], rtol=1e-5, atol=1e-5 * np.ptp(y))


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_transformed_values_have_mean_zero_and_spread_one(kind):
    y = np.exp(np.random.default_rng(0).standard_normal(60))
    z = kind.of(y).forward(y)
    np.testing.assert_allclose([z.mean(), z.std()], [0.0, 1.0], atol=1e-6)


def test_a_power_transform_straightens_a_heavy_tail():
    y = np.exp(np.random.default_rng(0).standard_normal(200))
    assert abs(skew(YeoJohnson.of(y).forward(y))) < 0.3 * abs(skew(y))


@pytest.mark.parametrize("power", [-0.5, 0.0, 0.7, 1.0, 2.0, 2.5])
def test_the_power_transform_is_yeo_and_johnsons(power):
    z = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(_bend(z, power), yeojohnson(z, lmbda=power), atol=1e-10)


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_slopes_are_finite_differences(kind):
    y = np.random.default_rng(1).standard_normal(20) ** 3
    transform = kind.of(y)
    h = 1e-6
    numeric = (transform.forward(y + h) - transform.forward(y - h)) / (2 * h)
    if kind is Ranked:
        assert np.all(transform.slope(y) > 0)
    else:
        np.testing.assert_allclose(transform.slope(y), numeric, rtol=1e-4)


@pytest.mark.parametrize("kind", [Standardised, YeoJohnson, Tamed])
def test_moments_on_the_users_scale_agree_with_sampling(kind):
    y = np.exp(np.random.default_rng(2).standard_normal(50))
    transform = kind.of(y)
    mean, std = transform.moments(np.array([0.2]), np.array([0.3]))
    draws = transform.backward(0.2 + 0.3 * np.random.default_rng(3).standard_normal(200_000))
    np.testing.assert_allclose([mean[0], std[0]], [draws.mean(), draws.std()], rtol=0.02)


def test_constant_values_have_their_own_size_for_a_scale():
    assert Standardised.of(np.full(4, 3.0)).scale == 3.0
    np.testing.assert_allclose(Ranked.of(np.full(4, 3.0)).forward(3.0), 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [YeoJohnson, Tamed])
@pytest.mark.parametrize("values", [93.0 - np.exp(np.linspace(-3, 4, 60)), np.exp(np.linspace(-3, 6, 60))])
def test_predictions_far_out_stay_within_reach_of_the_values(kind, values):
    """Accuracies of architectures pile up below 93 %: the inverse of a strong power has a pole."""
    transform = kind.of(values)
    mean, std = transform.moments(np.array([-8.0, 0.0, 8.0]), np.array([3.0, 1.0, 3.0]))
    span = np.ptp(values)
    assert np.all((mean >= values.min() - span) & (mean <= values.max() + span))
    assert np.all(std <= 2 * span)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_equal_values_share_their_mean_rank(values: list[int]) -> None:
    np.testing.assert_array_equal(mean_ranks(np.array(values, dtype=float)), rankdata(values))


def test_beyond_a_heavy_tail_ranks_reach_no_further_than_the_values_span() -> None:
    values = np.exp(np.linspace(-3.0, 6.0, 40))
    ranked, span = Ranked.of(values), float(np.ptp(values))
    far = ranked.backward(np.array([-50.0, 5.0, 50.0, 500.0]))
    assert np.all(np.diff(far) > 0)
    assert values.min() - 1.01 * span < far[0]
    assert far[-1] < values.max() + 1.01 * span
    assert ranked.moments(np.zeros(1), np.full(1, 4.0))[1][0] < 1.5 * span


@pytest.mark.parametrize("kind", [YeoJohnson, Tamed])
def test_values_that_differ_in_their_last_digits_alone_stay_together(kind) -> None:
    """Their own size is no scale for what lies beyond them."""
    values = 0.8 + 1e-13 * np.arange(6.0)
    bent = kind.of(values)
    far = np.array([-1e3, 1e3])
    assert np.all(np.abs(bent.backward(far) - values.mean()) < 3.0 * np.ptp(values))


@pytest.mark.parametrize("power", [1e-6, 1e-3, -1e-3, 1.999, 2.001])
def test_nothing_overflows_far_beyond_the_values(power: float) -> None:
    bent = replace(YeoJohnson.of(np.arange(5.0)), power=power)
    with np.errstate(all="raise"):
        assert np.all(np.isfinite(bent.backward(np.array([-1e6, 1e6]))))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e300])
@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0, 2.0], [1.0, 1.1, 1.2, 1.3, -9.0], [0.0, 0.0, 0.0]])
def test_tame_values_are_numbers_whatever_their_unit(unit: float, values: list[float]) -> None:
    y = unit * np.array(values)
    tame = Tamed.of(y)
    np.testing.assert_allclose(tame.forward(y), Tamed.of(np.array(values)).forward(np.array(values)), atol=1e-6)
    assert np.all(np.isfinite(tame.backward(np.array([-1e3, 0.0, 1e3]))))
