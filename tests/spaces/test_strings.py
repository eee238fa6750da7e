"""Strings: their number, their neighbours within two edits, and what does not fit."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from likewise.errors import SpaceError
from likewise.spaces.strings import Strings


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3))
def test_size_is_how_many_strings_are_members(letters: int, low: int, more: int) -> None:
    alphabet = "abc"[:letters]
    if low + more == 0:
        return
    space = Strings(alphabet, min_length=low, max_length=low + more)
    everything = ("".join(p) for n in range(8) for p in product(alphabet, repeat=n))
    assert sum(x in space for x in everything) == space.size


@given(st.text("ACGT", min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_moves_are_distinct_and_within_two_edits(x: str, seed: int) -> None:
    space = Strings("ACGT", min_length=1, max_length=30)
    moves = space.moves(x, np.random.default_rng(seed))
    assert len(set(moves)) == len(moves)
    assert x not in moves
    assert all(OSA.distance(x, y) in (1, 2) for y in moves)


@given(st.text("ACGT", min_size=8, max_size=8))
def test_all_single_substitutions_are_there_when_they_are_few(x: str) -> None:
    moves = set(Strings("ACGT", length=8).moves(x, np.random.default_rng(0)))
    assert moves >= {x[:i] + c + x[i + 1 :] for i in range(8) for c in "ACGT"} - {x}


def test_substitutions_of_long_strings_are_drawn_without_bias() -> None:
    x = "A" * 100
    space = Strings("ACDEFGHIKLMNPQRSTVWY", length=100)
    rng = np.random.default_rng(0)
    counts: Counter[tuple[int, str]] = Counter()
    for _ in range(400):
        for y in space.moves(x, rng):
            changed = [(i, c) for i, c in enumerate(y) if c != "A"]
            counts.update(changed if len(changed) == 1 else [])
    seen = np.array([counts[i, c] for i in range(100) for c in "CDEFGHIKLMNPQRSTVWY"])
    chi2 = float(np.sum((seen - seen.mean()) ** 2) / seen.mean())
    assert chi2 < 1900 + 6 * np.sqrt(2 * 1900)


def test_lengths_go_up_as_often_as_down() -> None:
    space = Strings("ACDEFGHIKLMNPQRSTVWY", min_length=1, max_length=99)
    rng = np.random.default_rng(0)
    x = space.sample(1, rng)[0].ljust(50, "A")[:50]
    lengths = Counter(len(y) - len(x) for y in space.moves(x, rng))
    assert 0.5 <= lengths[1] / lengths[-1] <= 2.0


@given(st.text("AB", min_size=1, max_size=9), st.text("CD", min_size=1, max_size=9), st.integers(0, 99))
def test_a_crossover_takes_each_place_from_one_parent(x: str, other: str, seed: int) -> None:
    child = Strings("ABCD", min_length=1, max_length=9).crossover(x, other, np.random.default_rng(seed))
    assert len(child) == len(x)
    assert all(c == x[i] or c == other[i] for i, c in enumerate(child))


def test_every_length_is_sampled() -> None:
    lengths = Counter(map(len, Strings("AB", min_length=0, max_length=4).sample(1000, np.random.default_rng(0))))
    assert set(lengths) == set(range(5))
    assert min(lengths.values()) > 140


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("ACGX", "the letter 'X' at position 3, which is not in the alphabet 'ACGT'"),
        ("ACG", "has 3 letters, but strings of this space have 4"),
        ("", "has 0 letters"),
        (["A", "C", "G", "T"], "not a string"),
        (7, "not a string"),
        ("ACGTé", "'é'"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Strings("ACGT", length=4).fit(x)


def test_the_empty_string_needs_a_least_length_of_zero() -> None:
    assert "" not in Strings("AC", max_length=3)
    assert "" in Strings("AC", min_length=0, max_length=3)


@pytest.mark.parametrize(
    "options",
    [
        {"alphabet": "ACGT"},
        {"alphabet": "ACGT", "length": 3, "max_length": 4},
        {"alphabet": "ACGT", "min_length": 3},
        {"alphabet": "ACGT", "min_length": 5, "max_length": 4},
        {"alphabet": "ACGT", "length": 0},
        {"alphabet": "ACGT", "length": -1},
        {"alphabet": "", "length": 3},
        {"alphabet": "AAC", "length": 3},
        {"alphabet": ["Cl", "Br"], "length": 3},
        {"alphabet": [1, 2], "length": 3},
    ],
)
def test_spaces_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpaceError):
        Strings(**options)
