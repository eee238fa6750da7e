"""Forks: a thread of this process forks when the others are out of what a child must not find half done.

A child has its parent's memory, and of its threads the one that forked. A lock that another thread held at that moment
stays locked in the child: a study's, one within BLAS or within Python's `cached_property`. So forks wait until the
other threads have ended what they do under `postponed` or with a `ForkLock`, and those who come later wait for the
fork. What a child must not share with its parent begins anew there (`watch`), or is closed before (`before_forks`).
"""

from __future__ import annotations

# Locks of these are taken before a fork, too. Imported first, they are taken after the waiting: who waits holds none.
import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, RLock, get_ident
from typing import Protocol, final
from weakref import WeakSet

# So many seconds a fork waits for an ask, or what else takes long: an ask may itself wait for the thread that forks.
PATIENCE = 60.0


class Inherited(Protocol):
    """Something that a child may inherit."""

    def begin_in_child(self) -> None:
        """Make it the child's own."""


@final
class _Forks:
    """Which threads must not be torn apart at this moment, and which want to fork."""

    def __init__(self) -> None:
        self._watched: WeakSet[Inherited] = WeakSet()
        self._closing: list[Callable[[], None]] = []
        self._begin(Counter(), Counter())

    def _begin(self, brief: Counter[int], long: Counter[int]) -> None:
        # Reentrant, because the garbage collector may close a database at any point of a thread.
        self._changed = Condition()
        # How deep each thread is inside of what is brief, and of what may take long.
        self._brief, self._long = brief, long
        # The threads that want to fork, and the one whose turn it is.
        self._wanting: set[int] = set()
        self._turn: int | None = None

    def watch(self, thing: Inherited) -> None:
        """Have it begin anew in every child."""
        self._watched.add(thing)

    def before_forks(self, close: Callable[[], None]) -> None:
        """Have this called before every fork, when no other thread is inside of anything."""
        self._closing.append(close)

    def enter(self, long: bool = False) -> None:
        """From now on forks by other threads wait, `PATIENCE` at most for what may take long; this waits for theirs."""
        thread = get_ident()
        with self._changed:
            # A thread that is inside already would wait for a fork that waits for it.
            while self._wanting - {thread} and not (self._brief[thread] or self._long[thread]):
                self._changed.wait()
            (self._long if long else self._brief)[thread] += 1

    def leave(self, long: bool = False) -> None:
        """The end of what was entered."""
        with self._changed:
            depths = self._long if long else self._brief
            depths[get_ident()] -= 1
            # Threads come and go; only positive numbers stay.
            depths += Counter()
            self._changed.notify_all()

    def before(self) -> None:
        """Wait for the other threads, and close what no child may share."""
        thread = get_ident()
        with self._changed:
            self._wanting.add(thread)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._may_fork(thread, self._brief | self._long), PATIENCE)
            self._changed.wait_for(lambda: self._may_fork(thread, self._brief))
            self._turn = thread
        for close in self._closing:
            close()

    def _may_fork(self, thread: int, depths: Counter[int]) -> bool:
        """Whether it is this thread's turn: the others are outside, or want to fork and wait for it."""
        return self._turn is None and not depths.keys() - self._wanting - {thread}

    def after_in_parent(self) -> None:
        """Let the other threads go on."""
        with self._changed:
            self._wanting.discard(get_ident())
            self._turn = None if self._turn == get_ident() else self._turn
            self._changed.notify_all()

    def after_in_child(self) -> None:
        """Begin anew, without the parent's other threads."""
        thread = get_ident()
        self._begin(Counter({thread: self._brief[thread]}), Counter({thread: self._long[thread]}))
        for thing in list(self._watched):
            thing.begin_in_child()


_forks = _Forks()
watch, before_forks = _forks.watch, _forks.before_forks
# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before, after_in_parent=_forks.after_in_parent, after_in_child=_forks.after_in_child
    )


@contextmanager
def postponed(*, long: bool = False) -> Iterator[None]:
    """Forks by other threads wait until this ends, and this waits until they are done.

    long: whether it may take longer than a moment; forks then wait for `PATIENCE` at most. False by default.
    """
    _forks.enter(long)
    try:
        yield
    finally:
        _forks.leave(long)


@final
class ForkLock:
    """A reentrant lock that forks by other threads wait for, so that a child inherits it free.

    long: as of `postponed`.

    >>> lock = ForkLock()
    >>> with lock, lock:
    ...     lock.free()
    True
    """

    def __init__(self, *, long: bool = False) -> None:
        self._long = long
        self._lock = RLock()

    def __enter__(self) -> None:
        # First: a thread that held the lock while it waits for a fork would hold up those that the fork waits for.
        _forks.enter(self._long)
        try:
            self._lock.acquire()
        except BaseException:
            _forks.leave(self._long)
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        _forks.leave(self._long)

    def free(self) -> bool:
        """In a child: whether no other thread of the parent held it; if one did, it is free from now on."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
            return True
        self._lock = RLock()
        return False
