"""A first batch, before there is anything to learn from: spread out, each object unlike those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.search.base import SearchState, best_distinct
from likewise.similarity.base import Similarity
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.encodings.pieces import renumbered
from likewise.similarity.scores import check_scores
from likewise.spaces.base import Indexed, Space

CANDIDATES = 1000


def spread(n: int, similarity: Similarity, known: Sequence[Any], state: SearchState) -> list[Any]:
    """`n` distinct free objects by maximin: of random candidates, always the one least like all known and picked ones.

    To keep outliers from being all that is picked, the choice is among few candidates for each pick. On a plate each
    pick is made when those before it are known.
    """
    if state.plate is not None and n > 1:
        picks: list[Any] = []
        while len(picks) < n and (new := spread(1, similarity, [*known, *picks], state.without(picks))):
            picks += new
        return picks
    pool = state.sample(min(CANDIDATES, max(64, 8 * n)))
    found = best_distinct(pool, state.rng.random(len(pool)), state)
    if len(found.objects) <= 1:
        return found.objects[:n]
    encodings = _encode(found.objects, similarity, state.space)
    scores = similarity.between(encodings, encodings)
    check_scores(scores, found.objects, found.objects, signed=similarity.signed)
    own = np.sqrt(np.maximum(similarity.within(encodings), 1e-300))
    scores = scores / np.outer(own, own)
    closest = np.full(len(found.objects), -np.inf)
    if len(known):
        others = similarity.encode(list(known))
        theirs = np.sqrt(np.maximum(similarity.within(others), 1e-300))
        rows = similarity.between(encodings, others)
        check_scores(rows, found.objects, known, signed=similarity.signed)
        closest = (rows / np.outer(own, theirs)).max(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(n, len(found.objects)):
        best = int(np.argmin(closest)) if np.isfinite(closest).any() else 0
        chosen.append(best)
        closest = np.maximum(closest, scores[best])
        closest[best] = np.inf
    return [found.objects[i] for i in chosen]


def _encode(objects: Sequence[Any], similarity: Similarity, space: Space) -> Encoding:
    """The encodings of a sample; a complaint about one of a pool's objects names its row in the pool."""
    try:
        return similarity.encode(objects)
    except SimilarityError as error:
        if not isinstance(space, Indexed):
            raise
        raise renumbered(error, lambda row: space.index(objects[row])) from error
