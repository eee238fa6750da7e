"""What a similarity computes once per object, so that comparing is array work.

An encoding has one entry per object: a NumPy array (first axis), a list, a SciPy sparse matrix (rows), a tuple of
encodings of equal length, `Levels` of one where entries recur, or `Grouped` ones where objects of several groups are
encoded each in their own way. These functions are all that the rest of the library asks of one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError

Encoding = Any
Indices = NDArray[np.intp]
# Levels are worth their lookups from so many objects on, and from so many objects per level.
MANY, PER_LEVEL = 64, 4


@dataclass(frozen=True, eq=False)
class Levels:
    """Few entries that many objects share: object i has `entries[which[i]]`.

    >>> plain(Levels(["a", "b"], np.array([1, 1, 0])))
    ['b', 'b', 'a']
    """

    entries: Encoding
    which: Indices


@dataclass(frozen=True, eq=False)
class Grouped:
    """Objects of several groups: object i is of group `which[i]`, and `entries` has one encoding for each group.

    An encoding holds the objects of its group in their order; it is None for a group without any.

    >>> both = Grouped(np.array([1, 0, 1]), (["a"], np.array([3.0, 4.0])))
    >>> take(both, np.array([2])).entries
    (None, array([4.]))
    """

    which: Indices
    entries: tuple[Encoding, ...]

    def places(self, group: int) -> Indices:
        """The places of the objects of a group."""
        return np.flatnonzero(self.which == group)

    def map(self, function: Callable[[Encoding], Encoding]) -> Grouped:
        """The same with another encoding of each group that has objects."""
        return Grouped(self.which, tuple(None if x is None else function(x) for x in self.entries))


def worth_levels(objects: int, levels: int) -> bool:
    """Whether there are clearly more objects than levels."""
    return objects >= max(MANY, PER_LEVEL * levels)


def levels_of(encoding: Encoding) -> tuple[Encoding, Indices | None]:
    """The entries, and which of them each object has, if not its own."""
    return (encoding.entries, encoding.which) if isinstance(encoding, Levels) else (encoding, None)


def plain(encoding: Encoding) -> Encoding:
    """The encoding with an entry for each object, however often it recurs."""
    if isinstance(encoding, tuple):
        return tuple(map(plain, encoding))
    if isinstance(encoding, Grouped):
        return encoding.map(plain)
    return plain(take(encoding.entries, encoding.which)) if isinstance(encoding, Levels) else encoding


def count(encoding: Encoding) -> int:
    """Number of objects encoded.

    >>> count((["a", "b"], np.zeros((2, 3))))
    2
    """
    if isinstance(encoding, tuple):
        return count(encoding[0])
    if isinstance(encoding, Levels | Grouped):
        return len(encoding.which)
    return int(encoding.shape[0]) if hasattr(encoding, "shape") else len(encoding)


def take(encoding: Encoding, index: Any) -> Encoding:
    """The entries at `index`, an integer array or a slice.

    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(encoding, tuple):
        return tuple(take(part, index) for part in encoding)
    if isinstance(encoding, Levels):
        which = encoding.which[index]
        worth = worth_levels(len(which), count(encoding.entries))
        return Levels(encoding.entries, which) if worth else take(encoding.entries, which)
    if isinstance(encoding, Grouped):
        return _taken_groups(encoding, index)
    if isinstance(encoding, list):
        return encoding[index] if isinstance(index, slice) else [encoding[i] for i in index]
    return encoding[index]


def join(encodings: Sequence[Encoding]) -> Encoding:
    """One encoding after another.

    >>> join([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    first = encodings[0]
    if len(encodings) == 1:
        return first
    if Levels in set(map(type, encodings)):
        return _joined_levels(encodings)
    if isinstance(first, tuple):
        return tuple(join(parts) for parts in zip(*encodings, strict=True))
    if isinstance(first, Grouped):
        groups = zip(*(encoding.entries for encoding in encodings), strict=True)
        return Grouped(np.concatenate([encoding.which for encoding in encodings]), tuple(map(_joined_group, groups)))
    if isinstance(first, list):
        return [entry for encoding in encodings for entry in encoding]
    if isinstance(first, np.ndarray):
        for other in encodings:
            if other.shape[1:] != first.shape[1:]:
                raise SimilarityError(
                    f"objects encoded as arrays of shape {first.shape[1:]} and of {other.shape[1:]} cannot be compared "
                    "with each other; give objects of one length"
                )
        return np.concatenate(encodings)
    from scipy import sparse

    return sparse.vstack(encodings, format="csr")


def _taken_groups(encoding: Grouped, index: Any) -> Grouped:
    rank = np.empty(len(encoding.which), dtype=np.intp)
    for group in range(len(encoding.entries)):
        places = encoding.places(group)
        rank[places] = np.arange(len(places))
    which, rank = encoding.which[index], rank[index]
    chosen = [rank[which == group] for group in range(len(encoding.entries))]
    each = zip(encoding.entries, chosen, strict=True)
    return Grouped(which, tuple(take(inside, some) if len(some) else None for inside, some in each))


def _joined_group(entries: Sequence[Encoding]) -> Encoding:
    present = [inside for inside in entries if inside is not None]
    return join(present) if present else None


def distinct(keys: Iterable[Hashable]) -> tuple[Indices, Indices]:
    """The place where each different key is first, and which of them each one is.

    >>> first, which = distinct("abac")
    >>> first.tolist(), which.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    seen: dict[Hashable, int] = {}
    places = np.array([seen.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.intp)
    return np.unique(places, return_inverse=True)


def _joined_levels(encodings: Sequence[Encoding]) -> Encoding:
    """Levels one after another, of which those that are the same become one; all plain if any is."""
    if not all(isinstance(encoding, Levels) for encoding in encodings):
        return join([plain(x) if isinstance(x, Levels) else x for x in encodings])
    entries = join([levels.entries for levels in encodings])
    starts = np.cumsum([0, *(count(levels.entries) for levels in encodings)])
    which = np.concatenate([levels.which + start for levels, start in zip(encodings, starts[:-1], strict=True)])
    first, place = distinct(_keys(entries))
    return Levels(take(entries, first), place[which])


def _keys(encoding: Encoding) -> list[Hashable]:
    """Something for each entry that only entries of the same content share."""
    if isinstance(encoding, tuple):
        return list(zip(*map(_keys, encoding), strict=True))
    if isinstance(encoding, list):
        return [x if isinstance(x, str | bytes) else id(x) for x in encoding]
    if isinstance(encoding, Levels):
        return _keys(plain(encoding))
    if isinstance(encoding, Grouped):
        inside = [iter(() if x is None else _keys(x)) for x in encoding.entries]
        return [(group, next(inside[group])) for group in encoding.which.tolist()]
    if isinstance(encoding, np.ndarray):
        return [row.tobytes() for row in encoding]
    rows = [slice(*ends) for ends in pairwise(encoding.indptr)]
    return [(encoding.indices[row].tobytes(), encoding.data[row].tobytes()) for row in rows]
