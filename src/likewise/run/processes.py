"""Worker processes of our own, because those of the standard pools cannot be stopped one by one.

Each has a pipe. An evaluation that is given up, or that crashes, costs its own process alone, and another takes its
place. Processes are started in the platform's usual way: where that is by forking, f need not be importable.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, final

from likewise.interpreters import SAFE_PATH, safe_path, set_safe_path
from likewise.run.evaluation import Outcome, evaluate
from likewise.run.runners import Objective, Runner

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
    future: Future[Outcome] | None = None

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

    def _submit(self, x: Any) -> Future[Outcome]:
        worker = next((w for w in self._workers if w.future is None), None) or self._start()
        future: Future[Outcome] = Future()
        try:
            worker.pipe.send(x)
        except OSError:
            # It died while it was idle.
            self._dismiss(worker)
            return self._submit(x)
        except Exception as error:
            future.set_result(Outcome(error=f"{x!r} cannot be sent to a worker process: {error}"))
        else:
            worker.future = future
        return future

    def _numbers(self, timeout: float | None) -> list[int]:
        """Nobody but this thread waits for the pipes: a thread for each would be in the way of forks."""
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
            outcome = Outcome(*worker.pipe.recv())
        except (EOFError, OSError):
            self._dismiss(worker)
            outcome = Outcome(error=self._ending(worker.process.exitcode))
        worker.future = None
        future.set_result(outcome)

    def _ending(self, code: int | None) -> str:
        ended = f"the worker process ended during the evaluation, with exit code {code}"
        # A process that was not forked runs the script that started it, up to where it is told not to.
        hint = "; call this under `if __name__ == '__main__':` in a script" if not _forks() else ""
        return ended + hint

    def _give_up(self, future: Future[Outcome]) -> None:
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
        others = [ours, *(w.pipe for w in self._workers)] if _forks() else []
        process = multiprocessing.get_context().Process(
            target=_work, args=(self._f, theirs, others, os.environ.get(SAFE_PATH)), name="likewise worker"
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


def _work(f: Objective, pipe: Connection, others: Sequence[Connection], safe: str | None) -> None:
    """What a worker does: evaluate until the other end of its pipe is closed."""
    # What f starts has the environment of the process that runs the study.
    set_safe_path(safe)
    # Ctrl-C goes to every process of the terminal; the one that runs the study decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
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
