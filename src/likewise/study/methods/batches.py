"""What every method does with a batch: it looks where there is something left, and never answers with too few."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

from likewise.search.base import SearchState
from likewise.search.batch import fill_up
from likewise.search.places import Places
from likewise.spaces.base import Enumerable, Space
from likewise.study.goals import Goals
from likewise.study.methods.base import Known
from likewise.study.methods.outcomes import best_first


def search_state(space: Space, known: Known, goals: Goals) -> SearchState:
    """Where to search: the observations best first, and what may not be proposed."""
    observed, taken = best_first(known.told, goals), known.taken | space.excluded
    tried = Places.of(space, [*known.told.objects, *known.failed, *known.pending])
    # What may be measured again is no new object; it is proposed where a repeat is worth more.
    repeats = frozenset(map(space.key, observed)) - taken
    state = SearchState(space, observed, taken | repeats, known.rng, tried, repeats)
    return state if known.plate is None else state.on(known.plate)


def is_used_up(state: SearchState) -> bool:
    """Whether nothing is left to propose."""
    return isinstance(state.space, Enumerable) and len(state.taken) - len(state.repeats) >= len(state.space.objects)


def complete(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """`n` of the picks, and random free objects where they are fewer; fewer still in a space that is used up.

    What is new comes first, then what may be measured again.
    """
    space = state.space
    if len(picks) >= n or state.plate is not None or not isinstance(space, Enumerable):
        return picks[:n] if len(picks) >= n else fill_up(picks, n, state)
    objects, state = space.objects, state.without(picks)
    drawn = state.rng.permutation(len(objects)).tolist()
    fresh = (objects[i] for i in drawn if space.key(objects[i]) not in state.taken)
    again = (objects[i] for i in drawn if space.key(objects[i]) in state.repeats)
    return picks + list(islice(chain(fresh, again), n - len(picks)))


def first_free(found: Sequence[Any], n: int, state: SearchState) -> list[Any]:
    """The first `n` of the objects that may be proposed, each with those before it picked."""
    picks: list[Any] = []
    for x in found:
        if len(picks) < n and state.space.key(x) not in state.taken and state.permits(x):
            picks.append(x)
            state = state.without([x])
    return picks
