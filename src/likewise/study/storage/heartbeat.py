"""Heartbeats: as long as a process lives, the suggestions it evaluates stay its own; when it dies, their leases end."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from threading import Event, Lock, Thread
from typing import final

from likewise.errors import StorageError, StudyError
from likewise.forks import watch
from likewise.study.storage.base import Storage

LOG = logging.getLogger("likewise")
BEATS_PER_LEASE = 3


@final
class Heartbeat:
    """Extends the leases of open trials from a thread in the background, which runs only while there are any."""

    def __init__(self, storage: Storage, study: int, lease: float) -> None:
        self._storage = storage
        self._study = study
        self._lease = lease
        self.begin_in_child()
        watch(self)

    def begin_in_child(self) -> None:
        """Keep nothing yet. A forked child begins anew: the trials of its parent are kept by the parent alone."""
        self._ids: set[int] = set()
        self._lock = Lock()
        self._stopped = Event()
        self._thread: Thread | None = None

    def keep(self, ids: Iterable[int]) -> None:
        """Keep these trials until they are dropped."""
        with self._lock:
            self._ids.update(ids)
            if self._ids and (self._thread is None or not self._thread.is_alive()):
                self._thread = Thread(target=self._run, name="likewise heartbeat", daemon=True)
                self._thread.start()

    def drop(self, id: int) -> None:
        """Let a trial go."""
        with self._lock:
            self._ids.discard(id)

    def stop(self) -> None:
        """Let every trial go."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._lease / BEATS_PER_LEASE):
            with self._lock:
                ids = sorted(self._ids)
                if not ids:
                    self._thread = None
                    return
            try:
                self._storage.beat(self._study, ids, self._lease)
            except StorageError:
                # A database that is busy or away for a while may be back at the next beat.
                continue
            except StudyError:
                # The study is gone.
                return
            except Exception:
                # Whatever it is, the evaluations go on, and their leases have to.
                LOG.warning("could not extend the leases of %d trials; trying again", len(ids), exc_info=True)
