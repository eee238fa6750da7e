"""What happened to a study: told in order by its history, which opens, copies and lets it grow."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.fixtures.logs import add, end, log_of
from tests.spaces.test_conformance import SPACES

import likewise as lw
from likewise.spaces.description import rebuild
from likewise.study.storage.base import Storage, Stored, open_storage


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest) -> Iterator[Storage]:
    fixtures = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}
    url = request.getfixturevalue(fixtures[request.param]) if request.param in fixtures else None
    with open_storage(url) as opened:
        yield opened


def test_the_history_says_who_did_what_when_and_why(storage: Storage) -> None:
    pool = lw.Pool(["CCO", "CCN", "CCC"])
    ann = lw.Study(pool, lw.Levenshtein(), storage=storage, worker="Ann", objectives={"yield": "maximize"})
    bob = lw.Study(pool, lw.Levenshtein(), storage=storage, worker="Bob\0", objectives={"yield": "maximize"})
    ann.tell("CCO", {"yield": lw.Below(8971.0)})
    bob.fail("CCN", "Traceback\nno colonies")
    bob.amend("CCO", {"yield": 89.71}, why="typo\0")
    ann.withdraw(id=1, why="wrong vial")
    history = ann.history
    assert [event.revision for event in history] == list(range(1, 7))
    assert [(event.kind, event.who, event.why) for event in history] == [
        ("create", "Ann", ""),
        ("open", "Ann", ""),
        ("tell", "Ann", ""),
        ("tell", "Bob\\x00", ""),
        ("amend", "Bob\\x00", "typo\\x00"),
        ("withdraw", "Ann", "wrong vial"),
    ]
    assert [event.summary for event in history[2:]] == [
        "0 told 'CCO' yield <8971",
        "1 failed 'CCN' no colonies",
        "0 told yield 89.71 (typo\\x00)",
        "1 abandoned (wrong vial)",
    ]
    assert history == bob.history
    assert [event.at for event in history] == sorted(event.at for event in history)
    assert json.loads(json.dumps([event.to_dict() for event in history]))[4] == {
        "revision": 5,
        "at": history[4].at,
        "who": "Bob\\x00",
        "kind": "amend",
        "trials": [{"id": 0, "state": "told", "outcomes": {"yield": {"value": 89.71}}, "why": "typo\\x00"}],
    }
    assert repr(history[5]).endswith(" UTC, Ann, withdraw: 1 abandoned (wrong vial))")
    shown = history._repr_html_()
    assert "6 events" in shown
    assert shown.count("<tr>") == 7
    assert "&lt;8971" in shown


@pytest.mark.parametrize("trials", ["[3]", "[{}]", '[{"id": 0, "state": "told", "outcomes": [7]}]', '[{"why": [2]}]'])
def test_an_event_that_somebody_edited_is_still_shown(trials: str) -> None:
    log = log_of()
    end(log, *add(log, "a"), value=1.0)
    with log.storage.transaction(log.study) as change:
        change.append(Stored(4, float("inf"), "somebody", "tell", f'{{"trials": {trials}, "more": 1}}'))
    last = log.events[-1]
    assert "somebody, tell: " in repr(last)
    assert "more 1" in repr(last)
    assert last.to_dict()["trials"] == json.loads(trials)


RECIPES = lw.Record("x + y <= 1.5", x=lw.Float(0, 1), y=lw.Float(0, 1, step=0.1), base=["KOAc", "K3PO4"])
AIMS: dict[str, Any] = {
    "objectives": {"yield": "maximize", "value": "minimize"},
    "constraints": {"impurity": lw.AtMost(2.0)},
    "bounds": {"yield": (0, 100), "value": (0, None)},
}


def test_a_study_opens_without_its_space(storage: Storage) -> None:
    first = lw.Study(RECIPES, storage=storage, seed=7, **AIMS)
    for x in range(6):
        recipe = {"x": x / 10, "y": 0.1 * x, "base": "KOAc"}
        first.tell(recipe, {"yield": 10.0 * x, "value": float(x), "impurity": x / 2})
    again = lw.open_study(storage)
    assert again.space == RECIPES
    assert (again.seed, again.goals.describe()) == (7, first.goals.describe())
    assert again.goals.describe_bounds() == first.goals.describe_bounds() != {}
    assert again.trials == first.trials
    lw.copy_study(storage, "study", "copy")
    resumed = lw.Study(RECIPES, storage=storage, name="copy", seed=7, **AIMS)
    assert [s.object for s in again.ask(2)] == [s.object for s in resumed.ask(2)]


@pytest.mark.parametrize("name", SPACES)
def test_a_space_is_made_anew_from_its_description_or_says_why_not(name: str) -> None:
    for where in (None, lambda x: True):
        space = SPACES[name](where)
        described = json.loads(json.dumps(space.describe()))
        if where is None and type(space).short is not None and "name" not in described.get("parameters", {}):
            assert rebuild(described).describe() == described
        else:
            with pytest.raises(lw.SpaceError, match=r"there is no space|arguments|is a function, which is not stored"):
                rebuild(described)


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ({"space": lw.Pool(["CCO", "CCN"])}, "there is no space 'Pool'"),
        ({"space": lw.Strings("ACGT", 4, where=lambda x: x[0] == "A")}, "is a function, which is not stored"),
        ({"space": lw.Record(x=lw.Float(0, 1, where=bool), y=[1, 2])}, "part 'x'.*is a function, which is not stored"),
        ({"space": RECIPES, "objectives": {"a": "maximize", "b": lw.Computed("x")}}, "how 'b' is computed"),
    ],
)
def test_what_is_not_stored_has_to_be_given(study: dict[str, Any], words: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    lw.Study(**study, storage=url, name="s")
    with pytest.raises(lw.StudyError, match=words):
        lw.open_study(url, "s")
    if "objectives" in study:
        assert len(lw.open_study(url, "s", objectives=study["objectives"])) == 0
    with pytest.raises(lw.StudyError, match="no study 't' in this storage; stored studies: 's'"):
        lw.open_study(url, "t")


def test_stored_studies_are_renamed_copied_and_deleted_by_url(url: str, tmp_path: Path) -> None:
    lw.Study(lw.Strings("ACGT", 4), storage=url, name="a").tell("ACGT", 1.0)
    lw.copy_study(url, "a", "b")
    lw.rename_study(url, "a", "c")
    lw.open_study(url, "b").tell("AAAA", 2.0)
    assert [(info.name, info.best) for info in lw.studies(url)] == [("b", 2.0), ("c", 1.0)]
    lw.delete_study(url, "b")
    assert [info.name for info in lw.studies(url)] == ["c"]
    for change in (lambda: lw.delete_study(url, "b"), lambda: lw.rename_study(url, "b", "d")):
        with pytest.raises(lw.StudyError, match="no study 'b'"):
            change()
    for new in ("", "a\0b"):
        with pytest.raises(lw.StudyError, match="non-empty text"):
            lw.copy_study(url, "c", new)
    absent = tmp_path / "absent.db"
    with pytest.raises(lw.StorageError):
        lw.delete_study(f"sqlite:///{absent}", "a")
    assert not absent.exists()


def settings(space: Any, **goals: Any) -> dict[str, Any]:
    return {"space": space, **goals}


WORDS = lw.Strings("ACGT", 4)
YIELD = {"objectives": {"yield": "maximize"}}
BOTH = {"objectives": {"yield": "maximize", "cost": "minimize"}}
PURE = {**YIELD, "constraints": {"impurity": lw.AtMost(2.0)}}
# What a study began with, what it is opened with then, and what its history says of that.
GROWN = {
    "a pool": (settings(lw.Pool(["b", "a"])), settings(lw.Pool(["a", "b", "c"])), "space.size: 2 → 3"),
    "records": (
        settings(lw.Record("x < 0.9", x=lw.Float(0, 1), base=["a", "b"])),
        settings(lw.Record("x < 0.8", x=lw.Float(-1, 2), base=["c", "b", "a"])),
        "space.where: x < 0.9 → x < 0.8",
    ),
    "steps": (
        settings(lw.Record(t=lw.Float(20, 120, step=10))),
        settings(lw.Record(t=lw.Float(15, 120, step=5))),
        "space.parts.t.low: 20 → 15",
    ),
    "branches": (
        settings(lw.OneOf(u=lw.Int(1, 4), v=None)),
        settings(lw.OneOf(u=lw.Int(0, 4), w=["x"], v=None)),
        "space.branches.u.low: 1 → 0",
    ),
    "strings": (settings(WORDS), settings(lw.Strings("ACGTN", min_length=3, max_length=4)), "space.min_length: 4 → 3"),
    "an objective": (settings(WORDS, **YIELD), settings(WORDS, **BOTH), "objectives.cost: minimize"),
    "a constraint": (settings(WORDS, **YIELD), settings(WORDS, **PURE), "constraints: {'impurity': [None, 2.0]}"),
    "a computed objective": (
        settings(WORDS, **YIELD),
        settings(WORDS, objectives={"yield": "maximize", "length": lw.Computed(len)}),
        "computed: ['length']",
    ),
}


@pytest.mark.parametrize("name", GROWN)
def test_a_study_may_grow_when_it_is_opened_again_and_never_shrink(name: str, storage: Storage) -> None:
    before, after, change = GROWN[name]
    first = lw.Study(**before, storage=storage, worker="Ann")
    outcomes = tuple(first.goals.measured)
    objects = first.space.sample(2, np.random.default_rng(0))
    first.tell_many([(x, dict.fromkeys(outcomes, 1.0) if first.goals.named else 1.0) for x in objects])
    told = [(trial.object, trial.values) for trial in first.trials]
    second = lw.Study(**after, storage=storage, worker="Bob")
    grown = [event for event in second.history if event.kind == "settings"]
    assert [(event.who, event.revision) for event in grown] == [("Bob", 4)]
    assert change in grown[0].body["changes"]
    assert change in grown[0].summary
    assert [(trial.object, trial.values) for trial in second.trials] == told
    assert len(second.ask(2)) > 0
    count = len(second.history)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(lw.Study(**after, storage=storage, worker="Bob").history) == count
        if name != "records":
            with pytest.raises(lw.StudyError, match=r"nothing may go\. Open it with the stored settings"):
                lw.Study(**before, storage=storage)
        else:
            # Only where it is another `where` alone, both may follow each other.
            with pytest.raises(lw.StudyError, match=r"base\.values is \['c', 'b', 'a'\] in the stored study"):
                lw.Study(**before, storage=storage)
    assert len(second.history) == count


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (lw.Pool(["a", "b", "c"]), lw.Pool(["a", "b"]), "space.size is 3 in the stored study but 2 was given"),
        (lw.Pool(["a", "b"]), lw.Pool(["a", "c", "b"]), "space.digest"),
        (lw.Record(x=["a", "b"]), lw.Record(x=["a", "b"], y=["c"]), "space.parts.y is absent from the stored study"),
        (lw.Record(x=["a", "b"]), lw.Record(x=["a"]), r"space.parts.x.values is \['a', 'b'\] in the stored study"),
        (lw.Float(20, 120, step=5), lw.Float(18, 118, step=5), "space.low is 20 in the stored study but 18"),
        (lw.Float(0, 1), lw.Float(0, 2, log=False, step=0.5), "space.step"),
        (lw.Box([0, 0], [1, 1]), lw.Box([0, 0, 0], [1, 1, 1]), "space.lower"),
        (lw.Box([0.5], [1]), lw.Box([0.1], [1], log=[0]), "space.log"),
        (lw.Permutations(4), lw.Permutations(5), "space.items"),
        (WORDS, lw.Subsets("ACGT"), "space.space is 'Strings' in the stored study but 'Subsets' was given"),
    ],
)
def test_what_may_have_lost_an_object_is_refused(before: lw.Space, after: lw.Space, words: str) -> None:
    storage = open_storage()
    lw.Study(before, storage=storage)
    with pytest.raises(lw.StudyError, match=words):
        lw.Study(after, storage=storage)
    assert len(lw.Study(before, storage=storage).history) == 2


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (BOTH, YIELD, "objectives.cost is 'minimize' in the stored study but was not given"),
        (PURE, YIELD, "constraints.impurity"),
        (YIELD, {"objectives": {"yield": "minimize"}}, "objectives.yield is 'maximize' in the stored study"),
        (PURE, {**PURE, "constraints": {"impurity": lw.AtMost(1.0)}}, r"constraints.impurity\[1\] is 2.0"),
        (BOTH, {"objectives": {"yield": "maximize", "cost": lw.Computed(len)}}, "computed is"),
    ],
)
def test_goals_that_are_gone_or_others_are_refused(before: Any, after: Any, words: str) -> None:
    storage = open_storage()
    lw.Study(WORDS, storage=storage, **before)
    with pytest.raises(lw.StudyError, match=words):
        lw.Study(WORDS, storage=storage, **after)


def test_outcomes_that_came_later_are_told_later(storage: Storage) -> None:
    lw.Study(WORDS, storage=storage, direction="maximize").tell_many([("ACGT", 1.0), ("AAAA", 2.0), ("CCCC", 0.5)])
    study = lw.Study(WORDS, storage=storage, objectives={"value": "maximize", "cost": "minimize"})
    assert [trial.value for trial in study.trials] == [None] * 3
    assert list(study.front) == []
    study.tell(study.trials[0], {"cost": 3.0})
    study.tell("AAAA", {"cost": 5.0})
    study.fail(id=2)
    again = lw.open_study(storage)
    assert [trial.values for trial in again.trials] == [
        {"value": 1.0, "cost": 3.0},
        {"value": 2.0, "cost": 5.0},
        {"value": 0.5},
    ]
    assert [trial.id for trial in again.front] == [0, 1]
    assert [trial.state for trial in again.trials] == ["told", "told", "failed"]


def test_who_has_it_open_as_it_was_is_told_and_loses_nothing(storage: Storage) -> None:
    old = lw.Study(lw.Pool(["a", "b"]), lw.Hamming(), storage=storage)
    (asked,) = old.ask()
    new = lw.Study(lw.Pool(["a", "b", "c"]), lw.Hamming(), storage=storage, worker="Bob")
    new.tell("c", 3.0)
    with pytest.warns(lw.errors.StorageWarning) as caught:
        old.tell(asked, 1.0)
    said = [str(warning.message) for warning in caught]
    assert any("was changed by Bob" in text and "space.size: 2 → 3" in text for text in said)
    assert [trial.value for trial in new.trials] == [1.0, 3.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new._log.restart()
        assert len(new) == 2
        old.tell("b", 2.0)
    assert [(trial.id, trial.value) for trial in new.trials] == [(0, 1.0), (1, 3.0), (2, 2.0)]


def test_a_space_that_includes_another_has_all_its_objects() -> None:
    spaces = [make(None) for make in SPACES.values()]
    described = [json.loads(json.dumps(space.describe())) for space in spaces]
    for (space, own), (other, theirs) in product(zip(spaces, described, strict=True), repeat=2):
        if own["space"] != theirs["space"] or not space.includes(theirs):
            assert space is not other
            continue
        for x in other.sample(20, np.random.default_rng(0)) if own["space"] != "Custom" else []:
            assert space.key(space.from_json(other.to_json(x))) == other.key(x)


def tenths(low: int, count: int, step: int | None) -> lw.Float:
    return lw.Float(low / 10, (low + count * (step or 1)) / 10, step=step and step / 10)


numbers = st.integers(-30, 30)
steps = st.sampled_from([None, 1, 2, 3, 5])


@given(numbers, st.integers(0, 12), steps, numbers, st.integers(0, 12), steps)
def test_bounds_and_steps_include_what_they_lead_to(
    low: int, count: int, step: int | None, low_before: int, count_before: int, step_before: int | None
) -> None:
    space = tenths(low, count, step)
    before = tenths(low_before, count_before, step_before)
    objects = before.box.sample(200, np.random.default_rng(0))
    assume(step_before or before.low == before.high or not step)
    assert space.includes(before.describe()) == all(float(x[0]) in space for x in objects)
