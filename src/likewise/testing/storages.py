"""What every storage must do: `LAWS`, each a function of an empty storage that a test calls."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from likewise.errors import StudyError
from likewise.study.storage.base import OpenStudy, Storage, Taken
from likewise.study.storage.trials import End, NewRow, Row
from likewise.study.trial import State

E = TypeVar("E", bound=Exception)
SETTINGS = {"direction": "maximize", "space": {"kind": "Strings", "alphabet": ["A", "C"], "length": 8}}
NUMBERS = (
    0.1 + 0.2,
    5e-324,
    sys.float_info.max,
    sys.float_info.min,
    -1 / 3,
    2.0**53 + 2,
    0.0,
    1e22,
    123456789.123456789,
)


# Not stored as they were added: a lease is added in seconds and stored as a time.
SAID_OTHERWISE = ("replicate", "lease")


def row(name: str, **changes: Any) -> NewRow:
    """A row whose object is a text."""
    return NewRow(key=json.dumps(name), payload=json.dumps(name), **changes)


def outcomes(**values: float) -> str:
    """Outcomes of these values."""
    return json.dumps({name: {"value": value} for name, value in values.items()})


def refuses(error: type[E], *words: str, call: Callable[[], object]) -> E:
    """The error that the call must raise, with a message that must hold every word."""
    try:
        call()
    except error as raised:
        caught = raised
    else:
        raise AssertionError(f"the call was not refused with {error.__name__}")
    missing = [word for word in words if word not in str(caught)]
    assert not missing, f"the message lacks {missing}: {caught}"
    return caught


def whole(study: OpenStudy) -> list[Row]:
    """Every row, by id."""
    return sorted(study.since(0)[0], key=lambda each: each.id)


def rows_come_back_exactly(storage: Storage) -> None:
    """Doubles to the last bit, any text, any length; times are set; leases are kept."""
    study = storage.open("exact", SETTINGS)
    added = [row(f"n{place}", state=State.TOLD, value=number, std=abs(number)) for place, number in enumerate(NUMBERS)]
    added.append(
        NewRow('"π"', '{"b": [1, 2.5, null], "a": "π\\u0000"}', worker="w-1", lease=1e3, summary='{"mean": 0.1}')
    )
    added.append(row("x" * 100_000, state=State.FAILED, error="Traceback:\n  naïve ∑ 'quoted' \"twice\""))
    assert study.add(added) == list(range(len(added)))
    for new, stored in zip(added, whole(storage.open("exact", SETTINGS)), strict=True):
        fields = {name: getattr(stored, name) for name in NewRow.__dataclass_fields__ if name not in SAID_OTHERWISE}
        assert NewRow(**fields) == replace(new, lease=None)
        assert stored.lease == (None if new.lease is None else stored.created + new.lease)
        assert isinstance(stored.state, State)
        assert 1.6e9 < stored.created == stored.updated


def odd_texts_are_kept(storage: Storage) -> None:
    """An error text that databases refuse is stored readably: a failure is never lost to its message."""
    study = storage.open("odd", SETTINGS)
    study.add([row("a"), row("b", state=State.FAILED, error="\x00\ud800")])
    study.settle(0, state=State.FAILED, error="NUL \x00, surrogate \ud800, emoji 🧪")
    assert [each.error for each in whole(study)] == ["NUL \\x00, surrogate \\ud800, emoji 🧪", "\\x00\\ud800"]


def other_settings_are_refused(storage: Storage) -> None:
    """The message names each place that differs, with both values; the stored study stays as it is."""
    storage.open("s", SETTINGS).add([row("a")])
    space = {"kind": "Strings", "alphabet": ["A", "G"], "length": 9, "where": "odd"}
    other = {"direction": "minimize", "space": space}
    words = ("'s'", "space.length is 8", "9", "space.alphabet[1] is 'C'", "'G'", "space.where is absent", "direction")
    refuses(StudyError, *words, call=lambda: storage.open("s", other))
    refuses(StudyError, "space is", "not given", call=lambda: storage.open("s", {"direction": "maximize"}))
    assert len(whole(storage.open("s", json.loads(json.dumps(SETTINGS))))) == 1


def bad_openings_are_refused(storage: Storage) -> None:
    """Names and settings that cannot be stored."""
    refuses(StudyError, "name", "''", call=lambda: storage.open("", SETTINGS))
    refuses(StudyError, "JSON", call=lambda: storage.open("s", {"space": object()}))
    refuses(StudyError, "JSON", call=lambda: storage.open("s", {"space": float("nan")}))
    assert storage.studies() == []


def openings_are_noted(storage: Storage) -> None:
    """Notes come back in order, from every opening."""
    texts = ['{"seed": 1}', '{"seed": 2, "similarity": "Hamming"}', "3"]
    for text in texts:
        storage.open("noted", SETTINGS).note(text)
    assert storage.open("noted", SETTINGS).notes() == texts
    assert storage.open("other", SETTINGS).notes() == []
    refuses(StudyError, "JSON", call=lambda: storage.open("other", SETTINGS).note("NaN"))


def an_object_is_given_once(storage: Storage) -> None:
    """Asked, told and failed objects are taken; abandoned ones are free; replicates are welcome; all or none."""
    study = storage.open("once", SETTINGS)
    states = (State.ASKED, State.TOLD, State.FAILED, State.ABANDONED)
    study.add([row(state, state=state, value=1.0 if state is State.TOLD else None) for state in states])
    for name in ("asked", "told", "failed"):
        refuses(Taken, f'"{name}"', call=lambda name=name: study.add([row("new"), row(name)]))  # type: ignore[misc]
    refuses(Taken, call=lambda: study.add([row("twice"), row("twice")]))
    assert len(whole(study)) == 4
    assert study.add([row("abandoned")]) == [4]
    assert study.add([row("told", replicate=True), row("told", replicate=True)]) == [5, 6]
    study.add([row("only", replicate=True)])
    refuses(Taken, '"only"', call=lambda: study.add([row("only")]))
    assert storage.open("elsewhere", SETTINGS).add([row("told")]) == [0]


def taken_says_which(storage: Storage) -> None:
    """`Taken.keys` lists exactly the objects that are not free, however many are added at once."""
    study = storage.open("which", SETTINGS)
    names = [f"object {number}" for number in range(1200)]
    study.add([row(name) for name in names])
    wanted = [row("free"), row(names[3]), row("free too"), row(names[1100])]
    taken = refuses(Taken, call=lambda: study.add(wanted))
    assert taken.keys == (json.dumps(names[3]), json.dumps(names[1100]))
    assert study.add([]) == []
    assert study.add([row("free")]) == [1200]


def results_are_final(storage: Storage) -> None:
    """A second result and an unknown id are refused with what is there, and change nothing."""
    study = storage.open("final", SETTINGS)
    refuses(StudyError, "no trial 0", "no trials yet", call=lambda: study.settle(0, state=State.TOLD, value=1.0))
    study.add([row("a"), row("b"), row("c", lease=5.0)])
    study.settle(0, state=State.TOLD, value=0.25, std=0.5)
    study.settle(1, state=State.FAILED, error="ValueError: broke\n")
    before = study.since(0)
    refuses(StudyError, "trial 0", "told", "0.25", call=lambda: study.settle(0, state=State.TOLD, value=0.25))
    refuses(StudyError, "trial 1", "failed", "broke", call=lambda: study.settle(1, state=State.TOLD, value=1.0))
    refuses(StudyError, "no trial 3", "0 to 2", call=lambda: study.settle(3, state=State.ABANDONED))
    refuses(StudyError, "no trial -1", call=lambda: study.settle(-1, state=State.ABANDONED))
    refuses(Taken, '"c"', call=lambda: study.settle(2, state=State.ASKED))
    refuses(StudyError, "queued", call=lambda: study.settle(2, state=State.QUEUED))
    assert study.since(0) == before
    study.settle(2, state=State.ABANDONED)
    assert whole(study)[2].lease is None


def a_queued_object_is_given_once(storage: Storage) -> None:
    """A queued object is held, is asked by the first who asks, and has worker, lease and summary from then on."""
    study = storage.open("queued", SETTINGS)
    study.add([row("a", state=State.QUEUED, notes='{"by": "Ann", "vial": 3}'), row("b", state=State.QUEUED)])
    refuses(Taken, '"a"', call=lambda: study.add([row("a")]))
    begin = End(0, State.ASKED, worker="w", lease=60.0, summary='{"stage": "enqueued"}')
    assert study.record([row("c")], [begin]) == [2]
    refuses(Taken, '"a"', call=lambda: study.record([row("d")], [begin]))
    first, second, *_ = whole(study)
    assert (first.state, first.worker, first.summary) == (State.ASKED, "w", '{"stage": "enqueued"}')
    assert first.lease is not None
    assert second.lease is None
    study.record(ends=[End(0, State.TOLD, 1.0, notes='{"vial": 4}'), End(1, State.ABANDONED)])
    assert [json.loads(each.notes or "{}") for each in whole(study)] == [{"by": "Ann", "vial": 4}, {}, {}]


def late_results_are_kept(storage: Storage) -> None:
    """An abandoned trial may still be told, even when its object was asked and told again meanwhile."""
    study = storage.open("late", SETTINGS)
    study.add([row("a"), row("b")])
    study.settle(0, state=State.ABANDONED)
    study.settle(0, state=State.ABANDONED)
    study.add([row("a")])
    study.settle(0, state=State.TOLD, value=1.0)
    study.settle(2, state=State.TOLD, value=2.0)
    study.settle(1, state=State.ABANDONED)
    study.settle(1, state=State.FAILED, error="late")
    assert [(each.state, each.value) for each in whole(study)] == [
        (State.TOLD, 1.0),
        (State.FAILED, None),
        (State.TOLD, 2.0),
    ]
    refuses(Taken, call=lambda: study.add([row("a")]))
    refuses(Taken, call=lambda: study.add([row("b")]))


def ends_and_rows_are_recorded_together(storage: Storage) -> None:
    """One step and one revision: all or none."""
    study = storage.open("together", SETTINGS)
    study.add([row("a"), row("b"), row("c")])
    told = [End(0, State.TOLD, 1.0, 0.5), End(1, State.FAILED, error="broke"), End(2, State.ABANDONED)]
    before = study.since(0)
    for ends, rows in (
        ([*told, End(9, State.TOLD, 1.0)], [row("d")]),
        ([*told, End(0, State.TOLD, 2.0)], [row("d")]),
        (told, [row("d"), row("a")]),
    ):
        refuses(StudyError, call=lambda ends=ends, rows=rows: study.record(rows, ends))  # type: ignore[misc]
        assert study.since(0) == before
    assert study.record([row("d", state=State.TOLD, value=3.0), row("c")], told) == [3, 4]
    changed = study.since(before[1])[0]
    assert [(each.id, each.state.value, each.value) for each in changed] == [
        (0, "told", 1.0),
        (1, "failed", None),
        (2, "abandoned", None),
        (3, "told", 3.0),
        (4, "asked", None),
    ]
    assert len({each.revision for each in changed}) == 1
    assert study.record() == []


def outcomes_arrive_one_by_one(storage: Storage) -> None:
    """Several outcomes come back exactly, each with the revision it was told at; none is told twice, or lost."""
    study = storage.open("outcomes", SETTINGS)
    study.add([row("a"), row("b"), row("c", state=State.TOLD, outcomes=outcomes(cost=NUMBERS[0], gain=5e-324))])
    study.settle(0, state=State.TOLD, outcomes=outcomes(gain=NUMBERS[4]))
    first = study.since(0)[1]
    study.settle(1, state=State.TOLD, outcomes='{"gain": {"value": 0.1, "std": 0.5, "limit": "below"}}')
    study.settle(0, state=State.TOLD, outcomes=outcomes(cost=1e22))
    held = [json.loads(each.outcomes or "{}") for each in whole(storage.open("outcomes", SETTINGS))]
    assert {name: one["value"] for name, one in held[0].items()} == {"gain": NUMBERS[4], "cost": 1e22}
    assert held[0]["gain"]["told"] == first < held[1]["gain"]["told"] < held[0]["cost"]["told"]
    assert {name: one["value"] for name, one in held[2].items()} == {"cost": NUMBERS[0], "gain": 5e-324}
    assert held[1]["gain"] | {"told": 0} == {"value": 0.1, "std": 0.5, "limit": "below", "told": 0}
    before = study.since(0)
    again = outcomes(cost=2.0)
    refuses(
        StudyError, "trial 0", "told", "'cost' 1e+22", call=lambda: study.settle(0, state=State.TOLD, outcomes=again)
    )
    refuses(StudyError, "told", call=lambda: study.settle(0, state=State.FAILED, error="late"))
    refuses(StudyError, "asked", call=lambda: study.add([row("d", state=State.ASKED, outcomes=again)]))
    for bad in ("{}", "[1]", "{", '{"gain": 1}', '{"gain": {"value": NaN}}', '{"gain": {"value": 1, "std": -1}}'):
        refuses(StudyError, "outcome", call=lambda bad=bad: study.add([row("e", state=State.TOLD, outcomes=bad)]))  # type: ignore[misc]
    assert study.since(0) == before


def what_was_told_is_corrected(storage: Storage) -> None:
    """A told trial is amended and withdrawn, a failed one withdrawn; it keeps what it said, and its object is free."""
    study = storage.open("corrected", SETTINGS)
    study.add(
        [row("a", state=State.TOLD, value=8971.0, std=0.5), row("b", state=State.FAILED, error="broke"), row("c")]
    )
    study.add([row("d", state=State.TOLD, outcomes=outcomes(gain=1.0, cost=2.0))])
    study.record(ends=[End(0, State.TOLD, 89.71, worker="w", why="typo"), End(1, State.ABANDONED, why="")])
    study.record(ends=[End(3, State.TOLD, outcomes=outcomes(cost=3.0), why="")])
    first, second, _, fourth = whole(storage.open("corrected", SETTINGS))
    assert (first.state, first.value, first.std) == (State.TOLD, 89.71, None)
    (entry,) = json.loads(first.corrections or "[]")
    assert entry == {"did": "amended", "why": "typo", "by": "w", "at": first.updated, "value": 8971.0, "std": 0.5}
    assert (second.state, second.error) == (State.ABANDONED, None)
    assert json.loads(second.corrections or "[]")[0]["error"] == "broke"
    assert {name: one["value"] for name, one in json.loads(fourth.outcomes or "{}").items()} == {
        "gain": 1.0,
        "cost": 3.0,
    }
    assert json.loads(fourth.corrections or "[]")[0]["outcomes"]["cost"]["value"] == 2.0
    study.record(ends=[End(0, State.ABANDONED, why="wrong vial")])
    withdrawn = whole(study)[0]
    assert (withdrawn.state, withdrawn.value) == (State.ABANDONED, None)
    assert [entry["value"] for entry in json.loads(withdrawn.corrections or "[]")] == [8971.0, 89.71]
    before = study.since(0)
    for id, state, said in (
        (0, State.TOLD, "withdrawn"),
        (1, State.ABANDONED, "withdrawn"),
        (2, State.TOLD, "no value yet"),
        (2, State.ABANDONED, "no value yet"),
        (9, State.TOLD, "no trial 9"),
    ):
        end = End(id, state, 1.0 if state is State.TOLD else None, why="")
        refuses(StudyError, said, call=lambda end=end: study.record(ends=[end]))  # type: ignore[misc]
    assert study.since(0) == before
    assert study.add([row("a"), row("b")]) == [4, 5]
    study.settle(0, state=State.TOLD, value=90.0)
    assert (told := whole(study)[0]).value == 90.0
    assert told.corrections == withdrawn.corrections


def a_trial_fails_in_the_rest(storage: Storage) -> None:
    """A trial that was told some outcomes may fail in the others, once; it keeps what was told, and its notes."""
    study = storage.open("rest", SETTINGS)
    study.add([row("a", notes='{"by": "Ann"}')])
    study.settle(0, state=State.TOLD, outcomes=outcomes(gain=0.5))
    last = study.since(0)[1]
    end = End(0, State.FAILED, error="lost", notes='{"vial": 3}', rest=True)
    study.record(ends=[end])
    (found,) = study.since(last)[0]
    assert (found.state, found.error, json.loads(found.notes or "{}")) == (
        State.FAILED,
        "lost",
        {"by": "Ann", "vial": 3},
    )
    assert {name: one["value"] for name, one in json.loads(found.outcomes or "{}").items()} == {"gain": 0.5}
    refuses(StudyError, "trial 0", "failed", call=lambda: study.record(ends=[end]))


def what_is_not_finite_is_refused(storage: Storage) -> None:
    """NaN and infinities are stored nowhere, and the study is unchanged."""
    study = storage.open("finite", SETTINGS)
    study.add([row("a")])
    before = study.since(0)
    for number in (float("nan"), float("inf"), -float("inf")):
        told = {"state": State.TOLD, "value": number}
        refuses(StudyError, "failed", str(number), call=lambda told=told: study.settle(0, **told))  # type: ignore[misc]
        for bad in (
            row("b", **told),
            row("b", state=State.TOLD, value=0.0, std=number),
            row("b", lease=number),
            replace(row("b"), payload=json.dumps([number])),
            replace(row("b"), summary=json.dumps({"mean": number})),
        ):
            refuses(StudyError, call=lambda bad=bad: study.add([row("fine"), bad]))  # type: ignore[misc]
        refuses(StudyError, "lease", call=lambda number=number: study.beat([0], number))  # type: ignore[misc]
    refuses(StudyError, "-1", call=lambda: study.settle(0, state=State.TOLD, value=0.0, std=-1.0))
    refuses(StudyError, "value", call=lambda: study.settle(0, state=State.TOLD))
    refuses(StudyError, "value", call=lambda: study.settle(0, state=State.FAILED, value=1.0))
    refuses(StudyError, "JSON", call=lambda: study.add([replace(row("b"), payload="{")]))
    assert study.since(0) == before


def news_is_complete(storage: Storage) -> None:
    """Reading since the last revision gives every change once, in order."""
    study = storage.open("news", SETTINGS)
    other = storage.open("news", SETTINGS)
    assert study.since(0) == ([], 0)
    study.add([row("a"), row("b"), row("c")])
    rows, revision = other.since(0)
    assert [each.id for each in rows] == [0, 1, 2]
    assert other.since(revision) == ([], revision)
    study.settle(2, state=State.TOLD, value=2.0)
    study.settle(0, state=State.TOLD, value=1.0)
    rows, newest = other.since(revision)
    assert [each.id for each in rows] == [2, 0]
    assert [each.id for each in other.since(0)[0]] == [1, 2, 0]
    assert newest == rows[-1].revision > rows[0].revision > revision
    assert rows[0].updated >= rows[0].created


def leases_run_out(storage: Storage) -> None:
    """Only asked trials whose lease has ended are abandoned, once; a heartbeat keeps them."""
    study = storage.open("leases", SETTINGS)
    study.add([row("a", lease=-10.0), row("b", lease=-10.0), row("c"), row("d", lease=30.0), row("e", lease=-10.0)])
    study.settle(4, state=State.TOLD, value=0.0)
    study.beat([1, 4, 99], 40.0)
    assert study.expire() == [0]
    assert study.expire() == []
    study.beat([0], 50.0)
    assert [(each.state.value, each.lease and round(each.lease - each.updated)) for each in whole(study)] == [
        ("abandoned", None),
        ("asked", 40),
        ("asked", None),
        ("asked", 30),
        ("told", None),
    ]
    study.beat([1, 3], -1.0)
    assert study.expire() == [1, 3]


def studies_are_listed_and_deleted(storage: Storage) -> None:
    """Counts, the best value by direction, and nothing left after deletion."""
    assert storage.studies() == []
    for name, direction in (("up", "maximize"), ("down", "minimize")):
        study = storage.open(name, {"direction": direction})
        study.add([row(f"{value}", state=State.TOLD, value=value) for value in (1.0, 3.0, 2.0)] + [row("open")])
        study.note("{}")
    storage.open("empty", {"direction": "maximize"})
    down, empty, up = storage.studies()
    assert (down.name, down.direction, down.best) == ("down", "minimize", 1.0)
    assert (up.name, up.direction, up.best) == ("up", "maximize", 3.0)
    assert (empty.best, set(empty.counts.values())) == (None, {0})
    assert up.counts == {State.TOLD: 3, State.ASKED: 1, State.FAILED: 0, State.ABANDONED: 0, State.QUEUED: 0}
    assert 1.6e9 < up.created <= up.updated
    held = storage.open("up", {"direction": "maximize"})
    storage.delete("up")
    assert [info.name for info in storage.studies()] == ["down", "empty"]
    fresh = storage.open("up", {"direction": "minimize"})
    assert fresh.since(0) == ([], 0)
    assert fresh.notes() == []
    refuses(StudyError, "deleted", call=lambda: held.add([row("a")]))
    assert whole(fresh) == []
    refuses(StudyError, "'none'", "'down'", call=lambda: storage.delete("none"))


def threads_share_a_study(storage: Storage) -> None:
    """Eight threads add and settle: nothing lost, nothing twice, ids consecutive."""

    def work(worker: int) -> int:
        study = storage.open("threads", SETTINGS)
        won = 0
        for number in range(20):
            try:
                (id,) = study.add([row(f"object {number}", worker=str(worker))])
            except Taken:
                continue
            study.settle(id, state=State.TOLD, value=float(number))
            won += 1
        return won

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 20
    rows = whole(storage.open("threads", SETTINGS))
    assert [each.id for each in rows] == list(range(20))
    assert sorted(each.value for each in rows if each.value is not None) == [float(number) for number in range(20)]


LAWS: tuple[Callable[[Storage], None], ...] = (
    rows_come_back_exactly,
    odd_texts_are_kept,
    other_settings_are_refused,
    bad_openings_are_refused,
    openings_are_noted,
    an_object_is_given_once,
    taken_says_which,
    results_are_final,
    late_results_are_kept,
    a_queued_object_is_given_once,
    ends_and_rows_are_recorded_together,
    outcomes_arrive_one_by_one,
    a_trial_fails_in_the_rest,
    what_was_told_is_corrected,
    what_is_not_finite_is_refused,
    news_is_complete,
    leases_run_out,
    studies_are_listed_and_deleted,
    threads_share_a_study,
)
