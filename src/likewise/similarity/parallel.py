"""Encodings of many objects, piece by piece, by several processes where that pays."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from likewise.errors import LikewiseError, SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.encoding import Encoding

# How other interpreters are started: none of them runs a file of the working directory that is named like a library.
#
# Worker processes begin with `python -c` or `python -m`, which look there first, and have the path of this process only
# a few imports later.

# By this Python does not look for modules in the working directory first.
SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def safe_path() -> Iterator[None]:
    """Interpreters that start meanwhile do not look for modules in the working directory."""
    before = os.environ.get(SAFE_PATH)
    set_safe_path("1")
    try:
        yield
    finally:
        set_safe_path(before)


def set_safe_path(value: str | None) -> None:
    """Set the variable, or remove it."""
    if value is None:
        os.environ.pop(SAFE_PATH, None)
    else:
        os.environ[SAFE_PATH] = value


# Encodings of many objects, piece by piece, by several similarities at once and by several processes where there are.
#
# An object is read once for all similarities that look at it: a piece has as many molecules as are remembered parsed.
# The processes are those of `loky`: they run no script again, so that no `if __name__ == "__main__"` is needed, and
# they take functions of a script and lambdas. Those of the standard library do neither.

# Rows that are encoded at once, and that a process is given.
PIECE = 2048
# How similarities name an object that they cannot compare.
NUMBERED = re.compile(r"(^row|^object|^record|\bgraph) (\d+)\b")
# Processes side by side need one thread each, and must not look for modules in the working directory.
ENVIRONMENT = {**dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"), SAFE_PATH: "1"}


def encode_pieces(similarities: Sequence[Similarity], objects: Sequence[Any], workers: int) -> Iterator[list[Encoding]]:
    """Piece after piece, its encodings by each similarity; complaints count rows over all objects."""
    starts = range(0, len(objects), PIECE)
    workers = min(workers, len(starts))
    if workers > 1:
        yield from _in_processes(similarities, objects, starts, workers)
    else:
        yield from (_encode(similarities, objects[start : start + PIECE], start) for start in starts)


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_send(*things: Any) -> bool:
    """Whether other processes can be given these.

    >>> from threading import Lock
    >>> can_send(lambda x: x), can_send(Lock())
    (True, False)
    """
    import cloudpickle

    try:
        cloudpickle.dumps(things)
    except Exception:
        # Whatever a class of the user's raises when it is pickled.
        return False
    return True


def counted_from(error: SimilarityError, start: int) -> SimilarityError:
    """The complaint with the row counted over all objects."""
    return renumbered(error, lambda row: row + start)


def renumbered(error: SimilarityError, place: Callable[[int], int]) -> SimilarityError:
    """The complaint with the place that the row has elsewhere.

    >>> renumbered(SimilarityError("row 2 is not a molecule: 'xx'"), [40, 50, 60].__getitem__)
    SimilarityError("row 60 is not a molecule: 'xx'")
    """
    return SimilarityError(NUMBERED.sub(lambda found: f"{found[1]} {place(int(found[2]))}", str(error), count=1))


def _encode(similarities: Sequence[Similarity], objects: Sequence[Any], start: int) -> list[Encoding]:
    try:
        return [similarity.encode(objects) for similarity in similarities]
    except SimilarityError as error:
        raise counted_from(error, start) from error


def _in_processes(
    similarities: Sequence[Similarity], objects: Sequence[Any], starts: range, workers: int
) -> Iterator[list[Encoding]]:
    """Pieces in order; no further ahead than needed to keep everyone busy, or all would wait in memory."""
    from loky import BrokenProcessPool

    waiting: deque[Any] = deque()
    with _processes(workers) as submit:
        try:
            for start in starts:
                waiting.append(submit(_encode, similarities, list(objects[start : start + PIECE]), start))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            names = ", ".join(similarity.name for similarity in similarities)
            raise LikewiseError(
                f"a process that encoded objects for {names} has ended: {str(error).splitlines()[0]} "
                "With processes=1 the work is done in this one."
            ) from error


@contextmanager
def _processes(workers: int) -> Iterator[Callable[..., Any]]:
    """What gives a task to one of several processes, which end with this block, at once if something goes wrong."""
    from loky import ProcessPoolExecutor

    # The working directory, where this process finds modules in it: an interactive one does.
    places = [os.getcwd()] if "" in sys.path else []
    given = os.environ.get(SAFE_PATH), places
    # Here it starts a helper that has this environment, and with the first task the processes.
    with safe_path():
        executor = ProcessPoolExecutor(workers, env=ENVIRONMENT, initializer=_begin, initargs=given)

    def submit(*task: Any) -> Any:
        with safe_path():
            return executor.submit(*task)

    done = False
    try:
        yield submit
        done = True
    finally:
        executor.shutdown(kill_workers=not done)


def _begin(safe: str | None, places: list[str]) -> None:
    """What a process does first."""
    # The user's modules may be there; the libraries have been found elsewhere.
    sys.path += places
    # What a similarity starts has the environment of the process that asked.
    set_safe_path(safe)
    # Ctrl-C goes to every process of the terminal; the one that asked decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
