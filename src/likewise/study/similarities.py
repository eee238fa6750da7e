"""From what a user gives as `similarity` to the similarities of a committee."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.similarity.auto.given import Given, as_similarities
from likewise.similarity.base import Similarity
from likewise.similarity.combine.fixed import Fixed, fixed
from likewise.spaces.base import Space


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for those that the space names itself."""
    named = as_similarities(given)
    return tuple(space.recognise(rng).similarities if named is None else named)


def with_fixed(given: Sequence[Similarity]) -> tuple[Similarity, ...]:
    """Similarities that all learn are joined by themselves as given: with few observations what is learnt fits noise.

    >>> from likewise.similarity.kinds.strings import Hamming, Levenshtein
    >>> [one.name for one in with_fixed([Hamming()])], len(with_fixed([Hamming(), Levenshtein()]))
    (['Hamming', 'fixed Hamming'], 2)
    """
    return (*given, *map(fixed, given)) if all(map(_learns, given)) else tuple(given)


def _learns(similarity: Similarity) -> bool:
    if isinstance(similarity, Fixed):
        return False
    own = type(similarity).parameters is not Similarity.parameters
    return own or any(map(_learns, similarity.parts))
