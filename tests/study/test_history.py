"""What happened to a study: told in order by its history, which opens, copies and lets it grow."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.fixtures.logs import add, end, log_of

import likewise as lw
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
