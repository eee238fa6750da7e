"""Items that objects consist of: strings, numbers, truth values or None, found again by their JSON form."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from likewise.errors import SpaceError
from likewise.spaces.codec.codec import identity, plain, scalar


@dataclass(frozen=True)
class Items:
    """Some items in their order; 1 and 1.0 are the same item, 1 and True are not.

    >>> colours = Items("colours", ["red", "green"])
    >>> colours.listed, colours.rank("green"), colours.rank("blue")
    (('red', 'green'), 1, None)
    """

    what: str
    given: Collection[Any]

    def __post_init__(self) -> None:
        if isinstance(self.given, dict) or not hasattr(self.given, "__len__") or not len(self.given):
            raise SpaceError(f"the {self.what} are a list of at least one, not {self.given!r}")
        if len(self._ranks) < len(self.given):
            twice = next(item for rank, item in enumerate(self.listed) if self.rank(item) != rank)
            raise SpaceError(f"the {self.what} have {twice!r} twice; give each once")

    @cached_property
    def listed(self) -> tuple[Any, ...]:
        """The items as JSON data."""
        return tuple(map(self._scalar, self.given))

    def _scalar(self, item: Any) -> Any:
        try:
            return scalar(item)
        except TypeError:
            raise SpaceError(
                f"the {self.what} are strings, numbers, truth values or None, not {item!r}; "
                "give names or positions of what they stand for, or use a Pool"
            ) from None

    @cached_property
    def _ranks(self) -> dict[Hashable, int]:
        ranks: dict[Hashable, int] = {}
        for rank, item in enumerate(self.listed):
            ranks.setdefault(identity(item), rank)
        return ranks

    def rank(self, item: Any) -> int | None:
        """The place of an item in the list; None where it has none."""
        try:
            return self._ranks.get(identity(plain(item)))
        except TypeError:
            return None

    def pick(self, several: Collection[Any]) -> list[Any]:
        """These as they are in the list; a SpaceError that names one that is not there, or comes twice."""
        found: dict[int, Any] = {}
        for item in several:
            rank = self.rank(item)
            if rank is None:
                raise SpaceError(f"{several!r} has {item!r}, which is not one of the {self}")
            if rank in found:
                raise SpaceError(f"{several!r} has {item!r} more than once; give each of the {self.what} once")
            found[rank] = self.listed[rank]
        return list(found.values())

    def __str__(self) -> str:
        return f"{self.what} {', '.join(map(repr, self.listed))}"


def different(what: str, given: Collection[Any]) -> Items:
    """The items, where no two are equal to Python, as 1 and True are: for objects that are sets or orders of them."""
    items = Items(what, given)
    if len(set(items.listed)) < len(items.listed):
        raise SpaceError(f"the {items} are not all different; rename some")
    return items
