"""One call: optimise a function over a space, wherever it is evaluated."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from likewise.errors import LikewiseError, StudyError
from likewise.run.interruption import Interruption
from likewise.run.loop import INTERRUPTED, Loop
from likewise.run.progress import Progress
from likewise.run.runners import UNCOUNTED, Inline, Objective, Runner, ThreadRunner
from likewise.run.stopping import MOST_FAILURES, PATIENCE, Limits, Watch, callbacks_of
from likewise.similarity.auto.given import SimilarityLike
from likewise.spaces.base import Space
from likewise.study.checks import at_least_one, positive
from likewise.study.storage.base import Storage
from likewise.study.study import Direction, Study
from likewise.study.trial import State, Trial

Similarities = SimilarityLike | Sequence[SimilarityLike] | Literal["auto"]
Callback = Callable[[Study, Trial], Any]
# Long enough for a machine that is busy, short enough for its work not to wait for long when it has died.
LEASE = 300.0


@dataclass(frozen=True)
class Result:
    """The best object of the study, its value, the study itself, and why the run ended."""

    object: Any
    value: float
    study: Study
    stopped: str


def optimize(
    f: Objective,
    study: Study,
    *,
    budget: int = 60,
    batch: int | None = None,
    executor: Executor | Any = None,
    workers: int | None = None,
    synchronous: bool | None = None,
    timeout: float | None = None,
    target: float | None = None,
    wall_clock: float | None = None,
    min_improvement: float | None = None,
    patience: int = PATIENCE,
    most_failures: int = MOST_FAILURES,
    callbacks: Callback | Iterable[Callback] | None = None,
    progress: bool | None = None,
) -> Result:
    """Run a study with f until an end is reached.

    `f` returns a number, or a Measurement with its standard deviation; an f that raises is recorded as a failed trial
    with the traceback, and objects like it are avoided. `most_failures` in a row stop the run with an error.

    Where f is evaluated:

    - here, one after the other, `batch` suggestions at a time;
    - `workers=4`: in four processes; in threads where f cannot be sent to processes (a lambda, where processes are not
      forked). Processes that are stuck or die are replaced;
    - `executor`: any `concurrent.futures.Executor`, or a Dask `Client`.

    With workers, each evaluation that ends is told at once and the next one begins, with `batch` of them in flight, or
    as many as there are workers (processors, for an executor that does not say). `synchronous=True` waits for whole
    batches, as for plates. An evaluation that takes longer than `timeout` seconds is recorded as failed and given up.

    The run ends when `budget` evaluations are done in this call, `wall_clock` seconds have passed, `target` is reached,
    `patience` suggestions in a row promise less than `min_improvement`, a callback(study, trial) returns True or raises
    StopIteration, or every object has been tried. Ctrl-C ends it as well: what is in flight is given back, and the
    result so far is returned; pressed three times it ends the run at once. `Result.stopped` says which it was.

    >>> import likewise as lw
    >>> study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), direction="minimize", acquisition=lw.UpperConfidence())
    >>> optimize(lambda x: (x[0] - 0.7) ** 2, study, budget=20, target=1e-2).stopped
    'the target 0.01 is reached'
    """
    watch = Watch(
        Limits(budget, wall_clock, target, min_improvement, patience, most_failures),
        1.0 if study.direction == "maximize" else -1.0,
    )
    if batch is not None:
        at_least_one("batch", batch)
    alone = executor is None and workers is None and timeout is None
    together = alone if synchronous is None else synchronous
    before = {t.id for t in study.trials}
    with _holding(study):
        with Interruption() as interruption, Progress(budget, shown=progress) as bar:
            try:
                with _runner(f, executor, workers, timeout) as runner:
                    width = batch or min(
                        os.cpu_count() or 1 if runner.capacity == UNCOUNTED else runner.capacity, budget
                    )
                    called = callbacks_of(callbacks)
                    loop = Loop(study, runner, watch, width, together, timeout, called, bar, interruption)
                    stopped = loop.run()
            finally:
                # A storage that is away cannot be told; leases end by themselves.
                with suppress(LikewiseError):
                    _give_back(study, before)
        if stopped == INTERRUPTED:
            if not study.count(State.TOLD):
                raise KeyboardInterrupt
            print(_advice(study, watch.ended), file=sys.stderr)
        return _result(study, stopped)


def maximize(
    f: Objective,
    space: Space,
    similarity: Similarities = "auto",
    *,
    budget: int = 60,
    batch: int | None = None,
    seed: int = 0,
    storage: str | Storage | None = None,
    name: str = "study",
    lease: float | None = None,
    executor: Executor | Any = None,
    workers: int | None = None,
    synchronous: bool | None = None,
    timeout: float | None = None,
    target: float | None = None,
    wall_clock: float | None = None,
    min_improvement: float | None = None,
    patience: int = PATIENCE,
    most_failures: int = MOST_FAILURES,
    callbacks: Callback | Iterable[Callback] | None = None,
    progress: bool | None = None,
) -> Result:
    """Find the object with the largest f.

    With `storage` the study is kept, and the same call goes on where the last one ended. `lease` is how many seconds
    the suggestions of a run that has died stay reserved, 300 in a storage. `optimize` says what the other options are,
    and takes a `Study` with options of its own.

    >>> import likewise as lw
    >>> best = lw.maximize(lambda x: -((x[0] - 0.7) ** 2), lw.Box([0.0], [1.0]), lw.RBF(), budget=12)
    >>> round(float(best.object[0]), 1), best.stopped
    (0.7, 'the budget of 12 evaluations is spent')
    """
    return optimize(
        f,
        _study(space, similarity, "maximize", seed, storage, name, lease),
        budget=budget,
        batch=batch,
        executor=executor,
        workers=workers,
        synchronous=synchronous,
        timeout=timeout,
        target=target,
        wall_clock=wall_clock,
        min_improvement=min_improvement,
        patience=patience,
        most_failures=most_failures,
        callbacks=callbacks,
        progress=progress,
    )


def minimize(
    f: Objective,
    space: Space,
    similarity: Similarities = "auto",
    *,
    budget: int = 60,
    batch: int | None = None,
    seed: int = 0,
    storage: str | Storage | None = None,
    name: str = "study",
    lease: float | None = None,
    executor: Executor | Any = None,
    workers: int | None = None,
    synchronous: bool | None = None,
    timeout: float | None = None,
    target: float | None = None,
    wall_clock: float | None = None,
    min_improvement: float | None = None,
    patience: int = PATIENCE,
    most_failures: int = MOST_FAILURES,
    callbacks: Callback | Iterable[Callback] | None = None,
    progress: bool | None = None,
) -> Result:
    """Find the object with the smallest f; see `maximize`."""
    return optimize(
        f,
        _study(space, similarity, "minimize", seed, storage, name, lease),
        budget=budget,
        batch=batch,
        executor=executor,
        workers=workers,
        synchronous=synchronous,
        timeout=timeout,
        target=target,
        wall_clock=wall_clock,
        min_improvement=min_improvement,
        patience=patience,
        most_failures=most_failures,
        callbacks=callbacks,
        progress=progress,
    )


def _study(
    space: Space,
    similarity: Similarities,
    direction: Direction,
    seed: int,
    storage: str | Storage | None,
    name: str,
    lease: float | None,
) -> Study:
    """The study of a run; a stored one has a lease, as a run may die and leave suggestions behind."""
    lease = LEASE if lease is None and storage is not None else lease
    return Study(space, similarity, direction=direction, seed=seed, storage=storage, name=name, lease=lease)


def _runner(f: Objective, executor: Any, workers: int | None, timeout: float | None) -> Runner:
    if executor is not None and workers is not None:
        raise StudyError(f"give an executor or workers={workers}, not both")
    if workers is not None:
        at_least_one("workers", workers)
    if timeout is not None:
        positive("timeout", timeout)
    if executor is None and workers is None and timeout is None:
        return Inline(f)
    if executor is not None:
        return _on_executor(f, executor)
    from likewise.run.processes import ProcessRunner, can_send

    # Without a number of workers, but with a timeout: one that can be stopped.
    return ProcessRunner(f, workers or 1) if can_send(f) else ThreadRunner(f, workers or 1)


def _on_executor(f: Objective, executor: Any) -> Runner:
    from likewise.run.executors import DaskRunner, ExecutorRunner

    if isinstance(executor, Executor):
        return ExecutorRunner(f, executor)
    if hasattr(executor, "submit") and hasattr(executor, "nthreads"):
        return DaskRunner(f, executor)
    raise StudyError(
        f"{executor!r} is not an executor; give one of concurrent.futures, a dask.distributed Client, or workers=4"
    )


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
        _hold(error, study)
        raise


def _hold(error: Exception, study: Study) -> None:
    with suppress(AttributeError):
        error.study = study  # type: ignore[attr-defined]
        error.add_note(f"{_told(study)} told until then; the error holds the study as `study`.")


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
    best = study.best
    assert best.value is not None
    return Result(best.object, best.value, study, stopped)


def _advice(study: Study, ended: int) -> str:
    if study.storage is None:
        kept = "It was in memory only: the result holds it as `study`; storage='sqlite:///study.db' keeps it on disk"
    else:
        kept = f"The study is kept; the same call, with storage={study.storage!r} and name={study.name!r}, goes on"
    return f"likewise: interrupted after {ended} evaluations. {kept}."
