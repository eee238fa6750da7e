"""Who evaluates: every runner hands out futures, of this thread, of threads, processes, an executor or a cluster."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import queue
import signal
import time
import traceback
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, NamedTuple, Self, final

from likewise.errors import StudyError
from likewise.similarity.parallel import SAFE_PATH, safe_path, set_safe_path
from likewise.study.trial import Measurement, read_value

# One evaluation of the objective: a value, or the text of what went wrong. It runs wherever the compute is.


class Evaluation(NamedTuple):
    """What an evaluation came to: a value, or values by name, with standard deviations, if known, or an error.

    `exit` has the argument of a `sys.exit` that was called, which is to end the run wherever the compute is.
    """

    value: Any = None
    std: Any = None
    error: str | None = None
    exit: tuple[int | str | None] | None = None


def evaluate(f: Callable[[Any], Any], x: Any) -> Evaluation:
    """f(x), a number, a Measurement, or a mapping of such by name.

    Whatever f raises becomes text, as exceptions do not always travel.

    >>> evaluate(len, "CCO"), evaluate(len, 3).error.splitlines()[-1]
    (Evaluation(value=3.0, std=None, error=None, exit=None), "TypeError: object of type 'int' has no len()")
    """
    try:
        value = f(x)
        return _read_all(x, value) if isinstance(value, Mapping) else _read(x, value)
    except KeyboardInterrupt:
        raise
    except StudyError as error:
        return Evaluation(error=str(error))
    except SystemExit as error:
        return Evaluation(exit=(error.code if isinstance(error.code, int | None) else str(error.code),))
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        return Evaluation(error="".join(traceback.format_exception(type(error), error, below)).rstrip())


def _read(x: Any, value: Any, outcome: str | None = None) -> Evaluation:
    """Returns the value with its standard deviation, or a `Measurement` if it has a limit or a block."""
    measurement = read_value(x, value, outcome=outcome)
    if measurement.limit is not None or measurement.block is not None:
        return Evaluation(Measurement(measurement.value, measurement.std, measurement.limit, measurement.block))
    return Evaluation(measurement.value, measurement.std)


def _read_all(x: Any, values: Mapping[str, Any]) -> Evaluation:
    """Values by name, and the standard deviations that are known."""
    try:
        measurements = {name: _read(x, value, name) for name, value in values.items()}
    except StudyError as error:
        # The trial has failed, and what else was measured is kept with it.
        raise StudyError(f"{error}. The function returned {dict(values)!r}") from None
    stds = {name: m.std for name, m in measurements.items() if m.std is not None}
    return Evaluation({name: m.value for name, m in measurements.items()}, stds or None)


Objective = Callable[[Any], Any]
Ended = tuple[int, Evaluation]
# The capacity of executors that do not say how many workers they have.
UNCOUNTED = 1_000_000


class Runner(ABC):
    """Evaluates objects, each under a number of the caller's choice.

    Each evaluation is a future, of `concurrent.futures` or with the same methods. What has ended goes into a queue.
    """

    def __init__(self, f: Objective, workers: int = 1) -> None:
        self._f = f
        self._count = workers
        self._futures: dict[int, Any] = {}
        self._queue: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._trouble: BaseException | None = None

    @property
    def capacity(self) -> int:
        """How many evaluations can run at once; 0 when every worker is stuck."""
        return self._count

    @final
    def begin(self, number: int, x: Any) -> None:
        """Begin an evaluation."""
        self._futures[number] = future = self._submit(x)
        future.add_done_callback(lambda _: self._queue.put(number))

    @final
    def ended(self, timeout: float | None) -> list[Ended]:
        """The evaluations that have ended, as soon as there are any; none after `timeout` seconds without one."""
        numbers = self._numbers(0.0 if self._trouble else timeout)
        outcomes = [(number, outcome) for number in numbers if (outcome := self._outcome(number)) is not None]
        if self._trouble is not None and not outcomes:
            trouble, self._trouble = self._trouble, None
            raise trouble
        return outcomes

    @final
    def stop(self, number: int) -> None:
        """Give up an evaluation: its outcome does not matter any more."""
        future = self._futures.pop(number, None)
        if future is not None and not future.done():
            self._give_up(future)

    def close(self) -> None:
        """Give up what still runs, and let go of everything."""
        for number in list(self._futures):
            self.stop(number)

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _submit(self, x: Any) -> Any:
        """The future of an evaluation that begins."""

    def _give_up(self, future: Any) -> None:
        """End an evaluation that runs, as far as that is possible."""
        return

    def _lost(self, error: Exception) -> Evaluation:
        """What an evaluation came to that was not run to its end. Raises what ends the run."""
        return Evaluation(error=f"the evaluation could not be run: {type(error).__name__}: {error}")

    def _numbers(self, timeout: float | None) -> list[int]:
        try:
            numbers = [self._queue.get(timeout=timeout)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            numbers.append(self._queue.get())
        return numbers

    def _outcome(self, number: int) -> Evaluation | None:
        """The result of an evaluation; None if nobody waits for it."""
        future = self._futures.pop(number, None)
        if future is None:
            return None
        try:
            outcome = self._result(future)
            if outcome.exit is not None:
                raise SystemExit(*outcome.exit)
            return outcome
        except (StudyError, KeyboardInterrupt, SystemExit) as error:
            # Raised when there is nothing else to hand over, lest what has ended at the same time be lost.
            self._trouble = error
            return None

    def _result(self, future: Any) -> Evaluation:
        try:
            return Evaluation(*future.result())
        except Exception as error:
            return self._lost(error)


@final
class Inline(Runner):
    """Evaluates in the calling thread, at once; nothing can stop an evaluation but its own end or Ctrl-C."""

    def _submit(self, x: Any) -> Future[Evaluation]:
        future: Future[Evaluation] = Future()
        future.set_result(evaluate(self._f, x))
        return future


@final
class ThreadRunner(Runner):
    """A thread of its own for each evaluation. One that is given up runs on unseen, and ends with the process."""

    def _submit(self, x: Any) -> Future[Evaluation]:
        future: Future[Evaluation] = Future()
        Thread(target=self._work, args=(future, x), name="likewise evaluation", daemon=True).start()
        return future

    def _work(self, future: Future[Evaluation], x: Any) -> None:
        try:
            future.set_result(evaluate(self._f, x))
        except KeyboardInterrupt as interrupt:
            future.set_exception(interrupt)


# Worker processes of our own, because those of the standard pools cannot be stopped one by one.
#
# Each has a pipe. An evaluation that is given up, or that crashes, costs its own process alone, and another takes its
# place. Processes are started in the platform's usual way: where that is by forking, f need not be importable.

# Seconds that all idle workers together have to end by themselves.
GRACE = 1.0


def can_send(f: Objective) -> bool:
    """Whether worker processes can be given f.

    >>> can_send(len)
    True
    """
    if _forks():
        return True
    try:
        pickle.dumps(f)
    except Exception:
        return False
    return True


def _forks() -> bool:
    return multiprocessing.get_start_method() == "fork"


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    future: Future[Evaluation] | None = None

    def kill(self) -> None:
        """End the process, if it was started, without waiting for that."""
        if self.process.pid is not None:
            self.process.kill()

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        if self.process.pid is not None:
            self.process.join(timeout)


@final
class ProcessRunner(Runner):
    """Evaluates in worker processes."""

    def __init__(self, f: Objective, workers: int) -> None:
        super().__init__(f, workers)
        self._workers: list[_Worker] = []
        self._owner = os.getpid()
        # A run that is torn out of `close` leaves workers behind, and Python would wait for them when it ends.
        atexit.register(self._kill)
        try:
            # All at once: forking is safest while there are no other threads.
            for _ in range(workers):
                self._start()
        except BaseException:
            self.close()
            raise

    def _submit(self, x: Any) -> Future[Evaluation]:
        worker = next((w for w in self._workers if w.future is None), None) or self._start()
        future: Future[Evaluation] = Future()
        try:
            worker.pipe.send(x)
        except OSError:
            # It died while it was idle.
            self._dismiss(worker)
            return self._submit(x)
        except Exception as error:
            future.set_result(Evaluation(error=f"{x!r} cannot be sent to a worker process: {error}"))
        else:
            worker.future = future
        return future

    def _numbers(self, timeout: float | None) -> list[int]:
        """This thread alone waits for the pipes: a process with more threads cannot be forked safely."""
        # One whose pipe is closed was being given up when that was interrupted.
        busy = {w.pipe: w for w in self._workers if w.future is not None and not w.pipe.closed}
        for pipe in wait(list(busy), timeout if self._queue.empty() else 0.0) if busy else []:
            if isinstance(pipe, Connection):
                self._receive(busy[pipe])
        return super()._numbers(0.0)

    def _receive(self, worker: _Worker) -> None:
        assert worker.future is not None
        future = worker.future
        try:
            outcome = Evaluation(*worker.pipe.recv())
        except (EOFError, OSError):
            self._dismiss(worker)
            outcome = Evaluation(error=self._ending(worker.process.exitcode))
        worker.future = None
        future.set_result(outcome)

    def _ending(self, code: int | None) -> str:
        ended = f"the worker process ended during the evaluation, with exit code {code}"
        # A process that was not forked runs the script that started it, up to where it is told not to.
        hint = "; call this under `if __name__ == '__main__':` in a script" if not _forks() else ""
        return ended + hint

    def _give_up(self, future: Future[Evaluation]) -> None:
        for worker in [w for w in self._workers if w.future is future]:
            self._dismiss(worker)

    def close(self) -> None:
        try:
            self._let_end([w for w in self._workers if w.future is None])
        finally:
            self._kill()
        atexit.unregister(self._kill)

    def _let_end(self, idle: Sequence[_Worker]) -> None:
        """Without a pipe to read from, a worker ends by itself."""
        for worker in idle:
            worker.pipe.close()
        end = time.monotonic() + GRACE
        for worker in idle:
            worker.join(max(0.0, end - time.monotonic()))

    def _kill(self) -> None:
        """End every worker at once; if this is interrupted, calling it again ends the others."""
        if os.getpid() != self._owner:
            # A process that the user has forked ends, but these are not its children.
            return
        for worker in self._workers:
            worker.kill()
        for worker in list(self._workers):
            self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> None:
        worker.pipe.close()
        worker.kill()
        worker.join()
        self._workers.remove(worker)

    def _start(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        inherited = [ours, *(w.pipe for w in self._workers)] if _forks() else []
        process = multiprocessing.get_context().Process(
            target=_work, args=(self._f, theirs, inherited, os.environ.get(SAFE_PATH)), name="likewise worker"
        )
        worker = _Worker(process, ours)
        # Before it runs: the next one, forked from here, has to close its pipe, and whatever happens it is to be ended.
        self._workers.append(worker)
        with warnings.catch_warnings(), safe_path():
            # A heartbeat thread may be running; the forked process uses nothing of what it could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        return worker


def _work(f: Objective, pipe: Connection, inherited: Sequence[Connection], safe: str | None) -> None:
    """What a worker does: evaluate until the other end of its pipe is closed."""
    # What f starts has the environment of the process that runs the study.
    set_safe_path(safe)
    # Ctrl-C goes to every process of the terminal; the one that runs the study decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        # As long as anyone holds the other end of a pipe, its worker does not see that the study's process has died.
        other.close()
    while True:
        try:
            x = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(tuple(evaluate(f, x)))
        except OSError:
            return


# Evaluations on executors of the user's: any of `concurrent.futures`, or a Dask client.

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
        self._stuck: list[Future[Evaluation]] = []

    @property
    def capacity(self) -> int:
        workers: int | None = getattr(self._executor, "_max_workers", None)
        self._stuck = [future for future in self._stuck if not future.done()]
        return UNCOUNTED if workers is None else workers - len(self._stuck)

    def _submit(self, x: Any) -> Future[Evaluation]:
        try:
            return self._executor.submit(evaluate, self._f, x)
        except RuntimeError as error:
            raise StudyError(f"the executor takes no more evaluations: {error}; {_AGAIN}") from error

    def _lost(self, error: Exception) -> Evaluation:
        if isinstance(error, BrokenExecutor):
            raise StudyError(f"the executor has lost a worker and is broken: {error}; {_AGAIN}") from error
        if isinstance(error, CancelledError):
            raise StudyError(f"the executor was shut down during the run; {_AGAIN}") from None
        return super()._lost(error)

    def _give_up(self, future: Future[Evaluation]) -> None:
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

    def _lost(self, error: Exception) -> Evaluation:
        if isinstance(error, CancelledError | OSError):
            # Not the object's fault: it is given back.
            raise StudyError(f"the Dask cluster has dropped an evaluation: {error}; {_AGAIN}") from error
        return Evaluation(error=f"the evaluation was lost by the cluster: {type(error).__name__}: {error}")

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
