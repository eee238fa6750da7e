"""One call: optimise a function over a space, wherever it is evaluated."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Unpack

from likewise.errors import LikewiseError, StudyError
from likewise.run.loop import INTERRUPTED, Interruption, Loop, Options, RunSettings, Watch, check_options, progress
from likewise.run.runners import UNCOUNTED, Inline, Objective, Runner, ThreadRunner
from likewise.similarity.auto import Given
from likewise.spaces.base import Space
from likewise.study.explanation import Recommendation
from likewise.study.goals import Computed, Direction, Limits, Preference
from likewise.study.study import Study
from likewise.study.trial import State, Trial
from likewise.tables.cells import brief

# Long enough for a machine that is busy, short enough for its work not to wait for long when it has died.
LEASE = 300.0


@dataclass(frozen=True)
class Result:
    """What a run came to.

    object: the best object of the study; None where there are several objectives and no preference, or where nothing
        keeps to the constraints.
    value: its value, as it was told; the mean where it was measured several times. None with several objectives.
    study: the study itself, which can be asked, told and run on.
    stopped: why the run ended, in words.
    """

    object: Any
    value: Any
    study: Study
    stopped: str

    @property
    def front(self) -> list[Trial]:
        """The observations that no other beats in every objective."""
        return self.study.front

    @property
    def recommended(self) -> Recommendation:
        """The measured object with the highest expected value: if values are noisy, it may not be the best one."""
        return self.study.recommend()[0]

    def __repr__(self) -> str:
        shown = self.value if self.value is None else f"{self.value:.6g}"
        return f"Result({brief(self.object)}, value={shown}, {len(self.study)} trials, stopped={self.stopped!r})"

    def __str__(self) -> str:
        if not self.study.goals.single:
            return f"{len(self.front)} observations on the front; {self.stopped}"
        best, other = f"best {brief(self.object)}, {self.value:.6g}; {self.stopped}", self.recommended
        same = self.study.space.key(other.object) == self.study.space.key(self.object)
        return best if same else f"{best}; recommended {other}"


def maximize(f: Objective, space: Space, similarity: Given = "auto", **options: Unpack[Options]) -> Result:
    """Find the object with the largest f.

    f: takes an object and returns a number, or a `Measurement` with its standard deviation. If it raises, the trial has
        failed: objects like it are avoided, and the run goes on.
    space: where the objects come from: `Pool`, `Box`, `Strings`, `Record` …
    similarity: how alike two objects are: a similarity, a plain function, a list of either to weigh by evidence, or
        "auto" (default), which chooses by the kind of the objects.
    options: every option of `Study` but `direction` (seed, storage, name, …) and every one of `Study.optimize`
        (budget, workers, target, …); they are described there. The one default that differs: with a `storage`, `lease`
        is 300 seconds, as a run may die and leave suggestions behind.

    With `storage` the study is kept, and the same call goes on where the last one ended.

    >>> import likewise as lw
    >>> best = lw.maximize(lambda x: -((x[0] - 0.7) ** 2), lw.Box([0.0], [1.0]), lw.RBF(), budget=12)
    >>> round(float(best.object[0]), 1), best.stopped
    (0.7, 'the budget of 12 evaluations is spent')
    """
    return _run(f, space, similarity, {"direction": "maximize"}, options)


def minimize(f: Objective, space: Space, similarity: Given = "auto", **options: Unpack[Options]) -> Result:
    """Find the object with the smallest f. The arguments are those of `maximize`.

    f, space, similarity, options: those of `maximize`; `options` are the same, too.

    >>> import likewise as lw
    >>> round(float(lw.minimize(lambda x: (x[0] - 0.7) ** 2, lw.Box([0.0], [1.0]), lw.RBF(), budget=12).object[0]), 1)
    0.7
    """
    return _run(f, space, similarity, {"direction": "minimize"}, options)


def optimize(
    f: Objective,
    space: Space,
    similarity: Given = "auto",
    *,
    objectives: Mapping[str, Direction | Computed],
    constraints: Mapping[str, Limits] | None = None,
    reference: Mapping[str, float] | None = None,
    preference: Preference | None = None,
    **options: Unpack[Options],
) -> Result:
    """Find the objects with the best trade-offs between several objectives.

    f: takes an object and returns a mapping from names to numbers, or to `Measurement`s: all objectives that are not
        computed, and all constraints. If it raises, the trial has failed, and the run goes on.
    space, similarity, options: those of `maximize`.
    objectives, constraints, reference, preference: those of `Study`, which says what each of them is.

    >>> import likewise as lw
    >>> f = lambda x: {"speed": float(x[0]), "cost": float(x[0] ** 2 + x[1])}
    >>> goals = {"speed": "maximize", "cost": "minimize"}
    >>> found = lw.optimize(f, lw.Box([0.0, 0.0], [1.0, 1.0]), lw.RBF(), objectives=goals, budget=12)
    >>> all(trial.object[1] < 0.1 for trial in found.front) and len(found.front) > 3
    True
    """
    wanted = {"objectives": objectives, "constraints": constraints, "reference": reference, "preference": preference}
    return _run(f, space, similarity, wanted, options)


def _run(f: Objective, space: Space, similarity: Given, goals: Mapping[str, Any], options: Options) -> Result:
    check_options(options)
    running = {name: value for name, value in options.items() if name in RunSettings.__dataclass_fields__}
    study: dict[str, Any] = {name: value for name, value in options.items() if name not in running}
    if study.get("storage") is not None and study.get("lease") is None:
        study["lease"] = LEASE
    settings = RunSettings(**running)  # type: ignore[arg-type]
    return run(f, Study(space, similarity, **goals, **study), settings)


def run(f: Objective, study: Study, settings: RunSettings) -> Result:
    """Run a study with f until an end is reached; `Study.optimize` says how."""
    if not callable(f):
        raise StudyError(f"f is a function of an object, not {brief(f)}; give the function itself")
    watch = Watch(settings, _sign(study, settings))
    before = {t.id for t in study.trials if t.state is State.ASKED}
    with _holding(study):
        with Interruption() as interruption, progress(settings.budget, shown=settings.progress) as show:
            try:
                with _runner(f, settings) as runner:
                    width = settings.batch or min(_processors(runner.capacity), settings.budget)
                    stopped = Loop(study, runner, watch, settings, width, show, interruption).run()
            finally:
                # A storage that is away cannot be told; leases end by themselves.
                with suppress(LikewiseError):
                    _give_back(study, before)
        if stopped == INTERRUPTED:
            if not study.count(State.TOLD):
                raise KeyboardInterrupt
            print(_advice(study, watch.ended), file=sys.stderr)
        return _result(study, stopped)


def _sign(study: Study, settings: RunSettings) -> float:
    """1 where larger values are better, −1 where smaller ones are."""
    name = study.goals.objective
    if name is None and settings.target is not None:
        raise StudyError(f"target={settings.target!r} is for one objective; this study has several, leave it out")
    return 1.0 if name is None else study.goals.sign(name)


def _processors(capacity: int) -> int:
    return os.cpu_count() or 1 if capacity == UNCOUNTED else capacity


def _runner(f: Objective, settings: RunSettings) -> Runner:
    # The modules below load multiprocessing, which a run in this thread does without.
    if settings.here:
        return Inline(f)
    if settings.executor is not None:
        from likewise.run.runners import runner_on

        return runner_on(settings.executor, f)
    from likewise.run.runners import ProcessRunner, can_send

    # Without a number of workers, but with a timeout: one that can be stopped.
    workers = settings.workers or 1
    return ProcessRunner(f, workers) if can_send(f) else ThreadRunner(f, workers)


def _give_back(study: Study, before: set[int]) -> None:
    """Abandon what this run asked and did not end, so that it may be asked again."""
    for trial in study.trials:
        if trial.state is State.ASKED and trial.worker == study.worker and trial.id not in before:
            study.abandon(trial)


@contextmanager
def _holding(study: Study) -> Iterator[None]:
    """What was told until then is not lost with the call: an error carries the study."""
    try:
        yield
    except Exception as error:
        with suppress(AttributeError):
            error.study = study  # type: ignore[attr-defined]
            error.add_note(f"{_told(study)} told until then; the error holds the study as `study`.")
        raise


def _told(study: Study) -> str:
    """How much was told, as far as a storage that may be away can say."""
    with suppress(LikewiseError):
        return f"{study.count(State.TOLD)} values were"
    return "The storage, when it is back, has what was"


def _result(study: Study, stopped: str) -> Result:
    if not study.count(State.TOLD):
        failed = [t for t in study.trials if t.state is State.FAILED]
        why = f"all {len(failed)} evaluations failed; the last error was: {failed[-1].error}" if failed else stopped
        raise StudyError(f"the run ended without a value: {why}")
    try:
        best = study.best
    except StudyError:
        return Result(None, None, study, stopped)
    return Result(best.object, best.value, study, stopped)


def _advice(study: Study, ended: int) -> str:
    if study.storage is None:
        advice = "It was in memory only: the result holds it as `study`; storage='sqlite:///study.db' keeps it on disk"
    else:
        advice = f"The study is kept; the same call, with storage={study.storage!r} and name={study.name!r}, goes on"
    return f"likewise: interrupted after {ended} evaluations. {advice}."
