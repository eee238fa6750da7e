"""Batches within a budget: the most gain, one object after the other, until nothing affordable is worth its cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likewise.acquisition.cost import Priced
from likewise.search.base import Found, Search, SearchState
from likewise.similarity.base import Vector

# What adds less than this share to the gain of a batch is not worth any money. With those before it taken for as good
# as expected, an object looks several times less worth than it is, so that the share is a small one.
NEGLIGIBLE = 0.001
# Batches promise about the same if they differ by less than this share.
ALIKE = 0.01


def pick_within(n: int, scorer: Priced, search: Search, state: SearchState) -> list[Any]:
    """Up to `n` distinct objects that cost no more together than is left; fewer where nothing else is worth it.

    Without a budget nothing can be saved, and there are `n` of them.

    The most gain for its cost finds the best batch where money is short, the most gain where it is not. Of both, the
    batch that promises more is taken, and the cheaper one where they promise about the same.
    """
    cheap, gain = _pick_greedily(n, scorer, search, state)
    if math.isinf(scorer.left):
        return cheap
    dear, more = _pick_greedily(n, replace(scorer, divides=False), search, state)
    return dear if gain < (1.0 - ALIKE) * more else cheap


def _pick_greedily(n: int, scorer: Priced, search: Search, state: SearchState) -> tuple[list[Any], float]:
    """The objects of the largest score, one after the other, and what is gained by them together.

    What each adds is its gain with those before it in flight.
    """
    picks: list[Any] = []
    found: Found | None = None
    total = 0.0
    while len(picks) < n:
        if picks:
            state, scorer = state.without(picks[-1:]), scorer.spend(picks[-1:])
        found = search.equilibria(scorer, state, last=found, most=n - len(picks))
        gain = float(np.exp(scorer.log_gains(found.objects[:1], found.scores[:1])).sum())
        if not found.objects or (gain < NEGLIGIBLE * total and math.isfinite(scorer.left)):
            break
        picks += found.objects[:1]
        total += gain
    return picks, total


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
