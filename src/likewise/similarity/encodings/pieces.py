"""Encodings of many objects, piece by piece, by several similarities at once and by several processes where there are.

An object is read once for all similarities that look at it: a piece has as many molecules as are remembered parsed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Any

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.encodings.arrays import Encoding

# Rows that are encoded at once, and that a process is given.
PIECE = 2048
# How similarities name an object that they cannot compare.
NUMBERED = re.compile(r"(^row|^object|^record|\bgraph) (\d+)\b")


def encoded(similarities: Sequence[Similarity], objects: Sequence[Any], workers: int) -> Iterator[list[Encoding]]:
    """Piece after piece, its encodings by each similarity; complaints count rows over all objects."""
    starts = range(0, len(objects), PIECE)
    workers = min(workers, len(starts))
    return _parallel(similarities, objects, starts, workers) if workers > 1 else _serial(similarities, objects, starts)


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def counted_from(error: SimilarityError, start: int) -> SimilarityError:
    """The complaint with the row counted over all objects."""
    return renumbered(error, lambda row: row + start)


def renumbered(error: SimilarityError, place: Callable[[int], int]) -> SimilarityError:
    """The complaint with the place that the row has elsewhere.

    >>> renumbered(SimilarityError("row 2 is not a molecule: 'xx'"), [40, 50, 60].__getitem__)
    SimilarityError("row 60 is not a molecule: 'xx'")
    """
    return SimilarityError(NUMBERED.sub(lambda found: f"{found[1]} {place(int(found[2]))}", str(error), count=1))


def _serial(similarities: Sequence[Similarity], objects: Sequence[Any], starts: range) -> Iterator[list[Encoding]]:
    for start in starts:
        try:
            yield [similarity.encode(objects[start : start + PIECE]) for similarity in similarities]
        except SimilarityError as error:
            raise counted_from(error, start) from error


def _parallel(
    similarities: Sequence[Similarity], objects: Sequence[Any], starts: range, workers: int
) -> Iterator[list[Encoding]]:
    """Pieces in order, encoded by several processes; a thread waits for each."""
    from likewise.similarity.encodings.workers import Worker

    with ExitStack() as stack:
        free: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(workers):
            free.put(stack.enter_context(Worker()))

        def work(start: int) -> list[Encoding]:
            worker = free.get()
            try:
                return worker.encode(similarities, objects[start : start + PIECE])
            except SimilarityError as error:
                raise counted_from(error, start) from error
            finally:
                free.put(worker)

        threads = stack.enter_context(ThreadPoolExecutor(workers))
        # No further ahead than needed to keep everyone busy, or all pieces would wait in memory.
        waiting = [threads.submit(work, start) for start in starts[: 2 * workers]]
        try:
            for place in range(len(starts)):
                if place + 2 * workers < len(starts):
                    waiting.append(threads.submit(work, starts[place + 2 * workers]))
                yield waiting.pop(0).result()
        finally:
            for one in waiting:
                one.cancel()
