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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final
from weakref import WeakSet

from sqlalchemy.engine import Engine

from likewise.errors import StorageError
from likewise.forks import before_forks, postponed
from likewise.forks import watch as watch_forks


@final
class _Engines:
    """The engines of this process."""

    def __init__(self) -> None:
        self._engines: WeakSet[Engine] = WeakSet()
        self._process = os.getpid()

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
        with postponed():
            yield

    def close(self) -> None:
        """Close what is open."""
        for engine in list(self._engines):
            # The pool's own, which leaves alone what a thread still uses with a server.
            engine.pool.dispose()

    def begin_in_child(self) -> None:
        """Forget the parent's connections; one that the forking thread itself uses stays its own."""
        self._process = os.getpid()
        for engine in list(self._engines):
            engine.dispose(close=False)

    def _check_seen(self) -> None:
        """A fork that Python was not told of is fatal to whoever had a database open."""
        if self._process == os.getpid():
            return
        if any(engine.dialect.name == "sqlite" for engine in self._engines):
            raise StorageError(
                "this process was forked without Python's knowledge while an SQLite study was open, and could lose "
                "what it is told; open studies after the fork, or start processes with multiprocessing or os.fork"
            )
        self.begin_in_child()


_engines = _Engines()
watch, using = _engines.watch, _engines.using
watch_forks(_engines)
before_forks(_engines.close)
