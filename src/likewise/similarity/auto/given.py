"""What a user may give as `similarity`, and the similarities it stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.from_function import as_similarity

SimilarityLike = Similarity | Callable[[Any, Any], float]
Given = SimilarityLike | Sequence[SimilarityLike] | Literal["auto"]


def as_similarities(given: Given) -> tuple[Similarity, ...] | None:
    """The similarities that are given; None for "auto"."""
    if isinstance(given, str):
        if given != "auto":
            raise SimilarityError(f"unknown similarity {given!r}; give a similarity, a list of them, or 'auto'")
        return None
    several = cast(Sequence[SimilarityLike], given if isinstance(given, Sequence) else [given])
    if not several:
        raise SimilarityError("an empty list of similarities compares nothing; give at least one, or 'auto'")
    return tuple(as_similarity(one) for one in several)
