"""Every space, with and without `where`, obeys the laws of `likewise.testing.spaces`, which catch one that does not."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from likewise.errors import SpaceError
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.custom import Custom
from likewise.spaces.distributions import Gaussians
from likewise.spaces.grammar import Grammar
from likewise.spaces.graphs import Graphs
from likewise.spaces.molecules import Molecules
from likewise.spaces.numbers import Box, Float, Int
from likewise.spaces.permutations import Permutations
from likewise.spaces.pool import Pool
from likewise.spaces.record import OneOf, Record
from likewise.spaces.simplex import Simplex
from likewise.spaces.strings import Mutants, Strings
from likewise.spaces.subsets import Subsets
from likewise.testing.spaces import check_space

FORMULAS = {"S": ["S + T", "T"], "T": ["T * F", "F"], "F": ["( S )", "x", "1"]}


def even(rng: Generator) -> int:
    return 2 * int(rng.integers(100))


def pair(rng: Generator) -> tuple[int, int]:
    first, second = rng.integers(10, size=2).tolist()
    return first, second


def tied(where: Any, condition: str, **parts: Any) -> Record:
    made = Record(condition, **parts)
    return made if where is None else made.bound({}, where)


SPACES: dict[str, Callable[[Any], Space]] = {
    "pool of strings": lambda where: Pool([f"s{i}" for i in range(60)], where=where),
    "pool of vectors": lambda where: Pool(np.arange(60.0).reshape(20, 3), where=where),
    "pool of records": lambda where: Pool([{"a": i, "b": [i, "x"]} for i in range(30)], where=where),
    "pool with functions to JSON": lambda where: Pool(
        [Fraction(1, i) for i in range(1, 30)], where=where, to_json=str, from_json=Fraction
    ),
    "categorical": lambda where: Categorical(["a", "b", 1, 2.5, True, None, "c", "d"], where=where),
    "strings": lambda where: Strings("ACGT", length=6, where=where),
    "strings of one letter": lambda where: Strings("A", min_length=0, max_length=9, where=where),
    "long strings": lambda where: Strings("ACDEFGHIKLMNPQRSTVWY", min_length=20, max_length=60, where=where),
    "formulas": lambda where: Grammar(FORMULAS, max_depth=9, where=where),
    "lists with empty parts": lambda where: Grammar(
        {"L": ["a L", "O L O", ""], "O": ["", "b"]}, "L", separator="", where=where
    ),
    "permutations": lambda where: Permutations(7, where=where),
    "many permutations": lambda where: Permutations(30, where=where),
    "permutations of items": lambda where: Permutations(["x", "y", 3, 4.5], where=where),
    "subsets": lambda where: Subsets(range(12), where=where),
    "subsets of one size": lambda where: Subsets("abcdefgh", min_size=3, max_size=3, where=where),
    "graphs": lambda where: Graphs((1, 6), where=where),
    "labelled graphs": lambda where: Graphs((2, 5), ["C", "N", "O"], [1, 2], connected=True, where=where),
    "directed graphs": lambda where: Graphs((2, 5), directed=True, connected=True, where=where),
    "molecules": lambda where: Molecules(["CCO", "c1ccccc1N", "CC(=O)O"], where=where),
    "record": lambda where: Record(where, s=["a", "b", "c"], t=Strings("AC", length=4), p=Permutations(4)),
    "record with vectors": lambda where: Record(
        where, s=["a", "b"], x=Box([0, 1], [1, 100], log=[1]), mix=Simplex(3), n=Box(1, 9, integer=[0])
    ),
    "nested records": lambda where: Record(
        where, g=Gaussians((-1, 1), (0.1, 2.0), 2), inner=Record(b=Box(0, 5), kind=["u", "v"])
    ),
    "one of": lambda where: OneOf(
        where,
        svm=Record(C=Box(0.1, 10, log=[0]), kernel=["a", "b"]),
        at=Box([0, 0], [1, 1]),
        p=Permutations(4),
        none=None,
    ),
    "record of branches": lambda where: Record(
        where, a=["x", "y"], model=OneOf(u=Record(n=Box(1, 9, integer=[0]), t=Strings("AC", length=3)), v=Simplex(3))
    ),
    "branches of branches": lambda where: OneOf(where, u=OneOf(x=Box(0, 1), y=["a", "b"]), v=Record(z=Box(0, 3))),
    "custom": lambda where: Custom(even, where=where),
    "custom with all": lambda where: Custom(
        pair,
        moves=lambda x, rng: [(x[0] + 1, x[1]), (x[0], x[1] - 1)],
        contains=lambda x: min(x) >= 0 and max(x) < 10,
        crossover=lambda x, other, rng: (x[0], other[1]),
        where=where,
    ),
    "box": lambda where: Box([0.0, 1e-3, 1], [1.0, 1.0, 9], log=[1], integer=[2], where=where),
    "box in steps": lambda where: Box([0, 1, -3.3], [1, 9, 2.7], step=[0.1, None, 0.3], log=[1], where=where),
    "float": lambda where: Float(0.5, 20.0, log=True, where=where),
    "float in steps": lambda where: Float(20, 120, step=0.5, where=where),
    "int": lambda where: Int(1, 500, log=True, where=where),
    "record of numbers": lambda where: Record(
        where, t=Float(20, 120, step=2), c=Float(1e-3, 1, log=True), n=Int(1, 9), s=["a", "b"]
    ),
    "simplex": lambda where: Simplex(4, total=100.0, where=where),
    "simplex of few": lambda where: Simplex(6, most=3, where=where),
    "tied numbers": lambda where: tied(
        where, "x + y + z = 1 and x >= 2*y", x=Float(0, 1), y=Float(0, 0.3), z=Float(0.1, 1), s=["a", "b"]
    ),
    "tied steps": lambda where: tied(
        where, "x + y + z = 100", x=Float(0, 100, step=5), y=Float(0, 100, step=5), z=Float(0, 100, step=2.5)
    ),
    "mutants": lambda where: Mutants("MKTAYIAKQR", 2, where=where),
    "mutants in places": lambda where: Mutants("ACGTACGT", 3, alphabet="ACGT-", positions=[1, 2, 5], where=where),
    "recipes": lambda where: Simplex(
        names=["water", "glycerol", "dye", "salt"],
        lower={"water": 50},
        upper={"dye": 5},
        most=3,
        total=100,
        where=where,
    ),
    "tight recipes": lambda where: Simplex(6, upper=0.4, most=3, where=where),
    "record of recipes": lambda where: Record(where, mix=Simplex(names=["v", "u", "w"], most=2), t=Float(0, 1)),
    "gaussians": lambda where: Gaussians((-3.0, 3.0), (0.01, 4.0), 2, where=where),
}


@pytest.mark.parametrize("name", SPACES)
def test_space_obeys_the_laws(name: str) -> None:
    check_space(SPACES[name](None))


@pytest.mark.parametrize("name", SPACES)
def test_space_obeys_the_laws_under_a_predicate(name: str) -> None:
    whole = SPACES[name](None)

    def odd(x: Any) -> bool:
        return crc32(whole.key(x).encode()) % 2 == 1

    space = SPACES[name](odd)
    check_space(space)
    rejected = [x for x in whole.sample(200, np.random.default_rng(3)) if not odd(x)]
    assert rejected
    for x in rejected:
        with pytest.raises(SpaceError, match="where"):
            space.fit(x)


@pytest.mark.parametrize("name", SPACES)
def test_a_predicate_that_nothing_satisfies_is_said_in_bounded_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.spaces.base.TRIES", 500)
    space = SPACES[name](lambda x: False)
    with pytest.raises(SpaceError, match="where"):
        space.sample(1, np.random.default_rng(0))


@pytest.mark.parametrize("name", SPACES)
def test_spaces_that_differ_describe_themselves_differently(name: str) -> None:
    mine = SPACES[name](None).describe()
    alike = [other for other in SPACES if SPACES[other](None).describe() == mine]
    assert [a for a in alike if not a.startswith("custom")] == ([] if name.startswith("custom") else [name])


@pytest.mark.parametrize("name", [name for name in SPACES if not name.startswith("custom with")])
def test_spaces_go_to_other_processes(name: str) -> None:
    space = SPACES[name](None)
    check_space(space, n=4)
    assert pickle.loads(pickle.dumps(space)).describe() == space.describe()


def test_enumerable_spaces_are_these() -> None:
    listed = {name for name in SPACES if isinstance(SPACES[name](None), Enumerable)}
    assert listed == {name for name in SPACES if name.startswith("pool")} | {"categorical"}


def test_objects_that_hardly_ever_satisfy_the_predicate_are_repeated_rather_than_awaited() -> None:
    drawn = iter(["rare"])
    space = Custom(lambda rng: next(drawn, "common"), where=lambda x: x == "rare")
    assert space.sample(3, np.random.default_rng(0)) == ["rare"] * 3


class Broken(Space):
    """The numbers 0 to 9, with one law broken at a time."""

    where = None

    def __init__(self, law: str) -> None:
        self.law = law

    def _draw(self, n: int, rng: Generator) -> list[int]:
        if self.law == "seed":
            rng = np.random.default_rng()
        return [12] * n if self.law == "member" else rng.integers(10, size=n).tolist()

    def _fit(self, x: Any) -> Any:
        if not isinstance(x, int) or not 0 <= x < 10:
            raise SpaceError(f"{x!r} is not a digit")
        return x if self.law != "canonical" else (x + 1) % 10

    def to_json(self, x: Any) -> Any:
        return {x} if self.law == "json" else str(x) if self.law == "round trip" else x

    def from_json(self, data: Any) -> Any:
        return data

    def from_cell(self, text: str, decimal: Any) -> Any:
        return {"cell": 3, "no cell": text}.get(self.law, int(text))

    def _describe(self) -> dict[str, Any]:
        return {"space": "digits", "id": id(self) if self.law == "describe" else 0}

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        return {"move out": [x + 10], "stay": [x]}.get(self.law, [(x + 1) % 10])

    def crossover(self, x: Any, other: Any, rng: Generator) -> Any:
        return -1 if self.law == "mix" else x


def test_the_suite_passes_the_digits_when_no_law_is_broken() -> None:
    check_space(Broken("none"))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("seed", "one seed"),
        ("member", "not in the space"),
        ("canonical", "canonical"),
        ("json", "JSON data"),
        ("round trip", "come back"),
        ("cell", "from its cell"),
        ("no cell", "from_cell refuses"),
        ("describe", "copy"),
        ("move out", "a move from"),
        ("stay", "back to it"),
        ("mix", "the crossover of"),
    ],
)
def test_the_suite_catches_a_broken_law(law: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_space(Broken(law))


@pytest.mark.parametrize(
    "make",
    [
        lambda where: Box(0, 1, where=where),
        lambda where: Categorical([1, 2], where=where),
        lambda where: Custom(even, where=where),
        lambda where: Gaussians((0, 1), (1, 2), where=where),
        lambda where: Grammar(FORMULAS, where=where),
        lambda where: Graphs(2, where=where),
        lambda where: Molecules(["C"], where=where),
        lambda where: OneOf(where, a=[1, 2]),
        lambda where: Permutations(3, where=where),
        lambda where: Pool([1, 2], where=where),
        lambda where: Record(where, a=[1, 2]),
        lambda where: Simplex(3, where=where),
        lambda where: Strings("AC", 2, where=where),
        lambda where: Subsets([1, 2], where=where),
    ],
)
def test_where_is_a_function(make: Callable[[Any], Space]) -> None:
    with pytest.raises(SpaceError, match="predicate"):
        make(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Gaussians((0, 1), (1, 2), n),
        lambda n: Grammar(FORMULAS, max_depth=n),
        lambda n: Graphs(n),
        lambda n: Graphs((1, n)),
        lambda n: Molecules(["C"], max_tokens=n),
        lambda n: Simplex(n),
        lambda n: Strings("AC", n),
        lambda n: Strings("AC", max_length=n),
        lambda n: Subsets("abc", max_size=n),
    ],
)
@pytest.mark.parametrize("wrong", [2.5, "2", True])
def test_sizes_are_whole_numbers(make: Callable[[Any], Space], wrong: Any) -> None:
    with pytest.raises(SpaceError, match="whole number"):
        make(wrong)
