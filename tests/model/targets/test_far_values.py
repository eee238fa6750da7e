"""A bad measurement is told from a value by evidence, whatever the units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.model.assessment.diagnosis import diagnose
from likewise.model.gram import Gram
from likewise.model.schedule import Data, Model
from likewise.model.targets.contamination import far_values, surely_near, suspects


def _points(n: int, rng: np.random.Generator) -> tuple[list[Any], Gram, np.ndarray[Any, Any]]:
    """Points of the square, and yields between 0 and 100 that change slowly from one to the next."""
    x = rng.random((n, 2))
    gram = Gram.of(lw.Matern(0.3), list(x))
    z = np.linalg.cholesky(gram.scores + 1e-8 * np.eye(n)) @ rng.standard_normal(n)
    return list(x), gram, 100.0 / (1.0 + np.exp(-z))


@pytest.mark.parametrize("size", [1.0, -1.0, 1e-150, 1e150])
def test_a_slipped_decimal_is_found_in_any_unit(size: float) -> None:
    found = 0
    for seed in range(20):
        _, gram, y = _points(20, np.random.default_rng(seed))
        y[7] = 8971.0
        found += suspects([gram], size * y).tolist() == [7]
    assert found >= 19


@pytest.mark.parametrize("bend", [np.exp, lambda z: np.exp(2.0 * z), lambda z: z])
def test_heavy_tails_are_seldom_suspected(bend: Any) -> None:
    wrong = 0
    for seed in range(25):
        _, gram, y = _points(25, np.random.default_rng(seed))
        wrong += bool(len(suspects([gram], bend(-np.log(100.0 / y - 1.0)))))
    assert wrong <= 2


def test_another_measurement_confirms_a_value_or_clears_its_object() -> None:
    points, _, y = _points(15, np.random.default_rng(0))
    y[3] = 8971.0
    twice = Gram.of(lw.Matern(0.3), [*points, points[3]])
    assert suspects([twice], np.append(y, 8990.0)).tolist() == []
    assert suspects([twice], np.append(y, 55.0)).tolist() == [3]


def test_neighbours_confirm_a_peak() -> None:
    x = [[v] for v in np.linspace(0.0, 1.0, 40)]
    y = np.exp(-(((np.ravel(x) - 0.7) / 0.03) ** 2)) + 0.01 * np.sin(9.0 * np.ravel(x))
    assert len(far_values(y)) > 0
    assert suspects([Gram.of(lw.Matern(0.05), x)], y).tolist() == []


def test_what_is_said_to_be_uncertain_is_no_surprise() -> None:
    values = np.array([50.0, 61.0, 897.0, 40.0, 55.0, 62.0, 47.0, 58.0])
    assert far_values(values).tolist() == [2]
    assert far_values(values, np.where(values > 100, 200.0**2, 0.0)).tolist() == []
    assert far_values(np.ones(20)).tolist() == far_values(values[:4]).tolist() == []


def test_the_committee_is_that_of_the_others_and_the_suspect_is_named() -> None:
    points, _, y = _points(20, np.random.default_rng(3))
    good = np.delete(np.arange(20), 7)
    y[7] = 8971.0
    data = Data(points, y, None)
    committee, selection = Model((lw.Matern(0.3),)).committee(data)
    alone = Model((lw.Matern(0.3),)).committee(data.part(good))[0]
    assert selection.conditioned.tolist() == good.tolist()
    new = [[0.2, 0.9], [0.5, 0.5]]
    assert np.allclose(committee.predict(new), alone.predict(new))
    assert [(one.place, one.value) for one in committee.suspects] == [(7, 8971.0)]
    found = diagnose(committee, sign=-1.0)
    assert [one.value for one in found.suspects] == [-8971.0]
    assert any("-8971 for" in note and "bad measurement" in note for note in found.notes)
    assert "left out" in str(found)
    assert found.to_json()["suspects"][0]["value"] == -8971.0


def test_comparing_similarities_leaves_it_out_too() -> None:
    points, _, y = _points(20, np.random.default_rng(4))
    y[7] = 8971.0
    found = lw.compare(points, y, [lw.Matern(), lw.RBF()])
    assert found.diagnosis.suspects[0].value == 8971.0
    assert found.diagnosis.committee.rmse < 50.0


@pytest.mark.parametrize("bend", [lambda z: z, np.exp, lambda z: z**5, np.round, lambda z: np.round(0.3 * z)])
def test_what_is_near_at_a_glance_has_no_far_values(bend: Any) -> None:
    rng, glances = np.random.default_rng(0), 0
    for n in range(1, 60):
        y = bend(rng.standard_normal(n))
        y[rng.integers(n)] *= rng.choice([1.0, 1.0, 10.0, 100.0])
        glance = surely_near(sorted(y.tolist()))
        glances += glance
        assert not (glance and len(far_values(y)))
    assert glances > 5
