"""The range in which similarities of vectors see a finite set: even spacing by sums or by factors, in any unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.similarity.coordinates import FACTOR, span


def unit(column: list[float]) -> list[float]:
    coordinates = span([[x] for x in column])
    assert coordinates is not None
    return [float(z) for z in coordinates.forward(np.array(column)[:, None])[:, 0]]


@given(st.floats(1e-6, 1e6), st.floats(1.05, 20.0), st.integers(3, 12))
def test_levels_a_factor_apart_are_evenly_spaced(first: float, factor: float, n: int) -> None:
    levels = [first * factor**i for i in range(n)]
    even = np.linspace(0.0, 1.0, n)
    if factor ** (n - 1) > FACTOR * 1.001:
        assert np.allclose(unit(levels), even)
    elif factor ** (n - 1) < FACTOR * 0.999:
        assert np.allclose(unit(levels), (np.array(levels) - levels[0]) / (levels[-1] - levels[0]))


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(3, 12))
def test_levels_a_step_apart_are_evenly_spaced(first: float, step: float, n: int) -> None:
    assert np.allclose(unit([first + step * i for i in range(n)]), np.linspace(0.0, 1.0, n), atol=1e-6)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=8, unique=True), st.sampled_from([1e-6, 0.5, 60.0, 1e9]))
def test_the_unit_of_a_column_does_not_matter(column: list[float], factor: float) -> None:
    assert np.allclose(unit([factor * x for x in column]), unit(column), atol=1e-6)


@pytest.mark.parametrize("column", [[0.0, 0.01, 0.1, 1.0], [-1.0, 1.0, 10.0, 100.0]])
def test_what_is_not_positive_has_no_logarithm(column: list[float]) -> None:
    assert np.allclose(unit(column), (np.array(column) - min(column)) / np.ptp(column))


def test_numbers_of_any_size_have_a_scale() -> None:
    assert np.allclose(unit([1e-300, 1.0, 1e300]), [0.0, 0.5, 1.0])
    assert unit([5e-324, 1e308])[-1] == 1.0


def test_a_repeated_level_weighs_no_more_than_a_single_one() -> None:
    assert set(unit([1.0, 10.0, *[100.0] * 97])) == set(unit([1.0, 10.0, 100.0]))


def test_doses_a_factor_apart_are_learnt_on_their_logarithm() -> None:
    doses = [{"dose": 10.0**k, "time": float(t)} for k in range(-4, 3) for t in range(4)]

    def measured(x: dict[str, float]) -> float:
        return -((np.log10(x["dose"]) + 1) ** 2) - 0.1 * x["time"]

    study = lw.Study(lw.Pool(doses), seed=0)
    for x in doses[::3]:
        study.tell(x, measured(x))
    predicted = study.predict(doses).mean
    assert np.corrcoef(predicted, [measured(x) for x in doses])[0, 1] > 0.98
