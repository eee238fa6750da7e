"""Permutations: members, moves and order crossover."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from examples.similarities.footrule import Footrule
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.similarity.algebra import warped
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.permutations import Kendall, Mallows, Positions, Tours
from likewise.spaces.permutations import Permutations
from likewise.study.study import Study

orders = st.integers(1, 40).flatmap(lambda n: st.permutations(range(n))).map(tuple)


def test_members_are_the_permutations() -> None:
    space = Permutations(4)
    assert sum(x in space for x in product(range(4), repeat=4)) == space.size == 24
    assert set(space.sample(600, np.random.default_rng(0))) == set(permutations(range(4)))


@given(orders, st.integers(0, 99))
def test_moves_are_distinct_permutations(x: tuple[int, ...], seed: int) -> None:
    moves = Permutations(len(x)).moves(x, np.random.default_rng(seed))
    assert len(set(moves)) == len(moves) <= 200
    assert all(sorted(y) == sorted(x) and y != x for y in moves)
    assert bool(moves) == (len(x) > 1)


def edited(x: tuple[int, ...], step: str) -> set[tuple[int, ...]]:
    """All the orders one step away, step by step on a list."""
    found = set()
    for i, j in permutations(range(len(x)), 2):
        y = list(x)
        if step == "swap":
            y[i], y[j] = y[j], y[i]
        elif step == "insert":
            y.insert(j, y.pop(i))
        elif i < j:
            y[i : j + 1] = y[i : j + 1][::-1]
        found.add(tuple(y))
    return found - {x}


@settings(max_examples=20)
@given(st.permutations(range(12)), st.sampled_from(["swap", "insert", "reverse"]))
def test_all_moves_by_one_step_are_there_when_they_are_few(order: list[int], step: Any) -> None:
    x = tuple(order)
    assert set(Permutations(12, steps=(step,)).moves(x, np.random.default_rng(0))) == edited(x, step)


@settings(max_examples=20)
@given(st.permutations(range(30)), st.integers(0, 99))
def test_moves_are_of_every_kind_and_no_other(order: list[int], seed: int) -> None:
    x = tuple(order)
    moves = set(Permutations(30).moves(x, np.random.default_rng(seed)))
    kinds = {step: edited(x, step) for step in ("swap", "insert", "reverse")}
    assert moves <= set.union(*kinds.values())
    for step, reached in kinds.items():
        others = set.union(*(r for s, r in kinds.items() if s != step))
        assert moves & (reached - others)


@given(orders, st.integers(0, 99))
def test_a_crossover_of_an_order_with_itself_is_itself(x: tuple[int, ...], seed: int) -> None:
    assert Permutations(len(x)).crossover(x, x, np.random.default_rng(seed)) == x


@given(st.permutations(range(9)), st.permutations(range(9)), st.integers(0, 99))
def test_in_a_crossover_what_is_not_from_the_one_parent_has_the_order_of_the_other(
    first: list[int], second: list[int], seed: int
) -> None:
    x, other = tuple(first), tuple(second)
    child = Permutations(9).crossover(x, other, np.random.default_rng(seed))
    assert sorted(child) == list(range(9))
    rest = [v for i, v in enumerate(child) if v != x[i]]
    assert rest == [v for v in other if v in set(rest)]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ((0, 1), "has 2 entries, but permutations of this space have 3"),
        ((0, 1, 1), "has 1 more than once"),
        ((0, 1, 3), "has 3, which is not one of the items 0, 1, 2"),
        ((0, 1, None), "has None"),
        ("012", "not a sequence"),
        (5, "not a sequence"),
        ({0, 1, 2}, "not a sequence"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Permutations(3).fit(x)


def test_arrays_and_whole_floats_are_orders_of_whole_numbers() -> None:
    fitted = Permutations(3).fit(np.array([2.0, 0.0, 1.0]))
    assert fitted == (2, 0, 1)
    assert all(type(item) is int for item in fitted)


@pytest.mark.parametrize("n", [0, -2, [], ["a", "a"], [[1], [2]], 2.5])
def test_spaces_that_cannot_be_are_refused(n: Any) -> None:
    with pytest.raises(SpaceError):
        Permutations(n)


@pytest.mark.parametrize("steps", [(), "swap", ["jump"]])
def test_unknown_steps_are_refused(steps: Any) -> None:
    with pytest.raises(SpaceError, match="'swap', 'insert', 'reverse'"):
        Permutations(3, steps=steps)


@pytest.mark.parametrize(
    "similarity",
    [Tours(), Mallows(), Positions() * Kendall(), 0.5 * (Footrule() + Positions()), warped(Positions(), 2.0)],
)
def test_named_items_are_compared_as_their_numbers_are(similarity: Similarity) -> None:
    names = Permutations("dacb")
    numbers = Permutations(4)
    orders = numbers.sample(6, np.random.default_rng(0))
    named = [tuple(names.items[i] for i in order) for order in orders]
    seen = names.view(similarity)
    scores = [seen(a, b) for a in named for b in named]
    np.testing.assert_allclose(scores, [similarity(a, b) for a in orders for b in orders])


def test_a_study_of_named_items_takes_a_similarity_by_hand() -> None:
    stops = ["mill", "ford", "kirk", "wood"]
    study = Study(Permutations(stops), Tours(), seed=0, initial=2)
    for k in range(4):
        study.tell(study.ask()[0], float(k))
    assert sorted(study.best.object) == sorted(stops)
