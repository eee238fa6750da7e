"""Failures lower the worth of objects like them, and of those only."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.acquisitions import Acquisition
from likewise.acquisition.feasibility import MOST, chance
from likewise.acquisition.scorer import Scorer
from likewise.model.model import Data, Model
from likewise.search.base import SearchState
from likewise.search.gradient import GradientSearch
from likewise.search.pool.exhaustive import ExhaustiveSearch
from likewise.study.methods import committee as method

WORDS = ["".join(letters) for letters in itertools.product("abc", repeat=5)]


def alike(x: str, y: str) -> float:
    return sum(a == b for a, b in zip(x, y, strict=True)) / 5


def outcomes(seed: int = 3, told: int = 12, failed: int = 4) -> tuple[Model, Data, list[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.random((told, 2)) * [1.0, 0.6]
    bad = rng.random((failed, 2)) * [1.0, 0.3] + [0.0, 0.7]
    return Model((lw.RBF(0.4), lw.Matern(0.6))), Data(list(x), np.sin(5 * x[:, 0]) + x[:, 1], None), list(bad)


def scorer(acquisition: Acquisition, *, pending: Sequence[Any] = ()) -> Scorer:
    model, told, failed = outcomes()
    committee = model.committee(told)[0]
    made = Scorer.on(committee, acquisition, chance(committee, model.grams, told, failed))
    return replace(made, novel=False).with_pending(pending)


@pytest.mark.parametrize("pending", [(), ([0.2, 0.3], [0.7, 0.1])])
def test_the_gradient_is_a_finite_difference(acquisition: Acquisition, pending: tuple[Any, ...]) -> None:
    made = scorer(acquisition, pending=[np.array(x) for x in pending])
    x = np.random.default_rng(9).random((8, 2))
    values, gradient = made.linearise(list(x))
    np.testing.assert_allclose(values, made.score(list(x)), atol=1e-10)
    h = 1e-6
    for k in range(2):
        step = h * np.eye(2)[k]
        numeric = (made.score(list(x + step)) - made.score(list(x - step))) / (2 * h)
        np.testing.assert_allclose(gradient()[:, k], numeric, rtol=1e-3, atol=1e-4)


def test_no_score_is_raised_and_those_near_failures_are_lowered(acquisition: Acquisition) -> None:
    made = scorer(acquisition)
    x = list(np.random.default_rng(1).random((200, 2)))
    without = Scorer(made.committee, acquisition, made.incumbents, novel=False).score(x)
    lowered = without - made.score(x)
    assert lowered.min() >= -1e-12
    near = np.array([point[1] > 0.8 for point in x])
    assert lowered[near].mean() > 2.0 * lowered[~near].mean()


@given(st.integers(0, 1000), st.integers(5, 30), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_chances_are_probabilities_and_lower_at_failures_than_at_successes(seed: int, told: int, failed: int) -> None:
    model, data, bad = outcomes(seed, told, failed)
    found = chance(model.committee(data)[0], model.grams, data, bad)
    assert np.all(found.score(list(np.random.default_rng(0).random((50, 2)))) <= 1e-12)
    assert np.exp(found.score(bad)).mean() < np.exp(found.score(data.objects)).mean()


def test_far_from_everything_the_chance_is_about_the_success_rate_and_each_outcome_counts() -> None:
    model = Model((lw.RBF(0.2),))
    objects = [np.array([x]) for x in np.linspace(0.0, 1.0, 12)]
    told = Data(objects, np.linspace(0.0, 1.0, 12), None)
    committee = model.committee(told)[0]

    def at(x: float, *failures: float) -> float:
        found = chance(committee, model.grams, told, [np.array([f]) for f in failures])
        return float(np.exp(found.score([np.array([x])])[0]))

    assert at(50.0, 2.0, 2.1, 2.2) == pytest.approx(13 / 17, abs=0.1)
    assert at(2.05, 2.0) < 0.4 < 0.9 < at(0.5, 2.0)
    assert at(2.05, 2.0, 2.1) < at(2.05, 2.0)
    assert at(2.05, 2.0, 9.0) == pytest.approx(at(2.05, 2.0), abs=0.2)


def test_without_failures_nothing_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*_: Any) -> Scorer:
        raise AssertionError("there was nothing to estimate")

    monkeypatch.setattr(method, "chance", unwanted)
    study = lw.Study(lw.Pool(WORDS), alike)
    for word in WORDS[::31]:
        study.tell(word, float(word.count("a")))
    (s,) = study.ask()
    study.fail(s)
    with pytest.raises(AssertionError, match="nothing to estimate"):
        study.ask()


def test_thousands_of_failures_stay_cheap() -> None:
    model, told, _ = outcomes()
    failed = list(np.random.default_rng(0).random((3000, 2)))
    found = chance(model.committee(told)[0], model.grams, told, failed)
    assert len(found.committee) == len(told.values) + MOST
    kept = {id(x) for x in found.committee.grams[0].objects}
    assert all(id(x) in kept for x in failed[-MOST // 2 :])


class Counted(lw.Similarity):
    """Counts how many objects it has encoded."""

    encoded = 0

    def encode(self, objects: Any) -> Any:
        self.encoded += len(objects)
        return np.array(objects, dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        return np.exp(-np.abs(a[:, None] - b) / 500)

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


def test_a_pool_is_scored_as_its_objects_are_and_encoded_once() -> None:
    pool, similarity = lw.Pool(list(range(2048))), Counted()
    model = Model((similarity,))
    told = Data([pool.objects[i] for i in range(0, 2000, 200)], np.arange(10.0), None)

    def made(failures: list[int]) -> Scorer:
        committee = model.committee(told)[0]
        found = chance(committee, model.grams, told, [pool.objects[i] for i in failures])
        return Scorer.on(committee, lw.LogExpectedImprovement(), found)

    search = ExhaustiveSearch.over(pool, pool.key)
    ground = SearchState(pool, [], set(), np.random.default_rng(0))
    for failures in ([5, 1999], [5, 1999, 77]):
        before = similarity.encoded
        found = search.equilibria(made(failures), ground)
    assert similarity.encoded - before < 10
    fresh = made([5, 1999, 77])
    np.testing.assert_allclose(found.scores, fresh.score(found.objects), atol=1e-5)


def failures(
    space: lw.Space, similarity: Any, f: Any, fails: Any, *, informed: bool, **options: Any
) -> tuple[int, float]:
    study = lw.Study(space, similarity, **options)
    with patch("likewise.study.methods.committee.chance", chance if informed else lambda *_: None):
        for _ in range(25):
            (s,) = study.ask()
            if fails(s.object):
                study.fail(s, "infeasible")
            else:
                study.tell(s, f(s.object))
    return study.count(lw.State.FAILED), study.best.value or 0.0


def test_a_pool_whose_naive_optimum_cannot_be_made() -> None:
    """Words beginning with a fail, though a is what counts; c counts a little less."""
    totals, found = {True: 0, False: 0}, []
    for seed, informed in itertools.product(range(3), totals):
        count, best = failures(
            lw.Pool(WORDS),
            alike,
            lambda word: max(word.count("a"), 0.9 * word.count("c")),
            lambda word: word.startswith("a"),
            informed=informed,
            seed=seed,
        )
        totals[informed] += count
        found += [best] if informed else []
    assert min(found) >= 4.0
    assert max(found) == 4.5
    assert totals[True] < 0.7 * totals[False]


def test_a_box_whose_naive_optimum_cannot_be_measured() -> None:
    def f(x: Any) -> float:
        high, low = ((x[0] - 0.8) ** 2 + (x[1] - 0.7) ** 2), ((x[0] - 0.25) ** 2 + (x[1] - 0.3) ** 2)
        return float(np.exp(-20 * high) + 0.7 * np.exp(-20 * low))

    totals = {True: 0, False: 0}
    for seed, informed in itertools.product((0, 3), totals):
        count, _ = failures(
            lw.Box([0.0, 0.0], [1.0, 1.0]),
            lw.RBF(),
            f,
            lambda x: x[0] > 0.6,
            informed=informed,
            seed=seed,
            search=GradientSearch(observations=5, samples=64, fresh=4, most_steps=15),
        )
        totals[informed] += count
    assert totals[True] < 0.8 * totals[False]


def test_a_border_is_approached_from_inside() -> None:
    """f = x fails above 0.6. Random search fails in 8 of 20 asks; most failures here are among the first ten."""
    early = late = 0
    for seed in range(3):
        study, failed = lw.Study(lw.Box([0.0], [1.0]), seed=seed), []
        for _ in range(20):
            (s,) = study.ask()
            failed.append(bool(s.object[0] > 0.6))
            if failed[-1]:
                study.fail(s, "too hot")
            else:
                study.tell(s, float(s.object[0]))
        early, late = early + sum(failed[:10]), late + sum(failed[10:])
        assert study.best.value is not None
        assert 0.59 < study.best.value <= 0.6
    assert early + late <= 3 * 6
    assert late <= 3 * 2


def test_failures_at_random_are_not_foreseen() -> None:
    rng = np.random.default_rng(0)
    objects = list(rng.random((40, 2)))
    fails = rng.random(40) < 0.3
    model = Model((lw.RBF(0.4),))
    kept = [x for x, bad in zip(objects, fails, strict=True) if not bad]
    told = Data(kept, np.array([x.sum() for x in kept]), None)
    bad = [x for x, wrong in zip(objects, fails, strict=True) if wrong]
    found = chance(model.committee(told)[0], model.grams, told, bad)
    assert found.least == -np.inf
    border = chance(model.committee(told)[0], model.grams, told, [x + 1.0 for x in bad])
    assert border.least > np.log(0.5)
