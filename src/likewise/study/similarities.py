"""From what a user gives as `similarity` to the similarities of a committee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.combine.fixed import Fixed, fixed
from likewise.similarity.from_function import as_similarity
from likewise.similarity.kinds.vectors import VectorSimilarity
from likewise.spaces.base import Space

SimilarityLike = Similarity | Callable[[Any, Any], float]
Given = SimilarityLike | Sequence[SimilarityLike] | Literal["auto"]


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for those that the space names itself."""
    named = named_similarities(given)
    return tuple(seen(one, space.view) for one in (space.recognise(rng).similarities if named is None else named))


def named_similarities(given: Given) -> tuple[Similarity, ...] | None:
    """The similarities that are given; None for "auto"."""
    if isinstance(given, str):
        if given != "auto":
            raise SimilarityError(f"unknown similarity {given!r}; give a similarity, a list of them, or 'auto'")
        return None
    several = cast(Sequence[SimilarityLike], given if isinstance(given, Sequence) else [given])
    if not several:
        raise SimilarityError("an empty list of similarities compares nothing; give at least one, or 'auto'")
    return tuple(as_similarity(one) for one in several)


def seen(similarity: Similarity, view: Callable[[Similarity], Similarity]) -> Similarity:
    """A similarity that is fixed as a whole, with what is inside as a space sees it; others are left to the space."""
    if isinstance(similarity, Fixed) and not isinstance(similarity, VectorSimilarity):
        return fixed(view(similarity.inner))
    return similarity
