"""Categories: which values, and how numbers among them are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likewise.errors import SpaceError
from likewise.similarity.kinds.vectors import RBF
from likewise.spaces.categorical import Categorical


def test_moves_are_all_the_other_values_that_are_allowed() -> None:
    space = Categorical(["a", "b", "c", "d"], where=lambda x: x != "b")
    assert space.objects == ("a", "c", "d")
    assert space.moves("c", np.random.default_rng(0)) == ["a", "d"]


def test_many_values_give_a_sample_of_moves() -> None:
    moves = Categorical(range(5000)).moves(7, np.random.default_rng(0))
    assert len(set(moves)) == len(moves) < 200
    assert 7 not in moves


def test_values_are_known_by_what_they_are() -> None:
    space = Categorical([1, True, "1", None, 2.5])
    fitted = [space.fit(x) for x in (np.int64(1), 1.0, True, "1", None, np.float64(2.5))]
    assert [(type(x), x) for x in fitted] == [
        (int, 1),
        (int, 1),
        (bool, True),
        (str, "1"),
        (type(None), None),
        (float, 2.5),
    ]


@pytest.mark.parametrize("wrong", ["x", 3, [1], {"a": 1}, object(), float("nan")])
def test_other_values_are_refused_with_the_list(wrong: Any) -> None:
    with pytest.raises(SpaceError, match="not one of the values 'a', 'b'"):
        Categorical(["a", "b"]).fit(wrong)


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "at least one"), ("abc", "list"), (5, "list"), (["a", "a"], "'a' twice"), ([[1, 2]], "use a Pool")],
)
def test_lists_that_are_no_categories_are_refused(values: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Categorical(values)


def test_numbers_are_seen_in_their_range() -> None:
    viewed = Categorical([90, 105, 120]).view(RBF(1.0))
    assert viewed(90, 120) == pytest.approx(np.exp(-0.5))
    similarity = RBF(1.0)
    assert Categorical(["a", "b"]).view(similarity) is similarity
