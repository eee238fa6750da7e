"""Values far from all others are found by the values alone, whatever the units; heavy tails are left in peace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.model.diagnosis import diagnose
from likewise.model.model import Data, Model
from likewise.model.outliers import far_values


@pytest.mark.parametrize("size", [1.0, -1.0, 1e-150, 1e150])
def test_a_slipped_decimal_is_found_in_any_unit(size: float) -> None:
    found = 0
    for seed in range(40):
        y = 100.0 * np.random.default_rng(seed).random(20)
        y[7] = 8971.0
        found += far_values(size * y).tolist() == [7]
    assert found >= 39


@pytest.mark.parametrize(
    "tail", [np.exp, lambda z: np.exp(2.0 * z), lambda z: z, lambda z: z**3, np.round, lambda z: -np.exp(2.0 * z)]
)
def test_tails_are_seldom_named(tail: Any) -> None:
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        wrong += bool(len(far_values(tail(rng.standard_normal(rng.integers(2, 80))))))
    assert wrong <= 8


@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.randoms())
def test_order_shift_and_a_second_measurement(values: list[float], shift: float, size: float, random: Any) -> None:
    """Order says nothing, and a value that came twice is not far: the other one is as near as can be."""
    order = random.sample(range(len(values)), len(values))
    y = np.array(values, dtype=float)
    far = far_values(y)
    assert sorted(y[order][far_values(y[order])]) == sorted(y[far])
    for i in far.tolist():
        assert len(y) + i not in (again := far_values(np.append(y, y[i])).tolist())
        assert i not in again


def test_slips_on_both_sides_and_early_tries_of_a_search() -> None:
    y = np.random.default_rng(0).uniform(0.0, 60.0, 22)
    assert far_values(np.append(y, [8971.0, -4000.0])).tolist() == [22, 23]
    crowd = np.append(np.linspace(9.9, 10.0, 30), [2.0, 4.0, 7.0])
    assert far_values(crowd).tolist() == []


def test_a_value_whose_error_is_stated_is_not_named() -> None:
    values = np.array([50.0, 61.0, 897.0, 40.0, 55.0, 62.0, 47.0, 58.0])
    assert far_values(values).tolist() == [2]
    assert far_values(values, values > 100).tolist() == []
    assert far_values(np.ones(20)).tolist() == far_values(values[:4]).tolist() == []


def test_the_model_keeps_it_and_the_diagnosis_names_it() -> None:
    rng = np.random.default_rng(3)
    points, y = rng.random((20, 2)), 100.0 * rng.random(20)
    y[7] = 8971.0
    committee, selection = Model((lw.Matern(0.3),)).committee(Data(list(points), y, None))
    assert selection.conditioned.tolist() == list(range(20))
    found = diagnose(committee, sign=-1.0)
    assert [one.value for one in found.suspects] == [-8971.0]
    assert found.suspects[0].expected > -8971.0
    assert any("-8971 for" in note and "far from all other values" in note for note in found.notes)
    assert found.to_json()["suspects"][0]["value"] == -8971.0
    assert lw.compare(list(points), y, [lw.Matern(), lw.RBF()]).diagnosis.suspects[0].value == 8971.0


def test_a_diagnosis_by_some_of_many_names_it_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(450)
    y[222] = 1e4
    committee, _ = Model((lw.Matern(0.3),)).committee(Data(list(rng.random((450, 2))), y, None))
    found = diagnose(committee, each=False)
    assert [one.value for one in found.suspects] == [1e4]
    assert "judged by 400 of 450" in " ".join(found.notes)
