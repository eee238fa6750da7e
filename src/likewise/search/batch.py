"""Batches: which objects are proposed together, and which of them a budget can pay."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.acquisition.acquisitions import Acquisition, Mean, Spread, UpperConfidence
from likewise.acquisition.scorer import Priced, Scorer, Scoring, draw
from likewise.errors import StudyError
from likewise.search.base import Found, NearDuplicates, Search, SearchState, best_distinct
from likewise.similarity.base import Vector

# Batches: which equilibria are proposed together. A batch never holds the same object twice.
#
# `TwoStage` and `TopScore` are the paper's two strategies; `Sequential`, the default but in boxes of very many
# dimensions, picks one object, conditions the variance on the pick, and picks again.

FRESH_TRIES = 20
# So many are drawn for each place on a plate.
SAMPLES = 64


class Strategy(ABC):
    """A way to choose the objects that are proposed together."""

    @abstractmethod
    def pick(self, n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        """Up to `n` distinct objects; fewer only where the space has no more."""


@dataclass(frozen=True)
class Sequential(Strategy):
    """Pick the best, condition the variance on the pick, pick again."""

    def pick(self, n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        picks: list[Any] = []
        waiting, best = scorer.with_pending(pending), None
        while len(picks) < n:
            if picks:
                state, waiting = state.without(picks[-1:]), waiting.with_pending(picks[-1:])
            best = search.equilibria(waiting, state, last=best, most=n - len(picks))
            best = best if best.objects else _least_known(waiting, search, state)
            again = _repeat(best, waiting, state)
            if not (again or best.objects):
                break
            picks += again or best.objects[:1]
        return fill_up(picks, n, state)


@dataclass(frozen=True)
class TwoStage(Strategy):
    """Exploit, then explore: the equilibria of u₁, and of those the n_b of highest predictive variance."""

    def pick(self, n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        waiting = _one_outcome(self, scorer).with_pending(pending)
        best = search.thorough().equilibria(waiting.by(Mean()), state)
        picks = _best_by(best, waiting.by(Spread()), n)
        return _search_on(picks, n, scorer, search, state, pending)


@dataclass(frozen=True)
class TopScore(Strategy):
    """The equilibria of u₂, and of those the n_b of highest u₂.

    kappa: how much uncertainty counts, κ; 2 by default, as in the paper. A study's `UpperConfidence` comes first.
    """

    kappa: float = 2.0

    def pick(self, n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        scorer = _one_outcome(self, scorer)
        bound: Acquisition = scorer.acquisition
        if not isinstance(bound, UpperConfidence):
            bound = UpperConfidence(self.kappa)
        waiting = scorer.with_pending(pending).by(bound)
        picks = _best_by(search.thorough().equilibria(waiting, state), waiting, n)
        return _search_on(picks, n, scorer.by(bound), search, state, pending)


@dataclass(frozen=True)
class Thompson(Strategy):
    """One posterior draw for each pick, over the most promising objects; the best of each draw is proposed.

    candidates: over how many promising objects a draw is made; 400 by default, as draws cost the cube of it.
    """

    candidates: int = 400

    def pick(self, n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]) -> list[Any]:
        scorer = _one_outcome(self, scorer)
        hopeful = search.equilibria(scorer.with_pending(pending).by(UpperConfidence()), state)
        objects = hopeful.objects[: self.candidates]
        drawn = state.space.sample(self.candidates // 2, state.rng)
        objects = best_distinct([*objects, *drawn], np.zeros(len(objects) + len(drawn)), state).objects
        if not objects:
            return []
        picks: list[int] = []
        for values in draw(scorer.committee, objects, n, state.rng):
            order = np.argsort(-values, kind="stable").tolist()
            picks += [i for i in order if i not in picks][:1]
        return _search_on([objects[i] for i in picks], n, scorer, search, state, pending)


def _one_outcome(strategy: Strategy, scorer: Scoring) -> Scorer:
    """The scorer of a study of one objective alone; a complaint about any other."""
    if not isinstance(scorer, Scorer):
        raise StudyError(
            f"{strategy!r} is for one objective without constraints; leave strategy out, or give Sequential()"
        )
    return scorer


def _repeat(found: Found, scorer: Scoring, state: SearchState) -> list[Any]:
    """The observed object that is worth one more measurement, if it is worth more than the best new object is."""
    if not state.repeats or not isinstance(scorer, Scorer):
        return []
    objects = scorer.committee.objects
    free = np.array([state.space.key(x) in state.repeats and state.permits(x) for x in objects], dtype=bool)
    scores = np.where(free, scorer.score_repeats(), -np.inf)
    best = int(np.lexsort((scores, free))[-1])
    new = scorer.score_measurement(found.objects[0]) if found.objects else -np.inf
    return [objects[best]] if free[best] and (scores[best] > new or not found.objects) else []


def _least_known(scorer: Scoring, search: Search, state: SearchState) -> Found:
    """What is least known, where nothing is worth anything as everything left is like what was measured."""
    return search.equilibria(scorer.anywhere(), state) if isinstance(scorer, Scorer) else Found([], np.zeros(0))


def _best_by(found: Found, scorer: Scorer, n: int) -> list[Any]:
    """The n best of the found objects by another score."""
    if not found.objects:
        return []
    order = np.argsort(-scorer.score(found.objects), kind="stable")[:n].tolist()
    return [found.objects[i] for i in order]


def _search_on(
    picks: list[Any], n: int, scorer: Scoring, search: Search, state: SearchState, pending: Sequence[Any]
) -> list[Any]:
    """The picks, and where they are too few what is best when they are in flight, one after the other."""
    if len(picks) >= n:
        return picks
    return picks + Sequential().pick(n - len(picks), scorer, search, state.without(picks), [*pending, *picks])


def fill_up(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """The picks, and fresh samples where they are fewer than asked for; fewer still in a space that is used up.

    This is for what no score can tell: a search that finds nothing. Where nothing is left that the space can set apart
    from what was tried, any other object will do.
    """
    picks = list(picks)
    if state.plate is not None:
        return _fill_plate(picks, n, state.without(picks))
    for turn in range(FRESH_TRIES):
        if len(picks) >= n:
            break
        if turn == FRESH_TRIES - 1:
            state = replace(state, taken=state.without(picks).taken, tried=None)
        drawn = state.space.sample(4 * (n - len(picks)), state.rng)
        fresh = best_distinct(drawn, np.zeros(len(drawn)), state.without(picks))
        picks += fresh.objects[: n - len(picks)]
    return picks


def _fill_plate(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """The picks and fresh samples, one after the other, as each may bind those after it."""
    misses = 0
    while len(picks) < n and misses < FRESH_TRIES:
        near = replace(state, tried=NearDuplicates.of(state.space)) if misses == FRESH_TRIES - 1 else state
        drawn = state.sample(SAMPLES)
        fresh = best_distinct(drawn, np.zeros(len(drawn)), near).objects[:1]
        picks, state, misses = picks + fresh, state.without(fresh), 0 if fresh else misses + 1
    return picks


# Batches within a budget: the most gain, one object after the other, until nothing affordable is worth its cost.

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
    best: Found | None = None
    total = 0.0
    while len(picks) < n:
        if picks:
            state, scorer = state.without(picks[-1:]), scorer.spend(picks[-1:])
        best = search.equilibria(scorer, state, last=best, most=n - len(picks))
        gain = float(np.exp(scorer.log_gains(best.objects[:1], best.scores[:1])).sum())
        if not best.objects or (gain < NEGLIGIBLE * total and math.isfinite(scorer.left)):
            break
        picks += best.objects[:1]
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
