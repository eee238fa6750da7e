"""Batches: which equilibria are proposed together. A batch never holds the same object twice.

`TwoStage` and `TopScore` are the paper's two strategies; `Sequential`, the default but in boxes of very many
dimensions, picks one object, conditions the variance on the pick, and picks again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.acquisition.confidence import Mean, Spread, UpperConfidence
from likewise.acquisition.scorer import Scorer
from likewise.acquisition.thompson import draw
from likewise.search.base import Found, Search, SearchState, best_distinct

FRESH_TRIES = 20


class Strategy(ABC):
    """A way to choose the objects that are proposed together."""

    @abstractmethod
    def pick(self, n: int, scorer: Scorer, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        """Up to `n` distinct objects; fewer only where the space has no more."""


@dataclass(frozen=True)
class Sequential(Strategy):
    """Pick the best, condition the variance on the pick, pick again."""

    def pick(self, n: int, scorer: Scorer, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        picks: list[Any] = []
        waiting, found = scorer.with_pending(pending), None
        while len(picks) < n:
            if picks:
                state = replace(state, taken=state.taken | {state.space.key(picks[-1])})
                waiting = waiting.with_pending(picks[-1:])
            found = search.equilibria(waiting, state, last=found, most=n - len(picks))
            if not found.objects:
                break
            picks.append(found.objects[0])
        return fill_up(picks, n, state)


@dataclass(frozen=True)
class TwoStage(Strategy):
    """Exploit, then explore: the equilibria of u₁, and of those the n_b of highest predictive variance."""

    def pick(self, n: int, scorer: Scorer, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        waiting = scorer.with_pending(pending)
        found = search.thorough().equilibria(replace(waiting, acquisition=Mean()), state)
        return _best_by(found, replace(waiting, acquisition=Spread()), n, state)


@dataclass(frozen=True)
class TopScore(Strategy):
    """The equilibria of u₂, and of those the n_b of highest u₂."""

    kappa: float = 2.0

    def pick(self, n: int, scorer: Scorer, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        bound: Acquisition = scorer.acquisition
        if not isinstance(bound, UpperConfidence):
            bound = UpperConfidence(self.kappa)
        waiting = replace(scorer.with_pending(pending), acquisition=bound)
        return _best_by(search.thorough().equilibria(waiting, state), waiting, n, state)


@dataclass(frozen=True)
class Thompson(Strategy):
    """One posterior draw for each pick, over the most promising objects; the best of each draw is proposed."""

    candidates: int = 400

    def pick(self, n: int, scorer: Scorer, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        hopeful = search.equilibria(replace(scorer.with_pending(pending), acquisition=UpperConfidence()), state)
        objects = hopeful.objects[: self.candidates]
        drawn = [x for x in state.space.sample(self.candidates // 2, state.rng) if state.free(x)]
        objects = best_distinct([*objects, *drawn], np.zeros(len(objects) + len(drawn)), state).objects
        if not objects:
            return []
        picks: list[int] = []
        for values in draw(scorer.committee, objects, n, state.rng):
            order = np.argsort(-values, kind="stable").tolist()
            picks += [i for i in order if i not in picks][:1]
        taken = state.taken | {state.space.key(objects[i]) for i in picks}
        return fill_up([objects[i] for i in picks], n, replace(state, taken=taken))


def _best_by(found: Found, scorer: Scorer, n: int, state: SearchState) -> list[Any]:
    """The n best of the found objects by another score, fill_up up with fresh ones."""
    if not found.objects:
        return fill_up([], n, state)
    order = np.argsort(-scorer.score(found.objects), kind="stable")[:n].tolist()
    picks = [found.objects[i] for i in order]
    return fill_up(picks, n, replace(state, taken=state.taken | {state.space.key(x) for x in picks}))


def fill_up(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """The picks, and fresh samples where they are fewer than asked for; fewer still in a space that is used up."""
    taken = set(state.taken) | {state.space.key(x) for x in picks}
    picks = list(picks)
    for _ in range(FRESH_TRIES):
        if len(picks) >= n:
            break
        for x in state.space.sample(4 * (n - len(picks)), state.rng):
            key = state.space.key(x)
            if key not in taken and len(picks) < n:
                taken.add(key)
                picks.append(x)
    return picks
