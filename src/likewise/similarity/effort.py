"""What a piece of work takes, counted where it is done: objects looked at, comparisons, calls of a user's function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Tally:
    """Counts so far: new objects that were scored, scores of two objects, and calls of plain functions for them."""

    objects: int = 0
    comparisons: int = 0
    calls: int = 0


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied() -> Iterator[Tally]:
    """Count what is done inside, in this thread; other threads and processes count for themselves.

    >>> with tallied() as tally:
    ...     count(comparisons=3)
    >>> tally
    Tally(objects=0, comparisons=3, calls=0)
    """
    token = _tally.set(Tally())
    try:
        yield _tally.get()  # type: ignore[misc]
    finally:
        _tally.reset(token)


def count(*, objects: int = 0, comparisons: int = 0, calls: int = 0) -> None:
    """Add to the tally, if someone keeps one."""
    tally = _tally.get()
    if tally is not None:
        tally.objects += objects
        tally.comparisons += comparisons
        tally.calls += calls
