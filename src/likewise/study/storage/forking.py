"""Forks and open databases: while a process forks, no connection to a file is open, and no idle one to a server.

SQLite's locks are the operating system's, which belong to a process and are not inherited; SQLite's own list of the
locks it holds is inherited. A child that finds a file in that list takes no lock on it, even with a connection of its
own. Whoever closes the file next then believes to be the last, and removes the journal that the child writes to: what
the child acknowledges is lost without an error. Closing the connections in the child comes too late, as it would run
SQLite's own cleaning-up on files that the parent has open.

A connection to a server is a socket, of which a child has a copy. If the parent is killed within a transaction, the
server does not notice as long as the child lives, and the dead parent's locks hold up the child and everybody else.

So the parent closes them before it forks, those to files once the threads that use one have ended their transactions;
both sides open new ones when they next need them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, get_ident
from typing import final
from weakref import WeakSet

from sqlalchemy.engine import Engine

from likewise.errors import StorageError


@final
class _Forks:
    """The engines of this process, who uses one at this moment, and who is forking."""

    def __init__(self) -> None:
        self._engines: WeakSet[Engine] = WeakSet()
        self._process = os.getpid()
        self._forking: int | None = None
        self._begin()

    def watch(self, engine: Engine) -> None:
        """Have its connections closed before forks; it must not have any yet."""
        self._check_seen()
        self._engines.add(engine)

    @contextmanager
    def using(self, engine: Engine) -> Iterator[None]:
        """Forks by other threads wait until this ends; this waits until they are done. A server's may go on."""
        self._check_seen()
        if engine.dialect.name != "sqlite":
            yield
            return
        thread = get_ident()
        with self._changed:
            # Who holds a connection already would wait for a fork that waits for him.
            while self._forking not in (None, thread) and not self._uses[thread]:
                self._changed.wait()
            self._uses[thread] += 1
        try:
            yield
        finally:
            with self._changed:
                self._uses[thread] -= 1
                self._uses += Counter()
                self._changed.notify_all()

    def before(self) -> None:
        """Close what is open, when the other threads have ended what they do."""
        thread = get_ident()
        with self._changed:
            while self._forking is not None:
                self._changed.wait()
            self._forking = thread
            while self._uses.keys() - {thread}:
                self._changed.wait()
        for engine in list(self._engines):
            # The pool's own, which leaves alone what a thread still uses with a server.
            engine.pool.dispose()

    def after_in_parent(self) -> None:
        """Let the other threads go on."""
        with self._changed:
            self._forking = None
            self._changed.notify_all()

    def after_in_child(self) -> None:
        """Begin anew, without the parent's threads; a connection that the forking thread itself uses stays its own."""
        self._process = os.getpid()
        self._begin()
        for engine in list(self._engines):
            engine.dispose(close=False)

    def _begin(self) -> None:
        # Reentrant, because the garbage collector may close a database at any point of a thread.
        self._changed = Condition()
        self._uses: Counter[int] = Counter()
        self._forking = None

    def _check_seen(self) -> None:
        """A fork that Python was not told of is fatal to whoever had a database open."""
        if self._process == os.getpid():
            return
        if any(engine.dialect.name == "sqlite" for engine in self._engines):
            raise StorageError(
                "this process was forked without Python's knowledge while an SQLite study was open, and could lose "
                "what it is told; open studies after the fork, or start processes with multiprocessing or os.fork"
            )
        self.after_in_child()


_forks = _Forks()
watch, using = _forks.watch, _forks.using
# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before, after_in_parent=_forks.after_in_parent, after_in_child=_forks.after_in_child
    )
