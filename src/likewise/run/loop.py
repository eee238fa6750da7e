"""The loop of a run: ask, evaluate, tell, with as many evaluations in flight as there is capacity for."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from likewise.errors import StorageError, StudyError
from likewise.run.evaluation import Outcome
from likewise.run.interruption import Interruption
from likewise.run.options import Settings
from likewise.run.progress import Show
from likewise.run.runners import Ended, Runner
from likewise.run.stopping import Watch
from likewise.study.study import Study
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial

EXHAUSTED = "every object of the space has been tried"
INTERRUPTED = "interrupted"
# Seconds between attempts to reach a storage that is away: evaluations are too dear to be lost to a restarting server.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# So long, in seconds, may Ctrl-C go unnoticed while evaluations run elsewhere.
NAP = 0.2
clock = time.monotonic

T = TypeVar("T")


@dataclass(eq=False)
class Loop:
    """One run. Suggestions wait until a worker is free, so that their time counts from when their evaluation begins."""

    study: Study
    runner: Runner
    watch: Watch
    settings: Settings
    width: int
    show: Show
    interruption: Interruption
    waiting: deque[Suggestion] = field(default_factory=deque)
    flying: dict[int, float] = field(default_factory=dict)

    def run(self) -> str:
        """Run to the end; why it ended."""
        try:
            reason = self._run()
        except KeyboardInterrupt:
            reason = INTERRUPTED
        # What has ended while something else was done; what went wrong there does not matter any more.
        with self.interruption.held(), suppress(StudyError, KeyboardInterrupt):
            self._settle(self.runner.ended(0.0))
        return INTERRUPTED if self.interruption.count else reason

    def _run(self) -> str:
        while not self.interruption.count:
            if reason := self.watch.done(self._best()):
                return reason
            ended = None if self._full else self._ask()
            self._begin()
            if not self.flying:
                return ended or EXHAUSTED
            self._settle(self._wait())
            self._settle(self._give_up())
            self._check_failures()
        return INTERRUPTED

    def _best(self) -> float | None:
        """The study's best value, by whichever worker and in whichever run, if it matters."""
        if self.settings.target is None or not self.study.count(State.TOLD):
            return None
        # As long as nothing keeps to the constraints, there is none.
        with suppress(StudyError):
            best = self.study.best
            return best.value if self.study.reaches(best) else None
        return None

    @property
    def _full(self) -> bool:
        held = len(self.flying) + len(self.waiting)
        return held > 0 if self.settings.in_batches else held >= self.width

    def _ask(self) -> str | None:
        """Fill the batch; why that is not possible."""
        if reason := self.watch.enough:
            return reason
        missing = self.width - len(self.flying) - len(self.waiting)
        suggestions = patiently(lambda: self.study.ask(min(missing, self.watch.budget_left)))
        matters = self.settings.stop_when is not None and suggestions
        self.watch.asked(len(suggestions), self.study.expected_gain(of=suggestions) if matters else None)
        if reason := self.watch.hopeless_reason:
            for s in suggestions:
                self.study.abandon(s)
            return reason
        self.waiting.extend(suggestions)
        return None if suggestions else EXHAUSTED

    def _begin(self) -> None:
        while self.waiting and len(self.flying) < self.runner.capacity:
            s = self.waiting.popleft()
            self.flying[s.id] = clock()
            self.runner.begin(s.id, s.object)
        if self.waiting and not self.flying:
            raise StudyError(
                "every worker of the executor is stuck in an evaluation that ran out of time; the study is kept. "
                "Use workers=…, which replaces such workers"
            )

    def _wait(self) -> list[Ended]:
        """What has ended, as soon as something has, or something else is due."""
        while not self.interruption.count:
            patience = self._patience()
            nap = NAP if patience is None else min(NAP, patience)
            with self.interruption.held():
                ended = self.runner.ended(nap)
            if ended or patience == 0.0:
                return ended
        return []

    def _patience(self) -> float | None:
        """How long to wait for an evaluation to end, before something else is due."""
        due = [] if self.watch.time_left is None else [self.watch.time_left]
        if self.settings.evaluation_timeout is not None:
            due.append(max(0.0, min(self.flying.values()) + self.settings.evaluation_timeout - clock()))
        return min(due, default=None)

    def _give_up(self) -> list[Ended]:
        """The evaluations whose time has run out."""
        now, timeout = clock(), self.settings.evaluation_timeout
        late = [] if timeout is None else [id for id, begun in self.flying.items() if now >= begun + timeout]
        for id in late:
            self.runner.stop(id)
        return [(id, Outcome(error=f"the evaluation took longer than the timeout of {timeout:g} s")) for id in late]

    def _settle(self, ended: Sequence[Ended]) -> None:
        """Record all outcomes first: a callback that raises loses none."""
        with self.interruption.held():
            for id, outcome in ended:
                self.flying.pop(id, None)
                patiently(partial(self._record, id, outcome))
                self.watch.told(outcome)
        for id, _ in ended:
            self.show(self.watch.ended, self.study)
            if self.settings.callbacks is not None and (trial := self._trial(id)) is not None:
                self.watch.called |= self.settings.call(self.study, trial)

    def _record(self, id: int, outcome: Outcome) -> None:
        try:
            if outcome.value is None:
                self.study.fail(id=id, reason=outcome.error or "")
            else:
                self.study.tell(id=id, value=outcome.value, std=outcome.std)
        except StudyError:
            # A first attempt may have reached the storage, and only its answer been lost.
            trial = self._trial(id)
            if trial is None or trial.state is State.ASKED or not _is_same(trial, outcome):
                raise

    def _trial(self, id: int) -> Trial | None:
        """The trial; None if somebody has deleted its row."""
        return next((trial for trial in self.study.trials if trial.id == id), None)

    def _check_failures(self) -> None:
        if self.watch.failures >= self.settings.most_failures:
            raise StudyError(
                f"the last {self.watch.failures} evaluations failed, so the run was stopped; the study is kept. "
                f"The last error was: {self.watch.error}"
            )


def _is_same(trial: Trial, outcome: Outcome) -> bool:
    """Whether a trial has been told this outcome."""
    if outcome.value is None:
        return trial.state is State.FAILED
    if isinstance(outcome.value, dict):
        return trial.values == {name: float(value) for name, value in outcome.value.items()}
    return trial.value == float(outcome.value)


def patiently(call: Callable[[], T]) -> T:
    """The call, again and again while the storage is away."""
    for pause in PAUSES:
        try:
            return call()
        except StorageError:
            time.sleep(pause)
    return call()
