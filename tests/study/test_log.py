"""The log: what may follow what, that all readers come to the same trials, and that nothing bad hides the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.fixtures.logs import add, correct, end, log_of

from likewise.errors import StorageWarning, StudyError
from likewise.study.log import FOLLOWS, Taken, differences, read_log, studies
from likewise.study.storage.base import Storage, Stored, open_storage
from likewise.study.trial import Outcome, State

STATES = (State.ASKED, State.TOLD, State.FAILED, State.ABANDONED)
ids = st.integers(0, 8)
values = st.floats(allow_nan=False, allow_infinity=False)


class Twins(RuleBasedStateMachine):
    """Two workers on one log, beside a model of a few lines; whatever they do, all three agree."""

    storage: Storage

    @initialize()
    def begin(self) -> None:
        self.logs = [log_of(self.storage, f"study {id(self)}", who) for who in ("Ann", "Bob")]
        self.model: list[tuple[str, State, float | None]] = []

    @rule(who=st.integers(0, 1), names=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True))
    def add(self, who: int, names: list[str]) -> None:
        free = not {x for x, state, _ in self.model if state is not State.ABANDONED} & set(names)
        try:
            given = add(self.logs[who], *names)
        except Taken:
            assert not free
            return
        assert free
        assert given == list(range(len(self.model), len(self.model) + len(names)))
        self.model += [(name, State.ASKED, None) for name in names]

    @rule(who=st.integers(0, 1), id=ids, state=st.sampled_from(STATES), value=values)
    def end(self, who: int, id: int, state: State, value: float) -> None:
        told = value if state is State.TOLD else None
        fits = id < len(self.model) and self.model[id][1] in FOLLOWS[state]
        try:
            end(self.logs[who], id, state, told)
        except StudyError:
            assert not fits
            return
        assert fits
        self.model[id] = self.model[id][0], state, told

    @rule(who=st.integers(0, 1), id=ids, value=st.none() | values)
    def correct(self, who: int, id: int, value: float | None) -> None:
        """Amended, or with None withdrawn."""
        states = [State.TOLD] if value is not None else [State.TOLD, State.FAILED]
        fits = id < len(self.model) and self.model[id][1] in states
        try:
            correct(self.logs[who], id, value)
        except StudyError:
            assert not fits
            return
        assert fits
        self.model[id] = self.model[id][0], State.ABANDONED if value is None else State.TOLD, value

    @rule(who=st.integers(0, 1))
    def reopen(self, who: int) -> None:
        log = self.logs[who]
        self.logs[who] = log_of(log.storage, log.name, log.who)

    @invariant()
    def all_agree(self) -> None:
        for log in self.logs:
            log.sync()
        first, second = (log.ledger for log in self.logs)
        assert [(t.object, t.state, t.value) for t in first.trials] == self.model
        assert first.trials == second.trials
        for state in State:
            assert [t.id for t in first.within(state)] == [t.id for t in second.within(state)]


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest) -> Iterator[Storage]:
    fixtures = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}
    url = request.getfixturevalue(fixtures[request.param]) if request.param in fixtures else None
    with open_storage(url) as opened:
        yield opened


def test_two_workers_and_a_model_agree(storage: Storage) -> None:
    examples = 30 if "Memory" in type(storage).__name__ else 8
    effort = settings(
        max_examples=examples, stateful_step_count=25, suppress_health_check=list(HealthCheck), database=None
    )
    run_state_machine_as_test(type("Machine", (Twins,), {"storage": storage}), settings=effort)


def test_what_is_told_comes_back_to_the_last_bit(storage: Storage) -> None:
    numbers = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -1 / 3, 2.0**53 + 2, 123456789.123456789]
    log = log_of(storage)
    for i, number in enumerate(numbers):
        outcome = {"value": number, "std": abs(number), "limit": "below", "block": "Tuesday"}
        (id,) = add(log, f"π{i}", said={"mean": number}, notes={"by": "Ann\0\ud800"})
        end(log, id, outcomes={"value": outcome}, notes={"vial": i})
        (trial,) = (t for t in log_of(storage).ledger.trials if t.id == id)
        assert trial == log.ledger.get(id)
        assert trial.outcomes == {"value": Outcome(number, abs(number), "below", "Tuesday")}
        assert trial.summary == {"mean": number}
        assert trial.notes == {"by": "Ann\0\ud800", "vial": i}
        assert trial.created <= trial.updated


def test_an_object_may_be_nothing(storage: Storage) -> None:
    """JSON's null is an object like any other."""
    log = log_of(storage)
    (id,) = add(log, None, claim=False)
    end(log, id, value=1.0)
    assert [(t.object, t.value) for t in log_of(storage).ledger.trials] == [(None, 1.0)]


def test_outcomes_may_arrive_one_after_the_other_and_a_failure_ends_them() -> None:
    log = log_of(None, "s", "me", "yield", "cost")
    a, b = add(log, "a", "b")
    end(log, a, outcomes={"yield": {"value": 71.0}})
    end(log, b, outcomes={"cost": {"value": 3.0}})
    with pytest.raises(StudyError, match=r"trial 0 is already told with 'yield' 71"):
        end(log, a, outcomes={"yield": {"value": 70.0}})
    end(log, a, outcomes={"cost": {"value": 2.0}})
    end(log, b, State.FAILED, error="broke")
    first, second = log.ledger.trials
    assert (first.values, first.state) == ({"yield": 71.0, "cost": 2.0}, State.TOLD)
    assert (second.values, second.state, second.error) == ({"cost": 3.0}, State.FAILED, "broke")
    assert [t.id for t in log.ledger.measured("cost")] == [0]


def test_what_is_amended_keeps_its_place_and_what_is_withdrawn_frees_its_object() -> None:
    log = log_of()
    for name in "abc":
        end(log, *add(log, name), value=1.0)
    correct(log, 0, 5.0)
    assert [t.id for t in log.ledger.within(State.TOLD)] == [0, 1, 2]
    assert log.ledger.trials[0].value == 5.0
    correct(log, 1, None)
    assert [t.id for t in log.ledger.within(State.TOLD)] == [0, 2]
    assert add(log, "b") == [3]
    assert [[str(c) for c in t.corrections] for t in log_of(log.storage).ledger.trials] == [
        ["amended, was 1 (typo)"],
        ["withdrawn, was 1 (typo)"],
        [],
        [],
    ]
    with pytest.raises(StudyError, match="trial 1 is withdrawn; tell its object"):
        correct(log, 1, 2.0)
    end(log, 1, value=2.0)
    assert log.ledger.trials[1].value == 2.0


def test_a_change_is_whole_or_not_at_all(storage: Storage) -> None:
    log = log_of(storage)
    (a,) = add(log, "a")
    before, revision = log.ledger.trials, log.ledger.revision

    def change(*ends: int) -> None:
        with log.change("tell") as draft:
            draft.add("b", "b", state=State.ASKED)
            for id in ends:
                draft.change(id, state=State.TOLD, outcomes={"value": {"value": 1.0}})
            if not ends:
                raise ZeroDivisionError

    with pytest.raises(StudyError, match="there is no trial 7"):
        change(a, 7)
    with pytest.raises(ZeroDivisionError):
        change()
    log.sync()
    assert (log.ledger.trials, log.ledger.revision) == (before, revision)
    assert add(log, "b") == [1]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{", "cannot be read"),
        ("[1]", "no JSON object"),
        ('{"trials": [{"id": 9, "state": "told", "outcomes": {"value": {"value": 1}}}]}', "there is no trial 9"),
        ('{"trials": [{"id": 0, "state": "told", "outcomes": {"value": {"value": "high"}}}]}', "finite number"),
        ('{"trials": [{"id": 0, "state": "told", "outcomes": {"value": {"worth": 1}}}]}', "worth"),
        ('{"trials": [{"id": 0, "state": "asleep"}]}', "asleep"),
        ('{"trials": [{"state": "told"}]}', "KeyError: 'id'"),
    ],
)
def test_an_event_that_cannot_be_used_is_named_and_hides_no_other(body: str, words: str, storage: Storage) -> None:
    log = log_of(storage)
    add(log, "a")
    with storage.transaction(log.study) as change:
        change.append(Stored(log.ledger.revision + 1, change.now, "somebody", "tell", body))
    with pytest.warns(StorageWarning, match=f"(?s)event 3 of study 's'.*{words}"):
        log.sync()
    end(log, 0, value=2.0)
    with pytest.warns(StorageWarning):
        again = read_log(storage, "s")
    assert [(t.object, t.value) for t in again.ledger.trials] == [("a", 2.0)]
    assert {bad.revision for bad in again.complaints} == {3}


def test_a_space_that_cannot_read_an_object_hides_no_other(storage: Storage) -> None:
    add(log_of(storage), "a", "bad", "c", "bad")
    log = read_log(storage, "s")

    def picky(data: Any) -> Any:
        if data == "bad":
            raise KeyError(data)
        return data

    log.ledger._from_json = picky
    log.restart()
    with pytest.warns(StorageWarning, match="KeyError: 'bad'"):
        log.sync()
    assert [(t.id, t.object) for t in log.ledger.trials] == [(0, "a"), (2, "c")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log.sync()
    with log.change("ask") as draft:
        assert draft.add("d", "d", state=State.ASKED) == 4, "the number of what cannot be read is not given again"


def test_leases_end_and_are_renewed(storage: Storage) -> None:
    log, other = log_of(storage), log_of(storage, "s", "other")
    add(log, "kept", lease=-1.0)
    add(log, "lost", lease=-1.0)
    add(log, "told", lease=-1.0)
    add(log, "forever")
    end(log, 2, value=1.0)
    storage.beat(log.study, [0, 2, 3], 1000.0)
    other.sync()
    other.expire()
    assert [t.state for t in other.ledger.trials] == [State.ASKED, State.ABANDONED, State.TOLD, State.ASKED]
    assert not storage.any_late(log.study)
    end(log, 1, value=2.0)
    assert log.ledger.trials[1].value == 2.0


def test_studies_are_renamed_copied_and_deleted(storage: Storage) -> None:
    log, other = log_of(storage, "a"), log_of(storage, "b")
    end(log, *add(log, "x"), value=3.0)
    add(log, "y", lease=-1.0)
    storage.rename("a", "c")
    assert storage.names() == ["b", "c"]
    add(log, "z")
    storage.copy("c", "d")
    assert read_log(storage, "d").ledger.trials == read_log(storage, "c").ledger.trials
    copied = log_of(storage, "d")
    copied.expire()
    assert [t.state for t in copied.ledger.trials] == [State.TOLD, State.ABANDONED, State.ASKED]
    assert [(info.name, info.best, info.counts[State.ASKED]) for info in studies(storage)] == [
        ("b", None, 0),
        ("c", 3.0, 2),
        ("d", 3.0, 1),
    ]
    missing = (lambda: storage.rename("none", "e"), lambda: storage.copy("none", "e"), lambda: storage.delete("none"))
    for call in missing:
        with pytest.raises(StudyError, match="no study 'none' in this storage; stored studies: 'b'"):
            call()
    for call in (lambda: storage.rename("b", "c"), lambda: storage.copy("b", "c")):
        with pytest.raises(StudyError, match="there is a study 'c' already"):
            call()
    storage.delete("b")
    with pytest.raises(StudyError, match="has been deleted"):
        add(other, "x")
    assert log_of(storage, "b").study != other.study


@pytest.mark.parametrize("name", ["", "a\0b", 3, None])
def test_names_that_cannot_be(name: Any) -> None:
    with pytest.raises(StudyError, match="non-empty text"):
        log_of(None, name)


def test_other_settings_are_named(storage: Storage) -> None:
    log_of(storage, "s", "me", "value", "cost")
    with pytest.raises(StudyError, match=r"objectives\.cost is 'maximize' in the stored study but was not given"):
        log_of(storage)
    assert list(map(str, differences({"a": 1, "b": [1.0]}, {"a": True, "b": [1]}))) == [
        "a is 1 in the stored study but True was given"
    ]
