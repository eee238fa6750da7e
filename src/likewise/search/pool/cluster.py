"""A pool in parts on the workers of a Dask cluster: queries go out, and only contenders come back.

Each part is pinned to a worker and stays there with its encodings and columns. A part whose worker is gone is made anew
on another one, from its objects; a query brings all that is observed, so the answer is the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from likewise.errors import SimilarityError, StudyError, import_extra
from likewise.search.pool.exhaustive import PRECISE, Partition
from likewise.search.pool.scores import Contenders, Entries, Query, Rows, join_entries, merge
from likewise.similarity.base import Similarity
from likewise.similarity.encoding import Encoding
from likewise.similarity.parallel import counted_from
from likewise.spaces.pool import Pool
from likewise.spaces.pool_encodings import Encoder

# Seconds between two looks at which workers are still there.
WATCH = 2.0
# Seconds for an answer that is ready to arrive, and for a cluster without workers to get one.
ARRIVAL, FIRST_WORKER = 60.0, 60.0
ATTEMPTS, PAUSE = 5, 0.5
# Bytes in one task; Dask warns of ten million and more.
PIECE = 4_000_000

Similarities = Mapping[int, Similarity]


class _WorkerPart:
    """A part of the pool on a worker. Whatever leaves the worker, or its memory, leaves as objects alone."""

    def __init__(self, objects: Sequence[Any], first: int, total: int, memory: int | None) -> None:
        self._made_of = objects, first, total, memory
        self._partition = Partition(self._encodings, first, len(objects), total <= PRECISE, memory)
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[_WorkerPart], tuple[Any, ...]]:
        return _WorkerPart, self._made_of

    def _encodings(self, similarities: Sequence[Similarity]) -> Iterator[Sequence[Encoding]]:
        objects, first, *_ = self._made_of
        try:
            # The cluster has a part for each of its threads: they need no further processes.
            yield from Encoder(objects, str, processes=1)(similarities)
        except SimilarityError as error:
            raise counted_from(error, first) from error

    def answer(self, message: str, query: Query | Similarities, about: Sequence[Any]) -> Any:
        # A query that was given up may still be at work in another thread.
        with self._lock:
            return getattr(self._partition, message)(query, *about)


def _keep(first: int, total: int, memory: int | None, *objects: bytes) -> _WorkerPart:
    return _WorkerPart(_whole(objects), first, total, memory)


def _answer(kept: _WorkerPart, message: str, about: Sequence[Any], *query: bytes) -> Any:
    return kept.answer(message, _whole(query), about)


def _whole(pieces: Sequence[bytes]) -> Any:
    from distributed.protocol.pickle import loads

    return loads(b"".join(pieces))  # type: ignore[no-untyped-call]


@dataclass(eq=False)
class ClusterPartitions:
    """The parts of a pool on a cluster, which stays the user's to close.

    `edges` are the first rows of the parts, and the end; `memory` is the budget of each.
    """

    client: Any
    objects: Sequence[Any]
    edges: list[int]
    memory: int | None = None
    _places: dict[int, tuple[str, Any]] = field(default_factory=dict)
    _sent: tuple[Query | Similarities, list[Any]] | None = None
    _encoded: int = 0

    @classmethod
    def over(cls, pool: Pool) -> ClusterPartitions:
        """One part for each thread of the cluster."""
        parts = max(1, min(sum(_workers(pool.client).values()), len(pool.objects)))
        edges = np.linspace(0, len(pool.objects), parts + 1).round().astype(int).tolist()
        return cls(pool.client, pool.comparable, edges, None if pool.memory is None else pool.memory // parts)

    def ready(self, similarities: Similarities) -> None:
        """Encode every row by each similarity, the first time; a part that is made anew encodes when it is asked.

        A function numbers the objects it has seen, and its copies in queries would not know those numbers.
        """
        similarities = {k: similarity for k, similarity in similarities.items() if similarity.portable}
        if len(similarities) > self._encoded:
            self._answers("ready", similarities, dict.fromkeys(range(len(self.edges) - 1), ()))
            self._encoded = len(similarities)

    def contenders(self, query: Query, most: int) -> Contenders:
        """The best `most` rows that are not taken."""
        answers = self._answers("contenders", query, dict.fromkeys(range(len(self.edges) - 1), (most,)))
        return merge(list(answers.values()), query, most)

    def entries(self, query: Query, rows: Rows) -> Entries:
        """What is known of these rows, in their order."""
        part = np.searchsorted(self.edges, rows, side="right") - 1
        places = {i: np.flatnonzero(part == i) for i in np.unique(part).tolist()}
        answers = self._answers("entries", query, {i: (rows[at],) for i, at in places.items()})
        return join_entries([(places[i], answers[i]) for i in places])

    def _answers(self, message: str, query: Query | Similarities, about: Mapping[int, Sequence[Any]]) -> dict[int, Any]:
        """Each part's answer, from another worker where one was lost on the way."""
        answers: dict[int, Any] = {}
        for attempt in range(ATTEMPTS):
            # Who is gone is not always missed at once.
            time.sleep(PAUSE * attempt)
            answers |= self._attempt(message, query, {i: what for i, what in about.items() if i not in answers})
            if len(answers) == len(about):
                return {i: answers[i] for i in about}
            self._sent = None
        lost = next(i for i in about if i not in answers)
        raise StudyError(
            f"rows {self.edges[lost]} to {self.edges[lost + 1]} of the pool lost their worker {ATTEMPTS} times while "
            "they were scored; look at the workers' logs, for they may be short of memory, and ask again"
        )

    def _attempt(self, message: str, query: Query | Similarities, about: Mapping[int, Sequence[Any]]) -> dict[int, Any]:
        """The answers of those parts whose workers live to give them."""
        workers = _workers(self.client)
        self._level(workers)
        for i in about:
            self._place(i, workers)
        sent = self._send(query)
        waiting = {
            i: self.client.submit(_answer, kept, message, what, *sent, workers=[worker], pure=False)
            for i, what in about.items()
            for worker, kept in [self._places[i]]
        }
        answers: dict[int, Any] = {}
        while waiting:
            self._watch(waiting, answers)
        return answers

    def _send(self, query: Query | Similarities) -> list[Any]:
        """The query on its way; it is sent once, however many messages it comes with."""
        if self._sent is None or self._sent[0] is not query:
            self._sent = query, self._pieces(query.lean() if isinstance(query, Query) else query)
        return self._sent[1]

    def _pieces(self, value: Any, **where: Any) -> list[Any]:
        """A value as results of small tasks, which Dask repeats when a worker is lost; scattered data would be gone."""
        from distributed.protocol.pickle import dumps

        data = dumps(value)  # type: ignore[no-untyped-call]
        cuts = range(0, len(data), PIECE)
        return [self.client.submit(bytes, data[i : i + PIECE], pure=False, **where) for i in cuts]

    def _level(self, workers: Mapping[str, int]) -> None:
        """Forget parts whose worker is gone, and parts that a worker who has come since can hold with less to do."""
        self._places = {i: place for i, place in self._places.items() if place[0] in workers}
        load = self._load()
        while True:
            fullest = max(workers, key=lambda name: load[name] / workers[name])
            emptiest = min(workers, key=lambda name: (load[name] + 1) / workers[name])
            if load[fullest] / workers[fullest] <= (load[emptiest] + 1) / workers[emptiest]:
                return
            del self._places[max(i for i, (worker, _) in self._places.items() if worker == fullest)]
            load[fullest], load[emptiest] = load[fullest] - 1, load[emptiest] + 1

    def _load(self) -> Counter[str]:
        return Counter(worker for worker, _ in self._places.values())

    def _place(self, i: int, workers: Mapping[str, int]) -> None:
        """Have part `i` on a worker, unless it is on one: there where it leaves the least to do for each thread."""
        if i in self._places:
            return
        load = self._load()
        worker = min(workers, key=lambda name: (load[name] + 1) / workers[name])
        first, end = self.edges[i], self.edges[i + 1]
        objects = self._pieces(self.objects[first:end], workers=[worker])
        future = self.client.submit(_keep, first, self.edges[-1], self.memory, *objects, workers=[worker], pure=False)
        self._places[i] = worker, future

    def _watch(self, waiting: dict[int, Any], answers: dict[int, Any]) -> None:
        """Wait a little; move what is answered to the answers, and forget where parts were that are lost."""
        from distributed import wait

        with suppress(TimeoutError):
            wait(list(waiting.values()), timeout=WATCH, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
        workers = _workers(self.client)
        for i, future in list(waiting.items()):
            if future.status == "pending" and self._places[i][0] in workers:
                continue
            del waiting[i]
            answered, answer = self._arrived(future)
            if answered:
                answers[i] = answer
            else:
                del self._places[i]

    def _arrived(self, future: Any) -> tuple[bool, Any]:
        """Whether the answer came, and the answer; what a similarity complained of is raised."""
        from distributed import CancelledError, KilledWorker

        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker | CancelledError):
                return False, None
            raise error
        if future.status != "finished":
            future.cancel()
            return False, None
        try:
            return True, future.result(timeout=ARRIVAL)
        except (CancelledError, TimeoutError, OSError):
            return False, None


def _workers(client: Any) -> dict[str, int]:
    """The threads of each worker; a cluster that is still without workers is given time to start one."""
    import_extra("distributed", "Pool(client=…)", "distributed", "dask")
    threads = dict(client.nthreads())
    if not threads:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            raise StudyError("the Dask cluster of the pool has no workers; start some and ask again") from None
        threads = dict(client.nthreads())
    return threads
