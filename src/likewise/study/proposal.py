"""From what is known to what to try next: spread out at first, then where the acquisition is highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.acquisition.scorer import Scorer
from likewise.influence.committee import Committee
from likewise.search.base import Ground, Search
from likewise.search.batch import Batch, filled
from likewise.search.choose import choose_batch, choose_search
from likewise.search.spread import spread
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.spaces.pool import Pool
from likewise.study.feasibility import chance
from likewise.study.model import Data, Model


@dataclass(frozen=True, eq=False)
class Known:
    """What a proposal is based on: observations, failures, objects in flight, and keys that may not be proposed."""

    told: Data
    failed: Sequence[Any]
    pending: Sequence[Any]
    taken: set[str]


@dataclass(eq=False)
class Proposer:
    """How a study chooses: its model, acquisition, batch and search."""

    space: Space
    model: Model
    acquisition: Acquisition
    batch: Batch | None
    search: Search | None
    initial: int

    def propose(self, n: int, known: Known, rng: Generator) -> list[Any]:
        """Up to `n` distinct objects; fewer only where the space has no more."""
        known = self._allowed(known)
        taken = known.taken
        if isinstance(self.space, Enumerable) and len(taken) >= len(self.space.objects):
            return []
        order = np.argsort(-known.told.values, kind="stable").tolist()
        ground = Ground(self.space, [known.told.objects[i] for i in order], taken, rng)
        if len(order) < self.initial:
            if isinstance(self.space, Enumerable):
                # What cannot be compared comes out before anything is measured; the encodings are needed later anyway.
                self._search_for(differentiable=False).ready(self.model.likenesses)
            tried = [*known.told.objects, *known.failed, *known.pending]
            picks = spread(n, self.model.likenesses[0], tried, ground)
        else:
            picks = self._searched(n, known, ground)
        return self._completed(picks, n, ground)

    def _allowed(self, known: Known) -> Known:
        """With what the pool excludes taken; such an object may have failed because it cannot be compared."""
        excluded = self.space.excluded if isinstance(self.space, Pool) else frozenset()
        failed = [x for x in known.failed if self.space.key(x) not in excluded] if excluded else known.failed
        return replace(known, failed=failed, taken=known.taken | excluded)

    def _searched(self, n: int, known: Known, ground: Ground) -> list[Any]:
        committee = self.model.committee(known.told)[0]
        feasible = self._chance(committee, known)
        best = float(committee.members[0].posterior.values.max())
        scorer = Scorer(committee, self.acquisition, best, feasible)
        differentiable = committee.differentiable and (feasible is None or feasible.committee.differentiable)
        batch = self.batch or choose_batch(self.space, self.acquisition)
        return batch.pick(n, scorer, self._search_for(differentiable), ground, known.pending)

    def _chance(self, committee: Committee, known: Known) -> Scorer | None:
        return chance(committee, self.model.grams, known.told, known.failed) if known.failed else None

    def _search_for(self, differentiable: bool) -> Search:
        if self.search is not None:
            return self.search
        chosen = choose_search(self.space, differentiable=differentiable)
        if isinstance(self.space, Enumerable):
            # It remembers the scores of the whole pool.
            self.search = chosen
        return chosen

    def _completed(self, picks: list[Any], n: int, ground: Ground) -> list[Any]:
        if len(picks) >= n:
            return picks[:n]
        if not isinstance(self.space, Enumerable):
            return filled(picks, n, ground)
        taken = ground.taken | {self.space.key(x) for x in picks}
        drawn = (self.space.objects[i] for i in ground.rng.permutation(len(self.space.objects)).tolist())
        return picks + list(islice((x for x in drawn if self.space.key(x) not in taken), n - len(picks)))
