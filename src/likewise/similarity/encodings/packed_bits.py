"""Sets as packed bits: sixty-four to a word, counted by the processor's own instruction.

One query against a million fingerprints of 2,048 bits takes about 50 ms on one core: little more than reading them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.uint64]
Counts = NDArray[np.float32]

WORD = 64
# From this many queries on, unpacking the bits once and multiplying matrices is faster than counting pair by pair:
# sparse matrices where few bits are set, as in fingerprints (17 instead of 60 ns a pair), dense ones elsewhere.
MANY = 64
FEW_BITS = 3
COUNT_BLOCK, PRODUCT_BLOCK = 2048, 1024


def packed(bits: NDArray[Any]) -> Packed:
    """Rows of bits (true or false) as rows of 64-bit words.

    >>> packed(np.array([[True, False, True]])).shape
    (1, 1)
    """
    return packed_bytes(np.packbits(np.asarray(bits, dtype=bool), axis=1))


def packed_bytes(rows: NDArray[np.uint8]) -> Packed:
    """Rows of bytes, eight bits each, as rows of 64-bit words, filled up with zeros."""
    filler = -rows.shape[1] % (WORD // 8)
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, filler)))).view(np.uint64)


def packed_sizes(a: Packed) -> NDArray[np.int32]:
    """How many bits of each row are set."""
    return np.bitwise_count(a).sum(axis=1, dtype=np.int32)


def packed_intersections(a: Packed, b: Packed) -> Counts:
    """How many bits two rows share, a matrix of shape (len(a), len(b)); memory beyond it is bounded.

    >>> a = packed(np.array([[1, 1, 0], [0, 1, 1]]))
    >>> packed_intersections(a, a)
    array([[2., 1.],
           [1., 2.]], dtype=float32)
    """
    if len(a) < len(b):
        return packed_intersections(b, a).T
    if len(b) < MANY:
        return _by_count(a, b)
    return _by_sparse(a, b) if packed_sizes(b).mean() <= FEW_BITS * b.shape[1] else _by_product(a, b)


def _by_count(a: Packed, b: Packed) -> Counts:
    shared = np.empty((len(a), len(b)), dtype=np.float32)
    ones = np.ones(a.shape[1], dtype=np.float32)
    # Written again and again, so that they stay in cache.
    both, counts, single = (np.empty((COUNT_BLOCK, a.shape[1]), kind) for kind in (np.uint64, np.uint8, np.float32))
    for i in range(0, len(a), COUNT_BLOCK):
        block = a[i : i + COUNT_BLOCK]
        m = len(block)
        for j, query in enumerate(b):
            np.bitwise_count(np.bitwise_and(block, query, out=both[:m]), out=counts[:m])
            single[:m] = counts[:m]
            shared[i : i + m, j] = single[:m] @ ones
    return shared


def _by_sparse(a: Packed, b: Packed) -> Counts:
    from scipy import sparse

    shared = np.empty((len(a), len(b)), dtype=np.float32)
    table = np.ascontiguousarray(_unpacked(b).T)
    width = len(table)
    for i in range(0, len(a), COUNT_BLOCK):
        block = np.ascontiguousarray(a[i : i + COUNT_BLOCK])
        set_bits = np.flatnonzero(np.unpackbits(block.view(np.uint8), axis=1).view(bool))
        starts = np.concatenate([[0], np.cumsum(packed_sizes(block))])
        ones = np.ones(len(set_bits), dtype=np.float32)
        rows = sparse.csr_array((ones, set_bits % width, starts), shape=(len(block), width))
        shared[i : i + len(block)] = rows @ table
    return shared


def _by_product(a: Packed, b: Packed) -> Counts:
    shared = np.empty((len(a), len(b)), dtype=np.float32)
    for j in range(0, len(b), PRODUCT_BLOCK):
        right = _unpacked(b[j : j + PRODUCT_BLOCK]).T
        for i in range(0, len(a), PRODUCT_BLOCK):
            shared[i : i + PRODUCT_BLOCK, j : j + PRODUCT_BLOCK] = _unpacked(a[i : i + PRODUCT_BLOCK]) @ right
    return shared


def _unpacked(a: Packed) -> Counts:
    # A float32 holds whole numbers up to 2²⁴ exactly, so that the product counts exactly.
    return np.unpackbits(np.ascontiguousarray(a).view(np.uint8), axis=1).astype(np.float32)
