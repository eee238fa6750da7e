"""Who evaluates: this very thread, threads, processes, an executor or a cluster, all with the same four methods."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar, Self, final

from likewise.errors import StudyError
from likewise.study.evaluation import Outcome, evaluate

Objective = Callable[[Any], Any]
Ended = tuple[int, Outcome]
# The capacity of executors that do not say how many workers they have.
UNCOUNTED = 1_000_000


class Runner(ABC):
    """Evaluates objects, each under a number of the caller's choice."""

    here: ClassVar[bool] = False

    @property
    @abstractmethod
    def capacity(self) -> int:
        """How many evaluations can run at once; 0 when every worker is stuck."""

    @abstractmethod
    def begin(self, number: int, x: Any) -> None:
        """Begin an evaluation."""

    @abstractmethod
    def ended(self, timeout: float | None) -> list[Ended]:
        """The evaluations that have ended, as soon as there are any; none after `timeout` seconds without one."""

    @abstractmethod
    def stop(self, number: int) -> None:
        """Give up an evaluation: its outcome does not matter any more."""

    @abstractmethod
    def close(self) -> None:
        """Give up what still runs, and let go of everything."""

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@final
class Inline(Runner):
    """Evaluates in the calling thread, one after the other; nothing can stop an evaluation but its own end."""

    here = True

    def __init__(self, f: Objective) -> None:
        self._f = f
        self._waiting: deque[tuple[int, Any]] = deque()

    @property
    def capacity(self) -> int:
        return 1

    def begin(self, number: int, x: Any) -> None:
        self._waiting.append((number, x))

    def ended(self, timeout: float | None) -> list[Ended]:
        # An evaluation takes longer than no time.
        if not self._waiting or timeout == 0.0:
            return []
        number, x = self._waiting.popleft()
        return [(number, evaluate(self._f, x))]

    def stop(self, number: int) -> None:
        self._waiting = deque(job for job in self._waiting if job[0] != number)

    def close(self) -> None:
        self._waiting.clear()


class QueueRunner(Runner):
    """A runner whose workers put what has ended into a queue."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._trouble: BaseException | None = None

    @final
    def ended(self, timeout: float | None) -> list[Ended]:
        messages = self._received(0.0 if self._trouble else timeout)
        outcomes = [
            (number, outcome) for number, message in messages if (outcome := self._read(number, message)) is not None
        ]
        if self._trouble is not None and not outcomes:
            trouble, self._trouble = self._trouble, None
            raise trouble
        return outcomes

    def _received(self, timeout: float | None) -> list[tuple[int, Any]]:
        try:
            messages = [self._queue.get(timeout=timeout)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            messages.append(self._queue.get())
        return messages

    def _read(self, number: int, message: Any) -> Outcome | None:
        try:
            return self._opened(number, message)
        except (StudyError, KeyboardInterrupt) as error:
            # Raised when there is nothing else to hand over, lest what has ended at the same time be lost.
            self._trouble = error
            return None

    @abstractmethod
    def _opened(self, number: int, message: Any) -> Outcome | None:
        """The outcome in a message; None if nobody waits for it. Raises what ends the run."""


@final
class ThreadRunner(QueueRunner):
    """A thread of its own for each evaluation. One that is given up runs on unseen, and ends with the process."""

    def __init__(self, f: Objective, workers: int) -> None:
        super().__init__()
        self._f = f
        self._workers = workers
        self._running: set[int] = set()

    @property
    def capacity(self) -> int:
        return self._workers

    def begin(self, number: int, x: Any) -> None:
        self._running.add(number)
        Thread(target=self._work, args=(number, x), name=f"likewise evaluation {number}", daemon=True).start()

    def _work(self, number: int, x: Any) -> None:
        try:
            self._queue.put((number, evaluate(self._f, x)))
        except KeyboardInterrupt as interrupt:
            self._queue.put((number, interrupt))

    def _opened(self, number: int, message: Any) -> Outcome | None:
        if number not in self._running:
            return None
        self._running.remove(number)
        if isinstance(message, KeyboardInterrupt):
            raise message
        return Outcome(*message)

    def stop(self, number: int) -> None:
        self._running.discard(number)

    def close(self) -> None:
        self._running.clear()
