"""From what a user gives as `similarity` to the likenesses of a committee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.plain import as_similarity
from likewise.spaces.base import Space

Likeness = Similarity | Callable[[Any, Any], float]


def likenesses(
    given: Likeness | Sequence[Likeness] | Literal["auto"], space: Space, rng: np.random.Generator
) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for the catalogue that fits the objects."""
    if isinstance(given, str):
        if given != "auto":
            raise SimilarityError(f"unknown similarity {given!r}; give a similarity, a list of them, or 'auto'")
        from likewise.similarity.vectors import RBF, Matern

        return (Matern(), RBF())
    if isinstance(given, Sequence):
        if not given:
            raise SimilarityError("an empty list of similarities compares nothing; give at least one, or 'auto'")
        return tuple(as_similarity(one) for one in given)
    return (as_similarity(given),)
