"""How much the values of each branch vary: the most plausible spreads, whatever the order, the sign and the values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.similarity.records import SCALE, spreads

BRANCHES = 3
some_values = arrays(float, st.integers(1, 30), elements=st.floats(-6.0, 6.0))


@given(some_values, st.integers(0, 1000))
def test_order_and_sign_of_the_values_change_nothing(values: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    which, order = rng.integers(BRANCHES, size=len(values)), rng.permutation(len(values))
    found = spreads(which, values, BRANCHES)
    np.testing.assert_allclose(spreads(which[order], -values[order], BRANCHES), found, rtol=1e-6)
    assert np.all(np.isfinite(found) & (found > 0))


@pytest.mark.parametrize("seed", range(5))
def test_the_spreads_are_the_most_plausible_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(BRANCHES), [4, 9, 20])
    values = rng.standard_normal(len(which)) * np.array([0.01, 0.3, 2.0])[which]
    found = spreads(which, values, BRANCHES)
    mean = np.average(values, weights=1.0 / found[which])

    def log_posterior(logs: np.ndarray) -> float:
        v = np.exp(logs)[which]
        return float(-0.5 * np.sum((values - mean) ** 2 / v + np.log(v)) - 0.5 * np.sum(logs**2) / SCALE**2)

    best = log_posterior(np.log(found))
    for branch in range(BRANCHES):
        for step in (-0.02, 0.02):
            assert log_posterior(np.log(found) + step * np.eye(BRANCHES)[branch]) < best


def test_a_branch_without_values_varies_by_one_and_equal_values_are_no_error() -> None:
    found = spreads(np.zeros(5, dtype=np.intp), np.full(5, 0.7), 2)
    assert found[1] == 1.0
    assert 0.0 < found[0] < 0.1
