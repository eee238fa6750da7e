"""One of several branches: its objects, what is said of wrong ones, gradients, and a study to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SpaceError
from likewise.search.base import NearDuplicates
from likewise.search.choose import AlternatingSearch, choose_search
from likewise.similarity.base import is_differentiable
from likewise.spaces.base import is_continuous

model = lw.OneOf(
    svm=lw.Record(C=lw.Float(1e-3, 1e3, log=True), kernel=["rbf", "linear"]),
    forest=lw.Record(depth=lw.Int(1, 20)),
    bayes=None,
)


def accuracy(x: dict[str, Any]) -> float:
    ((branch, inside),) = x.items()
    if branch == "svm":
        return float(0.95 - 0.02 * (np.log10(inside["C"]) - 1) ** 2 - 0.1 * (inside["kernel"] == "linear"))
    return float(0.93 - 0.001 * (inside["depth"] - 12) ** 2) if branch == "forest" else 0.8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tree": {}}, "there is no branch 'tree'; it is one of svm, forest, bayes"),
        ({"svm": {"C": 1.0}}, "branch 'svm': the record has no field 'kernel'"),
        ({"svm": {"C": 1e9, "kernel": "rbf"}}, "branch 'svm': field 'C'"),
        ({"svm": {}, "bayes": None}, "is of no branch"),
        ("svm", "is of no branch"),
        ({}, "is of no branch"),
        ({"bayes": 1}, "branch 'bayes': 1 is not one of"),
    ],
)
def test_an_object_that_does_not_fit_is_named(wrong: Any, said: str) -> None:
    with pytest.raises(SpaceError, match=said):
        model.fit(wrong)


def test_branches_are_drawn_equally_often_and_reached_by_moves() -> None:
    rng = np.random.default_rng(0)
    drawn = [next(iter(x)) for x in model.sample(3000, rng)]
    assert all(900 < drawn.count(name) < 1100 for name in model.branches)
    reached = {next(iter(y)) for y in model.moves({"bayes": None}, rng)}
    assert reached == {"svm", "forest"}


def test_a_grid_has_all_objects_of_all_branches() -> None:
    few = lw.OneOf(a=lw.Record(x=[1, 2], y=["u", "v"]), b=lw.OneOf(c=[3, 4], d=None))
    assert few.size == len(few.grid().objects) == 7
    with pytest.raises(SpaceError, match="cannot be listed"):
        model.grid()


def test_objects_of_two_branches_are_never_close() -> None:
    two = lw.OneOf(a=lw.Box(0, 1), b=lw.Box(0, 1))
    places = NearDuplicates.of(two, [{"a": 0.5}])
    near = [{"a": 0.5001}, {"b": 0.5}, {"a": 0.6}]
    assert places.close([two.fit(x) for x in near]).tolist() == [True, False, False]


@pytest.mark.parametrize("space", [model, lw.Record(model=model, seed=["a", "b"])])
def test_auto_compares_branches_and_climbs_along_their_gradients(space: Any) -> None:
    similarities = [space.view(one) for one in space.recognise(np.random.default_rng(0)).similarities]
    assert all(map(is_differentiable, similarities))
    assert is_continuous(space)
    assert isinstance(choose_search(space, differentiable=True), AlternatingSearch)


def test_a_study_finds_the_best_branch_and_its_settings(tmp_path: Path) -> None:
    for stop in (6, 12, 18):
        study = lw.Study(model, seed=0, storage=f"sqlite:///{tmp_path}/study.db", name="tuning")
        while len(study.trials) < stop:
            one = study.ask()[0]
            study.tell(one, accuracy(one.object))
    assert "svm" in study.best.object
    assert study.best.value > 0.948


def test_a_study_of_listed_branches_is_a_pool() -> None:
    grid = lw.OneOf(svm=lw.Record(C=[0.1, 1.0, 10.0, 100.0]), forest=lw.Record(depth=list(range(1, 12)))).grid()
    best = lw.maximize(lambda x: np.log10(x["svm"]["C"]) if "svm" in x else -x["forest"]["depth"], grid, budget=12)
    assert best.object == {"svm": {"C": 100.0}}


def told(space: Any, **options: Any) -> lw.Study:
    study = lw.Study(space, **options)
    for s in study.ask(10):
        study.tell(s, accuracy(s.object["model"]) + s.object["z"])
    return study


def test_a_part_with_branches_may_be_fixed_and_shared() -> None:
    """Its numbers are counted as those of the whole part; they were looked for in the objects."""
    study = told(lw.Record(model=model, z=lw.Float(0, 1), inner=lw.Record(u=lw.Float(0, 1), v=["a", "b"])))
    for value in ({"bayes": None}, {"forest": {"depth": 3}}, {"svm": {"C": 1.0, "kernel": "rbf"}}):
        assert [s.object["model"] for s in study.ask(2, fix={"model": value})] == [value] * 2
    batch = [s.object["model"] for s in study.ask(4, same=["model"], groups=2)]
    assert batch[::2] == batch[1::2]
    used = {str(s.object["model"]) for s in study.ask(5, at_most={"model": 2, "inner": 2})}
    assert len(used) <= 2
    inner = {"u": 0.25, "v": "b"}
    assert [s.object["inner"] for s in study.ask(2, fix={"inner": inner})] == [inner] * 2


def test_nested_parts_come_back_from_a_frame() -> None:
    study = told(lw.Record(model=model, z=lw.Float(0, 1), tags=lw.Subsets(["a", "b"]), word=["[1]", "b"]))
    again = lw.Study(study.space)
    again.tell_many(study.to_frame())
    assert [(t.object, t.value) for t in again.trials] == [(t.object, t.value) for t in study.trials]


@pytest.mark.parametrize("branches", [{"a": lw.Int(1, 4), "b": lw.Int(1, 3)}, {"a": [1, 2, 3], "b": ["x", "y"]}])
def test_a_grid_of_plain_values_is_compared_by_its_branches(branches: Any) -> None:
    study = lw.Study(lw.OneOf(**branches).grid())
    while batch := study.ask(2):
        for s in batch:
            study.tell(s, float(len(study)))
    assert {type(one).__name__ for one in study.committee().similarities} <= {"Branches", "Fixed"}
