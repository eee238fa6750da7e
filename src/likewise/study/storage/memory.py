"""Studies kept in memory: gone with the process, shared by its threads. And storage URLs as they may be shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import final

from likewise.forks import ForkLock
from likewise.study.storage.base import NotStored, Storage, Stored, Transaction, deleted

# Studies kept in memory: gone with the process, shared by its threads.


@final
class _Log(Transaction):
    """The events of one study, and when its leases end."""

    def __init__(self) -> None:
        self.events: list[Stored] = []
        self.leases: dict[int, float] = {}
        self.lock = ForkLock()

    def since(self, revision: int) -> list[Stored]:
        return self.events[revision:]

    def append(self, event: Stored) -> None:
        self.events.append(event)

    def lease(self, trials: Sequence[int], seconds: float | None) -> None:
        for trial in trials:
            self.leases.pop(trial, None)
        if seconds is not None:
            self.leases.update(dict.fromkeys(trials, time.time() + seconds))

    def late(self) -> list[int]:
        now = time.time()
        return sorted(trial for trial, until in list(self.leases.items()) if until < now)


@final
class Memory(Storage):
    """Studies in memory.

    >>> storage = Memory()
    >>> study = storage.create("demo", ("Ann", "create", "{}"))
    >>> with storage.transaction(study) as change:
    ...     change.append(Stored(2, change.now, "Ann", "note", '"hello"'))
    >>> [(event.revision, event.kind) for event in storage.since(study, 0)]
    [(1, 'create'), (2, 'note')]
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._logs: dict[int, _Log] = {}
        self._given = 0
        self._lock = ForkLock()

    def find(self, name: str) -> int | None:
        return self._numbers.get(name)

    def create(self, name: str, first: tuple[str, str, str]) -> int:
        with self._lock:
            if name not in self._numbers:
                log = _Log()
                log.append(Stored(1, time.time(), *first))
                self._add(name, log)
            return self._numbers[name]

    def names(self) -> list[str]:
        return sorted(self._numbers)

    def since(self, study: int, revision: int) -> list[Stored]:
        log = self._logs.get(study)
        return [] if log is None else log.since(revision)

    @contextmanager
    def transaction(self, study: int) -> Iterator[Transaction]:
        log = self._log(study)
        with log.lock:
            self._log(study)
            size, leases = len(log.events), dict(log.leases)
            log.now = time.time()
            try:
                yield log
            except BaseException:
                del log.events[size:]
                log.leases = leases
                raise

    def beat(self, study: int, trials: Sequence[int], seconds: float) -> None:
        log = self._log(study)
        with log.lock:
            log.lease([trial for trial in trials if trial in log.leases], seconds)

    def any_late(self, study: int) -> bool:
        return bool(self._log(study).late())

    def rename(self, name: str, new: str) -> None:
        with self._lock:
            number = self._number(name, new)
            del self._numbers[name]
            self._numbers[new] = number

    def copy(self, name: str, new: str) -> None:
        with self._lock:
            log, copied = self._logs[self._number(name, new)], _Log()
            with log.lock:
                copied.events, copied.leases = list(log.events), dict(log.leases)
            self._add(new, copied)

    def delete(self, name: str) -> None:
        with self._lock:
            log = self._logs[self._number(name)]
            with log.lock:
                del self._logs[self._numbers.pop(name)]

    def _add(self, name: str, log: _Log) -> None:
        self._given += 1
        self._logs[self._given], self._numbers[name] = log, self._given

    def _log(self, study: int) -> _Log:
        if study not in self._logs:
            raise deleted()
        return self._logs[study]

    def _number(self, name: str, new: str | None = None) -> int:
        """The number of a study; raises if it is not there, or if a new name is in use."""
        if name not in self._numbers:
            raise NotStored(self.names()).missing(name)
        if new is not None and new in self._numbers:
            raise NotStored(self.names()).in_use(new)
        return self._numbers[name]


# Storage URLs as they may be shown: with whatever is a password in them hidden.

HIDDEN = "***"
_QUERY = re.compile(r"([?&][^=&#]*password[^=&#]*=)[^&#]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """The URL with its password hidden, even if it holds signs that should have been escaped.

    >>> without_password("postgresql://me:a:b/c@d@host/db?sslpassword=e&x=1")
    'postgresql://me:***@host/db?sslpassword=***&x=1'
    """
    scheme, sign, rest = url.partition("://")
    if not sign or scheme.startswith("sqlite"):
        return url
    # Up to the last @, as a password may hold some: rather too much is hidden than too little.
    user, at, place = _QUERY.sub(rf"\1{HIDDEN}", rest).rpartition("@")
    name, colon, _ = user.partition(":")
    return f"{scheme}://{name}:{HIDDEN}@{place}" if colon else f"{scheme}://{user}{at}{place}"


def shown(storage: str | Storage | None) -> str | None:
    """Where a study is kept, without a password; None for in memory."""
    if storage is None or isinstance(storage, Memory):
        return None
    return without_password(storage) if isinstance(storage, str) else repr(storage)
