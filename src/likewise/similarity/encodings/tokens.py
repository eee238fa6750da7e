"""Strings and other sequences as integer codes: the code of a letter is its code point, that of a token its hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.encodings.sparse_features import stable_hash

Codes = NDArray[np.uint64]


def code(token: Any) -> int:
    """The number of a token: one letter is its code point, anything else a hash past all code points.

    >>> code("A"), code("conv3x3") == code("conv3x3"), code(65) == code("A")
    (65, True, False)
    """
    if isinstance(token, str) and len(token) == 1:
        return ord(token)
    try:
        return stable_hash(token) | (1 << 63)
    except TypeError:
        raise SimilarityError(
            f"a token of a sequence must be hashable, as text or a number is, not {token!r}"
        ) from None


def check_sequences(objects: Sequence[Any]) -> None:
    """Refuse what is neither text nor a list, tuple or one-dimensional array of tokens, naming it."""
    for number, x in enumerate(objects):
        if isinstance(x, str | tuple | list) or (isinstance(x, np.ndarray) and x.ndim == 1):
            continue
        raise SimilarityError(f"object {number} is not a string or a sequence of tokens: {x!r}; give text or a tuple")


def flat_codes(objects: Sequence[Any]) -> tuple[Codes, NDArray[np.int64]]:
    """The codes of all objects one after another, and the length of each.

    >>> flat_codes(["AB", "C"])
    (array([65, 66, 67], dtype=uint64), array([2, 1]))
    """
    check_sequences(objects)
    lengths = np.array([len(x) for x in objects], dtype=np.int64)
    if all(isinstance(x, str) for x in objects):
        points = np.frombuffer("".join(objects).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return points.astype(np.uint64), lengths
    return np.array([code(token) for x in objects for token in x], dtype=np.uint64), lengths


def code_rows(objects: Sequence[Any]) -> list[Codes]:
    """The codes of each object."""
    codes, lengths = flat_codes(objects)
    return np.split(codes, np.cumsum(lengths)[:-1]) if len(objects) else []


def code_matrix(objects: Sequence[Any]) -> NDArray[Any]:
    """The codes of objects of one length as the rows of a matrix, in the narrowest type that holds them.

    >>> code_matrix(["AB", "AC"])
    array([[65, 66],
           [65, 67]], dtype=uint8)
    """
    codes, lengths = flat_codes(objects)
    if len(lengths) and (lengths != lengths[0]).any():
        odd = int(np.flatnonzero(lengths != lengths[0])[0])
        raise different_lengths(objects[0], objects[odd])
    matrix = codes.reshape(len(lengths), -1) if len(codes) else np.zeros((len(lengths), 0), dtype=np.uint64)
    return matrix.astype(np.min_scalar_type(int(matrix.max(initial=0))))


def different_lengths(x: Any, other: Any) -> SimilarityError:
    """The error for two sequences that differ in length where they may not."""
    return SimilarityError(
        f"Hamming compares sequences of one length, but {x!r} has {len(x)} and {other!r} has {len(other)}; "
        "use Levenshtein or Indel for sequences of different lengths"
    )
