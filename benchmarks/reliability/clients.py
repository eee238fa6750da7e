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
from likewise.study.log import Ledger, Log, open_log
from likewise.study.storage.base import open_storage

OBJECTS = 2000
MODELLED_OBJECTS = 1000
NAME = "campaign"
SETTINGS = {"objectives": {"value": "maximize"}}


class Diary(Protocol):
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

    def __init__(self, log: Diary, values: Iterator[float], rng: random.Random, patient: Callable[[Any], Any]) -> None:
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
    """By a log: trials added and told, and now and then three told ones at once, all or none."""

    def step(self) -> None:
        if self.rng.random() < 0.1:
            self._add_whole()
            return
        x = self.rng.randrange(10**6)
        id = self.patient(partial(self._ask, x))
        if id is None:
            return
        self.log.asked(id, json.dumps(x))
        value = next(self.values)
        self.settle(partial(tell, self.study, [(id, None, value)]), value)
        self.log.told(json.dumps(x), value)

    def _ask(self, x: int) -> int | None:
        with self.study.change("ask") as draft:
            taken = json.dumps(x) in draft.ledger.held()
            return None if taken else draft.add(x, x, state=lw.State.ASKED)

    def _add_whole(self) -> None:
        rows = [(None, self.rng.randrange(10**6), next(self.values)) for _ in range(3)]
        self.log.whole([value for _, _, value in rows])
        try:
            tell(self.study, rows)
        except StorageError:
            self.patient(self.study.sync)
            return
        for _, x, value in rows:
            self.log.told(json.dumps(x), value)


def tell(log: Log, rows: Sequence[tuple[int | None, Any, float]]) -> None:
    """Values of trials, or of new objects, in one step."""
    with log.change("tell") as draft:
        for id, x, value in rows:
            fields = {"state": lw.State.TOLD, "outcomes": {"value": {"value": value}}}
            if id is None:
                draft.add(x, x, **fields)
            else:
                draft.change(id, **fields)


def open_study(case: Case, url: str) -> lw.Study | Log:
    """The case's study, opened as its level opens it."""
    if case.level == "storage":
        return open_log(open_storage(url), NAME, SETTINGS, Ledger(lambda data: data, "value"), "worker")
    objects, initial = (MODELLED_OBJECTS, 5) if case.modelled else (OBJECTS, 10**9)
    return lw.Study(lw.Pool(list(range(objects))), Near(), storage=url, name=NAME, initial=initial, lease=case.lease)


def client_of(case: Case) -> type[Client]:
    """What works on the case's level."""
    return StudyClient if case.level == "study" else StorageClient


def rows_of(study: lw.Study | Log) -> Sequence[Any]:
    """Every trial, by id."""
    if isinstance(study, lw.Study):
        return study.trials
    study.sync()
    return study.ledger.trials


def key_of(trial: Any) -> str:
    """What names a trial's object."""
    return json.dumps(trial.object)
