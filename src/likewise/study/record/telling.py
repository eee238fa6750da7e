"""What a user tells a study: values, failures, what is being measured, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from traceback import format_exception
from typing import Any

from likewise.study.answers import Answers
from likewise.study.measurement import Measurement, with_block, with_limits
from likewise.study.methods.base import Method
from likewise.study.record.findings import Finding, amended, check_single, read_notes, refuse_limits, told, told_row
from likewise.study.record.frames import frame_findings
from likewise.study.record.suspicion import Suspicion
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial
from likewise.tables.frames import as_objects, is_frame


class Telling(Answers):
    """The study's ears: everything that is recorded goes through here."""

    worker: str
    method: Method
    _suspicion: Suspicion

    def tell(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | Mapping[str, float | Measurement] | None = None,
        *,
        std: float | Mapping[str, float] | None = None,
        below: float | None = None,
        above: float | None = None,
        block: str | None = None,
        id: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a value. An object that is measured again is a replicate, which tells how noisy the values are.

        A value that is far from all others is recorded with a `SuspectWarning`, and counts like any other. Do not tell
        a wrong value again: `amend` corrects it.

        what: a suggestion, a trial, or any object that was measured anyway.
        value: a finite number, or a `Measurement` with its standard deviation; with named outcomes one for each that
            was measured, by name. Those still to come are told later, to the same suggestion or object.
        std: the standard deviation of the measurement, in the units of the values, where it is known; with named
            outcomes by name.
        below: instead of a value, a limit that it lies below, such as the limit of detection. It counts as what it
            is: any value below is possible. Among several outcomes tell `{"yield": Below(0.1)}`.
        above: instead of a value, a limit that it lies above; among several outcomes `Above(99)`.
        block: what it was measured together with, such as a day or a plate. Values of one block may be shifted alike;
            predictions are those of a mean block. None by default.
        id: the trial's number, instead of `what` or to make sure.
        notes: your own remarks, by name: `notes={"by": "Ann", "vial": 3}`; `Trial.notes` and `to_frame` have them.
        """
        check_single(what)
        measured = with_block(with_limits(value, below, above), block)
        self._record([replace(told(self.goals, what, measured, std, id), notes=read_notes(notes))])

    def tell_many(self, rows: Iterable[Sequence[Any]] | Any) -> None:
        """Record many values at once: all of them, or none if one is refused. Quicker than one by one.

        rows: of each measurement what was measured, as in `tell`, its value, and its standard deviation if known. The
            value may be a limit: `Below(0.1)`, `Above(99)`. Or a data frame of pandas or polars: the objects in the
            column "object", or the fields of records in columns of their own; values in the column "value", or in
            columns of the outcomes' names; standard deviations, if they are known, in "std", or in "yield std" for
            "yield". A row without a value is passed over. `to_frame` gives such a frame.

        >>> import likewise as lw, polars
        >>> study = lw.Study(lw.Pool(["CCO", "CCN", "CCC"]), lw.Levenshtein())
        >>> study.tell_many([("CCO", 0.3), ("CCN", 0.5, 0.1)])
        >>> study.count(lw.State.TOLD), study.best.std
        (2, 0.1)
        >>> study.tell_many(polars.DataFrame({"object": ["CCC"], "value": [0.7]}))
        >>> study.best_value
        0.7
        """
        if is_frame(rows):
            self._record(frame_findings(rows, self.space, self.goals))
        else:
            self._record([told_row(self.goals, row) for row in rows])

    def amend(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | Mapping[str, float | Measurement] | None = None,
        *,
        std: float | Mapping[str, float] | None = None,
        below: float | None = None,
        above: float | None = None,
        block: str | None = None,
        id: int | None = None,
        why: str = "",
    ) -> None:
        """Correct a value that was told wrongly; `Trial.corrections` keeps what it was, why, when and by whom.

        what: a trial, a suggestion, or an object that was measured once.
        value: the right value, or `Measurement`; with named outcomes those that are wrong, by name.
        std: its standard deviation; None (default) keeps the one that was told.
        below, above: instead of a value, a limit that it lies below or above, as in `tell`.
        block: what it was measured together with; None (default) keeps what was told.
        id: the trial's number, instead of `what` or to make sure.
        why: the reason, for the record.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool(["CCO", "CCN"]), lw.Levenshtein())
        >>> study.tell("CCO", 8971.0)
        >>> study.amend("CCO", 89.71, why="typo")
        >>> study.best_value, study.trials[0].corrections[0].outcomes["value"].value
        (89.71, 8971.0)
        """
        check_single(what)
        measured = with_block(with_limits(value, below, above), block)
        with self._lock:
            trial = self._recorder.settled(what, id, {State.TOLD})
            self._correct(trial, amended(self.goals, trial, measured, std), why)

    def withdraw(self, what: Suggestion | Trial | Any = None, *, id: int | None = None, why: str = "") -> None:
        """Take a result back, as if it had not been told; the trial stays on record, with what it said and why.

        Its object may be asked again. A failure can be withdrawn, too.

        what: a trial, a suggestion, or an object that has one result.
        id: the trial's number, instead of `what` or to make sure.
        why: the reason, for the record.
        """
        check_single(what)
        with self._lock:
            trial = self._recorder.settled(what, id, {State.TOLD, State.FAILED})
            self._correct(trial, Finding(trial, State.ABANDONED), why)

    def _correct(self, trial: Trial, finding: Finding, why: str) -> None:
        if not self.method.takes_limits:
            refuse_limits([finding], self.method)
        self._recorder.correct(trial, finding, str(why))
        self._look([finding])

    def fail(
        self,
        what: Suggestion | Trial | Any = None,
        reason: str | BaseException = "",
        *,
        id: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Record that an object could not be measured; objects like it are avoided.

        A suggestion that was told some outcomes may still fail: no others are waited for. The trial keeps what was
        told, but it no longer counts: the run has failed as a whole.

        what: a suggestion, a trial, or any object.
        reason: a text, or the exception that was raised.
        id: the trial's number, instead of `what` or to make sure.
        notes: your own remarks, by name, as in `tell`.
        """
        check_single(what)
        error = "".join(format_exception(reason)) if isinstance(reason, BaseException) else str(reason)
        noted = read_notes(notes)
        self._record([Finding(what, State.FAILED, error=error.rstrip() or "failed", id=id, notes=noted)])

    def enqueue(self, *objects: Any, replicate: bool = False, notes: Mapping[str, Any] | None = None) -> None:
        """Put objects at the head of the line: the next asks return them first, in this order.

        They are kept with the study: other workers and a resumed study see them, and each is asked once. Their
        suggestions have the note "enqueued". Asks with `same`, `groups`, `at_most`, `fix`, `where`, `cost` or `budget`
        leave them for the next plain ask. `abandon(x)` takes one out of the line.

        objects: of the study's space; several, or one.
        replicate: whether an object that was measured already may be measured again; False by default.
        notes: your own remarks, by name, as in `tell`.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Strings("ACGT", 4), lw.Hamming())
        >>> study.enqueue("ACGT", "AAAA")
        >>> [s.object for s in study.ask(3)][:2]
        ['ACGT', 'AAAA']
        """
        fitted, noted = [self.space.fit(x) for x in objects], read_notes(notes)
        with self._lock:
            self._recorder.enqueue(fitted, replicate=replicate, notes=noted)

    def mark_running(self, objects: Iterable[Any]) -> None:
        """Record that objects are being measured already: they are not proposed, and asks take them into account.

        objects: of the study's space, also as a data frame or a series. Tell, fail or abandon each of them later, as a
            suggestion.
        """
        with self._lock:
            self._recorder.run([self.space.fit(x) for x in as_objects(objects)])

    def abandon(self, what: Suggestion | Trial | Any = None, *, id: int | None = None) -> None:
        """Give a suggestion back, so that it may be asked again; without arguments every open one of this worker.

        what: a suggestion, a trial, or an object that is being measured.
        id: the trial's number, instead of `what` or to make sure.
        """
        check_single(what)
        with self._lock:
            if what is not None or id is not None:
                self._record([Finding(what, State.ABANDONED, id=id)])
            else:
                mine = [t for t in self._trials_in(State.ASKED) if t.worker == self.worker]
                self._recorder.record([Finding(None, State.ABANDONED, id=t.id) for t in mine])

    def _record(self, findings: Sequence[Finding]) -> None:
        if not self.method.takes_limits:
            refuse_limits(findings, self.method)
        with self._lock:
            self._recorder.record(findings)
            self._look(findings)

    def _look(self, findings: Sequence[Finding]) -> None:
        self._suspicion.look(findings, self._log.ledger, self.goals)
