"""Features of objects as arrays: sets as packed bits, counts as hashed columns, sequences as codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix

# Sets as packed bits: sixty-four to a word, counted by the processor's own instruction.
#
# One query against a million fingerprints of 2,048 bits takes about 50 ms on one core: little more than reading them.

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


# Features of any kind as hashed columns of a sparse matrix, so that encodings made at different times are comparable.
#
# A feature (an n-gram, an element of a set, an atom environment) is named by a 64-bit hash that is the same in every
# process, and sits in one of 2³⁰ columns. Two features may share a column, which is rare: of v features about v²/2³¹
# pairs do, none among ten thousand as a rule, and the score is still that of a feature map.

Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]
Sparse = Any

COLUMN_BITS = 30
COLUMNS = 1 << COLUMN_BITS
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Rows handled at once: the lookup of the shorter side stays in cache, the copies of the longer side stay small.
SHORT_BLOCK, LONG_BLOCK = 256, 1 << 13
# A table of 2¹⁸ places holds up to 512 columns without two at one place, after a few tries.
SLOT_BITS, SLOT_SHIFT, SLOT_TRIES, FEW_COLUMNS = 18, np.uint32(14), 16, 512
# Up to so many entries a search is faster than such a table; a matrix of so few numbers is written out.
FEW_ENTRIES, FEW_NUMBERS = 1 << 13, 1 << 15


def _digest(x: Any) -> bytes:
    """Eight bytes that equal values share in every process; numbers are equal as Python says (1 == 1.0 == True)."""
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, float) and x.is_integer():
        x = int(x)
    if isinstance(x, str):
        text = b"s" + x.encode("utf-8", "surrogatepass")
    elif isinstance(x, bytes):
        text = b"b" + x
    elif isinstance(x, int):
        text = b"i%d" % int(x)
    elif isinstance(x, tuple):
        text = b"t" + b"".join(map(_digest, x))
    elif isinstance(x, frozenset):
        text = b"z" + b"".join(sorted(map(_digest, x)))
    elif repr(x) == object.__repr__(x):
        raise SimilarityError(
            f"{x!r} has no text of its own to be recognised by; use strings, numbers or tuples, "
            f"or give {type(x).__name__} a __repr__"
        )
    else:
        text = f"o{type(x).__qualname__}:{x!r}".encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).digest()


@lru_cache(maxsize=1 << 16)
def stable_hash(x: Any) -> int:
    """A 64-bit hash of a hashable value, the same in every process (Python's own is not).

    >>> stable_hash("CCO") == stable_hash("CCO"), stable_hash(1) == stable_hash(1.0), stable_hash("1") == stable_hash(1)
    (True, True, False)
    """
    return int.from_bytes(_digest(x), "little")


def mixed(hashes: Hashes) -> Hashes:
    """A bijection of 64-bit numbers that spreads every bit over all others (the finaliser of SplitMix64)."""
    h = hashes ^ (hashes >> np.uint64(30))
    h = h * np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(27)
    h *= np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h


def counted(rows: Integers, hashes: Hashes, n: int) -> Sparse:
    """The sparse matrix of `n` rows that counts how often each row has each feature.

    >>> counted(np.array([0, 0, 1]), np.array([5, 5, 5], dtype=np.uint64), 2).data
    array([2, 1], dtype=int32)
    """
    columns = (mixed(hashes + GOLDEN) >> np.uint64(64 - COLUMN_BITS)).astype(np.int64)
    keys, counts = np.unique((rows << COLUMN_BITS) | columns, return_counts=True)
    return _csr(keys >> COLUMN_BITS, keys & (COLUMNS - 1), counts.astype(np.int32), n)


def unary(counts: Sparse) -> Sparse:
    """The matrix in which a feature counted c times is c features, numbered: their overlap is Σ min of the counts.

    >>> unary(counted(np.array([0, 0, 0]), np.array([5, 5, 6], dtype=np.uint64), 1)).nnz
    3
    """
    times = counts.data.astype(np.int64)
    rows = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), times)
    level = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    features = np.repeat(mixed(counts.indices.astype(np.uint64)), times)
    return counted(rows, features + level.astype(np.uint64), counts.shape[0])


def _csr(rows: Integers, columns: Integers, data: NDArray[Any], n: int) -> Sparse:
    from scipy import sparse

    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    # 32-bit numbers halve the memory; SciPy keeps them if both arrays have them.
    small = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((data, columns.astype(small), starts.astype(small)), shape=(n, COLUMNS))


def products(a: Sparse, b: Sparse) -> Matrix:
    """Σ_f a_if b_jf, a matrix of shape (len(a), len(b)).

    >>> one = counted(np.array([0, 0]), np.array([5, 7], dtype=np.uint64), 1)
    >>> products(one, one)
    array([[2.]])
    """
    if a.shape[0] < b.shape[0]:
        return products(b, a).T
    result = np.empty((a.shape[0], b.shape[0]))
    for j in range(0, b.shape[0], SHORT_BLOCK):
        columns, table = _table(b if b.shape[0] <= SHORT_BLOCK else b[j : j + SHORT_BLOCK])
        for i in range(0, a.shape[0], LONG_BLOCK):
            rows = slice(i, min(i + LONG_BLOCK, a.shape[0]))
            result[rows, j : j + SHORT_BLOCK] = _restricted(a, rows, columns) @ table
    return result


def _table(b: Sparse) -> tuple[Integers, Matrix]:
    """The columns that occur in b, and b as a dense matrix of them: (columns, rows)."""
    columns, place = np.unique(b.indices, return_inverse=True)
    table = np.zeros((len(columns), b.shape[0]))
    table[place, np.repeat(np.arange(b.shape[0]), np.diff(b.indptr))] = b.data
    return columns, table


def _restricted(a: Sparse, rows: slice, columns: Integers) -> Any:
    """The matrix of these rows and columns of a alone, sparse unless it is small."""
    from scipy import sparse

    starts = a.indptr[rows.start : rows.stop + 1]
    indices = a.indices[starts[0] : starts[-1]]
    kept, place = _found(indices, columns)
    data = a.data[starts[0] : starts[-1]][kept].astype(float)
    shape = len(starts) - 1, len(columns)
    if shape[0] * shape[1] <= FEW_NUMBERS:
        matrix = np.zeros(shape)
        matrix[np.repeat(np.arange(shape[0]), np.diff(starts))[kept], place] = data
        return matrix
    return sparse.csr_array((data, place, np.searchsorted(kept, starts - starts[0])), shape=shape)


def _found(indices: Integers, columns: Integers) -> tuple[Integers, Integers]:
    """Which of the indices are among the (sorted) columns, and at which place."""
    slots = None if len(indices) <= FEW_ENTRIES else _slots(columns)
    if slots is None:
        kept, place = np.arange(len(indices)), np.searchsorted(columns, indices)
    else:
        factor, table = slots
        guess = table[(indices.astype(np.uint32) * factor) >> SLOT_SHIFT]
        kept = np.flatnonzero(guess >= 0)
        place = guess[kept]
    right = columns[np.minimum(place, len(columns) - 1)] == indices[kept] if len(columns) else np.zeros(len(kept), bool)
    return kept[right], place[right]


def _slots(columns: Integers) -> tuple[np.uint32, NDArray[np.int32]] | None:
    """A table that gives the place of each column without a search, if the columns are few enough to have one."""
    if len(columns) > FEW_COLUMNS:
        return None
    for seed in range(SLOT_TRIES):
        factor = np.uint32((0x9E3779B1 + 2 * seed * 0x85EBCA6B) & 0xFFFFFFFF)
        slot = (columns.astype(np.uint32) * factor) >> SLOT_SHIFT
        if len(np.unique(slot)) == len(slot):
            table = np.full(1 << SLOT_BITS, -1, dtype=np.int32)
            table[slot] = np.arange(len(columns))
            return factor, table
    return None


# Strings and other sequences as integer codes: the code of a letter is its code point, that of a token its hash.

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
