"""One step of work on each level of the library, and what is acknowledged by it.

Every value told is told once in a case, so that a value names its tell.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

import likewise as lw
from benchmarks.reliability.cases import Case
from likewise.errors import StorageError, StudyError
from likewise.study.storage.base import OpenStudy, Taken, open_storage
from likewise.study.storage.trials import NewRow, Row

OBJECTS = 2000
MODELLED_OBJECTS = 1000
NAME = "campaign"
SETTINGS = {"direction": "maximize"}


class Log(Protocol):
    """Where a worker writes what it was promised (`asked`, `told`) and what it is about to write whole (`whole`)."""

    def asked(self, id: int, key: str) -> None: ...

    def told(self, key: str, value: float) -> None: ...

    def whole(self, values: list[float]) -> None: ...

    def write(self, kind: str, *what: Any) -> None: ...


class Near(lw.Similarity):
    """Numbers that are alike when they are near, compared as arrays: it is the storage that is put under stress."""

    def encode(self, objects: Any) -> Any:
        return np.array(objects, dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        return 1.0 / (1.0 + np.abs(a[:, None] - b))

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


class Client(ABC):
    """A process's hold on the study. `patient` sits out a server that is away: it repeats the call."""

    study: Any = None

    def __init__(self, log: Log, values: Iterator[float], rng: random.Random, patient: Callable[[Any], Any]) -> None:
        self.log, self.values, self.rng, self.patient = log, values, rng, patient

    @abstractmethod
    def step(self) -> None:
        """Ask and tell."""

    def settle(self, tell: Callable[[], None], value: float) -> None:
        """Tell; that the value is there already, from a call whose answer was lost, is good as well."""
        try:
            self.patient(tell)
        except StorageError:
            raise
        except StudyError:
            if value not in [row.value for row in self.patient(lambda: rows_of(self.study))]:
                raise


class StudyClient(Client):
    """By `lw.Study`: asks of one or two objects, and now and then a second measurement."""

    _last: int | None = None

    def step(self) -> None:
        if self._last is not None and self.rng.random() < 0.1:
            self._tell_again(self._last)
            return
        for s in self.patient(lambda: self.study.ask(self.rng.choice((1, 2)))):
            key = json.dumps(s.object)
            self.log.asked(s.id, key)
            value = next(self.values)
            self.settle(partial(self.study.tell, s, value), value)
            self.log.told(key, value)
            self._last = s.object

    def _tell_again(self, x: int) -> None:
        value = next(self.values)
        # It is left at one try: repeated after a lost answer, it could be there twice.
        try:
            self.study.tell(x, value)
        except StorageError:
            self.patient(lambda: self.study.trials)
            return
        self.log.told(json.dumps(x), value)


class StorageClient(Client):
    """By an open storage: rows added and settled, and now and then three told rows at once, all or none."""

    def step(self) -> None:
        if self.rng.random() < 0.1:
            self._add_whole()
            return
        key = json.dumps(self.rng.randrange(10**6))
        try:
            (id,) = self.patient(lambda: self.study.add([NewRow(key, key)]))
        except Taken:
            return
        self.log.asked(id, key)
        value = next(self.values)
        self.settle(partial(self.study.settle, id, state=lw.State.TOLD, value=value), value)
        self.log.told(key, value)

    def _add_whole(self) -> None:
        keys = [json.dumps(self.rng.randrange(10**6)) for _ in range(3)]
        values = [next(self.values) for _ in keys]
        rows = [NewRow(k, k, state=lw.State.TOLD, value=v, replicate=True) for k, v in zip(keys, values, strict=True)]
        self.log.whole(values)
        try:
            self.study.add(rows)
        except StorageError:
            self.patient(lambda: self.study.since(0))
            return
        for key, value in zip(keys, values, strict=True):
            self.log.told(key, value)


def open_study(case: Case, url: str) -> lw.Study | OpenStudy:
    """The case's study, opened as its level opens it."""
    if case.level == "storage":
        return open_storage(url).open(NAME, SETTINGS)
    objects, initial = (MODELLED_OBJECTS, 5) if case.modelled else (OBJECTS, 10**9)
    return lw.Study(lw.Pool(list(range(objects))), Near(), storage=url, name=NAME, initial=initial, lease=case.lease)


def client_of(case: Case) -> type[Client]:
    """What works on the case's level."""
    return StudyClient if case.level == "study" else StorageClient


def rows_of(study: lw.Study | OpenStudy) -> Sequence[Any]:
    """Every trial, by id."""
    return study.trials if isinstance(study, lw.Study) else sorted(study.since(0)[0], key=lambda row: row.id)


def key_of(row: Any) -> str:
    """What names a row's or a trial's object."""
    return row.key if isinstance(row, Row) else json.dumps(row.object)
