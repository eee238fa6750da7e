"""From what is known to what to try next: spread out at first, then where the acquisition is highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.acquisition.feasibility import chance
from likewise.acquisition.scorer import Scorer
from likewise.model.schedule import Data, Model
from likewise.search.base import Search, SearchState
from likewise.search.batch import Strategy, fill_up
from likewise.search.choose import choose_search, choose_strategy
from likewise.search.resuming import Resuming
from likewise.search.spread import spread
from likewise.spaces.base import Enumerable, Generator, Space


@dataclass(eq=False)
class Proposer:
    """How a study chooses: its model, acquisition, strategy and search."""

    space: Space
    model: Model
    acquisition: Acquisition
    strategy: Strategy | None
    search: Search | None
    initial: int

    def search_for(self, differentiable: bool) -> Search:
        """The search that was given, or that the space's abilities choose."""
        if self.search is not None:
            return self.search
        chosen = choose_search(self.space, differentiable=differentiable)
        if isinstance(self.space, Enumerable):
            # It remembers the scores of the whole pool.
            self.search = chosen
        return chosen


@dataclass(eq=False)
class Proposal:
    """What one ask proposes, after these observations and failures.

    It may pick several times, as other workers take objects first: what it has learnt and found the first time stays.
    """

    proposer: Proposer
    told: Data
    failed: Sequence[Any]
    _search: Resuming | None = field(default=None, init=False)

    def pick(self, n: int, pending: Sequence[Any], taken: set[str], rng: Generator) -> list[Any]:
        """Up to `n` distinct objects; fewer only where the space has no more. Keys in `taken` may not be proposed."""
        taken = taken | self._space.excluded
        if isinstance(self._space, Enumerable) and len(taken) >= len(self._space.objects):
            return []
        state = SearchState(self._space, self._observed, taken, rng)
        choose = self._spread if len(self.told.objects) < self.proposer.initial else self._searched
        return self._completed(choose(n, pending, state), n, state)

    @property
    def _space(self) -> Space:
        return self.proposer.space

    @cached_property
    def _observed(self) -> list[Any]:
        """The measured objects, best first."""
        return [self.told.objects[i] for i in np.argsort(-self.told.values, kind="stable").tolist()]

    @property
    def _comparable(self) -> Sequence[Any]:
        """The failures without those that the pool excludes, which may have failed because they cannot be compared."""
        excluded = self._space.excluded
        return [x for x in self.failed if self._space.key(x) not in excluded] if excluded else self.failed

    def _spread(self, n: int, pending: Sequence[Any], state: SearchState) -> list[Any]:
        similarities = self.proposer.model.similarities
        if isinstance(self._space, Enumerable):
            # What cannot be compared comes out before anything is measured; the encodings are needed later anyway.
            self.proposer.search_for(differentiable=False).ready(similarities)
        return spread(n, similarities[0], [*self.told.objects, *self._comparable, *pending], state)

    def _searched(self, n: int, pending: Sequence[Any], state: SearchState) -> list[Any]:
        scorer = self._scorer
        if self._search is None:
            feasible = scorer.feasibility
            differentiable = feasible is None or feasible.committee.differentiable
            self._search = Resuming(self.proposer.search_for(scorer.committee.differentiable and differentiable))
        else:
            self._search = self._search.resume()
        strategy = self.proposer.strategy or choose_strategy(self._space, self.proposer.acquisition)
        return strategy.pick(n, scorer, self._search, state, pending)

    @cached_property
    def _scorer(self) -> Scorer:
        model, failed = self.proposer.model, self._comparable
        committee = model.committee(self.told)[0]
        feasible = chance(committee, model.grams, self.told, failed) if failed else None
        best = float(committee.targets.max())
        return Scorer(committee, self.proposer.acquisition, best, feasible)

    def _completed(self, picks: list[Any], n: int, state: SearchState) -> list[Any]:
        if len(picks) >= n:
            return picks[:n]
        if not isinstance(self._space, Enumerable):
            return fill_up(picks, n, state)
        objects, taken = self._space.objects, state.taken | {self._space.key(x) for x in picks}
        drawn = (objects[i] for i in state.rng.permutation(len(objects)).tolist())
        return picks + list(islice((x for x in drawn if self._space.key(x) not in taken), n - len(picks)))
