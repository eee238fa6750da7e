"""What became of objects, written down: each finding changes the trial that is meant, or adds one."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from likewise.errors import SimilarityError, StudyError
from likewise.spaces.base import Space, key_of
from likewise.study.log import AMEND, WITHDRAW, Ledger, Log, lot, plain_text, why_final
from likewise.study.methods.base import Proposer
from likewise.study.record.findings import Finding
from likewise.study.storage.heartbeat import Heartbeat
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial


class Stated(NamedTuple):
    """An object as the log has it: its JSON data, its key, and the instance that stands for it from now on."""

    data: Any
    key: str
    object: Any

    @classmethod
    def of(cls, space: Space, x: Any) -> Stated:
        data = space.to_json(x)
        # As it is when it is read again, so that a study in memory and a resumed one have the same objects.
        return cls(data, key_of(data), space.from_json(json.loads(json.dumps(data))))


@final
@dataclass(eq=False)
class Recorder:
    """Adds findings to the log, all of them or none."""

    log: Log
    space: Space
    proposer: Proposer
    heartbeat: Heartbeat

    def record(self, findings: Sequence[Finding]) -> None:
        """One event, however many findings there are."""
        self.log.sync()
        stated = [self._stated(finding) for finding in findings]
        meant = self._meant(self.log.ledger, findings, stated)
        self._check_comparable([x.object for x, id in zip(stated, meant, strict=True) if x is not None and id is None])
        kinds = {finding.state for finding in findings}
        with self.log.change("abandon" if kinds == {State.ABANDONED} else "tell") as draft:
            meant = self._meant(draft.ledger, findings, stated)
            for finding, x, id in zip(findings, stated, meant, strict=True):
                if id is not None:
                    draft.change(id, **finding.entry)
                elif x is not None:
                    draft.add(x.data, x.object, **finding.entry)
        for id in meant:
            if id is not None:
                self.heartbeat.drop(id)

    def correct(self, trial: Trial, finding: Finding, why: str) -> None:
        """Amend a trial by what was found, or withdraw it; what it said before is kept."""
        with self.log.change(WITHDRAW if finding.state is State.ABANDONED else AMEND) as draft:
            draft.change(trial.id, **{**finding.entry, "why": plain_text(why)})

    def settled(self, what: Any, id: int | None, states: Collection[State]) -> Trial:
        """The trial in one of these states that is meant by a trial, a suggestion, a number, or an object of one."""
        self.log.sync()
        ledger, of = self.log.ledger, f"of study {self.log.name!r}"
        if id is None and isinstance(what, Suggestion | Trial):
            id = what.id
        if id is None:
            results = ledger.results_of(self.space.key(self.space.fit(what)))
            if len(results) != 1:
                which = f"say which by id=…: {'; '.join(map(repr, results))}" if results else "tell it one"
                raise StudyError(f"{what!r} has {len(results) or 'no'} results in study {self.log.name!r}; {which}")
            id = results[0].id
        self._check_same(ledger, what, id)
        trial = ledger.get(id)
        if trial is None:
            raise StudyError(f"study {self.log.name!r} has no trial {id!r}; `study.trials` has those that there are")
        if trial.state not in states:
            raise StudyError(f"trial {id} {of} {why_final(trial)}")
        if isinstance(what, Trial) and (what.state, what.outcomes) != (trial.state, trial.outcomes):
            raise StudyError(
                f"trial {id} {of} is {trial!r} and not {what!r}: it was corrected meanwhile, or this is the mean of "
                "several values; take it from `study.trials`"
            )
        return trial

    def enqueue(self, objects: Sequence[Any], *, replicate: bool, notes: Mapping[str, Any] | None) -> None:
        """Objects that are to be asked next, all of them or none.

        Raises where one waits already, or was measured and is not to be again.
        """
        stated = [Stated.of(self.space, x) for x in objects]
        self.log.sync()
        self._check_comparable([x.object for x in stated])
        with self.log.change("enqueue") as draft:
            known = draft.ledger.held({State.TOLD, State.FAILED})
            seen = set[str]()
            for x in stated:
                if x.key in seen or draft.ledger.open_for(x.key) is not None:
                    raise StudyError(
                        f"{x.object!r} is enqueued or being measured in study {self.log.name!r}; "
                        "tell it, or abandon it first"
                    )
                if x.key in known and not replicate:
                    raise StudyError(
                        f"{x.object!r} was measured in study {self.log.name!r}; enqueue(…, replicate=True) measures "
                        "it again"
                    )
                seen.add(x.key)
                draft.add(x.data, x.object, state=State.QUEUED, notes=notes)

    def run(self, objects: Sequence[Any]) -> None:
        """Objects that are being measured already."""
        stated = [Stated.of(self.space, x) for x in objects]
        with self.log.change("run") as draft:
            for x in stated:
                draft.add(x.data, x.object, state=State.ASKED)

    def _stated(self, finding: Finding) -> Stated | None:
        """The object of a finding that names no trial."""
        if finding.id is not None or isinstance(finding.what, Suggestion | Trial):
            return None
        return Stated.of(self.space, self.space.fit(finding.what))

    def _meant(self, ledger: Ledger, findings: Sequence[Finding], stated: Sequence[Stated | None]) -> list[int | None]:
        """The trial that each finding changes; None for a new one. Raises where one would be changed twice."""
        ids: list[int | None] = []
        for finding, x in zip(findings, stated, strict=True):
            besides = {id for id in ids if id is not None}
            id = self._trial_of(ledger, finding) if x is None else self._trial_for(ledger, finding, x, besides)
            if id is not None and id in besides:
                raise StudyError(f"trial {id} of study {self.log.name!r} is told twice; tell its object once more")
            ids.append(id)
        return ids

    def _trial_of(self, ledger: Ledger, finding: Finding) -> int:
        """The trial that a finding names, which is about its object, if that is given as well."""
        id = finding.what.id if finding.id is None else finding.id
        self._check_same(ledger, finding.what, id)
        return int(id)

    def _check_same(self, ledger: Ledger, what: Any, id: int) -> None:
        """Raises if a suggestion, a trial or an object that is given with an id is not what that trial is about."""
        known = ledger.key_of(id)
        if what is None or known is None:
            return
        about = what.object if isinstance(what, Suggestion | Trial) else self.space.fit(what)
        key = what.key if isinstance(what, Suggestion) and what.key else self.space.key(about)
        if key != known:
            raise StudyError(
                f"trial {id} of study {self.log.name!r} is about {known}, not about {key}, which another study may "
                "have asked; tell the object itself, without an id"
            )

    def _trial_for(self, ledger: Ledger, finding: Finding, x: Stated, besides: Collection[int]) -> int | None:
        """The trial that is open for an object, or still lacks these outcomes; None if there is none."""
        id = ledger.open_for(x.key, besides) if ledger.some_open else None
        if id is None and finding.state is State.TOLD:
            id = ledger.partly_told(x.key, finding.outcomes, besides)
        if id is None and finding.state is State.ABANDONED:
            raise StudyError(
                f"{finding.what!r} is not being evaluated in study {self.log.name!r}, so it cannot be given back"
            )
        return id

    def _check_comparable(self, objects: Sequence[Any]) -> None:
        """Raises if no model could learn from an object: told, it could not be taken back.

        All at once, in an order of their own, and one by one only to find the one that is wrong.
        """
        if not objects:
            return
        known = [trial.object for trial in self.log.ledger.within(State.TOLD)[:1]]
        try:
            ordered = sorted(objects, key=lambda x: lot(self.space.key(x))) if len(objects) > 1 else objects
            self.proposer.check(ordered, known)
        except SimilarityError:
            for x in objects if len(objects) > 1 else []:
                try:
                    self.proposer.check([x], known)
                except SimilarityError as error:
                    raise SimilarityError(f"{x!r} cannot be compared: {error}") from error
            raise
