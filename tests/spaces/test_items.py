"""Items are found by what they are, and those that Python takes for one make no sets and no orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likewise.errors import SpaceError
from likewise.spaces.base import Items, different
from likewise.spaces.permutations import Permutations
from likewise.spaces.subsets import Subsets


def test_items_are_found_by_their_json_form() -> None:
    items = Items("values", [1, True, "1", None, np.float64(2.5)])
    assert [items.rank(x) for x in (np.int64(1), 1.0, True, "1", None, 2.5)] == [0, 0, 1, 2, 3, 4]
    assert [items.rank(x) for x in ([1], object(), float("nan"), "x")] == [None] * 4


@pytest.mark.parametrize("given", [[], {"a": 1}, 5, ["a", "a"], [1, 1.0], [[1, 2]], [float("nan")]])
def test_lists_that_are_no_items_are_refused(given: Any) -> None:
    with pytest.raises(SpaceError, match="the things"):
        Items("things", given)


@pytest.mark.parametrize("make", [Subsets, Permutations, lambda items: different("items", items)])
def test_items_that_are_equal_to_python_make_no_sets_and_no_orders(make: Any) -> None:
    with pytest.raises(SpaceError, match="not all different"):
        make([1, True, "a"])
