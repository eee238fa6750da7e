"""Subsets: members, sizes, moves and crossover."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.spaces.subsets import Subsets

subsets = st.frozensets(st.integers(0, 19), min_size=2, max_size=8)


@given(st.integers(0, 4), st.integers(0, 4))
def test_size_is_how_many_subsets_are_members(low: int, more: int) -> None:
    items = "abcd"
    high = min(low + more, 4)
    space = Subsets(items, min_size=low, max_size=high)
    everything = chain.from_iterable(combinations(items, k) for k in range(5))
    members = {frozenset(x) for x in everything if x in space}
    assert len(members) == space.size
    assert set(space.sample(800, np.random.default_rng(0))) == members


@given(subsets, st.integers(0, 99))
def test_moves_change_one_item_and_keep_the_bounds(x: frozenset[int], seed: int) -> None:
    space = Subsets(range(20), min_size=2, max_size=8)
    moves = space.moves(x, np.random.default_rng(seed))
    assert len(set(moves)) == len(moves)
    assert all(2 <= len(y) <= 8 and len(x - y) <= 1 and len(y - x) <= 1 and y != x for y in moves)
    assert any(len(y) > len(x) for y in moves) == (len(x) < 8)
    assert any(len(y) < len(x) for y in moves) == (len(x) > 2)


@given(st.frozensets(st.integers(0, 5)))
def test_all_moves_are_there_when_they_are_few(x: frozenset[int]) -> None:
    moves = set(Subsets(range(6)).moves(x, np.random.default_rng(0)))
    flips = {x ^ {i} for i in range(6)}
    swaps = {x - {i} | {j} for i in x for j in range(6) if j not in x}
    assert moves == flips | swaps


@given(subsets, subsets, st.integers(0, 99))
def test_a_crossover_lies_between_its_parents(x: frozenset[int], other: frozenset[int], seed: int) -> None:
    child = Subsets(range(20), min_size=2, max_size=8).crossover(x, other, np.random.default_rng(seed))
    assert x & other <= child <= x | other
    assert min(len(x), len(other)) <= len(child) <= max(len(x), len(other))


def test_json_is_in_the_order_of_the_items() -> None:
    assert Subsets(["z", "a", 3]).to_json(frozenset([3, "z"])) == ["z", 3]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (["a", "x"], "'x', which is not one of the items 'a', 'b', 'c'"),
        (["a", "a"], "has 'a' more than once"),
        ([], "has 0 items, but subsets of this space have 1 to 2"),
        (["a", "b", "c"], "has 3 items"),
        ("ab", "not a set"),
        (None, "not a set"),
        ([["a"]], "which is not one of the items"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Subsets("abc", min_size=1, max_size=2).fit(x)


@pytest.mark.parametrize(
    "options",
    [
        {"items": []},
        {"items": 5},
        {"items": ["a", "a"]},
        {"items": [1, True]},
        {"items": [(1, 2)]},
        {"items": "abc", "min_size": 4},
        {"items": "abc", "min_size": 2, "max_size": 1},
        {"items": "abc", "max_size": 4},
        {"items": "abc", "min_size": -1},
    ],
)
def test_spaces_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpaceError):
        Subsets(**options)
