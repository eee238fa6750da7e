"""Permutations of named items, for similarities of permutations of 0, …, n−1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding


@dataclass(frozen=True)
class Numbered(Through):
    """A similarity of permutations of 0, …, n−1, for orders of these `items`. PSD if the inner one is.

    Which item has which number makes no difference to the similarities of `likewise.similarity.kinds.permutations`.

    >>> from likewise.similarity.kinds.permutations import Positions
    >>> Numbered(Positions(), ("a", "b", "c", "d"))(("b", "a", "c", "d"), ("a", "b", "c", "d"))
    0.5
    """

    inner: Similarity
    items: tuple[Any, ...]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        numbers = {item: number for number, item in enumerate(self.items)}
        return self.inner.encode([_numbers(row, x, numbers) for row, x in enumerate(objects)])


def _numbers(row: int, x: Any, numbers: dict[Any, int]) -> list[int]:
    try:
        return [numbers[item] for item in x]
    except (KeyError, TypeError):
        raise SimilarityError(
            f"object {row} is not an order of the items {', '.join(map(repr, numbers))}: {x!r}"
        ) from None
