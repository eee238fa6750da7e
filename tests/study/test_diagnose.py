"""A study's diagnosis speaks of what was told, in the user's units and direction."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.errors import StudyError
from likewise.model.diagnosis.diagnosis import Diagnosis
from likewise.model.fit import Settings, fit
from likewise.model.gram import Gram
from likewise.similarity.combine.fixed import fixed
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.box import Box
from likewise.study import diagnose as module
from likewise.study.study import Study
from likewise.study.trial import State, Trial

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
    plain, grams = Settings(rescale=False), [Gram.of(fixed(RBF(1.0)), X.tolist())]
    told = [Trial(i, x, State.TOLD, value=float(np.sin(x)) + (3.0 if i == 5 else 0.0)) for i, x in enumerate(X)]
    values = np.array([trial.value for trial in told], dtype=float)
    up, down = (
        module.diagnose(fit(grams, sign * values, settings=plain), told, minimising=sign < 0, settings=plain)
        for sign in (1.0, -1.0)
    )
    assert up.committee.rmse == pytest.approx(down.committee.rmse)
    (one,), (other,) = up.outliers, down.outliers
    assert one.object == other.object == X[5]
    assert (one.value, one.expected, one.deviations) == pytest.approx((other.value, other.expected, other.deviations))
    assert one.deviations > 0


def test_many_observations_are_judged_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 15)
    found = study().diagnose()
    assert found.observations == 15
    assert "judged by 15 of 24 observations" in found.notes
    assert "explains the values" in found.verdict


def test_without_observations_there_is_nothing_to_diagnose() -> None:
    with pytest.raises(StudyError, match="no observation"):
        Study(Box([0.0], [1.0]), fixed(RBF(0.3))).diagnose()
