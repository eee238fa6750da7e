"""Who evaluates: every runner hands out futures, of this thread, of threads, processes, an executor or a cluster."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, Self, final

from likewise.errors import StudyError
from likewise.run.evaluation import Outcome, evaluate

Objective = Callable[[Any], Any]
Ended = tuple[int, Outcome]
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

    def _lost(self, error: Exception) -> Outcome:
        """What an evaluation came to that was not run to its end. Raises what ends the run."""
        return Outcome(error=f"the evaluation could not be run: {type(error).__name__}: {error}")

    def _numbers(self, timeout: float | None) -> list[int]:
        try:
            numbers = [self._queue.get(timeout=timeout)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            numbers.append(self._queue.get())
        return numbers

    def _outcome(self, number: int) -> Outcome | None:
        """What an evaluation came to; None if nobody waits for it."""
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

    def _result(self, future: Any) -> Outcome:
        try:
            return Outcome(*future.result())
        except Exception as error:
            return self._lost(error)


@final
class Inline(Runner):
    """Evaluates in the calling thread, at once; nothing can stop an evaluation but its own end or Ctrl-C."""

    def _submit(self, x: Any) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(evaluate(self._f, x))
        return future


@final
class ThreadRunner(Runner):
    """A thread of its own for each evaluation. One that is given up runs on unseen, and ends with the process."""

    def _submit(self, x: Any) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        Thread(target=self._work, args=(future, x), name="likewise evaluation", daemon=True).start()
        return future

    def _work(self, future: Future[Outcome], x: Any) -> None:
        try:
            future.set_result(evaluate(self._f, x))
        except KeyboardInterrupt as interrupt:
            future.set_exception(interrupt)
