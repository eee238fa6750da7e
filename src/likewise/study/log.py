"""The log of a study: what happened to it, and the fold that makes trials of that.

An event is what one call did: who, when, what kind, and a body. The body of most is `{"trials": [...]}`, an entry for
each trial that it adds or changes:

    {"id": 7, "state": "told", "outcomes": {"yield": {"value": 71.0, "std": 0.5}}, "notes": {"by": "Ann"}}

An entry that adds a trial has its `object`, too. `error`, `lease` (in seconds), `said` (what the model said when it was
asked) and `why` (of a correction) are there where they are known.

The rules of what may follow what stand here alone. They are checked before an event is stored, and hold whenever it is
read. An event that cannot be read, because somebody has edited the storage, is passed over and named; all others count.
"""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
import warnings
from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, final

from likewise.errors import StorageWarning, StudyError
from likewise.figures.markup import html_table
from likewise.spaces.base import key_of
from likewise.study.storage.base import NotStored, Storage, Stored, Transaction, open_storage
from likewise.study.trial import LIMITS, VALUE, Correction, Outcome, State, Trial
from likewise.tables.cells import brief, shorten, strict_json

# From which states a trial may come to another: a late result of an abandoned trial is kept, a second one is refused.
FOLLOWS: Mapping[State, frozenset[State]] = {
    State.QUEUED: frozenset(),
    State.ASKED: frozenset({State.QUEUED}),
    State.TOLD: frozenset({State.QUEUED, State.ASKED, State.ABANDONED}),
    State.FAILED: frozenset({State.QUEUED, State.ASKED, State.ABANDONED}),
    State.ABANDONED: frozenset({State.QUEUED, State.ASKED, State.ABANDONED}),
}
HOLDING = frozenset({State.QUEUED, State.ASKED, State.TOLD, State.FAILED})
OPEN = frozenset({State.QUEUED, State.ASKED})
STATES: Mapping[str, State] = {state.value: state for state in State}
AMEND, WITHDRAW = "amend", "withdraw"
# The kinds of events whose body is the settings of the study, the last of which count.
SETTINGS = ("create", "settings")
# What such an event says of how they differ from those before.
CHANGES = "changes"
CORRECTIONS = {AMEND: "amended", WITHDRAW: "withdrawn"}
KEYS_SHOWN = DIFFERENCES_SHOWN = ENTRIES_SHOWN = 8


class Taken(StudyError):
    """Objects that are already asked, told or failed in this study; `keys` says which."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        shown = ", ".join(map(reprlib.repr, self.keys[:KEYS_SHOWN]))
        super().__init__(f"the study already has {len(self.keys)} of these objects: {shown}; choose others")


@dataclass(frozen=True, repr=False)
class Event:
    """What one call did to a study.

    revision: its number, from 1 on.
    at: when, in seconds since the epoch, by the storage's clock.
    who: the worker that did it.
    kind: "create", "open", "ask", "enqueue", "run", "tell", "abandon", "expire", "amend", "withdraw" or "settings".
    body: what it says, as plain JSON data: its `trials`, or settings.

    >>> told = {"id": 3, "state": "told", "outcomes": {"yield": {"value": 89.71}}, "why": "typo"}
    >>> event = Event(12, 0.0, "Ann", "amend", {"trials": [told]})
    >>> event, event.why
    (Event(12, 1970-01-01 00:00:00 UTC, Ann, amend: 3 told yield 89.71 (typo)), 'typo')
    """

    revision: int
    at: float
    who: str
    kind: str
    body: Mapping[str, Any]

    @property
    def trials(self) -> Sequence[Mapping[str, Any]]:
        """What it says of trials, as plain data: an entry with the id of each that it added or changed."""
        return self.body.get("trials", ())

    @property
    def why(self) -> str:
        """The reason of a correction; empty for other events."""
        reasons = (entry.get("why") for entry in self.trials if isinstance(entry, Mapping))
        return "; ".join(dict.fromkeys(str(reason) for reason in reasons if reason))

    @property
    def summary(self) -> str:
        """What it says, in a line."""
        parts = [_said_of_trial(entry) for entry in self.trials[:ENTRIES_SHOWN]]
        parts += [f"{len(self.trials) - ENTRIES_SHOWN} more"] if len(self.trials) > ENTRIES_SHOWN else []
        changes = self.body.get(CHANGES)
        parts += map(str, changes) if isinstance(changes, list) else []
        rest = {} if isinstance(changes, list) else self.body
        parts += [f"{name} {brief(content, 60)}" for name, content in rest.items() if name != "trials"]
        return ", ".join(parts) + (f" ({shorten(self.why, 60)})" if self.why else "")

    def to_dict(self) -> dict[str, Any]:
        """What is stored of it, as plain data."""
        return {"revision": self.revision, "at": self.at, "who": self.who, "kind": self.kind, **self.body}

    def __repr__(self) -> str:
        return f"Event({self.revision}, {_utc(self.at)}, {self.who}, {self.kind}: {self.summary})"

    def _repr_html_(self) -> str:
        return History([self])._repr_html_()


class History(list[Event]):
    """Events in their order, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        rows = [(event.revision, _utc(event.at), event.who, event.kind, event.summary) for event in self]
        return html_table(f"{len(self)} events", ["revision", "at", "who", "kind", "what"], rows)


def _said_of_trial(entry: Mapping[str, Any]) -> str:
    """What an event says of a trial."""
    try:
        said = [str(entry["id"]), entry["state"], *([brief(entry["object"], 40)] if "object" in entry else [])]
        said += [f"{name} {_outcome(name, stored, 0)}" for name, stored in entry.get("outcomes", {}).items()]
        said += [shorten(entry["error"].splitlines()[-1], 60)] if entry.get("error") else []
        return " ".join(said)
    except (AttributeError, KeyError, TypeError, StudyError):
        # Somebody has edited the storage.
        return brief(entry, 60)


def _utc(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return str(at)


@dataclass(frozen=True)
class BadEvent:
    """An event, or an entry of it, that cannot be used: its revision, and why."""

    study: str
    revision: int
    reason: str

    def __str__(self) -> str:
        return f"event {self.revision} of study {self.study!r}: {self.reason}"


def lot(key: str) -> float:
    """A number from 0 to 1 that belongs to the object of this key, as if drawn at random.

    >>> round(lot('"CCO"'), 4)
    0.2996
    """
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2.0**64


def _outcome(name: str, stored: Mapping[str, Any], revision: int) -> Outcome:
    """An outcome as it is stored; a StudyError where it cannot be one."""
    outcome = Outcome(**stored, told=revision)
    if not _is_number(outcome.value):
        raise StudyError(f"the value of {name!r} is {outcome.value!r}; it must be a finite number")
    if outcome.std is not None and not (_is_number(outcome.std) and outcome.std >= 0):
        raise StudyError(f"the standard deviation of {name!r} is {outcome.std!r}; it must be a number from 0 on")
    if outcome.limit not in (None, *LIMITS):
        raise StudyError(f"the limit of {name!r} is {outcome.limit!r}; it is one of {', '.join(LIMITS)}")
    return outcome


def _is_number(content: Any) -> bool:
    return isinstance(content, int | float) and not isinstance(content, bool) and math.isfinite(content)


def why_final(trial: Trial) -> str:
    """Why a trial cannot be amended, or withdrawn."""
    if trial.state is State.FAILED:
        return "failed and has no value to amend; withdraw it, and tell its object"
    if trial.state is State.ABANDONED and trial.corrections and trial.corrections[-1].withdrew:
        return "is withdrawn; tell its object"
    return f"is {trial.state.value} and has no value yet; tell it one, or abandon it"


def plain_text(text: object) -> str:
    """As text without what databases refuse: NUL characters and lone surrogates are written as escapes."""
    return str(text).replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


@final
class Ledger:
    """The trials that a log comes to: by id, and in each state.

    Trials of a state are listed in the order in which they came into it, which is the same for every worker and after
    every resume: Gram matrices only grow, and the same observations give the same model. Those of one call are one
    event, and among them the order is their objects', whatever the order of the rows: the same table, sorted otherwise,
    gives the same model, too.

    from_json: makes an object of its JSON data.
    objective: the outcome that is a trial's `value`; None (default) where there are several objectives.
    """

    def __init__(self, from_json: Callable[[Any], Any], objective: str | None = None) -> None:
        self._from_json = from_json
        self.objective = objective
        # All that is measured of a trial.
        self._outcomes: frozenset[str] = frozenset()
        self.revision = 0
        self.next_id = 0
        self._trials: dict[int, Trial] = {}
        self._keys: dict[int, str] = {}
        self._changed: dict[int, int] = {}
        self._lots: dict[int, float] = {}
        self._open: dict[int, Trial] = {}
        self._listed: dict[State, list[Trial]] = {}

    def __len__(self) -> int:
        return len(self._trials)

    def empty(self) -> Ledger:
        """One that has followed nothing yet."""
        return Ledger(self._from_json, self.objective)

    def take_settings(self, settings: Mapping[str, Any]) -> None:
        """Take what is measured from the settings of the study."""
        objectives = settings.get("objectives", {})
        self._outcomes = frozenset({*objectives, *settings.get("constraints", ())} - {*settings.get("computed", ())})

    def follow(self, event: Event, complain: Callable[[str], None], objects: Mapping[int, Any] | None = None) -> None:
        """Take in the next event. An entry that breaks the rules is passed over; `complain` hears why.

        objects: the instances to be used for new trials, by id, where they are at hand.
        """
        if len(event.trials) > 1:
            self._listed = {}
        for entry in event.trials:
            try:
                trial = self.trial_after(entry, event, objects or {})
            except Exception as error:
                # Whatever a space says of what is not its own: one entry must not keep the others from being read.
                if isinstance(entry, Mapping) and "object" in entry and isinstance(entry.get("id"), int):
                    # Its number is taken all the same: for other readers it may well be a trial.
                    self.next_id = max(self.next_id, entry["id"] + 1)
                said = error if isinstance(error, StudyError) else f"{type(error).__name__}: {error}"
                complain(f"{reprlib.repr(entry)} cannot be used: {said}")
            else:
                self._put(trial, entry, event)
        self.revision = event.revision

    def trial_after(self, entry: Mapping[str, Any], event: Event, objects: Mapping[int, Any]) -> Trial:
        """The trial that an entry makes of the one that there is, or adds; a StudyError if that breaks a rule."""
        id, state = entry["id"], STATES[entry["state"]]
        before = self._trials.get(id)
        new = before is None
        outcomes = {name: _outcome(name, one, event.revision) for name, one in entry.get("outcomes", {}).items()}
        if before is None:
            if "object" not in entry:
                there = f"its trials are 0 to {self.next_id - 1}" if self._trials else "it has no trials yet"
                raise StudyError(f"there is no trial {id}; {there}")
            x = objects[id] if id in objects else self._from_json(entry["object"])
            before = Trial(id, x, state, created=event.at, objective=self.objective)
        elif event.kind in CORRECTIONS:
            return self._corrected(before, outcomes, event, entry.get("why", ""))
        elif state is State.TOLD is before.state and not outcomes.keys() & before.outcomes.keys():
            outcomes = {**before.outcomes, **outcomes}
        elif state is State.FAILED and self.lacks_outcomes(id):
            outcomes = dict(before.outcomes)
        elif before.state not in FOLLOWS[state]:
            raise Taken([self._keys[id]]) if state is State.ASKED else self._settled(before)
        if state is State.TOLD and not outcomes:
            raise StudyError(f"trial {id} is told, but no outcome is given")
        return Trial(
            id,
            before.object,
            state,
            outcomes,
            entry.get("error"),
            event.who if state is State.ASKED or (new and state is not State.QUEUED) else before.worker,
            before.created,
            event.at,
            entry.get("lease"),
            entry.get("said", before.summary),
            {**before.notes, **entry["notes"]} if "notes" in entry else before.notes,
            before.corrections,
            self.objective,
        )

    def _corrected(self, before: Trial, outcomes: Mapping[str, Outcome], event: Event, why: str) -> Trial:
        """The trial with other outcomes, which count from when the first ones were told, or with none any more."""
        did = CORRECTIONS[event.kind]
        states = {State.TOLD} if event.kind == AMEND else {State.TOLD, State.FAILED}
        if before.state not in states:
            raise StudyError(f"trial {before.id} {why_final(before)}")
        for name in outcomes:
            if name not in before.outcomes:
                raise StudyError(f"trial {before.id} has no {name!r} to amend; tell it")
        moved = {name: replace(one, told=before.outcomes[name].told) for name, one in outcomes.items()}
        said = {name: before.outcomes[name] for name in moved} if event.kind == AMEND else before.outcomes
        correction = Correction(did, said, why, event.who, event.at, before.error)
        return replace(
            before,
            state=before.state if event.kind == AMEND else State.ABANDONED,
            outcomes={**before.outcomes, **moved} if event.kind == AMEND else {},
            error=None,
            updated=event.at,
            corrections=(*before.corrections, correction),
        )

    def _settled(self, trial: Trial) -> StudyError:
        held = ", ".join(f"{name!r} {outcome}" for name, outcome in trial.outcomes.items())
        why = f" because {trial.error.splitlines()[-1]!r}" if trial.error else ""
        return StudyError(
            f"trial {trial.id} is already {trial.state.value}{f' with {held}' if held else ''}{why}; "
            "to correct it, use `amend` or `withdraw`; to record another measurement, tell the object itself"
        )

    def _put(self, trial: Trial, entry: Mapping[str, Any], event: Event) -> None:
        id, before = trial.id, self._trials.get(trial.id)
        if before is None:
            key = key_of(entry["object"])
            self._keys[id], self._lots[id], self.next_id = key, lot(key), max(self.next_id, id + 1)
        self._trials[id] = trial
        if event.kind != AMEND:
            # What is corrected keeps its place.
            self._changed[id] = event.revision
        if before is not None:
            self._listed.pop(before.state, None)
        if trial.state in self._listed:
            # A list that was handed out stays as it was.
            listed = self._listed[trial.state].copy()
            insort(listed, trial, key=self._place)
            self._listed[trial.state] = listed
        if trial.state in OPEN:
            self._open[id] = trial
        else:
            self._open.pop(id, None)

    @property
    def trials(self) -> list[Trial]:
        """Every trial, in the order of creation."""
        return [self._trials[i] for i in sorted(self._trials)]

    def get(self, id: int) -> Trial | None:
        """The trial of this id; None if there is none."""
        return self._trials.get(id)

    def within(self, state: State) -> list[Trial]:
        """The trials of a state, in the order in which they came into it; queued and asked ones by their ids."""
        if state in OPEN:
            return [self._open[i] for i in sorted(self._open) if self._open[i].state is state]
        if state not in self._listed:
            self._listed[state] = sorted((t for t in self._trials.values() if t.state is state), key=self._place)
        return self._listed[state]

    def measured(self, name: str) -> list[Trial]:
        """The trials that have an outcome, in the order in which it was told."""
        trials = [trial for trial in self.within(State.TOLD) if name in trial.outcomes]
        return sorted(trials, key=lambda trial: self._outcome_place(trial, trial.outcomes[name]))

    def partly_told(self, key: str, names: Collection[str], besides: Collection[int] = ()) -> int | None:
        """The first trial of an object that was told other outcomes than these, and none of these."""
        if len(self._outcomes) < 2:
            return None
        ids = (
            t.id
            for t in self.within(State.TOLD)
            if self._keys[t.id] == key and t.id not in besides and not t.outcomes.keys() & set(names)
        )
        return min(ids, default=None)

    def results_of(self, key: str) -> list[Trial]:
        """The told and failed trials of an object."""
        states = (State.TOLD, State.FAILED)
        return [t for t in self.trials if self._keys[t.id] == key and t.state in states]

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

    def key_of(self, id: int) -> str | None:
        """The key of a trial's object."""
        return self._keys.get(id)

    def held(self, states: Collection[State] = HOLDING) -> set[str]:
        """The keys of the objects that have a trial in one of these states."""
        return {self._keys[i] for i, t in self._trials.items() if t.state in states}

    def _place(self, trial: Trial) -> tuple[Any, ...]:
        i, value, std, limit = trial.id, trial.value or 0.0, trial.std or 0.0, trial.limit or ""
        return self._changed[i], self._lots[i], self._keys[i], value, std, limit, i

    def _outcome_place(self, trial: Trial, outcome: Outcome) -> tuple[Any, ...]:
        i = trial.id
        return outcome.told, self._lots[i], self._keys[i], outcome.value, outcome.std or 0.0, outcome.limit or "", i


@final
class Draft:
    """What is to be added to a log, by whoever has the study to himself at this moment.

    ledger: all that was stored before.
    """

    def __init__(self, ledger: Ledger, transaction: Transaction) -> None:
        self.ledger = ledger
        self._transaction = transaction
        self._entries: list[dict[str, Any]] = []
        self._objects: dict[int, Any] = {}
        self._next = ledger.next_id

    def add(self, data: Any, x: Any, **fields: Any) -> int:
        """Add a trial of an object, which is at hand as JSON data and as an instance; its id."""
        id, self._next = self._next, self._next + 1
        self._objects[id] = x
        self.change(id, **fields)
        # Also where it is JSON's null.
        self._entries[-1]["object"] = data
        return id

    def change(self, id: int, **fields: Any) -> None:
        """Change a trial; the rules are checked at the end, for all changes together."""
        self._entries.append({"id": id, **{name: content for name, content in fields.items() if content is not None}})

    def late(self) -> list[Trial]:
        """The trials that are asked, and whose leases have ended."""
        trials = [self.ledger.get(id) for id in self._transaction.late()]
        return [trial for trial in trials if trial is not None and trial.state is State.ASKED]

    def store(self, kind: str, who: str) -> tuple[Event, Mapping[int, Any]] | None:
        """Append the event; raises if an entry breaks a rule. None if nothing is to be added."""
        if not self._entries:
            return None
        text = json.dumps({"trials": self._entries}, allow_nan=False)
        event = Event(self.ledger.revision + 1, self._transaction.now, who, kind, json.loads(text))
        for entry in event.trials:
            self.ledger.trial_after(entry, event, self._objects)
        self._transaction.append(Stored(event.revision, event.at, who, kind, text))
        self._lease(event)
        return event, self._objects

    def _lease(self, event: Event) -> None:
        for seconds in {entry["lease"] for entry in event.trials if "lease" in entry}:
            self._transaction.lease([e["id"] for e in event.trials if e.get("lease") == seconds], seconds)
        before = {entry["id"]: self.ledger.get(entry["id"]) for entry in event.trials if "lease" not in entry}
        if ended := [id for id, trial in before.items() if trial is not None and trial.lease is not None]:
            self._transaction.lease(ended, None)


@final
class Log:
    """The log of one study in its storage, and the ledger of it, which `sync` brings up to date.

    name: the study's.
    who: the name of this process in the events that it adds.
    """

    def __init__(self, storage: Storage, study: int, name: str, ledger: Ledger, who: str) -> None:
        self.storage = storage
        self.study = study
        self.name = name
        self.ledger = ledger
        self.who = plain_text(who)
        self.settings: dict[str, Any] = {}
        # The settings that this process has opened the study with, and the revision at which they were those stored.
        self.agreed: tuple[Mapping[str, Any], float] = ({}, math.inf)
        self.times = (0.0, 0.0)
        self.openings: list[Any] = []
        self._complaints: set[BadEvent] = set()

    def restart(self) -> None:
        """Begin with an empty ledger, as this one may be half done; all is read again at the next look."""
        self.ledger, self.settings, self.openings = self.ledger.empty(), {}, []

    def sync(self) -> None:
        """Read what is new in the storage."""
        self.read(self.storage.since(self.study, self.ledger.revision))

    @property
    def events(self) -> History:
        """Every event that can be read, in order."""
        return History(event for event in map(self._event, self.storage.since(self.study, 0)) if event is not None)

    @contextmanager
    def change(self, kind: str) -> Iterator[Draft]:
        """A change of the study: the ledger is up to date, and nobody else can change the study until it ends."""
        with self.storage.transaction(self.study) as transaction:
            self.read(transaction.since(self.ledger.revision))
            draft = Draft(self.ledger, transaction)
            yield draft
            stored = draft.store(kind, self.who)
        # Committed: if its answer was lost, it is read at the next look.
        if stored is not None:
            event, objects = stored
            self._follow(event, objects)

    def note(self, kind: str, body: Mapping[str, Any]) -> None:
        """Add an event that is about no trial."""
        with self.storage.transaction(self.study) as transaction:
            self.read(transaction.since(self.ledger.revision))
            text = json.dumps(body, sort_keys=True, allow_nan=False)
            transaction.append(Stored(self.ledger.revision + 1, transaction.now, self.who, kind, text))
        self.sync()

    def expire(self) -> None:
        """Give back the trials whose leases have ended."""
        if not any(t.lease is not None for t in self.ledger.within(State.ASKED)) or not self.storage.any_late(
            self.study
        ):
            return
        with self.change("expire") as draft:
            for trial in draft.late():
                draft.change(trial.id, state=State.ABANDONED)

    def read(self, stored: Iterable[Stored]) -> None:
        """Take in the next events."""
        for event_stored in stored:
            event = self._event(event_stored)
            if event is None:
                self.ledger.revision = event_stored.revision
            else:
                self._follow(event)

    def _event(self, stored: Stored) -> Event | None:
        try:
            return Event(*stored[:4], read_body(stored.body))
        except ValueError as error:
            self._complain(stored.revision, str(error))
            return None

    def _follow(self, event: Event, objects: Mapping[int, Any] | None = None) -> None:
        self.times = (self.times[0] or event.at, event.at)
        if event.kind in SETTINGS:
            self.settings = {name: content for name, content in event.body.items() if name != CHANGES}
            self.ledger.take_settings(self.settings)
            mine, since = self.agreed
            if event.revision > since and (changes := [*differences(mine, self.settings)]):
                warnings.warn(
                    f"study {self.name!r} was changed by {event.who}: {_listed(change.step for change in changes)}. "
                    "This process goes on with what it was opened with; open the study again to follow",
                    StorageWarning,
                    stacklevel=2,
                )
        elif event.kind == "open":
            self.openings.append(event.body)
        self.ledger.follow(event, lambda why: self._complain(event.revision, why), objects)

    def _complain(self, revision: int, reason: str) -> None:
        """Warn of what cannot be used, once."""
        bad = BadEvent(self.name, revision, reason)
        if bad not in self._complaints:
            self._complaints.add(bad)
            warnings.warn(
                f"{bad}. It is passed over; `likewise check URL` lists such events", StorageWarning, stacklevel=2
            )

    @property
    def complaints(self) -> list[BadEvent]:
        """What could not be used, in order."""
        return sorted(self._complaints, key=lambda bad: bad.revision)


@dataclass(frozen=True)
class StudyInfo:
    """A stored study at a glance.

    name: the study's.
    direction: what it is after, in words.
    counts: how many trials are in each state.
    best: the best value, where there is one objective.
    created, updated: when it was made and last changed, in seconds since the epoch.
    """

    name: str
    direction: str
    counts: Mapping[State, int]
    best: float | None
    created: float
    updated: float


def open_log(
    storage: Storage,
    name: str,
    settings: Mapping[str, Any],
    ledger: Ledger,
    who: str,
    includes: Callable[[Mapping[str, Any]], bool] = lambda described: False,
) -> Log:
    """The log of a study, which is created, or resumed if its settings are the same, or have only grown.

    A StudyError says what differs otherwise, before anything is changed.

    includes: whether the space that is given includes the one that is so described.
    """
    checked_name(name)
    try:
        # In their own order: a space that is made anew from it has its parts in that order, and asks the same.
        text = json.dumps(settings, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"the settings of study {name!r} are not plain JSON: {error}") from error
    wanted = json.loads(text)
    log = Log(storage, storage.create(name, (plain_text(who), "create", text)), name, ledger, who)
    stored = storage.since(log.study, 0)
    if _growth(name, stored, wanted, includes):
        with storage.transaction(log.study) as transaction:
            stored = transaction.since(0)
            # Somebody may have been quicker.
            if changes := _growth(name, stored, wanted, includes):
                body = json.dumps({**wanted, CHANGES: [change.step for change in changes]})
                transaction.append(Stored(stored[-1].revision + 1, transaction.now, log.who, "settings", body))
    log.read(stored)
    log.sync()
    log.agreed = wanted, log.ledger.revision
    return log


def _growth(
    name: str, stored: Sequence[Stored], wanted: Mapping[str, Any], includes: Callable[[Mapping[str, Any]], bool]
) -> list[Difference]:
    """How the settings that are wanted differ from those that are stored; raises if they have not only grown."""
    before = {part: content for part, content in last_body(stored, *SETTINGS).items() if part != CHANGES}
    if refused := list(_refused(before, wanted, includes)):
        raise StudyError(
            f"study {name!r} was made with other settings: {_listed(map(str, refused))}. Its space may grow (a pool by "
            "objects at its end) and outcomes may be added, but nothing may go. Open it with the stored settings, or "
            "choose another name"
        )
    return list(differences(before, wanted))


def _refused(
    before: Mapping[str, Any], wanted: Mapping[str, Any], includes: Callable[[Mapping[str, Any]], bool]
) -> Iterator[Difference]:
    """The differences that no trial must meet: a space that lost objects, goals that are gone or other goals."""
    for part in dict.fromkeys([*before, *wanted]):
        stored, given = before.get(part, {}), wanted.get(part, {})
        if part in ("objectives", "constraints"):
            given = {name: content for name, content in given.items() if name in stored}
        elif part == "computed":
            # Whether an objective is measured stays as it was; a new one may be either.
            stored, given = ([x for x in listed if x in before.get("objectives", {})] for listed in (stored, given))
        elif part == "space" and includes(stored):
            continue
        yield from differences(stored, given, part)


def _listed(texts: Iterable[str]) -> str:
    first, rest = (every := list(texts))[:DIFFERENCES_SHOWN], every[DIFFERENCES_SHOWN:]
    return "; ".join(first) + (f"; and {len(rest)} more" if rest else "")


def read_log(storage: Storage, name: str) -> Log:
    """The log of a stored study, with objects as JSON data, whatever its space is; a StudyError if there is none."""
    study = storage.find(name)
    if study is None:
        raise NotStored(storage.names()).missing(name)
    stored = storage.since(study, 0)
    objectives = last_body(stored, *SETTINGS).get("objectives", {})
    ledger = Ledger(lambda data: data, next(iter(objectives)) if len(objectives) == 1 else None)
    log = Log(storage, study, name, ledger, "")
    log.read(stored)
    return log


@contextmanager
def existing(storage: str | Storage) -> Iterator[Storage]:
    """A storage that is there already; one that is given as a URL is closed in the end."""
    opened = open_storage(storage, create=False)
    try:
        yield opened
    finally:
        if opened is not storage:
            opened.close()


def stored_options(storage: str | Storage, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a stored study, and what it was opened with last; a StudyError if there is none."""
    with existing(storage) as opened:
        study = opened.find(name)
        if study is None:
            raise NotStored(opened.names()).missing(name)
        events = opened.since(study, 0)
    return last_body(events, *SETTINGS), last_body(events, "open")


def last_body(events: Sequence[Stored], *kinds: str) -> dict[str, Any]:
    """What the last event of these kinds says, if it can be read; nothing if there is none."""
    for event in reversed(events):
        if event.kind in kinds:
            with suppress(ValueError):
                return read_body(event.body)
    return {}


def read_body(text: str) -> dict[str, Any]:
    """What an event says; a ValueError where that cannot be read."""
    try:
        body = strict_json(text)
        if not isinstance(body, dict) or not isinstance(body.get("trials", []), list):
            raise ValueError("it is no JSON object")
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"its body {reprlib.repr(text)} cannot be read: {error}") from error
    return body


def delete_study(storage: str | Storage, name: str) -> None:
    """Remove a stored study with all its trials. A process that has it open is told so at its next change.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`.
    name: the study's.
    """
    with existing(storage) as opened:
        opened.delete(name)


def rename_study(storage: str | Storage, name: str, new: str) -> None:
    """Give a stored study another name; processes that have it open go on with it.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`.
    name: the study's.
    new: a name that no other study in the storage has.
    """
    with existing(storage) as opened:
        opened.rename(name, checked_name(new))


def copy_study(storage: str | Storage, name: str, new: str) -> None:
    """Copy a stored study with all its history: both go on from there, each for itself.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`.
    name: the study's.
    new: the name of the copy, which no other study in the storage has.
    """
    with existing(storage) as opened:
        opened.copy(name, checked_name(new))


def checked_name(name: Any) -> str:
    """The name of a study; a StudyError if it cannot be one."""
    if not isinstance(name, str) or not name or "\x00" in name:
        raise StudyError(f"a study's name is a non-empty text, not {name!r}")
    return name


def studies(storage: str | Storage) -> list[StudyInfo]:
    """Every study in a storage, by name: its direction, how many trials are in each state, and its best value.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`. One that is not there is a StorageError, and is not
        made.

    >>> studies("sqlite:///:memory:")
    []
    """
    with existing(storage) as opened:
        return [_info(read_log(opened, name)) for name in opened.names()]


def _info(log: Log) -> StudyInfo:
    trials, objectives = log.ledger.trials, log.settings.get("objectives", {})
    best = None
    if len(objectives) == 1:
        ((name, direction),) = objectives.items()
        values = [t.outcomes[name].value for t in trials if t.state is State.TOLD and name in t.outcomes]
        best = (min if direction == "minimize" else max)(values, default=None)
    counts = Counter(trial.state for trial in trials)
    first, last = log.times
    return StudyInfo(log.name, aim(log.settings), {state: counts[state] for state in State}, best, first, last)


def aim(settings: Mapping[str, Any]) -> str:
    """What a stored study is after: the direction of each of its objectives.

    >>> aim({"objectives": {"value": "minimize"}}), aim({"objectives": {"yield": "maximize", "cost": "minimize"}})
    ('minimize', 'maximize yield, minimize cost')
    """
    objectives = settings.get("objectives", {})
    if list(objectives) == [VALUE]:
        return str(objectives[VALUE])
    return ", ".join(f"{direction} {name}" for name, direction in objectives.items())


# What is not there.
ABSENT = object()


class Difference(NamedTuple):
    """A place where two JSON values differ: its path, what is stored there and what is given; either may be ABSENT."""

    path: str
    stored: Any
    given: Any

    def __str__(self) -> str:
        if self.given is ABSENT:
            return f"{self.path} is {reprlib.repr(self.stored)} in the stored study but was not given"
        there = "absent from" if self.stored is ABSENT else f"{reprlib.repr(self.stored)} in"
        return f"{self.path} is {there} the stored study but {reprlib.repr(self.given)} was given"

    @property
    def step(self) -> str:
        """From what to what.

        >>> Difference("space.high", 100, 120).step, Difference("objectives.cost", ABSENT, "minimize").step
        ('space.high: 100 → 120', 'objectives.cost: minimize')
        """
        ends = [content for content in (self.stored, self.given) if content is not ABSENT]
        shown = " → ".join(content if isinstance(content, str) else reprlib.repr(content) for content in ends)
        return f"{self.path}: {shown}{' is gone' if self.given is ABSENT else ''}"


def differences(stored: Any, given: Any, path: str = "") -> Iterator[Difference]:
    """Where two JSON values differ.

    >>> [str(difference) for difference in differences({"space": {"length": 8}}, {"space": {"length": 9}})]
    ['space.length is 8 in the stored study but 9 was given']
    """
    if isinstance(stored, dict) and isinstance(given, dict):
        for name in dict.fromkeys([*stored, *given]):
            inner = f"{path}.{name}" if path else str(name)
            yield from differences(stored.get(name, ABSENT), given.get(name, ABSENT), inner)
    elif isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        for place, pair in enumerate(zip(stored, given, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif stored != given or isinstance(stored, bool) is not isinstance(given, bool):
        yield Difference(path, stored, given)
