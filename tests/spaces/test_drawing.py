"""Fair choices among many edits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.spaces.base import child, neighbours, shares, some
from likewise.spaces.strings import Strings


@given(st.lists(st.integers(0, 300), min_size=1, max_size=5), st.integers(1, 200))
def test_shares_use_up_the_limit_and_no_more_than_there_is(counts: list[int], limit: int) -> None:
    given_shares = shares(counts, limit)
    assert sum(given_shares) == min(limit, sum(counts))
    assert all(0 <= share <= count for share, count in zip(given_shares, counts, strict=True))
    even = limit // 2 // max(sum(c > 0 for c in counts[1:]), 1)
    assert all(share >= min(count, even) for share, count in zip(given_shares[1:], counts[1:], strict=True))


@given(st.integers(0, 10**12), st.integers(0, 50), st.integers(0, 99))
def test_some_are_distinct_numbers_below_the_total(total: int, limit: int, seed: int) -> None:
    chosen = some(total, limit, np.random.default_rng(seed))
    assert len(set(chosen)) == len(chosen) == min(total, limit)
    assert all(0 <= i < total for i in chosen)


def test_neighbours_are_other_allowed_objects_once_each() -> None:
    space = Strings("ab", length=1, where=lambda x: x != "b")
    assert neighbours(space, "c", ["a", "b", "a", "c", "d"]) == ["a", "d"]


def test_a_child_is_allowed_or_the_parent() -> None:
    space = Strings("ab", length=1, where=lambda x: x != "b")
    tries = iter(["b", "b", "a"])
    assert child(space, lambda: next(tries), "parent") == "a"
    assert child(space, lambda: "b", "parent") == "parent"
