"""Orders of some items: tours, schedules, assignments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.algebra import COMBINATIONS
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.permutations import Numbered
from likewise.spaces.base import Generator, Items, Space, checked_where, child, different, neighbours
from likewise.spaces.codec import listed_text, read_items
from likewise.tables.cells import Decimal

ALL = 120
SOME = 64
OTHERS = 24

Permutation = tuple[Any, ...]
Step = Literal["swap", "insert", "reverse"]
STEPS: tuple[Step, ...] = ("swap", "insert", "reverse")


@dataclass(frozen=True)
class Permutations(Space):
    """Orders of items, as tuples.

    - `n`: how many items, which are then 0, …, n−1, or a list of them: strings or numbers.
    - `steps`: what a move does. A "swap" changes two places of an assignment, an "insert" keeps the order of all the
      others, a "reverse" changes two links of a tour. By default all three.
    - `where`: a function that says whether an order is allowed; by default all are.

    >>> import numpy as np
    >>> tours = Permutations(4)
    >>> tours.size, [2, 0, 3, 1] in tours, (0, 0, 1, 2) in tours
    (24, True, False)
    >>> Permutations(["a", "b"]).moves(("a", "b"), np.random.default_rng(0))
    [('b', 'a')]
    """

    kind = "permutations"
    short = "permutations:12"
    n: int | Sequence[Any]
    _: KW_ONLY
    steps: Sequence[Step] = STEPS
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if self.n < 1 if isinstance(self.n, int | np.integer) else not isinstance(self.n, Iterable):
            raise SpaceError(f"Permutations needs a number of items of at least 1, or the list of them, not {self.n!r}")
        self._items  # noqa: B018
        if isinstance(self.steps, str) or not len(self.steps) or not set(self.steps) <= set(STEPS):
            raise SpaceError(f"the steps of Permutations are some of {', '.join(map(repr, STEPS))}, not {self.steps!r}")

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """What is put in order."""
        return self._items.listed

    @cached_property
    def _items(self) -> Items:
        return different("items", range(self.n) if isinstance(self.n, int | np.integer) else tuple(self.n))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """How many items, or which: `12`, or `a,b,c`."""
        return cls(int(text) if text.strip().isdigit() else listed_text(text))

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], build: Callable[[Any, str], Space]) -> Self:
        """As others, but that a list of items may be called `items`."""
        return super().from_arguments({"n" if name == "items" else name: v for name, v in arguments.items()}, build)

    @property
    def size(self) -> int:
        """How many permutations there are, before `where` is asked."""
        return math.factorial(len(self.items))

    def _draw(self, n: int, rng: Generator) -> list[Permutation]:
        return [tuple([self.items[i] for i in rng.permutation(len(self.items))]) for _ in range(n)]

    def _fit(self, x: Any) -> Permutation:
        if isinstance(x, str | bytes | dict | set | frozenset) or not hasattr(x, "__len__"):
            raise SpaceError(f"{x!r} is not a sequence of items, as a permutation is")
        if len(x) != len(self.items):
            raise SpaceError(f"{x!r} has {len(x)} entries, but permutations of this space have {len(self.items)}")
        return tuple(self._items.pick(x))

    def moves(self, x: Permutation, rng: Generator) -> list[Permutation]:
        """Permutations one swap, one insertion or one reversal away; all those of the first step when they are few."""
        n = len(x)
        if n < 2:
            return []
        near: list[Permutation] = []
        for step in self.steps:
            if step == self.steps[0]:
                pairs = list(combinations(range(n), 2)) if n * (n - 1) // 2 <= ALL else _pairs(n, SOME, rng)
            else:
                pairs = _pairs(n, OTHERS, rng)
            near += [y for i, j in pairs for y in _STEPPED[step](x, i, j)]
        return neighbours(self, x, near)

    def crossover(self, x: Permutation, other: Permutation, rng: Generator) -> Permutation:
        """Order crossover: a segment of x in its place, the rest in the order of the other."""

        def mixed() -> Permutation:
            start, end = sorted(rng.integers(len(x) + 1, size=2).tolist())
            kept = set(x[start:end])
            rest = [item for item in other if item not in kept]
            return (*rest[:start], *x[start:end], *rest[start:])

        return child(self, mixed, x)

    def from_cell(self, text: str, decimal: Decimal | None) -> list[Any]:
        return read_items(text, self.items)

    def _describe(self) -> dict[str, Any]:
        return {"space": "Permutations", "items": list(self.items)}

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of permutations see named items by their numbers."""
        if self.items == tuple(range(len(self.items))):
            return similarity
        if isinstance(similarity, COMBINATIONS):
            return similarity.rebuilt([self.view(part) for part in similarity.parts])
        return Numbered(similarity, self.items) if similarity.kind == "permutations" else similarity


def _pairs(n: int, count: int, rng: Generator) -> list[tuple[int, int]]:
    """Random pairs i < j of positions."""
    first, second = rng.integers(n, size=count), rng.integers(n - 1, size=count)
    second += second >= first
    return [(min(i, j), max(i, j)) for i, j in zip(first.tolist(), second.tolist(), strict=True)]


def _swapped(x: Permutation, i: int, j: int) -> list[Permutation]:
    return [(*x[:i], x[j], *x[i + 1 : j], x[i], *x[j + 1 :])]


def _inserted(x: Permutation, i: int, j: int) -> list[Permutation]:
    """The entry at i moved to j, and the one at j moved to i."""
    return [(*x[:i], *x[i + 1 : j + 1], x[i], *x[j + 1 :]), (*x[:i], x[j], *x[i:j], *x[j + 1 :])]


def _reversed(x: Permutation, i: int, j: int) -> list[Permutation]:
    return [x[:i] + x[i : j + 1][::-1] + x[j + 1 :]]


_STEPPED: dict[Step, Callable[[Permutation, int, int], list[Permutation]]] = {
    "swap": _swapped,
    "insert": _inserted,
    "reverse": _reversed,
}
