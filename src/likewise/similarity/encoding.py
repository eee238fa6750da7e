"""What a similarity computes once per object, so that comparing is array work.

An encoding has one entry per object: a NumPy array (first axis), a list, a SciPy sparse matrix (rows), or a tuple of
encodings of equal length. These four functions are all that the rest of the library asks of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Encoding = Any


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
