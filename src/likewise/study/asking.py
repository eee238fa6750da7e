"""One ask among many workers: what was known when it began, and what the others have taken since."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from likewise import __version__
from likewise.errors import StudyError
from likewise.search.plate import Plate
from likewise.spaces.base import Space
from likewise.spaces.codec.copies import copied
from likewise.study import explanation
from likewise.study.goals import Goals, Price
from likewise.study.log import HOLDING, OPEN, Log, Taken
from likewise.study.methods.base import Known, Proposal, Proposer
from likewise.study.observations import failures, observations, trials_of
from likewise.study.record.recorder import Stated
from likewise.study.suggestion import Analogue, Suggestion
from likewise.study.trial import State

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
        kept, notes = [x for x, _ in self.kept], [note for _, note in self.kept]
        taken = held | self.lost | {self.space.key(x) for x in kept}
        rng = np.random.default_rng([self.seed, len(self._known), self.attempt])
        pending = [*self._pending, *self._since(), *kept]
        plate = None if self.plate is None else self.plate.after({self.space.key(x): x for x in kept})
        known = Known(self._told, self._failed, pending, taken, rng, plate, self._price_left(kept))
        found = self.proposer.propose(n - len(kept), known, before)
        beliefs = found.beliefs if before is None else before.beliefs
        objects = [*kept, *found.objects]
        self.proposal = replace(found, objects=objects, beliefs=beliefs, notes=[*notes, *found.notes])
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
            because: dict[Any, Any] = {name: self._influences(each) for name, each in s.analogues.items()}
        else:
            because = self._influences(s.analogues)
        return {"likewise": __version__, "seed": self.seed, **({"because": because} if because else {})}

    def _influences(self, analogues: Sequence[Analogue]) -> dict[int, float]:
        found = [(self._ids.get(self.space.key(a.object)), a.influence) for a in analogues]
        return {id: round(influence, 6) for id, influence in found if id is not None}

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The first told trial of each object."""
        told = reversed(self.ledger.within(State.TOLD))
        return {str(self.ledger.key_of(trial.id)): trial.id for trial in told}

    def _claim(self, suggestions: Sequence[Suggestion], proposal: Proposal, lease: float | None) -> list[Suggestion]:
        """The suggestions with the ids of their trials; `Taken` where another worker was given an object first."""
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
