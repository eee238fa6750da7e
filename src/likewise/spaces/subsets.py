"""Subsets of some items: features, ingredients, portfolios."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

from likewise.errors import SpaceError
from likewise.spaces.base import Generator, Space, checked_where, checked_whole
from likewise.spaces.codec.codec import identity, plain, scalar
from likewise.spaces.drawing import MOVES, child, neighbours, shares, some

Subset = frozenset[Any]


@dataclass(frozen=True)
class Subsets(Space):
    """Subsets of some items, strings or numbers, as frozensets, with bounds on their size.

    Every size is sampled as often as every other. Moves add an item, remove one, or swap one for another.

    >>> import numpy as np
    >>> features = Subsets(["a", "b", "c"], min_size=1)
    >>> features.size, ["a", "c"] in features, [] in features
    (7, True, False)
    >>> features.to_json(frozenset("ca"))
    ['a', 'c']
    """

    items: Sequence[Any]
    _: KW_ONLY
    min_size: int = 0
    max_size: int | None = None
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        for name in ("min_size", "max_size"):
            checked_whole(f"the {name} of Subsets", getattr(self, name))
        if isinstance(self.items, dict) or not hasattr(self.items, "__len__") or not len(self.items):
            raise SpaceError(f"Subsets needs a list of at least one item, not {self.items!r}")
        if len(set(self._listed)) < len(self._listed):
            raise SpaceError(f"Subsets needs items that differ: {list(self.items)!r}")
        if not 0 <= self.min_size <= self.largest <= len(self.items):
            raise SpaceError(
                f"no subset of {len(self.items)} items has between {self.min_size} and {self.largest} of them; "
                "give other sizes"
            )

    @cached_property
    def _listed(self) -> tuple[Any, ...]:
        return tuple(map(_item, self.items))

    @cached_property
    def _ranks(self) -> dict[Hashable, int]:
        return {identity(item): rank for rank, item in enumerate(self._listed)}

    @property
    def largest(self) -> int:
        return len(self.items) if self.max_size is None else self.max_size

    @property
    def size(self) -> int:
        """How many subsets there are, before `where` is asked."""
        return sum(math.comb(len(self.items), size) for size in range(self.min_size, self.largest + 1))

    def _draw(self, n: int, rng: Generator) -> list[Subset]:
        sizes = rng.integers(self.min_size, self.largest + 1, size=n)
        total, listed = len(self._listed), self._listed
        return [frozenset([listed[i] for i in rng.choice(total, size=size, replace=False)]) for size in sizes]

    def _fit(self, x: Any) -> Subset:
        if isinstance(x, str | bytes | dict) or not hasattr(x, "__len__"):
            raise SpaceError(f"{x!r} is not a set of items")
        ranks = [self._rank(item, x) for item in x]
        if len(set(ranks)) < len(ranks):
            repeated = next(self._listed[r] for i, r in enumerate(ranks) if r in ranks[:i])
            raise SpaceError(f"{x!r} has {repeated!r} more than once, but a subset has each item at most once")
        if not self.min_size <= len(ranks) <= self.largest:
            raise SpaceError(
                f"{x!r} has {len(ranks)} items, but subsets of this space have {self.min_size} to {self.largest}"
            )
        return frozenset([self._listed[r] for r in ranks])

    def _rank(self, item: Any, x: Any) -> int:
        try:
            return self._ranks[identity(plain(item))]
        except (KeyError, TypeError):
            raise SpaceError(
                f"{x!r} has {item!r}, which is not one of the items {', '.join(map(repr, self._listed))}"
            ) from None

    def moves(self, x: Subset, rng: Generator) -> list[Subset]:
        """Subsets with one item more, one less, or one exchanged; all of them when they are few."""
        inside, outside = self._split(x)
        counts = [
            len(inside) * len(outside),
            len(outside) if len(x) < self.largest else 0,
            len(inside) if len(x) > self.min_size else 0,
        ]
        exchanged, added, removed = (
            some(count, limit, rng) for count, limit in zip(counts, shares(counts, MOVES), strict=True)
        )
        return neighbours(
            self,
            x,
            [
                *(x | {outside[i]} for i in added),
                *(x - {inside[i]} for i in removed),
                *(x - {inside[i % len(inside)]} | {outside[i // len(inside)]} for i in exchanged),
            ],
        )

    def _split(self, x: Subset) -> tuple[list[Any], list[Any]]:
        return [item for item in self._listed if item in x], [item for item in self._listed if item not in x]

    def crossover(self, x: Subset, other: Subset, rng: Generator) -> Subset:
        """What both have, and of what only one has some; the size is one between the two sizes."""
        differing = [item for item in self._listed if (item in x) != (item in other)]

        def mixed() -> Subset:
            low, high = sorted((len(x), len(other)))
            taken = int(rng.integers(low, high + 1)) - len(x & other)
            return (x & other) | {differing[i] for i in rng.choice(len(differing), size=taken, replace=False)}

        made: Subset = child(self, mixed, x)
        return made

    def to_json(self, x: Subset) -> list[Any]:
        return self._split(x)[0]

    def from_json(self, data: Any) -> Subset:
        return self._fit(data)

    def describe(self) -> dict[str, Any]:
        return {
            "space": "Subsets",
            "items": list(self._listed),
            "min_size": self.min_size,
            "max_size": self.largest,
        }


def _item(item: Any) -> Any:
    try:
        return scalar(item)
    except TypeError:
        raise SpaceError(
            f"items of a subset are strings or numbers, not {item!r}; use their names or positions instead"
        ) from None
