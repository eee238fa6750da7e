"""What every method does with a batch: it looks where there is something left, and never answers with too few."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from likewise.search.base import SearchState
from likewise.search.batch import fill_up
from likewise.search.places import Places
from likewise.spaces.base import Enumerable, Space
from likewise.study.methods.base import Known


def search_state(space: Space, known: Known) -> SearchState:
    """Where to search: the observations best first, and what may not be proposed."""
    order = np.argsort(-known.told.values, kind="stable").tolist()
    tried = Places.of(space, [*known.told.objects, *known.failed, *known.pending])
    observed = [known.told.objects[i] for i in order]
    return SearchState(space, observed, known.taken | space.excluded, known.rng, tried)


def is_used_up(state: SearchState) -> bool:
    """Whether nothing is left to propose."""
    return isinstance(state.space, Enumerable) and len(state.taken) >= len(state.space.objects)


def complete(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """`n` of the picks, and random free objects where they are fewer; fewer still in a space that is used up."""
    space = state.space
    if len(picks) >= n or not isinstance(space, Enumerable):
        return picks[:n] if len(picks) >= n else fill_up(picks, n, state)
    objects, taken = space.objects, state.taken | {space.key(x) for x in picks}
    drawn = (objects[i] for i in state.rng.permutation(len(objects)).tolist())
    return picks + list(islice((x for x in drawn if space.key(x) not in taken), n - len(picks)))
