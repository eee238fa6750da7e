"""What became of objects, written down: each finding ends the trial that is meant, or adds one."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from likewise.errors import SimilarityError, StudyError
from likewise.spaces.base import Space, key_of
from likewise.study.methods.base import Proposer
from likewise.study.observations import outcomes_of
from likewise.study.record.findings import Finding
from likewise.study.record.ledger import Ledger, lot
from likewise.study.storage.base import NoTrial, OpenStudy, why_final
from likewise.study.storage.heartbeat import Heartbeat
from likewise.study.storage.trials import End, NewRow
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial


@final
@dataclass(frozen=True, eq=False)
class Recorder:
    """Writes findings to the storage, all of them or none. The ledger has to be up to date."""

    store: OpenStudy
    ledger: Ledger
    space: Space
    proposer: Proposer
    heartbeat: Heartbeat
    worker: str

    def record(self, findings: Sequence[Finding]) -> None:
        """One transaction, however many findings there are."""
        ends: dict[int, End] = {}
        rows: list[NewRow] = []
        fresh: list[Any] = []
        for finding in findings:
            x, id = self._meant(finding, ends)
            if id is None:
                rows.append(self._row(x, finding))
                fresh.append(self.ledger.object_of(rows[-1].payload))
            elif id in ends:
                raise StudyError(f"trial {id} of study {self.store.name!r} is told twice; tell its object once more")
            else:
                measured = finding.value, finding.std, finding.error, finding.text
                rest = finding.state is State.FAILED and self.ledger.lacks_outcomes(id)
                ends[id] = End(id, finding.state, *measured, notes=finding.notes, rest=rest)
        if fresh:
            self._check_comparable(fresh)
        for id in ends:
            self.heartbeat.drop(id)
        self._write(rows, ends)

    def correct(self, trial: Trial, finding: Finding, why: str) -> None:
        """Amend a trial by what was found, or withdraw it; what it said before is kept."""
        measured = finding.value, finding.std
        end = End(trial.id, finding.state, *measured, outcomes=finding.text, worker=self.worker, why=why)
        self.store.record(ends=[end])

    def settled(self, what: Any, id: int | None, states: Collection[State]) -> Trial:
        """The trial in one of these states that is meant by a trial, a suggestion, a number, or an object of one."""
        of = f"of study {self.store.name!r}"
        if id is None and isinstance(what, Suggestion | Trial):
            id = what.id
        if id is None:
            results = self.ledger.results_of(self.space.key(self.space.fit(what)))
            if len(results) != 1:
                which = f"say which by id=…: {'; '.join(map(repr, results))}" if results else "tell it one"
                raise StudyError(f"{what!r} has {len(results) or 'no'} results in study {self.store.name!r}; {which}")
            id = results[0].id
        self._check_same(what, id)
        trial = self.ledger.get(id)
        if trial is None:
            raise StudyError(f"study {self.store.name!r} has no trial {id!r}; `study.trials` has those that there are")
        if trial.state not in states:
            raise StudyError(f"trial {id} {of} {why_final(trial)}")
        if isinstance(what, Trial) and (what.state, outcomes_of(what)) != (trial.state, outcomes_of(trial)):
            raise StudyError(
                f"trial {id} {of} is {trial!r} and not {what!r}: it was corrected meanwhile, or this is the mean of "
                "several values; take it from `study.trials`"
            )
        return trial

    def enqueue(self, objects: Sequence[Any], *, replicate: bool, notes: str | None) -> None:
        """Objects that are to be asked next, refused where they wait already, or were measured and are not to be again.

        All of them or none.
        """
        rows = [new_row(self.space, x, state=State.QUEUED, notes=notes, replicate=replicate) for x in objects]
        known = self.ledger.keys({State.TOLD, State.FAILED})
        for x, row in zip(objects, rows, strict=True):
            if self.ledger.open_for(row.key) is not None:
                raise StudyError(
                    f"{x!r} is enqueued or being measured in study {self.store.name!r}; tell it, or abandon it first"
                )
            if row.key in known and not replicate:
                raise StudyError(
                    f"{x!r} was measured in study {self.store.name!r}; enqueue(…, replicate=True) measures it again"
                )
        self._check_comparable([self.ledger.object_of(row.payload) for row in rows])
        # A replicate of nothing is an object like any other, which nobody else may be given meanwhile.
        self.store.add([replace(row, replicate=row.replicate and row.key in known) for row in rows])

    def _write(self, rows: list[NewRow], ends: dict[int, End]) -> None:
        try:
            self.store.record(rows, list(ends.values()))
        except NoTrial as missing:
            # If its row was deleted, or set aside, what was measured is kept all the same.
            trial = self.ledger.forget(missing.id)
            if trial is None:
                raise
            end = ends.pop(missing.id)
            kept = [] if end.state is State.ABANDONED else [self._row(trial.object, end)]
            self._write([*rows, *kept], ends)

    def _meant(self, finding: Finding, ends: dict[int, End]) -> tuple[Any, int | None]:
        """The object that a finding is about, and the trial that it ends, if there is one."""
        what, id = finding.what, finding.id
        if id is None and isinstance(what, Suggestion | Trial):
            id = what.id
        if id is not None:
            self._check_same(what, id)
            return None, id
        x = self.space.fit(what)
        key = self.space.key(x) if self.ledger.some_open or finding.outcomes else ""
        id = self.ledger.open_for(key, besides=ends)
        if id is None and finding.outcomes and finding.state is State.TOLD:
            # What is still missing of an object that was measured before.
            id = self.ledger.partly_told(key, finding.outcomes, besides=ends)
        if id is None and finding.state is State.ABANDONED:
            raise StudyError(
                f"{what!r} is not being evaluated in study {self.store.name!r}, so it cannot be given back"
            )
        return x, id

    def _row(self, x: Any, end: Finding | End) -> NewRow:
        return new_row(
            self.space,
            x,
            state=end.state,
            value=end.value,
            std=end.std,
            error=end.error,
            outcomes=end.text if isinstance(end, Finding) else end.outcomes,
            notes=end.notes,
            worker=self.worker,
            replicate=True,
        )

    def _check_comparable(self, objects: Sequence[Any]) -> None:
        """A complaint about objects that no model could learn from: told, they could not be taken back.

        All at once, in an order of their own, and one by one only to find the one that is wrong.
        """
        known = [trial.object for trial in self.ledger.within(State.TOLD)[:1]]
        try:
            some = sorted(objects, key=lambda x: lot(self.space.key(x))) if len(objects) > 1 else objects
            self.proposer.check(some, known)
        except SimilarityError:
            for x in objects if len(objects) > 1 else []:
                try:
                    self.proposer.check([x], known)
                except SimilarityError as error:
                    raise SimilarityError(f"{x!r} cannot be compared: {error}") from error
            raise

    def _check_same(self, what: Any, id: int) -> None:
        """A suggestion, a trial or an object given with an id is what that trial is about."""
        known = self.ledger.key_of(id)
        if what is None or known is None:
            return
        about = what.object if isinstance(what, Suggestion | Trial) else self.space.fit(what)
        key = what.key if isinstance(what, Suggestion) and what.key else self.space.key(about)
        if key != known:
            raise StudyError(
                f"trial {id} of study {self.store.name!r} is about {known}, not about {key}, which another study may "
                "have asked; tell the object itself, without an id"
            )


def new_row(space: Space, x: Any, **fields: Any) -> NewRow:
    """A trial of an object, to be added."""
    data = space.to_json(x)
    return NewRow(key_of(data), json.dumps(data), **fields)
