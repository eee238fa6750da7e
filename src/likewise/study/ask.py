"""One ask among many workers: what was known when it began, what its batch has to keep to, and what it took."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from likewise import __version__
from likewise.errors import SpaceError, StudyError
from likewise.search.base import Plate, Rows
from likewise.spaces.base import Enumerable, Space
from likewise.spaces.codec import copied
from likewise.spaces.condition import Condition
from likewise.spaces.record import Record
from likewise.study import explanation
from likewise.study.goals import Goals, Price, at_least_one
from likewise.study.log import HOLDING, OPEN, Log, Taken
from likewise.study.methods.base import Known, Proposal, Proposer
from likewise.study.observations import failures, observations, trials_of
from likewise.study.recording import Stated
from likewise.study.trial import Analogue, State, Suggestion


@dataclass(frozen=True)
class Effort:
    """What the last ask of a study took; `str` says it in a few words.

    seconds: on the clock, learning included.

    >>> print(Effort(0.214))
    0.21 s
    """

    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s"


# What a user asks of a batch, as a plate: checked against the space before anything is chosen.

# So many values of a part are shown where one is not among them.
SHOWN = 8


def make_plate(
    space: Space,
    n: int,
    same: Sequence[str] = (),
    groups: int = 1,
    at_most: Mapping[str, int] | None = None,
    fix: Mapping[str, Any] | None = None,
    where: str | Callable[[Any], bool] | None = None,
) -> Plate | None:
    """The plate that a batch of `n` must fit on; None where it may be any batch."""
    at_least_one("groups", groups)
    for argument, value, kind, such in (
        ("same", same, Iterable, "['temperature']"),
        ("at_most", at_most, Mapping | None, "{'ligand': 3}"),
        ("fix", fix, Mapping | None, "{'base': 'KOAc'}"),
    ):
        if not isinstance(value, kind):
            raise StudyError(f"{argument}={value!r} names no parts; give them as in {argument}={such}")
    shared = (same,) if isinstance(same, str) else tuple(same)
    if groups > 1 and not shared:
        raise StudyError(f"groups={groups} needs same=[…], the parts that each group shares")
    if not (shared or at_most or fix or where is not None):
        return None
    fields = _fields(space)
    for name in (*shared, *(at_most or {}), *(fix or {})):
        if name not in fields:
            raise StudyError(f"the objects have no part {name!r}; {_parts(fields)}")
    for name, most in (at_most or {}).items():
        at_least_one(f"at_most[{name!r}]", most)
    plate = Plate(
        {name: _fitted(space, name, value) for name, value in (fix or {}).items()},
        tuple(name for name in shared if name not in (fix or {})),
        _sizes(n, groups),
        dict(at_most or {}),
        _condition(where, fields),
    )
    _check_possible(space, plate, where)
    return plate


def _sizes(n: int, groups: int) -> tuple[int, ...]:
    """The objects of each group: as even as can be, the larger groups first.

    >>> _sizes(8, 3)
    (3, 3, 2)
    """
    if groups > n:
        raise StudyError(f"{n} suggestions make no {groups} groups; ask for as many suggestions as groups, or for more")
    return tuple(n // groups + (k < n % groups) for k in range(groups))


def _fields(space: Space) -> list[str]:
    """The names of the parts that all objects have."""
    if isinstance(space, Record):
        return list(space.parts)
    first = next(iter(space.objects), None) if isinstance(space, Enumerable) else None
    if first is None:
        named = getattr(space, "names", None)
        return list(named) if named else []
    return list(first) if isinstance(first, Mapping) else []


def _parts(fields: Sequence[str]) -> str:
    if fields:
        return f"they have {', '.join(fields)}"
    return "same, at_most and fix are for records, and for pools of records"


def _condition(where: Any, fields: Sequence[str]) -> Callable[[Any], bool] | None:
    if where is None or (callable(where) and not isinstance(where, str)):
        return where
    if not isinstance(where, str):
        raise StudyError(f'where={where!r} is no condition; give a text such as "cost < 20", or a function')
    if not fields:
        raise StudyError(f"where={where!r} is about parts, and the objects have none; give a function of the object")
    try:
        return Condition.read(where, fields)
    except SpaceError as error:
        raise StudyError(str(error)) from None


def _fitted(space: Space, name: str, value: Any) -> Any:
    """The value as the objects have it."""
    if isinstance(space, Record):
        try:
            return space.parts[name].fit(value)
        except SpaceError as error:
            raise StudyError(f"fix: {name!r} cannot be {value!r}: {error}") from None
    values = list({repr(x[name]): x[name] for x in getattr(space, "objects", [])}.values())
    if value not in values:
        shown = ", ".join(map(repr, values[:SHOWN])) + (" …" if len(values) > SHOWN else "")
        raise StudyError(f"fix: no object has {name!r} = {value!r}; there are {shown}")
    return values[values.index(value)]


def _check_possible(space: Space, plate: Plate, where: Any) -> None:
    """A complaint about a pool of which no object fits, measured or not."""
    if isinstance(space, Enumerable) and len(space.objects) and not Rows(space).allowed(plate, ()).any():
        asked = [f"fix={dict(plate.fix)!r}"] * bool(plate.fix) + [f"where={where!r}"] * (where is not None)
        raise StudyError(f"no object of the space satisfies {' and '.join(asked)}; loosen it")


# One ask among many workers: what was known when it began, and what the others have taken since.

# Of 16 workers that ask at the same moment, the last loses 15 times.
RETRIES = 200
# The note of a suggestion that a user put at the head of the line.
ENQUEUED = "enqueued"


@final
@dataclass(eq=False)
class Asking:
    """Proposes objects until none of them is taken by another worker first.

    It learns from what was told before it began, once. What has come since counts as in flight: so long as a worker
    loses, it neither fits its model again nor searches from the start, and takes the next best objects instead.
    """

    log: Log
    space: Space
    proposer: Proposer
    seed: int
    goals: Goals
    replicates: bool
    plate: Plate | None = None
    price: Price | None = None
    attempt: int = field(default=0, init=False)
    # Objects of earlier attempts, with their notes.
    kept: list[tuple[Any, Mapping[str, Any]]] = field(default_factory=list, init=False)
    lost: set[str] = field(default_factory=set, init=False)
    proposal: Proposal | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.ledger = self.log.ledger
        self._told = observations(self.ledger, self.goals)
        self._trials = {name: trials_of(self.ledger, name, self.goals) for name in self._told.outcomes}
        self._failed = failures(self.ledger)
        self._pending = [trial.object for trial in self.ledger.within(State.ASKED)]
        # The trials that were queued, by their objects' keys.
        self._queued: dict[str, int] = {}
        self._known = {trial.id for trial in self.ledger.trials}

    def suggestions(self, n: int, lease: float | None) -> list[Suggestion]:
        """Up to `n` suggestions, claimed in the storage."""
        self._take_queued(n)
        for _ in range(RETRIES):
            proposal = self._propose(n)
            suggestions = explanation.suggestions(proposal, self._told, self._trials.__getitem__, self.goals)
            try:
                return self._claim(suggestions, proposal, lease)
            except Taken as taken:
                self._lose(proposal, taken.keys)
        raise StudyError(f"other workers took the suggestions of {RETRIES} attempts; ask again")

    def preview(self, n: int) -> list[Suggestion]:
        """What `suggestions` would begin with, and nothing claimed."""
        self._take_queued(n)
        return explanation.suggestions(self._propose(n), self._told, self._trials.__getitem__, self.goals)

    def _take_queued(self, n: int) -> None:
        """Begin with up to `n` objects that wait to be asked first; the others are as if in flight."""
        queued = self.ledger.within(State.QUEUED)
        taken = 0 if self.plate is not None or self.price is not None else n
        self.kept = [(trial.object, {"stage": ENQUEUED}) for trial in queued[:taken]]
        self._queued = {str(self.ledger.key_of(trial.id)): trial.id for trial in queued[:taken]}
        self._pending += [trial.object for trial in queued[taken:]]

    def _propose(self, n: int) -> Proposal:
        """Up to `n` distinct objects that are free as far as this worker knows."""
        before = self.proposal
        held = self.ledger.held(OPEN if self.replicates else HOLDING)
        queued, notes = [x for x, _ in self.kept], [note for _, note in self.kept]
        taken = held | self.lost | {self.space.key(x) for x in queued}
        rng = np.random.default_rng([self.seed, len(self._known), self.attempt])
        pending = [*self._pending, *self._since(), *queued]
        plate = None if self.plate is None else self.plate.after({self.space.key(x): x for x in queued})
        state = Known(self._told, self._failed, pending, taken, rng, plate, self._price_left(queued))
        proposal = self.proposer.propose(n - len(queued), state, before)
        beliefs = proposal.beliefs if before is None else before.beliefs
        objects = [*queued, *proposal.objects]
        self.proposal = replace(proposal, objects=objects, beliefs=beliefs, notes=[*notes, *proposal.notes])
        return self.proposal

    def _price_left(self, kept: Sequence[Any]) -> Price | None:
        """What may be spent beside what earlier attempts hold."""
        if self.price is None or not kept:
            return self.price
        return replace(self.price, budget=self.price.budget - float(np.sum(self.price.costs(kept))))

    def _since(self) -> list[Any]:
        trials = self.ledger.trials if self.attempt else []
        return [t.object for t in trials if t.id not in self._known and t.state is not State.ABANDONED]

    def _lose(self, proposal: Proposal, lost: Collection[str]) -> None:
        """Other workers were faster, and the ledger knows it: keep what is still free."""
        proposed = zip(proposal.objects, proposal.notes, strict=True)
        self.kept = [(x, notes) for x, notes in proposed if self.space.key(x) not in lost]
        self.lost.update(lost)
        self.attempt += 1

    def _provenance(self, s: Suggestion) -> dict[str, Any]:
        """Where a suggestion comes from: version, seed, and the trials that speak for it with their influence.

        Of several outcomes, these are by name.
        """
        if isinstance(s.analogues, Mapping):
            because: dict[Any, Any] = {name: self._influences(analogue) for name, analogue in s.analogues.items()}
        else:
            because = self._influences(s.analogues)
        return {"likewise": __version__, "seed": self.seed, **({"because": because} if because else {})}

    def _influences(self, analogues: Sequence[Analogue]) -> dict[int, float]:
        influences = [(self._ids.get(self.space.key(a.object)), a.influence) for a in analogues]
        return {id: round(influence, 6) for id, influence in influences if id is not None}

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The first told trial of each object."""
        trials = reversed(self.ledger.within(State.TOLD))
        return {str(self.ledger.key_of(trial.id)): trial.id for trial in trials}

    def _claim(self, suggestions: Sequence[Suggestion], proposal: Proposal, lease: float | None) -> list[Suggestion]:
        """The suggestions with the ids of their trials; `Taken` where another worker was given an object first."""
        if not suggestions:
            return []
        stated = [Stated.of(self.space, s.object) for s in suggestions]
        said = [{**explanation.summary(s, proposal.beliefs), **self._provenance(s)} for s in suggestions]
        with self.log.change("ask") as draft:
            held = draft.ledger.held()
            lost = [
                x.key
                for x in stated
                if x.key not in self._queued
                and x.key in held
                and not (self.replicates and draft.ledger.open_for(x.key) is None)
            ]
            if lost:
                raise Taken(lost)
            ids = []
            for x, summary in zip(stated, said, strict=True):
                fields = {"state": State.ASKED, "said": summary, "lease": lease}
                if x.key in self._queued:
                    draft.change(self._queued[x.key], **fields)
                ids.append(self._queued[x.key] if x.key in self._queued else draft.add(x.data, x.object, **fields))
        return [
            replace(s, id=id, object=copied(s.object), key=x.key)
            for s, id, x in zip(suggestions, ids, stated, strict=True)
        ]
