"""Numbers that a person can set: plain numbers, on their steps before they are scored, bounds included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SpaceError
from likewise.spaces.record import Subset
from likewise.testing.spaces import check_space


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    low, count = draw(st.integers(-50, 50)), draw(st.integers(1, 60))
    step = draw(st.sampled_from([0.1, 0.25, 0.05, 3.0, 1e-3, 7.5]))
    places = {0.1: 1, 0.25: 2, 0.05: 2, 1e-3: 3, 7.5: 1}.get(step, 0)
    return lw.Float(low, round(low + count * step, places), step=step), step, count


@given(numbers(), st.integers(0, 99))
def test_a_number_in_steps_is_on_a_step_with_no_more_digits_than_the_step(made: Any, seed: int) -> None:
    space, _, count = made
    assert space.levels is not None
    assert len(space.levels) == count + 1
    assert (space.levels[0], space.levels[-1]) == (space.low, space.high)
    rng = np.random.default_rng(seed)
    x = space.sample(1, rng)[0]
    far = space.from_vector(space.project(rng.normal(size=(20, 1))))
    for value in [*space.sample(30, rng), *space.moves(x, rng), *far]:
        assert value in space.levels
        assert len(repr(value)) <= 8


@given(numbers())
def test_what_is_between_two_steps_is_refused_with_the_nearest_one(made: Any) -> None:
    space, step, _ = made
    with pytest.raises(SpaceError, match=r"not on the steps of .* the nearest is"):
        space.fit(space.low + 0.4 * step)


def test_numbers_are_plain_numbers_of_their_kind() -> None:
    space = lw.Record(C=lw.Box(1e-3, 1e3, log=[0]), degree=lw.Box(1, 5, integer=[0]), T=lw.Float(20, 120, step=5))
    for x in space.sample(20, np.random.default_rng(0)):
        assert [type(value) for value in x.values()] == [float, int, float]
        back = space.from_json(space.to_json(x))
        assert [type(value) for value in back.values()] == [float, int, float]
    assert isinstance(lw.Box(0, 1).sample(1, np.random.default_rng(0))[0], np.ndarray)
    assert isinstance(lw.Record(x=lw.Box([0], [1])).fit({"x": [0.5]})["x"], np.ndarray)


@pytest.mark.parametrize("similarity", ["auto", lw.Parts(T=lw.Matern(), n=lw.RBF(0.3), c=lw.Matern(1.5))])
def test_a_study_proposes_only_what_can_be_set(similarity: Any) -> None:
    space = lw.Record(T=lw.Float(20, 120, step=5), n=lw.Int(1, 8), c=lw.Float(1e-3, 1.0, log=True))
    study = lw.Study(space, similarity, seed=3)

    def f(x: Any) -> float:
        return -(((x["T"] - 85) / 50) ** 2) - ((x["n"] - 6) / 4) ** 2 - (np.log10(x["c"]) + 2) ** 2

    for _ in range(3):
        for s in study.ask(3):
            assert s.object["T"] % 5 == 0
            assert s.object in space
            study.tell(s, f(s.object))


def test_a_study_of_one_number_in_steps_tries_every_step_and_then_stops() -> None:
    study = lw.Study(lw.Float(0, 2, step=0.25), seed=1)
    tried = []
    for _ in range(4):
        for s in study.ask(3):
            tried.append(s.object)
            study.tell(s, -((s.object - 1.3) ** 2))
    assert sorted(tried) == [0.25 * k for k in range(9)]
    assert study.best.object == 1.25


def test_the_paper_walks_along_numbers_without_steps() -> None:
    best = lw.minimize(lambda x: (x - 3) ** 2, lw.Float(0, 10), lw.RBF(0.3), method=lw.Paper(), budget=12)
    assert best.object == pytest.approx(3, abs=0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.Float(20, 118, step=5), r"from 20 to 118, .* steps of 5; let it end at 115 or 120"),
        (lambda: lw.Float(20, 10), "the lower bound 20 above its upper bound 10; swap"),
        (lambda: lw.Float(0, 1, log=True), "log scale, so its lower bound must be positive"),
        (lambda: lw.Float(0, 1, step=0), "step=0 is not positive"),
        (lambda: lw.Float(0, 1, step=-1), "step=-1 is not positive"),
        (lambda: lw.Float(0, 1, step="a"), "step='a': give a positive number"),
        (lambda: lw.Float([0], [1]), "two finite numbers, not .* use a Box"),
        (lambda: lw.Float(0, 1, log=[0]), "write log=True"),
        (lambda: lw.Int(0.5, 3), "must be whole"),
        (lambda: lw.Int(1, 8, step=2.5), "whole number"),
        (lambda: lw.Box(0, 8, integer=[0], step=2.5), "step must be whole"),
        (lambda: lw.Box([0, 1], [2, 3], step=[1]), "one for each of 2 dimensions"),
        (lambda: lw.Float(0, 1).fit("a"), "'a' is not a number between 0 and 1"),
        (lambda: lw.Float(0, 1).fit(True), "True is not a number"),
        (lambda: lw.Float(0, 1).fit(float("nan")), "outside its bounds"),
        (lambda: lw.Float(0, 1).fit(None), "not a"),
        (lambda: lw.Int(1, 8).fit(2.5), "not a whole number"),
    ],
)
def test_what_is_no_number_is_refused_with_the_remedy(make: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make()


def test_numbers_of_which_a_batch_may_use_some_are_a_space_in_the_same_coordinates() -> None:
    whole = lw.Float(20, 120)
    some = Subset(whole, (30.0, 81.5))
    check_space(some)
    np.testing.assert_array_equal(some.to_vector([81.5]), whole.to_vector([81.5]))


def test_a_record_of_numbers_in_steps_can_be_listed() -> None:
    grid = lw.Record(T=lw.Float(0.1, 0.5, step=0.1), n=lw.Int(1, 3)).grid()
    assert len(grid) == 15
    assert grid.objects[3] == {"T": 0.2, "n": 1}
