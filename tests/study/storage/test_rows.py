"""Stored rows that somebody edited: each is named with study, trial and field, the others stay readable."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import likewise as lw
from likewise.errors import StorageError, StorageWarning
from likewise.study.storage.base import BadRow, open_storage
from likewise.study.storage.trials import NewRow
from likewise.study.trial import State

BAD, WORDS = 3, ["one", "two", "three", "four", "five", "six", "seven", "eight"]
# Of a trial: the field that is named, and the edit.
EDITS = {
    "an id that is a text": ("id", "id = 'x'"),
    "an id below zero": ("id", "id = -4"),
    "another key": ("key", "key = '\"other\"'"),
    "a key in bytes": ("key", "key = x'00ff'"),
    "a key that is not UTF-8": ("key", "key = CAST(x'ff22' AS TEXT)"),
    "a payload cut short": ("payload", "payload = '{\"a\": '"),
    "a payload of another space": ("payload", "payload = '17'"),
    "a payload that is not UTF-8": ("payload", "payload = CAST(x'22ff22' AS TEXT)"),
    "a payload too deep": ("payload", f"payload = '{'[' * 100_000}'"),
    "a payload of NaN": ("payload", "payload = 'NaN'"),
    "an unknown state": ("state", "state = 'done'"),
    "a state in bytes": ("state", "state = x'00'"),
    "told without a value": ("value", "value = NULL"),
    "a value that is a text": ("value", "value = 'high'"),
    "a value without end": ("value", "value = 9e999"),
    "failed with a value": ("value", "state = 'failed'"),
    "a spread that is a text": ("std", "std = 'wide'"),
    "a spread below zero": ("std", "std = -1.0"),
    "an error in bytes": ("error", "error = x'00ff'"),
    "a worker in bytes": ("worker", "worker = x'00ff'"),
    "created at no time": ("created", "created = 'yesterday'"),
    "updated at no time": ("updated", "updated = 'today'"),
    "a lease that is a text": ("lease", "state = 'asked', value = NULL, lease = 'long'"),
    "a summary cut short": ("summary", "summary = '{'"),
    "a summary that is a list": ("summary", "summary = '[]'"),
    "a revision that is a text": ("revision", "revision = 'x'"),
    "another digest": ("key", "digest = 'x'"),
    "corrections that are no list": ("corrections", "corrections = '{}'"),
    "a correction of nothing": ("corrections", "corrections = '[{}]'"),
    "a correction without a time": ("corrections", """corrections = '[{"did": "amended", "why": ""}]'"""),
}
# Those that a server would refuse itself, or has no way to hold.
LITE = ("text", "bytes", "UTF-8", "no time")


def alike(x: str, y: str) -> float:
    return 1.0 / (1.0 + abs(len(x) - len(y)))


def of_words(url: str) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), alike, storage=url, name="words", initial=2)


def execute(url: str, statement: str) -> list[Any]:
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        found = connection.exec_driver_sql(statement)
        return list(found) if found.returns_rows else []


def edited(url: str, edit: str) -> None:
    """Six told trials, of which one is edited, and another study."""
    study = of_words(url)
    for number, word in enumerate(WORDS[:6]):
        study.tell(word, float(number))
    with open_storage(url) as storage:
        storage.open("other", {}).add([NewRow("1", "1", State.TOLD, 1.0)])
    execute(url, f"UPDATE likewise_trials SET {edit} WHERE id = {BAD} AND study = 1")


@pytest.mark.parametrize("what", EDITS)
def test_a_bad_row_is_named_and_the_others_are_read(what: str, url: str) -> None:
    field, edit = EDITS[what]
    if url.startswith("postgresql") and (any(sign in what for sign in LITE) or "9e999" in edit):
        pytest.skip("the server refuses it")
    edited(url, edit)
    with pytest.warns(StorageWarning, match=f"trial .* of study 'words': {field} is .*likewise check URL"):
        study = of_words(url)
    assert [t.object for t in study.trials] == [word for n, word in enumerate(WORDS[:6]) if n != BAD]
    # It goes on: whatever it asks, and the object of the bad row held, nothing is asked twice.
    suggested = {s.object for _ in range(2) for s in study.ask() for _ in [study.tell(s, 0.5)]}
    assert suggested <= set(WORDS[6:]) | {WORDS[BAD]}
    with open_storage(url) as storage:
        assert [info.name for info in storage.studies()] == ["other", "words"]


@pytest.mark.parametrize("what", EDITS)
def test_bad_rows_are_listed_and_set_aside(what: str, sqlite_url: str) -> None:
    field, edit = EDITS[what]
    edited(sqlite_url, edit)
    with open_storage(sqlite_url, create=False) as storage:
        found = storage.check()
        if what == "a payload of another space":
            assert found == []  # Only the study knows its space.
            return
        assert [(bad.study, bad.field) for bad in found] == [("words", field)]
        assert storage.set_aside() == found
        assert storage.check() == []
        assert len(storage.rows("words")) == 5
    ((study, reason, kept),) = execute(sqlite_url, "SELECT study, reason, fields FROM likewise_aside")
    assert study == "words"
    assert reason.startswith(field)
    assert json.loads(kept)["study"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_words(sqlite_url)


@pytest.mark.parametrize(
    ("field", "edit"),
    [("size", "size = 2"), ("size", "size = 'many'"), ("revision", "revision = 0"), ("revision", "revision = 'x'")],
)
def test_bad_counters_of_a_study_are_named_and_mended(field: str, edit: str, sqlite_url: str) -> None:
    edited(sqlite_url, "std = NULL")
    execute(sqlite_url, f"UPDATE likewise_studies SET {edit} WHERE id = 1")
    with pytest.raises(StorageError, match=f"study 'words': {field} is .*--set-aside"):
        of_words(sqlite_url)
    with open_storage(sqlite_url) as storage:
        assert [info.name for info in storage.studies()] == ["other", "words"]
        assert len(storage.rows("words")) == 6
        assert [(bad.id, bad.field) for bad in storage.set_aside()] == [(None, field)]
    study = of_words(sqlite_url)
    study.tell("seven", 7.0)
    assert [t.id for t in study.trials] == list(range(7))


@pytest.mark.parametrize("settings", ["{", "[]", "x'00ff'"])
def test_a_study_with_unreadable_settings_does_not_hide_the_others(settings: str, sqlite_url: str) -> None:
    edited(sqlite_url, "std = NULL")
    given = settings if settings.startswith("x'") else f"'{settings}'"
    execute(sqlite_url, f"UPDATE likewise_studies SET settings = {given} WHERE id = 1")
    with pytest.raises(StorageError, match=r"study 'words': settings is .*likewise export"):
        of_words(sqlite_url)
    with open_storage(sqlite_url) as storage:
        assert [(info.name, info.direction) for info in storage.studies()][1] == ("words", "unknown")
        assert [(bad.id, bad.field) for bad in storage.check()] == [(None, "settings")]
        assert len(storage.rows("words")) == 6


def test_trials_of_no_study_are_listed_and_set_aside(sqlite_url: str) -> None:
    edited(sqlite_url, "std = NULL")
    execute(sqlite_url, "DELETE FROM likewise_studies WHERE id = 1")
    with open_storage(sqlite_url) as storage:
        assert {(bad.study, bad.field) for bad in storage.check()} == {("", "study")}
        assert len(storage.set_aside()) == 6
        assert storage.check() == []


def test_a_text_among_values_does_not_hide_the_best(sqlite_url: str) -> None:
    edited(sqlite_url, "value = 'high'")
    with open_storage(sqlite_url) as storage:
        assert storage.studies()[1].best == 5.0


@pytest.mark.parametrize("deleted", [0, 2])
def test_a_deleted_row_does_not_end_a_run(deleted: int, sqlite_url: str) -> None:
    edited(sqlite_url, "std = NULL")
    execute(sqlite_url, f"DELETE FROM likewise_trials WHERE id = {deleted} AND study = 1")
    seen: list[int] = []
    result = of_words(sqlite_url).optimize(
        lambda word: float(len(word)),
        budget=2,
        callbacks=lambda study, trial: seen.append(trial.id),
    )
    assert seen == [6, 7]
    assert len(result.study.trials) == 7


def test_what_is_measured_of_a_trial_that_was_deleted_is_kept(sqlite_url: str) -> None:
    study = of_words(sqlite_url)

    def measure(word: str) -> float:
        if word == study.trials[-1].object and len(study.trials) == 2:
            execute(sqlite_url, "DELETE FROM likewise_trials WHERE id = 1")
        return float(len(word))

    study.optimize(measure, budget=4)
    again = of_words(sqlite_url)
    assert len(again.trials) == again.count(lw.State.TOLD) == 4
    assert [t.id for t in again.trials] == [0, 2, 3, 4]


def test_a_bad_row_reads_well() -> None:
    assert str(BadRow("s", 3, "value", "is 'x', which is no finite number")) == (
        "trial 3 of study 's': value is 'x', which is no finite number"
    )


def test_memory_has_no_bad_rows(tmp_path: Path) -> None:
    with open_storage() as storage:
        storage.open("s", {}).add([NewRow("a", "1")])
        assert storage.check() == storage.set_aside() == []
        assert len(storage.rows("s")) == 1
