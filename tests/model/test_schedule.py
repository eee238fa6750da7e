"""The committee of the schedule stands as long as it foresees what is told; it depends on the observations alone."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from likewise.model import model as rules
from likewise.model.leave_one_out import leave_one_out_error
from likewise.model.model import Data, Model, last_fit

T = [105, 108, 132]
NOISE = np.random.default_rng(0).normal(size=200)


def observations(t: int, jump_from: int) -> Data:
    """A smooth curve; from `jump_from` on, values that nothing foretold, and yet none that is far from all."""
    x = np.linspace(0.0, 1.0, 200)[np.random.default_rng(1).permutation(200)]
    values = np.sin(6.0 * x) + np.where(np.arange(200) < jump_from, 0.0, 3.0 * NOISE)
    return Data([np.array([v]) for v in x[:t]], values[:t], None)


def one_by_one(t: int) -> int:
    return last_fit(range(1, t + 1))


def fits(model: Model, data: Data, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From how many observations each committee was fitted while this one was made."""
    counted: list[int] = []
    fit = rules.fit

    def counting(grams, values, extra, limits, **options):  # type: ignore[no-untyped-def]
        counted.append(len(values))
        return fit(grams, values, extra, limits, **options)

    monkeypatch.setattr(rules, "fit", counting)
    model.committee(data)
    monkeypatch.setattr(rules, "fit", fit)
    return counted


@pytest.mark.parametrize("t", T)
def test_a_committee_that_foresees_what_is_told_stays(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one_by_one(t) < t
    assert fits(Model((lw.RBF(),)), observations(t, t), monkeypatch) == [one_by_one(t)]


@pytest.mark.parametrize("t", T)
def test_a_committee_whose_errors_have_grown_is_seated_anew(t: int, monkeypatch: pytest.MonkeyPatch) -> None:
    surprising = observations(t, one_by_one(t))
    assert fits(Model((lw.RBF(),)), surprising, monkeypatch) == [one_by_one(t), t]


def test_what_is_believed_does_not_depend_on_when_it_was_asked() -> None:
    told = observations(112, 106)
    asked = Model((lw.RBF(),))
    for t in range(100, 113):
        asked.committee(told.part(np.arange(t)))
    resumed = Model((lw.RBF(),))
    at = [np.array([v]) for v in np.linspace(0.0, 1.0, 7)]
    for before, after in zip(asked.committee(told)[0].predict(at), resumed.committee(told)[0].predict(at), strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-9)


def test_the_error_is_that_of_withholding_each_value() -> None:
    """The closed form against conditioning anew on all but one, for each."""
    told = observations(30, 30)
    committee = Model((lw.RBF(0.2),)).committee(told)[0]
    residuals = []
    for i in range(30):
        others = np.delete(np.arange(30), i)
        guess = 0.0
        for weight, member in zip(committee.weights, committee.members, strict=True):
            post = member.regression
            matrix = post.treatment.matrix[np.ix_(others, others)] + np.diag((post.noise / post.amplitude)[others])
            solved = np.linalg.solve(matrix, (post.values - post.prior_mean)[others])
            guess += weight * (post.prior_mean + post.treatment.matrix[i, others] @ solved)
        residuals.append(committee.targets[i] - guess)
    assert leave_one_out_error(committee) == pytest.approx(float(np.sqrt(np.mean(np.square(residuals)))), rel=1e-4)
