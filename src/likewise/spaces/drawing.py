"""What moves and crossovers of all spaces share: a fair choice among many edits, and keeping those that are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from likewise.spaces.base import Generator, Space

MOVES = 96
CHILDREN = 16

Edits = tuple[int, Callable[[int], Any]]
Object = TypeVar("Object")


def some(total: int, limit: int, rng: Generator) -> list[int]:
    """All of range(total) when they are few, else `limit` of them, drawn without replacement.

    >>> import numpy as np
    >>> some(3, 5, np.random.default_rng(0)), len(some(100, 5, np.random.default_rng(0)))
    ([0, 1, 2], 5)
    """
    if total <= limit:
        return list(range(total))
    chosen: list[int] = rng.choice(total, size=limit, replace=False).tolist()
    return chosen


def shares(counts: Sequence[int], limit: int) -> list[int]:
    """How many edits of each kind to try: all when they fit, else half of them of the first kind.

    The other kinds share the other half evenly, so that a kind with few edits (deletions) is not drowned by one with
    many (insertions); what a kind leaves goes to the first, and then to the others in turn.

    >>> shares([2000, 100, 5], 96), shares([10, 3], 96)
    ([67, 24, 5], [10, 3])
    """
    present = max(sum(c > 0 for c in counts[1:]), 1)
    given = [0, *(min(c, limit // 2 // present) for c in counts[1:])]
    for i, c in enumerate(counts):
        given[i] += min(c - given[i], limit - sum(given))
    return given


def edits(kinds: Sequence[Edits], limit: int, rng: Generator) -> list[Any]:
    """What edits make, of each kind all or a fair share: a kind is how many edits there are and the i-th one.

    >>> import numpy as np
    >>> edits([(3, lambda i: f"+{i}"), (1, lambda i: "-")], 96, np.random.default_rng(0))
    ['+0', '+1', '+2', '-']
    """
    limits = shares([count for count, _ in kinds], limit)
    return [edit(i) for (count, edit), most in zip(kinds, limits, strict=True) for i in some(count, most, rng)]


def neighbours(space: Space, x: Any, candidates: Iterable[Any]) -> list[Any]:
    """The candidates, hashable objects, that differ from x and from each other and satisfy `where`."""
    return space.keep_allowed([candidate for candidate in dict.fromkeys(candidates) if candidate != x])


def child(space: Space, make: Callable[[], Object], parent: Object) -> Object:
    """The first child that satisfies `where`; the parent when none of a few tries does."""
    for _ in range(CHILDREN):
        made = make()
        if space.allowed([made])[0]:
            return made
    return parent
