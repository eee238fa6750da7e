"""Evaluations on executors of the user's: any of `concurrent.futures`, or a Dask client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, final

from likewise.errors import StudyError
from likewise.run.evaluation import Outcome, evaluate
from likewise.run.runners import UNCOUNTED, Objective, Runner

RESTART = 60.0
RESTARTS = 3
_AGAIN = "the study is kept; go on by running it again with a new executor"


@final
class ExecutorRunner(Runner):
    """Evaluates on a `concurrent.futures.Executor`, which stays the user's to shut down.

    A running evaluation cannot be given up: it keeps its worker. If one still runs at the end, a process pool is
    killed, lest it keep the program from ending; threads cannot be.
    """

    def __init__(self, f: Objective, executor: Executor) -> None:
        super().__init__(f)
        self._executor = executor
        self._stuck: list[Future[Outcome]] = []

    @property
    def capacity(self) -> int:
        workers: int | None = getattr(self._executor, "_max_workers", None)
        self._stuck = [future for future in self._stuck if not future.done()]
        return UNCOUNTED if workers is None else workers - len(self._stuck)

    def _submit(self, x: Any) -> Future[Outcome]:
        try:
            return self._executor.submit(evaluate, self._f, x)
        except RuntimeError as error:
            raise StudyError(f"the executor takes no more evaluations: {error}; {_AGAIN}") from error

    def _lost(self, error: Exception) -> Outcome:
        if isinstance(error, BrokenExecutor):
            raise StudyError(f"the executor has lost a worker and is broken: {error}; {_AGAIN}") from error
        if isinstance(error, CancelledError):
            raise StudyError(f"the executor was shut down during the run; {_AGAIN}") from None
        return super()._lost(error)

    def _give_up(self, future: Future[Outcome]) -> None:
        if not future.cancel():
            self._stuck.append(future)

    def close(self) -> None:
        super().close()
        if any(not future.done() for future in self._stuck) and isinstance(self._executor, ProcessPoolExecutor):
            # `kill_workers` of Python 3.14, spelt out for those before it.
            for process in list((self._executor._processes or {}).values()):
                process.kill()


@final
class DaskRunner(Runner):
    """Evaluates on a Dask cluster, which stays the user's to close.

    An evaluation whose worker dies is run elsewhere, as Dask does; one that kills several workers has failed. The
    worker of an evaluation that is given up is restarted, where it has a nanny. The client's own futures are used, not
    those of its `get_executor()`: only they can be cancelled by force, and say which worker has them.
    """

    def __init__(self, f: Objective, client: Any) -> None:
        if getattr(client, "asynchronous", False):
            raise StudyError("the Dask client is asynchronous; use a plain distributed.Client")
        super().__init__(f)
        self._client = client

    @property
    def capacity(self) -> int:
        # A cluster that is still without workers may start them when there is something to do.
        with self._reach():
            return max(1, sum(self._client.nthreads().values()))

    def _submit(self, x: Any) -> Any:
        with self._reach():
            return self._client.submit(evaluate, self._f, x, key=f"likewise-{uuid.uuid4().hex}", pure=False)

    @contextmanager
    def _reach(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            # What distributed raises for a scheduler that is gone and for a client that is closed.
            raise StudyError(f"the Dask cluster cannot be reached: {error}; {_AGAIN}") from error

    def _lost(self, error: Exception) -> Outcome:
        if isinstance(error, CancelledError | OSError):
            # Not the object's fault: it is given back.
            raise StudyError(f"the Dask cluster has dropped an evaluation: {error}; {_AGAIN}") from error
        return Outcome(error=f"the evaluation was lost by the cluster: {type(error).__name__}: {error}")

    def _give_up(self, future: Any) -> None:
        with self._reach():
            busy = [worker for worker, keys in self._client.processing().items() if future.key in keys]
            future.cancel(force=True)
        if busy:
            # In the background, because it waits until the worker is back.
            Thread(target=self._restart, args=(busy,), name="likewise restart", daemon=True).start()

    def _restart(self, workers: list[str]) -> None:
        # A worker without a nanny, or a cluster that is closed meanwhile, cannot be helped.
        with suppress(Exception):
            for _ in range(RESTARTS):
                done = self._client.restart_workers(workers, timeout=RESTART, raise_for_error=False)
                # On a machine that is busy it may take longer.
                workers = [worker for worker in workers if done.get(worker) == "timed out"]
                if not workers:
                    return

    def close(self) -> None:
        # A cluster that is gone evaluates nothing any more.
        with suppress(Exception):
            for future in self._futures.values():
                future.cancel(force=True)
        self._futures.clear()


def runner_on(executor: Any, f: Objective) -> Runner:
    """The runner of an executor or a Dask client."""
    if isinstance(executor, Executor):
        return ExecutorRunner(f, executor)
    if hasattr(executor, "submit") and hasattr(executor, "nthreads"):
        return DaskRunner(f, executor)
    raise StudyError(
        f"{executor!r} is not an executor; give one of concurrent.futures, a dask.distributed Client, or workers=4"
    )
