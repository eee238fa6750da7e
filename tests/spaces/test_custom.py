"""Custom spaces have the abilities whose functions are given, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from likewise.errors import SpaceError
from likewise.spaces.base import Continuous, Crossover, Enumerable, Moves
from likewise.spaces.custom import Custom
from likewise.testing.spaces import check_space


def digit(rng: np.random.Generator) -> int:
    return int(rng.integers(10))


def near(x: int, rng: np.random.Generator) -> list[int]:
    return [x - 1, x + 1]


def mean(x: int, other: int, rng: np.random.Generator) -> int:
    return (x + other) // 2


@pytest.mark.parametrize("moves", [None, near])
@pytest.mark.parametrize("crossover", [None, mean])
def test_a_space_can_do_what_it_has_functions_for(moves: Any, crossover: Any) -> None:
    space = Custom(digit, moves=moves, crossover=crossover)
    assert isinstance(space, Custom)
    assert isinstance(space, Moves) == (moves is not None)
    assert isinstance(space, Crossover) == (crossover is not None)
    assert not isinstance(space, Continuous | Enumerable)


def test_moves_that_leave_the_space_are_left_out() -> None:
    space = Custom(digit, moves=near, contains=lambda x: 0 <= x < 10, where=lambda x: x != 4)
    rng = np.random.default_rng(0)
    assert isinstance(space, Moves)
    assert [space.moves(x, rng) for x in (0, 3, 9)] == [[1], [2], [8]]


def test_a_crossover_that_leaves_the_space_gives_the_parent() -> None:
    space = Custom(digit, crossover=lambda x, other, rng: 99, contains=lambda x: x < 10)
    assert isinstance(space, Crossover)
    assert space.crossover(3, 5, np.random.default_rng(0)) == 3


def test_what_does_not_fit_is_named() -> None:
    space = Custom(digit, contains=lambda x: 0 <= x < 10)
    with pytest.raises(SpaceError, match="12 is not in the custom space"):
        space.fit(12)
    with pytest.raises(SpaceError, match=r"contains\('a'\) .* raised TypeError"):
        space.fit("a")


@dataclass(frozen=True)
class Point:
    x: int
    y: int


def point(rng: np.random.Generator) -> Point:
    return Point(digit(rng), digit(rng))


def test_objects_of_ones_own_need_functions_to_json_and_back() -> None:
    with pytest.raises(SpaceError, match="to_json and from_json"):
        Custom(point).to_json(Point(1, 2))
    check_space(Custom(point, to_json=lambda p: [p.x, p.y], from_json=lambda data: Point(*data)))


def test_nested_tuples_and_arrays_are_stored_as_they_are() -> None:
    check_space(Custom(lambda rng: ((digit(rng), "a"), {"v": rng.normal(size=3)}, frozenset([digit(rng)]))))


@pytest.mark.parametrize(
    "functions", [{"sample": 5}, {"sample": None}, {"sample": digit, "moves": 3}, {"sample": digit, "to_json": list}]
)
def test_functions_that_are_none_are_refused(functions: dict[str, Any]) -> None:
    with pytest.raises(SpaceError, match="Custom needs"):
        Custom(**functions)
