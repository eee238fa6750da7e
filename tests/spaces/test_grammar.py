"""Grammars: derivations within the depth, moves and crossovers in the language, errors that say where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.spaces.grammar import Grammar, places

# Unambiguous, so that the derivation that is parsed is the one that was grown.
PREFIX = {"S": ["+ S S", "f S", "x", "y"], "f": ["sin", "exp"]}


def depth(space: Grammar, x: str) -> int:
    return 1 + max(len(path) for path, _ in places(space.parsed(x)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_what_is_made_keeps_the_depth(limit: int, seed: int) -> None:
    space = Grammar(PREFIX, max_depth=limit)
    rng = np.random.default_rng(seed)
    x, other = space.sample(2, rng)
    made = [x, other, *space.moves(x, rng), space.crossover(x, other, rng)]
    assert all(depth(space, text) <= limit for text in made)


def test_every_short_text_is_sampled() -> None:
    assert set(Grammar(PREFIX, max_depth=2).sample(400, np.random.default_rng(0))) == {
        "x",
        "y",
        *(f"+ {a} {b}" for a in "xy" for b in "xy"),
        *(f"{f} {a}" for f in ("sin", "exp") for a in "xy"),
    }


def test_moves_exchange_operators_and_lift_parts() -> None:
    space = Grammar({"S": ["S + S", "S * S", "( S )", "x", "y"]})
    moves = space.moves("( x * y )", np.random.default_rng(0))
    assert {"( x + y )", "( y * y )", "x * y", "( x )", "( y )"} <= set(moves)


def test_moves_reach_the_whole_language_up_to_a_depth() -> None:
    space = Grammar(PREFIX, max_depth=3)
    rng = np.random.default_rng(0)
    everything = set(space.sample(30_000, rng))
    reached, frontier = {"x"}, ["x"]
    while frontier:
        frontier = [y for y in space.moves(frontier.pop(), rng) if y not in reached] + frontier
        reached.update(frontier)
    assert len(everything) > 100
    assert len(everything - reached) <= 0.01 * len(everything)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_crossover_of_a_text_with_itself_uses_its_own_terminals(seed: int) -> None:
    space = Grammar(PREFIX)
    rng = np.random.default_rng(seed)
    x, other = space.sample(2, rng)
    child = space.crossover(x, other, rng)
    assert set(child.split()) <= set(x.split()) | set(other.split())


def test_texts_without_separator_are_read_letter_by_letter() -> None:
    space = Grammar({"M": ["C M", "N M", "Cl", "C"]}, "M", separator="")
    assert "CNCCl" in space
    with pytest.raises(SpaceError, match=r"'CNX' .*'X' at position 2, where one of 'C', 'Cl', 'N' is expected"):
        space.fit("CNX")


def test_productions_may_be_lists_of_symbols() -> None:
    assert Grammar({"S": [["S", "and then", "S"], ["x"]]}, separator="|").fit("x|and then|x") == "x|and then|x"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("x +", r"the end at position 2, where one of '\(', 'x' is expected"),
        ("x + * x", r"'\*' at position 2"),
        ("z", "'z' at position 0"),
        ("x x", "'x' at position 1"),
        ("", "the end at position 0"),
        (3, "not a string"),
    ],
)
def test_what_does_not_fit_is_named(x: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Grammar({"S": ["S + S", "( S )", "x"]}).fit(x)


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        ({"S": ["S + S"]}, {}, "no derivation from 'S' ever ends"),
        ({"S": ["A", "x"], "A": ["A a"]}, {}, "no derivation from 'A' ever ends"),
        ({"S": ["x"]}, {"start": "T"}, "no rule for its start symbol 'T'"),
        ({"S": "x | y"}, {}, "list of productions"),
        ({"S": []}, {}, "list of productions"),
        ({"S": ["A"], "A": ["B"], "B": ["x"]}, {"max_depth": 2}, "depth 3, but max_depth is 2"),
        ({"S": [["a b"]]}, {}, "separator"),
    ],
)
def test_grammars_that_cannot_be_are_refused(rules: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Grammar(rules, **options)
