"""What happened to a study: told in order by its history, which opens, copies and lets it grow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
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
