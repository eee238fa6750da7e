"""Encodings in which entries recur are, to everyone who asks, encodings with an entry for each object."""

from __future__ import annotations

import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.similarity import encoding as stored
from likewise.similarity.encoding import (
    MANY,
    PER_LEVEL,
    Encoding,
    Levels,
    count_rows,
    distinct,
    join,
    levels_of,
    plain,
    take,
)

KINDS = ("numbers", "rows", "texts", "sparse", "tuple", "nested")


def same(a: Encoding, b: Encoding) -> bool:
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, list):
        return bool(a == b)
    return bool(a.shape == b.shape and (a != b).nnz == 0) if hasattr(a, "nnz") else bool(np.array_equal(a, b))


def entries(kind: str, n: int, rng: np.random.Generator) -> Encoding:
    """The entries of n levels, some of them the same."""
    numbers = rng.integers(0, 4, n).astype(float)
    table = rng.integers(0, 2, (n, 3))
    return {
        "numbers": numbers,
        "rows": table,
        "texts": ["abcd"[int(number)] for number in numbers],
        "sparse": sparse.csr_array(table),
        "tuple": (numbers, (table, sparse.csr_array(table))),
        "nested": (numbers, Levels(table, rng.integers(0, n, n))),
    }[kind]


@st.composite
def levels(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> Levels:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    few, many = draw(st.integers(1, 20)), draw(st.integers(0, 3 * MANY))
    return Levels(entries(draw(st.sampled_from(kinds)), few, rng), rng.integers(0, few, many))


@given(levels())
def test_each_object_has_the_entry_of_its_level(encoding: Levels) -> None:
    expected = plain(encoding)
    assert count_rows(encoding) == count_rows(expected) == len(encoding.which)
    for i in range(min(5, len(encoding.which))):
        assert same(take(expected, np.array([i])), plain(take(encoding.entries, encoding.which[i : i + 1])))


@given(levels(), st.data())
def test_what_is_taken_is_what_is_taken_of_the_plain_encoding(encoding: Levels, data: st.DataObject) -> None:
    n = len(encoding.which)
    index: Any = data.draw(st.slices(n) if n == 0 or data.draw(st.booleans()) else st.lists(st.integers(0, n - 1)))
    index = index if isinstance(index, slice) else np.array(index, dtype=np.intp)
    taken = take(encoding, index)
    assert same(plain(taken), take(plain(encoding), index))
    assert isinstance(taken, Levels) == (count_rows(taken) >= max(MANY, PER_LEVEL * count_rows(encoding.entries)))


@given(st.sampled_from(KINDS), st.data())
def test_what_is_joined_is_what_is_joined_of_plain_encodings(kind: str, data: st.DataObject) -> None:
    parts: list[Encoding] = data.draw(st.lists(levels((kind,)), min_size=1, max_size=4))
    parts = [plain(part) if data.draw(st.integers(0, 4)) == 0 else part for part in parts]
    joined = join(parts)
    assert same(plain(joined), join([plain(part) for part in parts]))
    assert isinstance(joined, Levels) == all(isinstance(part, Levels) for part in parts)


@pytest.mark.parametrize("kind", KINDS)
def test_levels_that_are_the_same_become_one(kind: str) -> None:
    rng = np.random.default_rng(0)
    all_entries = entries(kind, 200, rng)
    parts = [Levels(take(all_entries, rng.permutation(200)), rng.integers(0, 200, 900)) for _ in range(3)]
    joined = join(parts)
    different = {"numbers": 4, "rows": 8, "texts": 4, "sparse": 8}.get(kind, 4 * 8)
    assert count_rows(joined.entries) <= different


@given(levels(("numbers", "rows", "sparse", "tuple", "nested")))
def test_what_is_written_is_read(encoding: Levels) -> None:
    assert stored.storable(encoding)
    assert stored.nbytes(encoding) == stored.nbytes(encoding.entries) + encoding.which.nbytes
    with tempfile.TemporaryDirectory() as folder:
        tree = json.loads(json.dumps(stored.write((encoding, encoding.which), Path(folder), "x")))
        found, which = stored.read(tree, Path(folder))
        assert isinstance(found, Levels)
        assert same(plain(found), plain(encoding))
        assert same(which, encoding.which)


def test_levels_of_texts_are_not_stored() -> None:
    assert not stored.storable(Levels(["a"], np.zeros(3, dtype=np.intp)))


@given(levels())
def test_levels_can_be_sent(encoding: Levels) -> None:
    assert same(plain(pickle.loads(pickle.dumps(encoding))), plain(encoding))


def test_other_encodings_are_their_own_levels() -> None:
    assert levels_of("abc") == ("abc", None)
    column = np.arange(3)
    assert plain(column) is column


@given(st.lists(st.integers(0, 5) | st.text("ab", max_size=2)))
def test_distinct_keys_give_back_all(keys: list[Any]) -> None:
    first, which = distinct(keys)
    assert [keys[first[i]] for i in which] == keys
    assert [keys[i] for i in first] == list(dict.fromkeys(keys))
