"""Batches within a budget: the most gain for its cost, one object after the other, until nothing is affordable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.acquisition.cost import Priced
from likewise.search.base import Found, Search, SearchState
from likewise.similarity.base import Vector


def pick_within(n: int, scorer: Priced, search: Search, state: SearchState) -> list[Any]:
    """Up to `n` distinct objects that cost no more together than is left; fewer where nothing else is affordable."""
    picks: list[Any] = []
    found: Found | None = None
    while len(picks) < n:
        if picks:
            state, scorer = state.without(picks[-1:]), scorer.spend(picks[-1:])
        found = search.equilibria(scorer, state, last=found, most=n - len(picks))
        if not found.objects:
            break
        picks += found.objects[:1]
    return picks


def affordable(objects: Sequence[Any], costs: Vector, budget: float, n: int) -> list[Any]:
    """The first `n` objects that fit into a budget, in their order.

    >>> import numpy as np
    >>> affordable(["a", "b", "c"], np.array([3.0, 9.0, 2.0]), 5.0, 2)
    ['a', 'c']
    """
    picks: list[Any] = []
    left = budget
    for x, cost in zip(objects, costs.tolist(), strict=True):
        if cost <= left * (1.0 + 1e-12) and len(picks) < n:
            picks.append(x)
            left -= cost
    return picks
