"""The choice of the values' scale: by evidence and left-out errors, whatever the order and the units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.model.choose_transform import POWER_FROM, RANKS_FROM, choose_transform
from likewise.model.transforms import Ranked, Standardised, Tamed, Transform, YeoJohnson
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.kinds.vectors import RBF


def draw(seed: int, n: int = 60, d: int = 2) -> tuple[Matrix, Vector]:
    """Scores of random points with a constant, and a smooth function of them drawn from the same model."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, d))
    scores = RBF(0.4).between(x, x)
    return scores + 1.0, np.linalg.cholesky(scores + 1e-6 * np.eye(n)) @ rng.standard_normal(n)


def chosen(bend: object, seeds: range = range(12)) -> list[type[Transform]]:
    return [choose_transform([scores], bend(values)) for scores, values in map(draw, seeds)]  # type: ignore[operator]


def test_values_of_the_model_itself_are_mostly_taken_as_they_are() -> None:
    assert chosen(lambda y: y).count(Standardised) >= 10


def test_values_with_a_heavy_tail_are_bent() -> None:
    found = chosen(lambda y: -np.exp(2.0 * y))
    assert found.count(Standardised) <= 2
    assert YeoJohnson in found


def test_values_that_no_power_makes_smooth_are_ranked() -> None:
    assert Ranked in chosen(lambda y: np.sign(y) * np.expm1(4.0 * np.abs(y)))


def test_a_cliff_leaves_the_good_values_apart() -> None:
    """Accuracies: most are close together, and beyond a cliff is nothing but guessing."""
    found = chosen(lambda y: np.where(y < np.quantile(y, 0.2), 0.1 + 0.02 * y, 0.95 + 0.01 * y))
    assert Tamed in found
    assert found.count(Tamed) + found.count(Ranked) >= 10
    y = draw(0, n=30)[1]
    values = np.where(y < np.quantile(y, 0.2), 0.1, 0.95 + 0.01 * y)
    good = values > 0.5
    tame, plain = (np.ptp(kind.of(values).forward(values)[good]) for kind in (Tamed, Standardised))
    assert tame > 5.0 * plain


def test_few_values_are_taken_as_they_are() -> None:
    scores, values = draw(0, n=POWER_FROM - 1)
    assert choose_transform([scores], -np.exp(3.0 * values)) is Standardised


def test_ranks_wait_for_more_values() -> None:
    def ranked(n: int) -> list[bool]:
        draws = [draw(seed, n=n) for seed in range(12)]
        return [choose_transform([scores], np.sign(y) * np.expm1(6.0 * np.abs(y))) is Ranked for scores, y in draws]

    assert not any(ranked(RANKS_FROM - 1))
    assert any(ranked(RANKS_FROM + 10))


@pytest.mark.parametrize("values", [np.full(40, 2.5), np.r_[np.zeros(39), 1.0]])
def test_values_that_hardly_differ_are_no_trouble(values: Vector) -> None:
    assert issubclass(choose_transform([draw(0, n=40)[0]], values), Transform)


@given(st.integers(0, 50), st.floats(0.1, 100.0), st.floats(-50.0, 50.0))
def test_units_and_order_do_not_matter(seed: int, unit: float, zero: float) -> None:
    scores, values = draw(seed, n=30)
    values = np.exp(values)
    order = np.random.default_rng(seed).permutation(30)
    moved = choose_transform([scores[np.ix_(order, order)]], zero + unit * values[order])
    assert moved is choose_transform([scores], values)


def prices(seed: int, n: int = 24) -> tuple[list[Matrix], Vector]:
    """Objects of four parts with their own prices, some of them high: what all parts together cost.

    Scores by the parts that two objects share: all at once, some of them, and the mean of both.
    """
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 5, size=(n, 4))
    same = (levels[:, None] == levels[None]).astype(float)
    each = [np.where(same > 0, 1.0, 0.1).prod(axis=2), same.mean(axis=2)]
    cost = np.exp(2.0 * rng.standard_normal((4, 5)))[np.arange(4), levels].sum(axis=1)
    return [one + 1.0 for one in (*each, np.mean(each, axis=0))], -cost


def test_a_scale_that_is_straight_to_one_similarity_is_not_bent_for_the_others() -> None:
    """A sum of prices has a tail, and its logarithm is no sum."""
    draws = [prices(seed) for seed in range(12)]
    assert [choose_transform(views, cost) for views, cost in draws].count(Standardised) == 12
    assert [choose_transform(views[-1:], cost) for views, cost in draws].count(Standardised) <= 4


@given(st.integers(0, 50))
def test_similarities_that_agree_count_as_one(seed: int) -> None:
    scores, values = draw(seed, n=30)
    values = np.exp(values)
    assert choose_transform([scores] * 3, values) is choose_transform([scores], values)
