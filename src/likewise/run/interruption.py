"""Ctrl-C during a run: the first ends it in good order, the second does not disturb that, the third ends it at once.

An exception can come between any two steps, also between receiving a value and writing it down. A run therefore counts
the signals itself, holds them back where something would be lost, and looks at the count where nothing can be.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Self, final

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
        """Count only; what is done here is done to its end."""
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
