"""One of a few values: a solvent, a temperature setting, on or off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.auto import Recognised, of_kind, recognise
from likewise.similarity.base import Similarity
from likewise.similarity.catalogue import writing
from likewise.similarity.coordinates import rescaled, span
from likewise.spaces.base import MOVES, Generator, Items, Space, checked_where, more, some
from likewise.spaces.codec import listed_text, read_item
from likewise.tables.cells import Decimal


@dataclass(frozen=True)
class Categorical(Space):
    """One of some values.

    - `values`: a list of different strings, numbers, truth values or None.
    - `where`: a function that says whether a value is allowed; by default all are.

    Any value is a move from any other. Vector similarities see numeric values rescaled to their range.

    >>> import numpy as np
    >>> solvent = Categorical(["water", "DMF", "toluene"])
    >>> solvent.moves("DMF", np.random.default_rng(0))
    ['water', 'toluene']
    """

    short = "values:red,green"
    grows = MappingProxyType({"values": more})
    values: Sequence[Any]
    _: KW_ONLY
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if isinstance(self.values, str):
            raise SpaceError(f"Categorical needs a list of at least one value, not {self.values!r}")
        self._items  # noqa: B018

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(listed_text(text))

    @cached_property
    def _items(self) -> Items:
        return Items("values", self.values)

    @cached_property
    def objects(self) -> tuple[Any, ...]:
        """The values that satisfy `where`."""
        return tuple(self.keep_allowed(self._items.listed))

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        if n and not self.objects:
            raise SpaceError(f"none of the values {list(self.values)!r} satisfies `where`; loosen the predicate")
        return [self.objects[i] for i in rng.integers(len(self.objects), size=n)] if n else []

    def _fit(self, x: Any) -> Any:
        rank = self._items.rank(x)
        if rank is None:
            raise SpaceError(f"{x!r} is not one of the {self._items}")
        return self._items.listed[rank]

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """All the other values, or some of them when they are many."""
        own = self._items.rank(x)
        others = [value for value in self.objects if self._items.rank(value) != own]
        return [others[i] for i in some(len(others), MOVES, rng)]

    @property
    def numeric(self) -> bool:
        return any(isinstance(value, int | float) for value in self.objects)

    def from_cell(self, text: str, decimal: Decimal | None) -> Any:
        return read_item(text, self.objects, decimal)

    def _recognised(self, objects: Sequence[Any]) -> Recognised:
        """Numbers and molecules as such, other texts and truth values as categories."""
        values = list(self.objects)
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        if numbers or (all(isinstance(value, str) for value in values) and _are_molecules(values)):
            return recognise(values)
        return of_kind("categories", f"the space has {len(values)} values to choose from", values)

    def view(self, similarity: Similarity) -> Similarity:
        """Vector similarities see the values rescaled to their range."""
        return rescaled(similarity, lambda path: None if path else span(self.objects))


def _are_molecules(texts: list[str]) -> bool:
    try:
        return writing(texts)[0] == "molecules"
    except SimilarityError:
        # Numbers written as text.
        return False
