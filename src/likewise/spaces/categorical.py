"""One of a few values: a solvent, a temperature setting, on or off."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

from likewise.errors import SpaceError
from likewise.similarity.base import Similarity
from likewise.spaces.base import Generator, Space, checked_where
from likewise.spaces.codec.codec import identity, plain, scalar
from likewise.spaces.drawing import MOVES, some
from likewise.spaces.pools.ranges import rescaled, span


@dataclass(frozen=True)
class Categorical(Space):
    """One of some values: strings, numbers, truth values or None. Any value is a move from any other.

    Vector similarities see numeric values rescaled to their range.

    >>> import numpy as np
    >>> solvent = Categorical(["water", "DMF", "toluene"])
    >>> solvent.moves("DMF", np.random.default_rng(0))
    ['water', 'toluene']
    """

    values: Sequence[Any]
    _: KW_ONLY
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if isinstance(self.values, str) or not hasattr(self.values, "__len__") or not len(self.values):
            raise SpaceError(f"Categorical needs a list of at least one value, not {self.values!r}")
        if len(self._positions) < len(self.values):
            repeated = next(v for i, v in enumerate(self.values) if self._positions[_identity(v)] != i)
            raise SpaceError(f"Categorical has the value {repeated!r} twice; give each value once")

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        positions: dict[Hashable, int] = {}
        for position, value in enumerate(self.values):
            positions.setdefault(_identity(value), position)
        return positions

    @cached_property
    def objects(self) -> tuple[Any, ...]:
        """The values that satisfy `where`."""
        values = [plain(value) for value in self.values]
        return tuple(v for v, allowed in zip(values, self.allowed(values), strict=True) if allowed)

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        if n and not self.objects:
            raise SpaceError(f"none of the values {list(self.values)!r} satisfies `where`; loosen the predicate")
        return [self.objects[i] for i in rng.integers(len(self.objects), size=n)] if n else []

    def _fit(self, x: Any) -> Any:
        try:
            return plain(self.values[self._positions[_identity(x)]])
        except (KeyError, SpaceError):
            raise SpaceError(f"{x!r} is not one of the values {', '.join(map(repr, self.values))}") from None

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """All the other values, or some of them when they are many."""
        others = [value for value in self.objects if _identity(value) != _identity(x)]
        return [others[i] for i in some(len(others), MOVES, rng)]

    def to_json(self, x: Any) -> Any:
        return plain(x)

    def from_json(self, data: Any) -> Any:
        return self._fit(data)

    def describe(self) -> dict[str, Any]:
        return {"space": "Categorical", "values": [plain(value) for value in self.values]}

    def view(self, similarity: Similarity) -> Similarity:
        """Vector similarities see the values rescaled to their range."""
        return rescaled(similarity, lambda path: None if path else span(self.objects))


def _identity(value: Any) -> Hashable:
    try:
        return identity(scalar(value))
    except TypeError:
        raise SpaceError(
            f"a category is a string, a number, a truth value or None, not {value!r}; use a Pool for other objects"
        ) from None
