"""The last resort: a space that can only be sampled is sampled, and the best of the samples is taken."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.acquisition.scoring import Scoring
from likewise.search.allowance import allowance
from likewise.search.base import Found, Search, SearchState, best_distinct
from likewise.similarity import effort


@dataclass(frozen=True)
class SamplingSearch(Search):
    """The best of random samples."""

    samples: int = 2000

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        drawn = state.space.sample(int(min(self.samples, allowance(scorer))), state.rng)
        effort.count(objects=len(drawn))
        return best_distinct(drawn, scorer.score(drawn), state, most=64)
