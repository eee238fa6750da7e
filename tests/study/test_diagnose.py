"""A study's diagnosis speaks of what was told, in the user's units and direction."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.errors import StudyError
from likewise.model import diagnosis
from likewise.model.diagnosis import Diagnosis, diagnose
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram
from likewise.similarity.algebra import fixed
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.numbers import Box
from likewise.study.study import Study

X = np.random.default_rng(2).uniform(0.0, 10.0, 24)


def study() -> Study:
    found = Study(Box([0.0], [10.0]), fixed(RBF(0.3)))
    for x in X:
        found.tell([x], float(np.sin(x)), std=0.01)
    return found


def test_a_similarity_that_suits_is_said_to_explain_the_values() -> None:
    found = study().diagnose()
    assert isinstance(found, Diagnosis)
    assert found.observations == len(X)
    assert "explains the values" in found.verdict


def test_minimising_mirrors_nothing_that_the_user_sees() -> None:
    plain, grams = FitSettings(rescale=False), [Gram.of(fixed(RBF(1.0)), X.tolist())]
    values = np.sin(X) + 3.0 * (np.arange(len(X)) == 5)
    up, down = (diagnose(fit(grams, sign * values, settings=plain), sign=sign, settings=plain) for sign in (1.0, -1.0))
    assert up.committee.rmse == pytest.approx(down.committee.rmse)
    (one,), (other,) = up.outliers, down.outliers
    assert one.object == other.object == X[5]
    assert (one.value, one.expected, one.deviations) == pytest.approx((other.value, other.expected, other.deviations))
    assert one.deviations > 0
    for name in ("values", "mean", "low", "high", "away", "deviations"):
        assert getattr(up.left_out, name) == pytest.approx(getattr(down.left_out, name))


def test_many_observations_are_judged_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "MOST", 15)
    found = study().diagnose()
    assert found.observations == 15
    assert "judged by 15 of 24 observations" in found.notes
    assert "explains the values" in found.verdict


def test_without_observations_there_is_nothing_to_diagnose() -> None:
    with pytest.raises(StudyError, match="no observation"):
        Study(Box([0.0], [1.0]), fixed(RBF(0.3))).diagnose()
