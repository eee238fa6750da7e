"""Scales at the ends of what numbers can be: answers stay the same, or an error says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import log_h
from likewise.model.transforms import Standardised

AT = [[float(x)] for x in np.linspace(0.0, 1.0, 21)]


def study_of(values: Any, similarity: Any = None, **options: Any) -> lw.Study:
    study = lw.Study(lw.Box([0.0], [1.0]), similarity or lw.RBF(), **options)
    study.tell_many([([float(x)], float(y)) for x, y in zip(np.linspace(0.0, 1.0, len(values)), values, strict=True)])
    return study


def dyadic(values: Any) -> Any:
    """Values that an offset of a billion leaves exact."""
    return np.round(np.asarray(values) * 2.0**20) / 2.0**20


@pytest.mark.parametrize("offset", [1e4, 1e6, 1e9])
def test_an_offset_of_the_values_changes_no_standard_deviation(offset: float) -> None:
    values = dyadic(np.exp(6.0 * np.linspace(0.0, 1.0, 12)) / 400.0)
    here, there = study_of(values).predict(AT), study_of(values + offset).predict(AT)
    assert there.std == pytest.approx(here.std, rel=1e-6)
    assert there.mean - offset == pytest.approx(here.mean, abs=1e-6)
    for end, other in zip(here.interval(), there.interval(), strict=True):
        assert other - offset == pytest.approx(end, abs=1e-5)


@pytest.mark.parametrize("unit", [1e-250, 1e-180, 1e-100, 1e60])
def test_the_unit_of_the_values_changes_nothing_else(unit: float) -> None:
    values = np.exp(3.0 * np.sin(7.0 * np.linspace(0.0, 1.0, 22)))
    here, there = study_of(values).predict(AT), study_of(values * unit).predict(AT)
    assert there.mean / unit == pytest.approx(here.mean, rel=1e-6)
    assert there.std / unit == pytest.approx(here.std, rel=1e-6)
    suggestion = study_of(values * unit).ask()[0]
    assert np.isfinite([suggestion.mean, suggestion.std, suggestion.low, suggestion.high, suggestion.chance]).all()


def test_tiny_values_are_not_constant() -> None:
    assert Standardised.of(np.array([1e-200, 3e-200])).scale == pytest.approx(1e-200)
    assert Standardised.of(np.array([1e300, 3e300])).scale == pytest.approx(1e300)
    assert Standardised.of(np.full(3, 1e-200)).scale == 1e-200
    assert Standardised.of(np.full(3, 1e300)).scale == 1e300


def scaled(size: float) -> Any:
    return lambda x, y: size * float(np.exp(-abs(x[0] - y[0])))


def test_scores_too_large_are_named() -> None:
    with pytest.raises(lw.SimilarityError, match=r"too large to compute with: S\(.*1e\+308"):
        study_of([1.0, 2.0], scaled(1e308)).predict(AT)
    with pytest.raises(lw.SimilarityError, match="too large"):
        lw.condition(scaled(1e308), [[0.0], [1.0]], [1.0, 2.0])


@pytest.mark.parametrize("size", [1e-320, 1e-250, 1e-130, 1e130])
def test_scores_of_any_other_size_have_an_answer(size: float) -> None:
    for noise in (0.0, 1e-2):
        found = lw.condition(scaled(size), [[0.0], [1.0], [1.0]], [1.0, 2.0, 3.0], noise).predict(AT)
        assert np.all(np.isfinite(found.mean))
        assert np.all(np.isfinite(found.std))
    study = study_of([1.0, 2.0, 0.0, 3.0, 1.0, 2.5], scaled(size))
    assert np.all(np.isfinite(study.predict(AT)))
    assert study.ask()


def test_log_expected_improvement_is_smooth_where_its_series_begins() -> None:
    z = np.array([-1000.0 + 1e-9, -1000.0, -1000.0 - 1e-9])
    # The slope is about 1000, so that neighbours differ by a millionth.
    assert np.diff(log_h(z)) == pytest.approx([-1e-6, -1e-6], rel=0.05)
    assert float(log_h(-1e4)) == pytest.approx(-0.5e8 - 0.5 * np.log(2 * np.pi) - 2 * np.log(1e4) - 3e-8, rel=1e-15)
