"""The trials of a study as this process knows them: read from the storage once, then only what has changed."""

from __future__ import annotations

import hashlib
import json
import reprlib
from bisect import insort
from collections.abc import Callable, Collection, Mapping
from typing import Any, final

from likewise.study.goals import VALUE
from likewise.study.storage.base import BadRow, OpenStudy
from likewise.study.storage.trials import Row
from likewise.study.trial import Correction, Outcome, State, Trial

AS_STORED = ("id", "state", "value", "std", "error", "worker", "created", "updated", "lease")
HOLDING = frozenset({State.QUEUED, State.ASKED, State.TOLD, State.FAILED})
OPEN = frozenset({State.QUEUED, State.ASKED})


def lot(key: str) -> float:
    """A number from 0 to 1 that belongs to the object of this key, as if drawn at random.

    >>> round(lot('"CCO"'), 4)
    0.2996
    """
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2.0**64


@final
class Ledger:
    """Trials by id, and those in each state; `sync` brings them up to date.

    Trials of a state are listed in the order in which they came into it, which is the same for every worker and after
    every resume: Gram matrices only grow, and the same observations give the same model. Those of one call are one
    event, and among them the order is their objects', whatever the order of the rows: the same table, sorted otherwise,
    gives the same model, too.
    """

    def __init__(
        self,
        store: OpenStudy,
        from_json: Callable[[Any], Any],
        objective: str | None = None,
        outcomes: Collection[str] = (),
    ) -> None:
        self._store = store
        # What is measured of a trial, by name.
        self._outcomes = tuple(outcomes)
        # The outcome that is a trial's value, in a study of one objective.
        self._objective = objective
        self._from_json = from_json
        self._revision = 0
        self._trials: dict[int, Trial] = {}
        self._keys: dict[int, str] = {}
        self._changed: dict[int, int] = {}
        self._lots: dict[int, float] = {}
        self._open: dict[int, Trial] = {}
        self._listed: dict[State, list[Trial]] = {}
        self._at_hand: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(self._trials)

    def sync(self) -> None:
        """Read what has changed in the storage."""
        rows, revision = self._store.since(self._revision)
        if len(rows) > 1:
            self._listed = {}
        for row in rows:
            self._enter(row)
        # Last, so that after an interruption the rows are read again.
        self._revision, self._at_hand = revision, {}

    def object_of(self, payload: str) -> Any:
        """The object of a trial to be added, the same instance as the trial has when it is next read."""
        x = self._from_json(json.loads(payload))
        self._at_hand.setdefault(payload, []).append(x)
        return x

    @property
    def trials(self) -> list[Trial]:
        """Every trial, in the order of creation."""
        return [self._trials[i] for i in sorted(self._trials)]

    def within(self, state: State) -> list[Trial]:
        """The trials of a state, in the order in which they came into it; queued and asked ones by their ids."""
        if state in OPEN:
            # Heartbeats change these, and must not change their order.
            return [self._open[i] for i in sorted(self._open) if self._open[i].state is state]
        if state not in self._listed:
            found = [t for t in self._trials.values() if t.state is state]
            self._listed[state] = sorted(found, key=self._place)
        return self._listed[state]

    def measured(self, name: str) -> list[Trial]:
        """The trials that have an outcome, in the order in which it was told."""
        found = [t for t in self.within(State.TOLD) if name in t.outcomes]
        return sorted(found, key=lambda trial: self._outcome_place(trial, trial.outcomes[name]))

    def partly_told(self, key: str, names: Collection[str], besides: Collection[int] = ()) -> int | None:
        """The first trial of an object that was told other outcomes than these, and none of these."""
        found = (
            t.id
            for t in self.within(State.TOLD)
            if t.outcomes and self._keys[t.id] == key and t.id not in besides and not t.outcomes.keys() & set(names)
        )
        return min(found, default=None)

    def lacks_outcomes(self, id: int) -> bool:
        """Whether a trial was told some outcomes, and others not yet."""
        trial = self._trials.get(id)
        return trial is not None and trial.state is State.TOLD and 0 < len(trial.outcomes) < len(self._outcomes)

    def event(self, id: int) -> int:
        """A number that trials share if they were last changed by one call; it grows from call to call."""
        return self._changed[id]

    def lot(self, id: int) -> float:
        """The lot of a trial's object."""
        return self._lots[id]

    @property
    def some_open(self) -> bool:
        """Whether some trial is being evaluated, or waits to be."""
        return bool(self._open)

    def open_for(self, key: str, besides: Collection[int] = ()) -> int | None:
        """The trial that evaluates the object of this key, or waits to, if there is one besides these."""
        return min((i for i in self._open if self._keys[i] == key and i not in besides), default=None)

    def get(self, id: int) -> Trial | None:
        """A trial by its number, if it is known."""
        return self._trials.get(id)

    def results_of(self, key: str) -> list[Trial]:
        """The told and failed trials of an object, in the order of creation."""
        found = (self._trials[i] for i in sorted(self._trials) if self._keys[i] == key)
        return [trial for trial in found if trial.state in (State.TOLD, State.FAILED)]

    def key_of(self, id: int) -> str | None:
        """The key of a trial's object."""
        return self._keys.get(id)

    def keys(self, states: Collection[State] = HOLDING) -> set[str]:
        """The keys of the objects that have a trial in one of these states."""
        return {self._keys[i] for i, t in self._trials.items() if t.state in states}

    def forget(self, id: int) -> Trial | None:
        """A trial that the storage does not have any more, if it was known."""
        self._listed = {}
        for known in (self._open, self._keys, self._changed, self._lots):
            known.pop(id, None)
        return self._trials.pop(id, None)

    def _enter(self, row: Row) -> None:
        try:
            trial = self._trial(row)
        except Exception as error:
            # Whatever a space says of what is not its own: one such row must not keep the others from being read.
            said = f"{type(error).__name__}: {error}"
            reason = f"is {reprlib.repr(row.payload)}, which is no object of the study's space ({said})"
            self._store.pass_over(BadRow(self._store.name, row.id, "payload", reason))
            return
        if row.id not in self._lots:
            self._lots[row.id] = lot(row.key)
        before = self._trials.get(row.id)
        self._keys[row.id], self._changed[row.id] = row.key, row.revision
        self._trials[row.id] = trial
        self._list(trial, before)
        if trial.state in OPEN:
            self._open[row.id] = trial
        else:
            self._open.pop(row.id, None)

    def _list(self, trial: Trial, before: Trial | None) -> None:
        """Put a trial in its place among those of its state, which are listed anew where it has changed its place."""
        if before is not None:
            self._listed.pop(before.state, None)
        if trial.state in self._listed:
            # A list that was handed out stays as it was.
            listed = self._listed[trial.state].copy()
            insort(listed, trial, key=self._place)
            self._listed[trial.state] = listed

    def _place(self, trial: Trial) -> tuple[Any, ...]:
        i = trial.id
        return (
            self._changed[i],
            self._lots[i],
            self._keys[i],
            trial.value or 0.0,
            trial.std or 0.0,
            trial.limit or "",
            i,
        )

    def _outcome_place(self, trial: Trial, outcome: Outcome) -> tuple[Any, ...]:
        i = trial.id
        return outcome.told, self._lots[i], self._keys[i], outcome.value, outcome.std or 0.0, outcome.limit or "", i

    def _trial(self, row: Row) -> Trial:
        known = self._trials.get(row.id)
        # The same object stays the same instance, so that Gram matrices recognise what they have.
        x = self._object(row.payload) if known is None else known.object
        # What was said when it was asked; a queued one has said nothing yet.
        said = known is not None and known.state is not State.QUEUED
        summary = known.summary if known is not None and said else json.loads(row.summary)
        fields = {name: getattr(row, name) for name in AS_STORED}
        outcomes, notes = _outcomes(row.outcomes), json.loads(row.notes or "{}")
        if self._objective is not None and self._objective in outcomes:
            own = outcomes[self._objective]
            fields |= {"value": own.value, "std": own.std, "limit": own.limit}
        corrections = tuple(map(_correction, json.loads(row.corrections or "[]")))
        return Trial(object=x, summary=summary, outcomes=outcomes, notes=notes, corrections=corrections, **fields)

    def _object(self, payload: str) -> Any:
        at_hand = self._at_hand.get(payload)
        return at_hand.pop(0) if at_hand else self._from_json(json.loads(payload))


def _outcomes(text: str | None) -> Mapping[str, Outcome]:
    return {} if text is None else {name: Outcome(**one) for name, one in json.loads(text).items()}


def _correction(entry: Mapping[str, Any]) -> Correction:
    outcomes = {name: Outcome(**own) for name, own in entry.get("outcomes", {}).items()}
    if not outcomes and "value" in entry:
        outcomes = {VALUE: Outcome(entry["value"], entry.get("std"))}
    return Correction(entry["did"], outcomes, entry["why"], entry.get("by"), entry["at"], entry.get("error"))
