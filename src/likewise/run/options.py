"""The options of a run, and what ends one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, cast

from likewise.errors import StudyError, did_you_mean
from likewise.study.checks import at_least_one, number, positive, truth
from likewise.study.gain import Gain
from likewise.study.options import StudyOptions
from likewise.study.study import Study
from likewise.study.trial import Trial

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


def check_options(given: Iterable[str], options: type = Options) -> None:
    """A complaint about an option that is neither the study's nor the run's, with those that may be meant.

    >>> check_options(["budgets"])
    Traceback (most recent call last):
    ...
    TypeError: there is no option 'budgets'; did you mean 'budget'?
    """
    known = list(options.__annotations__)
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}; {did_you_mean(name, known)}")


@dataclass(frozen=True)
class Settings:
    """Run options with their defaults, refused where they make no sense before anything begins."""

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
        given = self.callbacks
        if given is None:
            return ()
        return tuple(given) if isinstance(given, Iterable) and not callable(given) else (cast(Callback, given),)


def _stops(callback: Callback, study: Study, trial: Trial) -> bool:
    try:
        return callback(study, trial) is True
    except StopIteration:
        return True
