"""Quasi-random draws are draws: each number has its distribution, those of one sample are independent, seeds tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from likewise.similarity.kinds.monte_carlo import COLUMNS, QuasiRandom


@pytest.mark.parametrize("n", [2, 7, 256, 300])
def test_each_column_has_its_distribution_and_no_two_are_alike(n: int) -> None:
    rng = QuasiRandom(3, n)
    columns = np.column_stack([rng.random(n), rng.random((n, 2)), stats.norm.cdf(rng.standard_normal((n, 1, 1))[:, 0])])
    assert np.all((columns > 0) & (columns < 1))
    np.testing.assert_allclose(columns.mean(axis=0), 0.5, atol=1.0 / n + 0.25)
    if n > 100:
        assert all(stats.kstest(column, "uniform").pvalue > 0.9 for column in columns.T)
        assert np.abs(np.corrcoef(columns.T) - np.eye(4)).max() < 0.1


def test_seeds_tell_and_repeat() -> None:
    one, again, other = (QuasiRandom(seed, 64).normal(2.0, 3.0, 64) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert np.all(one != other)
    many = [QuasiRandom(seed, 16).uniform(-1, 1, 16)[0] for seed in range(200)]
    assert stats.kstest(np.array(many), stats.uniform(-1, 2).cdf).pvalue > 0.01


def test_other_draws_are_those_of_a_usual_generator() -> None:
    rng, usual = QuasiRandom(5, 8), np.random.Generator(np.random.PCG64(5))
    np.testing.assert_array_equal(rng.gamma(2.0, size=8), usual.gamma(2.0, size=8))
    assert rng.random() == usual.random()
    np.testing.assert_array_equal(rng.standard_normal(5), usual.standard_normal(5))
    np.testing.assert_array_equal(rng.random((8, COLUMNS + 1)), usual.random((8, COLUMNS + 1)))
    assert len(set(rng.choice(3, size=8, p=[0.25, 0.25, 0.5]).tolist())) == 3
    assert stats.gamma.rvs(2.0, size=8, random_state=rng).shape == (8,)
