"""One BLAS thread while a study thinks.

A thought is thousands of small matrix products. Shared among threads, each of them waits for the slowest thread, and on
a machine that is busy, with the evaluations of this very study for instance, that is a long wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from likewise.forks import ForkLock, postponed


@final
class _Single:
    """BLAS has one number of threads for the whole process: who comes first lowers it, who goes last restores it."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._inside = 0
        self._controller: Any = None
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = self._lower()

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None

    def _lower(self) -> Any:
        if self._controller is None:
            # NumPy and SciPy have a BLAS each, and only those that are loaded can be told.
            import scipy.linalg  # noqa: F401
            from threadpoolctl import ThreadpoolController

            self._controller = ThreadpoolController()
        return self._controller.limit(limits=1, user_api="blas")


_single = _Single()


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS with one thread, in every thread of this process, and as before afterwards; forks by other threads wait.

    >>> with one_thread(), one_thread():
    ...     pass
    """
    with postponed(long=True):
        _single.enter()
        try:
            yield
        finally:
            _single.leave()
