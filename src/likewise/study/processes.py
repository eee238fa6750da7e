"""Worker processes of our own, because those of the standard pools cannot be stopped one by one.

Each has a pipe. An evaluation that is given up, or that crashes, costs its own process alone, and another takes its
place. Processes are started in the platform's usual way: where that is by forking, f need not be importable.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, final

from likewise.study.crew import Crew, Ended, Objective
from likewise.study.evaluation import Outcome, evaluate

GRACE = 1.0


def can_send(f: Objective) -> bool:
    """Whether worker processes can be given f.

    >>> can_send(len)
    True
    """
    if _forked():
        return True
    try:
        pickle.dumps(f)
    except Exception:
        return False
    return True


def _forked() -> bool:
    return multiprocessing.get_start_method() == "fork"


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    number: int | None = None


@final
class Processes(Crew):
    """Evaluates in worker processes."""

    def __init__(self, f: Objective, workers: int) -> None:
        self._f = f
        self._count = workers
        self._workers: list[_Worker] = []
        self._failed: list[Ended] = []
        # All at once: forking is safest while there are no other threads.
        self._workers += [self._started() for _ in range(workers)]

    @property
    def hands(self) -> int:
        return self._count

    def begin(self, number: int, x: Any) -> None:
        worker = next((w for w in self._workers if w.number is None), None)
        if worker is None:
            worker = self._started()
            self._workers.append(worker)
        try:
            worker.pipe.send(x)
        except OSError:
            # It died while it was idle.
            self._dismiss(worker)
            self.begin(number, x)
        except Exception as error:
            self._failed.append((number, Outcome(error=f"{x!r} cannot be sent to a worker process: {error}")))
        else:
            worker.number = number

    def ended(self, timeout: float | None) -> list[Ended]:
        failed, self._failed = self._failed, []
        busy = {w.pipe: w for w in self._workers if w.number is not None}
        ready = wait(list(busy), 0.0 if failed else timeout) if busy else []
        return failed + [self._received(busy[pipe]) for pipe in ready if isinstance(pipe, Connection)]

    def _received(self, worker: _Worker) -> Ended:
        assert worker.number is not None
        number = worker.number
        try:
            outcome = Outcome(*worker.pipe.recv())
        except (EOFError, OSError):
            self._dismiss(worker)
            return number, Outcome(error=self._ending(worker.process.exitcode))
        worker.number = None
        return number, outcome

    def _ending(self, code: int | None) -> str:
        ended = f"the worker process ended during the evaluation, with exit code {code}"
        # A process that was not forked runs the script that started it, up to where it is told not to.
        hint = "; call this under `if __name__ == '__main__':` in a script" if not _forked() else ""
        return ended + hint

    def stop(self, number: int) -> None:
        for worker in [w for w in self._workers if w.number == number]:
            self._dismiss(worker)

    def close(self) -> None:
        for worker in list(self._workers):
            if worker.number is None:
                # Without a pipe to read from, it ends by itself.
                worker.pipe.close()
                worker.process.join(GRACE)
            self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.kill()
        worker.process.join()

    def _started(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        others = [ours, *(w.pipe for w in self._workers)] if _forked() else []
        process = multiprocessing.get_context().Process(
            target=_work, args=(self._f, theirs, others), name="likewise worker"
        )
        with warnings.catch_warnings():
            # A heartbeat thread may be running; the forked process uses nothing of what it could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        return _Worker(process, ours)


def _work(f: Objective, pipe: Connection, others: Sequence[Connection]) -> None:
    """What a worker does: evaluate until the other end of its pipe is closed."""
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
