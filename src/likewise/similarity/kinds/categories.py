"""Similarity of categories: equal or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Normalised
from likewise.similarity.encodings.sparse_features import Hashes, stable_hash


@dataclass(frozen=True)
class Equal(Normalised):
    """1 for equal objects and `otherwise` for all others: categories of which nothing more is known. PSD.

    As a field of a product, where `otherwise` is raised to the field's weight, the weight says how much it matters.
    Numbers are equal as Python says: 1, 1.0 and True are one category.

    >>> Equal()("red", "red"), Equal()("red", "blue")
    (1.0, 0.5)
    """

    kind = "categories"
    compares = "equal or not"
    otherwise: float = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.otherwise, str) or not 0.0 <= self.otherwise < 1.0:
            raise SimilarityError(f"Equal needs `otherwise` from 0 to below 1, not {self.otherwise!r}")

    psd = True
    # A power of it has another `otherwise`.
    divisible = True

    def encode(self, objects: Sequence[Any]) -> Hashes:
        return np.array([_hashed(number, x) for number, x in enumerate(objects)], dtype=np.uint64)

    def between(self, a: Hashes, b: Hashes) -> Matrix:
        return np.where(a[:, None] == b, 1.0, self.otherwise)


def _hashed(number: int, x: Any) -> int:
    try:
        return stable_hash(x)
    except TypeError:
        raise SimilarityError(f"object {number} cannot be hashed: {x!r}; use text, numbers or tuples of such") from None
