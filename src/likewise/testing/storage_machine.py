"""A storage next to a model of a few lines: whatever is done to both, they agree.

A test runs `run_state_machine_as_test(machine(lambda: storage))`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from likewise.errors import StudyError
from likewise.study.storage.base import Storage, Taken
from likewise.study.storage.trials import FOLLOWS, NewRow, Row
from likewise.study.trial import State
from likewise.testing.storages import SETTINGS, row


@dataclass
class _Modelled:
    """A trial as the model knows it."""

    key: str
    state: State
    value: float | None = None
    std: float | None = None
    error: str | None = None
    lease: float | None = None


_ids = st.integers(0, 12)
# Ended long ago, or not for long: what is between is for the clock to say.
_leases = st.sampled_from([-1000.0, 1000.0])
_values = st.floats(allow_nan=False, allow_infinity=False)
_new_rows = st.builds(
    lambda name, state, value, lease, replicate: row(
        name,
        state=state,
        value=value if state is State.TOLD else None,
        lease=lease if state is State.ASKED else None,
        replicate=replicate,
    ),
    name=st.sampled_from("abcdef"),
    state=st.sampled_from(State),
    value=_values,
    lease=st.none() | _leases,
    replicate=st.sampled_from([False, False, True]),
)


class StorageMachine(RuleBasedStateMachine):
    """Does the same to a storage and to a model of a few lines."""

    make: ClassVar[Callable[[], Storage]]

    @initialize()
    def begin(self) -> None:
        self.storage = type(self).make()
        self.name = uuid.uuid4().hex
        self.study = self.storage.open(self.name, SETTINGS)
        self.model: list[_Modelled] = []
        self.read: dict[int, Row] = {}
        self.revision = 0

    @rule(rows=st.lists(_new_rows, max_size=4))
    def add(self, rows: list[NewRow]) -> None:
        held = {trial.key for trial in self.model if trial.state is not State.ABANDONED}
        claimed = [new.key for new in rows if new.claims]
        free = len(set(claimed)) == len(claimed) and not held.intersection(claimed)
        try:
            ids = self.study.add(rows)
        except Taken:
            assert not free
            return
        assert free
        assert ids == list(range(len(self.model), len(self.model) + len(rows)))
        self.model += [_Modelled(new.key, new.state, new.value, new.std, new.error, new.lease) for new in rows]

    @rule(id=_ids, state=st.sampled_from([State.ASKED, State.TOLD, State.FAILED, State.ABANDONED]), value=_values)
    def settle(self, id: int, state: State, value: float) -> None:
        result: dict[str, Any] = {}
        if state is State.TOLD:
            result = {"value": value, "std": 0.5}
        elif state is State.FAILED:
            result = {"error": "why"}
        known = id < len(self.model)
        again = state is State.ABANDONED and known and self.model[id].state is state
        fits = known and (again or self.model[id].state in FOLLOWS[state])
        try:
            self.study.settle(id, state=state, **result)
        except StudyError:
            assert not fits
            return
        assert fits
        self.model[id] = _Modelled(self.model[id].key, state, **result)

    @rule(ids=st.lists(_ids, max_size=4), lease=_leases)
    def beat(self, ids: list[int], lease: float) -> None:
        self.study.beat(ids, lease)
        for id, trial in enumerate(self.model):
            if id in ids and trial.state is State.ASKED:
                trial.lease = lease

    @rule()
    def expire(self) -> None:
        late = [id for id, trial in enumerate(self.model) if trial.lease is not None and trial.lease < 0]
        assert self.study.expire() == late
        for id in late:
            self.model[id] = _Modelled(self.model[id].key, State.ABANDONED)

    @rule()
    def reopen(self) -> None:
        self.study = self.storage.open(self.name, SETTINGS)

    @invariant()
    def news_add_up(self) -> None:
        rows, revision = self.study.since(self.revision)
        assert revision >= self.revision
        assert all(self.revision < new.revision <= revision for new in rows)
        self.read.update({new.id: new for new in rows})
        self.revision = revision
        seen = [self.read[id] for id in sorted(self.read)]
        fields = [_Modelled(new.key, new.state, new.value, new.std, new.error, _seconds(new)) for new in seen]
        assert fields == self.model
        assert [new.id for new in seen] == list(range(len(self.model)))


def machine(make: Callable[[], Storage]) -> type[RuleBasedStateMachine]:
    """A hypothesis state machine over the storage that `make` gives."""
    return type("Machine", (StorageMachine,), {"make": staticmethod(make)})


def _seconds(row: Row) -> float | None:
    """The lease as it was given with the row's last change, to a second."""
    return None if row.lease is None else float(round(row.lease - row.updated))
