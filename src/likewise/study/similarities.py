"""From what a user gives as `similarity` to the similarities of a committee."""

from __future__ import annotations

import numpy as np

from likewise.similarity.auto.given import Given, as_similarities
from likewise.similarity.base import Similarity
from likewise.spaces.base import Space


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for those that the space names itself."""
    named = as_similarities(given)
    found = space.recognise(rng).similarities if named is None else named
    return tuple(found)
