"""Intervals of true values and of measurements, inside the user's bounds, and the chance that goes with them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

import likewise as lw

LOW, HIGH = 0.0, 100.0


def study_of(values: Any, n: int = 14, std: float | None = None, **options: Any) -> lw.Study:
    study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), **options)
    x = np.linspace(0.0, 1.0, n)
    study.tell_many([([at], float(values(at)), std) for at in x])
    return study


def wavy(x: float) -> float:
    return 50.0 + 49.0 * np.sin(12.0 * x) + 3.0 * np.sin(97.0 * x)


AT = [[float(x)] for x in np.linspace(0.0, 1.0, 41)]


def test_an_interval_of_a_measurement_holds_that_of_the_true_value() -> None:
    study = study_of(wavy)
    true, measured = study.predict(AT), study.predict(AT, measurement=True)
    assert measured.mean == pytest.approx(true.mean)
    assert np.all(measured.std >= true.std)
    for level in (0.5, 0.95):
        assert np.all(measured.interval(level)[0] <= true.interval(level)[0] + 1e-6)
        assert np.all(measured.interval(level)[1] >= true.interval(level)[1] - 1e-6)


def test_known_standard_deviations_belong_to_a_measurement() -> None:
    study = study_of(wavy, std=5.0)
    true, measured = study.predict(AT), study.predict(AT, measurement=True)
    assert np.all(measured.std**2 >= true.std**2 + 0.5 * 5.0**2)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_predictions_keep_to_the_bounds(direction: Any) -> None:
    free = study_of(wavy, direction=direction)
    kept = study_of(wavy, direction=direction, bounds=(LOW, HIGH))
    outside = 0
    for measurement in (False, True):
        low, high = free.predict(AT, measurement=measurement).interval()
        outside += int(np.sum((low < LOW) | (high > HIGH)))
        found = kept.predict(AT, measurement=measurement)
        ends = found.interval(0.99)
        assert np.all((ends[0] >= LOW) & (ends[1] <= HIGH) & (ends[0] <= ends[1]))
        assert np.all((found.mean >= LOW) & (found.mean <= HIGH))
        assert np.allclose(np.clip(low, LOW, HIGH), found.interval()[0])
    assert outside > 0
    suggestion = kept.ask()[0]
    assert suggestion.low is not None
    assert suggestion.high is not None
    assert LOW <= suggestion.low <= suggestion.high <= HIGH


def test_bounds_may_be_open_are_noted_and_change_no_search(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    one = study_of(wavy, bounds=(0, None), storage=url)
    assert one._log.openings[-1]["bounds"] == [0.0, None]
    assert one.ask()[0].object == study_of(wavy).ask()[0].object


@pytest.mark.parametrize("given", [(100, 0), (0,), "0,100,3", (0, "x"), (float("nan"), 1)])
def test_bounds_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(lw.StudyError, match="bounds="):
        lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), bounds=given)


def test_what_is_at_the_bound_cannot_be_beaten() -> None:
    study = study_of(lambda x: 100.0 - 50.0 * x, bounds=(LOW, HIGH))
    suggestion = study.ask()[0]
    assert suggestion.chance == 0.0
    assert suggestion.improvement == 0.0


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("values", [wavy, lambda x: np.exp(9.0 * x + np.sin(40.0 * x))])
def test_the_chance_is_the_mixtures_own(values: Any, direction: Any) -> None:
    study = study_of(values, direction=direction)
    best = study.best.value
    assert best is not None
    (suggestion,) = study.ask()
    found = study.predict([suggestion.object])
    mixture = found.mixture
    rng = np.random.default_rng(0)
    part = rng.choice(len(mixture.weights), size=200_000, p=mixture.weights / mixture.weights.sum())
    drawn = mixture.centres[part, 0] + mixture.spreads[part, 0] * student(mixture.freedom).rvs(
        len(part), random_state=1
    )
    beats = mixture.sign * mixture.transform.backward(drawn)
    share = np.mean(beats > best if direction == "maximize" else beats < best)
    assert suggestion.chance == pytest.approx(share, abs=0.01)
    assert (suggestion.low, suggestion.high) == pytest.approx([float(end[0]) for end in found.interval(0.95)])


def test_a_prediction_can_be_copied_and_sent() -> None:
    found = study_of(wavy).predict(AT[:2])
    for other in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert other.interval()[0] == pytest.approx(found.interval()[0])
    mean, std = found
    assert len(mean) == len(std) == 2


def test_intervals_of_skewed_values_are_skewed() -> None:
    study = study_of(lambda x: np.exp(9.0 * x + np.sin(40.0 * x)), n=25)
    found = study.predict(AT)
    low, high = found.interval()
    away = np.abs((high - found.mean) - (found.mean - low)) / (high - low)
    assert away.max() > 0.05
