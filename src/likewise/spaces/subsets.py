"""Subsets of some items: features, ingredients, portfolios."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

from likewise.errors import SpaceError
from likewise.spaces.base import (
    MOVES,
    Edits,
    Generator,
    Items,
    Space,
    checked_where,
    checked_whole,
    child,
    different,
    edits,
    higher,
    lower,
    more,
    neighbours,
)
from likewise.spaces.codec import listed_text, read_items
from likewise.tables.cells import Decimal

Subset = frozenset[Any]


@dataclass(frozen=True)
class Subsets(Space):
    """Choices out of items, as frozensets.

    - `items`: a list of different strings or numbers.
    - `min_size`, `max_size`: how many items a subset has at least, by default none, and at most, by default all.
    - `where`: a function that says whether a subset is allowed; by default all are.

    Every size is sampled as often as every other. Moves add an item, remove one, or swap one for another.

    >>> import numpy as np
    >>> features = Subsets(["a", "b", "c"], min_size=1)
    >>> features.size, ["a", "c"] in features, [] in features
    (7, True, False)
    >>> features.to_json(frozenset("ca"))
    ['a', 'c']
    """

    kind = "sets"
    short = "subsets:a,b,c"
    grows = MappingProxyType({"items": more, "min_size": lower, "max_size": higher})
    described_by = MappingProxyType({"items": "_listed", "max_size": "largest"})
    items: Sequence[Any]
    _: KW_ONLY
    min_size: int = 0
    max_size: int | None = None
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        for name in ("min_size", "max_size"):
            checked_whole(f"the {name} of Subsets", getattr(self, name))
        if not 0 <= self.min_size <= self.largest <= len(self._listed):
            raise SpaceError(
                f"no subset of {len(self._listed)} items has between {self.min_size} and {self.largest} of them; "
                "give other sizes"
            )

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(listed_text(text))

    @cached_property
    def _items(self) -> Items:
        return different("items", self.items)

    @property
    def _listed(self) -> tuple[Any, ...]:
        return self._items.listed

    @property
    def largest(self) -> int:
        return len(self._listed) if self.max_size is None else self.max_size

    @property
    def size(self) -> int:
        """How many subsets there are, before `where` is asked."""
        return sum(math.comb(len(self._listed), size) for size in range(self.min_size, self.largest + 1))

    def _draw(self, n: int, rng: Generator) -> list[Subset]:
        sizes = rng.integers(self.min_size, self.largest + 1, size=n)
        total, listed = len(self._listed), self._listed
        return [frozenset([listed[i] for i in rng.choice(total, size=size, replace=False)]) for size in sizes]

    def _fit(self, x: Any) -> Subset:
        if isinstance(x, str | bytes | dict) or not hasattr(x, "__len__"):
            raise SpaceError(f"{x!r} is not a set of items")
        found = self._items.pick(x)
        if not self.min_size <= len(found) <= self.largest:
            raise SpaceError(
                f"{x!r} has {len(found)} items, but subsets of this space have {self.min_size} to {self.largest}"
            )
        return frozenset(found)

    def moves(self, x: Subset, rng: Generator) -> list[Subset]:
        """Subsets with one item more, one less, or one exchanged; all of them when they are few."""
        inside, outside = self._split(x)
        kinds: list[Edits] = [
            (len(inside) * len(outside), lambda i: x - {inside[i % len(inside)]} | {outside[i // len(inside)]}),
            (len(outside) if len(x) < self.largest else 0, lambda i: x | {outside[i]}),
            (len(inside) if len(x) > self.min_size else 0, lambda i: x - {inside[i]}),
        ]
        return neighbours(self, x, edits(kinds, MOVES, rng))

    def _split(self, x: Subset) -> tuple[list[Any], list[Any]]:
        return [item for item in self._listed if item in x], [item for item in self._listed if item not in x]

    def crossover(self, x: Subset, other: Subset, rng: Generator) -> Subset:
        """What both have, and of what only one has some; the size is one between the two sizes."""
        differing = [item for item in self._listed if (item in x) != (item in other)]

        def mixed() -> Subset:
            low, high = sorted((len(x), len(other)))
            taken = int(rng.integers(low, high + 1)) - len(x & other)
            return (x & other) | {differing[i] for i in rng.choice(len(differing), size=taken, replace=False)}

        return child(self, mixed, x)

    def to_json(self, x: Subset) -> list[Any]:
        return self._split(x)[0]

    def from_cell(self, text: str, decimal: Decimal | None) -> list[Any]:
        return read_items(text, self._listed)
