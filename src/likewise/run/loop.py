"""The loop of a run: ask, evaluate, tell, with as many evaluations in flight as there is capacity for.

With it: a run's options, what ends it, Ctrl-C, and the progress bar.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from importlib import import_module
from threading import current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Any, Self, TypedDict, TypeVar, cast, final

from likewise.acquisition.acquisitions import Acquisition
from likewise.errors import StorageError, StudyError, did_you_mean
from likewise.model.spectrum import Spectrum
from likewise.run.runners import Ended, Evaluation, Runner
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.study.explanation import Gain
from likewise.study.goals import Bounds, at_least_one, number, positive, truth
from likewise.study.methods.base import Method
from likewise.study.storage.base import Storage
from likewise.study.study import Study
from likewise.study.trial import State, Suggestion, Trial

# The options of a study.


class StudyOptions(TypedDict, total=False):
    """The options of `Study`, which says what each of them is; without its direction."""

    seed: int | None
    storage: str | Storage | None
    name: str
    method: Method | None
    acquisition: Acquisition | None
    strategy: Strategy | None
    search: Search | None
    spectrum: Spectrum | Sequence[Spectrum]
    bounds: Bounds | Mapping[str, Bounds] | None
    initial: int
    lease: float | None
    worker: str | None


# The options of a run, and what ends one.

Callback = Callable[[Study, Trial], Any]
# Of the options that may be None.
CHECKS = {
    "batch": at_least_one,
    "workers": at_least_one,
    "evaluation_timeout": positive,
    "timeout": positive,
    "target": number,
    "synchronous": truth,
    "progress": truth,
}


class RunOptions(TypedDict, total=False):
    """The options of `Study.optimize`, which says what each of them is."""

    budget: int
    batch: int | None
    executor: Executor | Any
    workers: int | None
    synchronous: bool | None
    evaluation_timeout: float | None
    target: float | None
    timeout: float | None
    stop_when: float | Callable[[Gain], bool] | None
    patience: int
    most_failures: int
    callbacks: Callback | Iterable[Callback] | None
    progress: bool | None


class Options(StudyOptions, RunOptions, total=False):
    """The options of `maximize` and `minimize`: every one of `Study`, but its direction, and of `Study.optimize`."""


def check_options(names: Iterable[str], options: type = Options) -> None:
    """Raises a TypeError if an option is neither the study's nor the run's, and names those that may be meant.

    >>> check_options(["budgets"])
    Traceback (most recent call last):
    ...
    TypeError: there is no option 'budgets'; did you mean 'budget'?
    """
    allowed = list(options.__annotations__)
    for name in names:
        if name not in allowed:
            raise TypeError(f"there is no option {name!r}; {did_you_mean(name, allowed)}")


@dataclass(frozen=True)
class RunSettings:
    """Run options with their defaults; raises a StudyError if they make no sense, before anything begins."""

    budget: int = 60
    batch: int | None = None
    executor: Executor | Any = None
    workers: int | None = None
    synchronous: bool | None = None
    evaluation_timeout: float | None = None
    target: float | None = None
    timeout: float | None = None
    stop_when: float | Callable[[Gain], bool] | None = None
    patience: int = 3
    most_failures: int = 10
    callbacks: Callback | Iterable[Callback] | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.executor is not None and self.workers is not None:
            raise StudyError(f"give an executor or workers={self.workers}, not both")
        for name in ("budget", "patience", "most_failures"):
            at_least_one(name, getattr(self, name))
        for name, check in CHECKS.items():
            if (number := getattr(self, name)) is not None:
                check(name, number)
        if self.stop_when is not None and not callable(self.stop_when):
            positive("stop_when", self.stop_when)
        wrong = next((call for call in self._callbacks if not callable(call)), None)
        if wrong is not None:
            raise StudyError(f"a callback is a function of the study and a trial, not {wrong!r}")

    @property
    def here(self) -> bool:
        """Whether f is evaluated in this very thread; only elsewhere can it be given up."""
        return self.executor is None and self.workers is None and self.evaluation_timeout is None

    @property
    def in_batches(self) -> bool:
        """Whether a batch is asked only when the one before it has ended."""
        return self.here if self.synchronous is None else self.synchronous

    def call(self, study: Study, trial: Trial) -> bool:
        """Call back; whether one of the callbacks wants the run to stop."""
        # Each is called, also when one before it wants to stop.
        stops = [_stops(callback, study, trial) for callback in self._callbacks]
        return any(stops)

    @cached_property
    def _callbacks(self) -> tuple[Callback, ...]:
        callbacks = self.callbacks
        if callbacks is None:
            return ()
        return (
            tuple(callbacks)
            if isinstance(callbacks, Iterable) and not callable(callbacks)
            else (cast(Callback, callbacks),)
        )


def _stops(callback: Callback, study: Study, trial: Trial) -> bool:
    try:
        return callback(study, trial) is True
    except StopIteration:
        return True


# When a run ends: its budget, its time, a value that is good enough, or nothing more to be gained.


@dataclass(eq=False)
class Watch:
    """Counts what happens in a run, and says why it should stop, if it should."""

    settings: RunSettings
    sign: float
    clock: Callable[[], float] = time.monotonic
    begun: int = 0
    ended: int = 0
    failures: int = 0
    hopeless: int = 0
    called: bool = False
    error: str | None = None
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def time_left(self) -> float | None:
        """Seconds until the run must end; None if it need not."""
        if self.settings.timeout is None:
            return None
        return max(0.0, self.started + self.settings.timeout - self.clock())

    @property
    def budget_left(self) -> int:
        """How many evaluations may still begin."""
        return self.settings.budget - self.begun

    def asked(self, n: int, gain: Gain | None = None) -> None:
        """Count suggestions, and how many asks in a row promise too little; a spread-out start promises nothing."""
        self.begun += n
        least = self.settings.stop_when
        if least is None or gain is None or gain.expected is None:
            return
        too_little = least(gain) if callable(least) else gain.expected < least
        self.hopeless = self.hopeless + 1 if too_little else 0

    def told(self, outcome: Evaluation) -> None:
        """Count an evaluation that has ended."""
        self.ended += 1
        self.failures = self.failures + 1 if outcome.value is None else 0
        self.error = outcome.error or self.error

    def done(self, best: float | None) -> str | None:
        """Why the run should end at once, evaluations in flight given up; `best` is the study's best value."""
        target = self.settings.target
        if self.called:
            return "a callback stopped it"
        if target is not None and best is not None and self.sign * best >= self.sign * target:
            return f"the target {target:g} is reached"
        if self.time_left == 0.0:
            return f"the time of {self.settings.timeout:g} s is over"
        return None

    @property
    def hopeless_reason(self) -> str | None:
        """Why nothing more should be begun: too little is expected of it."""
        if self.hopeless < self.settings.patience:
            return None
        least = self.settings.stop_when
        little = "too little gain" if least is None or callable(least) else f"a gain of less than {least:g}"
        return f"{'the last ask' if self.hopeless == 1 else f'the last {self.hopeless} asks'} promised {little}"

    @property
    def enough(self) -> str | None:
        """Returns why no evaluation should begin any more, or None; running ones may end."""
        spent = f"the budget of {self.settings.budget} evaluations is spent" if self.budget_left <= 0 else None
        return self.hopeless_reason or spent


# Ctrl-C during a run: the first ends it in good order, the second does not disturb that, the third ends it at once.
#
# An exception can come between any two steps, also between receiving a value and writing it down. A run therefore
# counts the signals itself, holds them back where something would be lost, and looks at the count where nothing can be.

INSISTING = 3


@final
class Interruption:
    """Counts Ctrl-C while it is entered, in the main thread and unless the user handles the signal otherwise.

    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> with Interruption() as interruption, interruption.held():
    ...     signal.raise_signal(signal.SIGINT)
    >>> _ = signal.signal(signal.SIGINT, before)
    >>> interruption.count
    1
    """

    def __init__(self) -> None:
        self.count = 0
        self._held = 0
        self._ours = False
        self._process = os.getpid()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Count the signal only; the work of this thread goes on to its end."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def __enter__(self) -> Self:
        usual = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual:
            signal.signal(signal.SIGINT, self._count_signal)
        self._ours = usual
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _count_signal(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            # A forked worker has inherited this, but it does not run the study.
            raise KeyboardInterrupt
        self.count += 1
        if self.count >= INSISTING or (self.count == 1 and not self._held):
            raise KeyboardInterrupt


# A progress bar for long runs: on stderr where that is a terminal, and below the cell in a notebook.

Show = Callable[[int, Study], None]
# Seconds between two pictures of the bar in a notebook: each is a message to the browser.
PAUSE = 0.1


@contextmanager
def progress(total: int, *, shown: bool | None = None) -> Iterator[Show]:
    """Evaluations done, the best value and failures. `shown=None`: where there is a terminal or a notebook."""
    if shown is False:
        yield lambda done, study: None
    elif in_notebook():
        yield from _below_the_cell(total)
    elif shown or sys.stderr.isatty():
        yield from _on_stderr(total)
    else:
        yield lambda done, study: None


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which a browser looks at; IPython in a terminal is none.

    >>> in_notebook()
    False
    """
    # Whoever runs in a notebook has loaded IPython, and nobody else pays for it.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _on_stderr(total: int) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("likewise"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda done, study: bar.update(task, completed=done, description=describe(study))


@dataclass(frozen=True)
class Bar:
    """The bar of a notebook: HTML that needs no widgets, so that it also stays in the file.

    >>> Bar(3, 12, "best 0.25")
    likewise 3/12 best 0.25
    """

    done: int
    total: int
    text: str

    def __repr__(self) -> str:
        return f"likewise {self.done}/{self.total} {self.text}"

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self.done}" max="{self.total}" style="vertical-align: middle"></progress>'
        return f"{bar} {self.done}/{self.total} {escape(self.text)}"


def _below_the_cell(total: int) -> Iterator[Show]:
    ipython: Any = import_module("IPython.display")
    handle = ipython.display(Bar(0, total, "starting"), display_id=True)
    shown_at = monotonic()
    last: tuple[int, Study] | None = None

    def show(done: int, study: Study) -> None:
        nonlocal shown_at, last
        last = (done, study)
        if monotonic() - shown_at >= PAUSE:
            handle.update(Bar(done, total, describe(study)))
            shown_at, last = monotonic(), None

    try:
        yield show
    finally:
        if last is not None:
            done, study = last
            handle.update(Bar(done, total, describe(study)))


def describe(study: Study) -> str:
    """The best value so far, and how many trials have failed.

    >>> import likewise as lw
    >>> study = lw.Study(lw.Pool(["a", "b"]), lambda x, y: 1.0)
    >>> study.tell("a", 0.25)
    >>> study.fail("b")
    >>> describe(study)
    'best 0.25, 1 failed'
    """
    failed = study.count(State.FAILED)
    best = _best(study) if study.count(State.TOLD) else "no value yet"
    return best + (f", {failed} failed" if failed else "")


def _best(study: Study) -> str:
    if study.goals.objective is None:
        return f"{len(study.front)} on the front"
    try:
        return f"best {study.best.measured}"
    except StudyError:
        return "nothing keeps to the constraints yet"


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
    settings: RunSettings
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
        return [(id, Evaluation(error=f"the evaluation took longer than the timeout of {timeout:g} s")) for id in late]

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

    def _record(self, id: int, outcome: Evaluation) -> None:
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


def _is_same(trial: Trial, outcome: Evaluation) -> bool:
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
