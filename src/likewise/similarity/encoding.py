"""What a similarity computes once per object, so that comparing is array work.

An encoding has one entry per object: a NumPy array (first axis), a list, a SciPy sparse matrix (rows), or a tuple of
encodings of equal length. These functions are all that the rest of the library asks of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Encoding = Any
Indices = NDArray[np.intp]
# What counts as many objects and as few entries, and how many are glanced at.
MANY, FEW, GLANCE = 2048, 256, 512


def count(encoding: Encoding) -> int:
    """Number of objects encoded.

    >>> count((["a", "b"], np.zeros((2, 3))))
    2
    """
    if isinstance(encoding, tuple):
        return count(encoding[0])
    return int(encoding.shape[0]) if hasattr(encoding, "shape") else len(encoding)


def take(encoding: Encoding, index: Any) -> Encoding:
    """The entries at `index`, an integer array or a slice.

    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(encoding, tuple):
        return tuple(take(part, index) for part in encoding)
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
    if isinstance(first, tuple):
        return tuple(join(parts) for parts in zip(*encodings, strict=True))
    if isinstance(first, list):
        return [entry for encoding in encodings for entry in encoding]
    if isinstance(first, np.ndarray):
        return np.concatenate(encodings)
    from scipy import sparse

    return sparse.vstack(encodings, format="csr")


def recurring(encoding: Encoding) -> tuple[Indices, Indices] | None:
    """Where few entries recur in many objects: the place of one of each, and which of them each object has.

    Only columns of numbers are looked at, and a glance at some of their entries tells most of the others.

    >>> column = np.tile([7.0, 5.0, 7.0], 2000)
    >>> first, which = recurring(column)
    >>> column[first].tolist(), which[:3].tolist()
    ([5.0, 7.0], [1, 0, 1])
    """
    columns = encoding if isinstance(encoding, tuple) else (encoding,)
    if not all(isinstance(column, np.ndarray) and column.size == len(column) >= MANY for column in columns):
        return None
    first, which = np.zeros(1, dtype=np.intp), np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        flat = column.ravel()
        if np.array_equal(flat[first][which], flat):
            continue
        levels = np.unique(flat[:: len(flat) // GLANCE])
        if len(levels) > FEW:
            return None
        found = np.minimum(np.searchsorted(levels, flat), len(levels) - 1)
        if not np.array_equal(levels[found], flat):
            levels, found = np.unique(flat, return_inverse=True)
        _, which = np.unique(which * len(levels) + found, return_inverse=True) if len(first) > 1 else (levels, found)
        first = np.empty(which.max() + 1, dtype=np.intp)
        first[which] = np.arange(len(which))
        if len(first) > FEW:
            return None
    return first, which
