"""Scores of pairs of objects that cost too much to compute twice, kept for as long as both objects are of use.

An encoding holds its objects, and a score goes with them: the pairs among the observed and with the pool are kept, as
a Gram matrix and a pool hold their encodings. What a search merely visited is let go from time to time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from likewise.similarity.base import Matrix

# Scores of visited objects that are held at most, where fewer are kept for good: some 40 MB.
VISITED = 1 << 21
# What an object takes beside its scores, in scores.
ENTRY = 32
_numbers = count()


def object_key(x: Any) -> Any:
    """Something hashable that equal objects share.

    >>> object_key([1, {"a": 2}]) == object_key([1, {"a": 2}])
    True
    """
    if isinstance(x, np.ndarray):
        return ("array", x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, dict):
        return ("dict", frozenset((k, object_key(v)) for k, v in x.items()))
    if isinstance(x, list | tuple):
        return (type(x).__name__, *(object_key(v) for v in x))
    if isinstance(x, set):
        return frozenset(x)
    try:
        hash(x)
    except TypeError:
        return ("id", id(x))
    return x


class Entry:
    """An object with a number, and its scores with objects of smaller numbers, in their order.

    A score is found without a lock: it is there before its key is, and a row that is not appended to is replaced.
    """

    __slots__ = ("__weakref__", "number", "object", "row")

    def __init__(self, x: Any) -> None:
        self.object = x
        self.number = next(_numbers)
        self.row = array("q"), array("d")

    def __reduce__(self) -> tuple[Any, ...]:
        # Elsewhere it is another's number.
        return Entry, (self.object,)

    def find(self, key: int) -> float | None:
        keys, scores = self.row
        place = bisect_left(keys, key)
        return scores[place] if place < len(keys) and keys[place] == key else None

    def add(self, key: int, score: float) -> None:
        keys, scores = self.row
        place = bisect_left(keys, key)
        if place == len(keys):
            scores.append(score)
            keys.append(key)
        elif keys[place] != key:
            new = array("q", [key]), array("d", [score])
            self.row = keys[:place] + new[0] + keys[place:], scores[:place] + new[1] + scores[place:]

    def keep(self, numbers: set[int]) -> int:
        """Forget the scores with objects of other numbers than these; returns how many are left."""
        keys, scores = self.row
        left = [place for place, key in enumerate(keys) if key >> 1 in numbers]
        if len(left) < len(keys):
            self.row = array("q", [keys[i] for i in left]), array("d", [scores[i] for i in left])
        return len(left)


Entries = list[Entry]


class Pairs:
    """The scores of all pairs of which both objects are held by someone, and of a bounded number of others.

    >>> calls = []
    >>> pairs = Pairs()
    >>> a, b = pairs.entries(["ab", "cd"])
    >>> [pairs.score(x, y, lambda x, y: calls.append((x, y)) or 0.5) for x, y in ((a, b), (b, a), (a, b))], calls
    ([0.5, 0.5, 0.5], [('ab', 'cd')])
    """

    def __init__(self, *, directed: bool = False, visited: int = VISITED) -> None:
        self.directed, self.added = directed, 0
        self._held: WeakValueDictionary[Any, Entry] = WeakValueDictionary()
        self._visited: Entries = []
        self._most, self._fresh, self._limit = visited, 0, visited
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has no scores: they belong to entries that are not copied.
        return partial(Pairs, directed=self.directed, visited=self._most), ()

    def __len__(self) -> int:
        """How many objects are held, by anyone."""
        return len(self._held)

    def entries(self, objects: Iterable[Any]) -> Entries:
        """The entries of these objects; equal objects have one."""
        return [self._entry(x) for x in objects]

    def _entry(self, x: Any) -> Entry:
        key = object_key(x)
        found = self._held.get(key)
        if found is None:
            found = self._held[key] = Entry(x)
            self._visited.append(found)
            self._count(ENTRY)
        return found

    def scores(self, a: Sequence[Entry], b: Sequence[Entry], called: Callable[[Any, Any], float]) -> Matrix:
        """The matrix of the scores of each in `a` with each in `b`; `called` gives those that are not known."""
        return np.array([[self.score(x, y, called) for y in b] for x in a], dtype=float).reshape(len(a), len(b))

    def score(self, x: Entry, y: Entry, called: Callable[[Any, Any], float]) -> float:
        """The score of two objects, which is called for with the earlier one first unless the order counts."""
        swap = x.number > y.number
        late, early = (x, y) if swap else (y, x)
        if not self.directed:
            x, y, swap = early, late, False
        key = 2 * early.number + swap
        score = late.find(key)
        if score is None:
            score = called(x.object, y.object)
            self._add(late, key, score)
        return score

    def _add(self, late: Entry, key: int, score: float) -> None:
        self.added += 1
        # While another thread writes nothing is kept: waiting for a thread that a fork has left behind would not end.
        if self._lock.acquire(blocking=False):
            try:
                late.add(key, score)
            finally:
                self._lock.release()
            self._count(1)

    def _count(self, fresh: int) -> None:
        self._fresh += fresh
        if self._fresh > self._limit and self._lock.acquire(blocking=False):
            try:
                self._sweep()
            finally:
                self._lock.release()

    def _sweep(self) -> None:
        """Let go of the objects that nobody else holds, and of the scores with them."""
        self._visited = []
        # By references, which other threads may add to meanwhile.
        held = [entry for entry in (reference() for reference in self._held.valuerefs()) if entry is not None]
        numbers = {entry.number for entry in held}
        kept = sum(entry.keep(numbers) for entry in held)
        # As many again before the next time, so that sweeping takes no more time than adding does.
        self._fresh, self._limit = 0, max(self._most, kept)
