"""Records with continuous parts, and boxes with whole numbers: climbing and gradient trajectories in turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from likewise.acquisition.scoring import Scoring
from likewise.search.allowance import allowance
from likewise.search.base import Found, Search, SearchState, best_distinct
from likewise.search.climbing import ClimbingSearch
from likewise.search.gradient import allowed_scores, climb
from likewise.spaces.base import Continuous, PartlyContinuous, at_vectors

# Where comparing takes long: the share of what may be looked at that is for moves, and about how many steps follow
# the gradients.
SHARE, STEPS = 0.5, 10
LATER = 0.25


@dataclass(frozen=True)
class AlternatingSearch(Search):
    """Moves choose the parts that are not numbers, gradients then the numbers, and again from the best that was found.

    Fewer trajectories than where moves are all there is: gradients bring those of one choice of parts together. Later
    searches of an ask look at more than there: what was found before has the numbers that suit its own choice.
    """

    climbing: ClimbingSearch = field(
        default_factory=lambda: ClimbingSearch(observations=5, fresh=3, crossings=40, share=SHARE, later=LATER)
    )
    rounds: int = 2
    survivors: int = 8
    again: int = 3
    most_steps: int = 30

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        found = self.climbing.equilibria(scorer, state, last=last)
        few = self.within((1.0 - SHARE) * allowance(scorer), cast(Continuous, state.space).dimension)
        resting: list[Any] = []
        for turn in range(self.rounds):
            found = few._polish(scorer, state, found, resting)
            if turn + 1 < self.rounds:
                best = Found(found.objects[: self.again], found.scores[: self.again])
                climbed = replace(self.climbing, fresh=1).equilibria(scorer, state, last=best)
                found = _joined(found, climbed, state)
        return found

    def within(self, most: float, dimension: int) -> AlternatingSearch:
        """The search whose gradients look at about so many objects, by differences two for each number."""
        if most == np.inf:
            return self
        steps = most / (self.rounds * (2 * dimension + 1))
        survivors = max(1, min(self.survivors, int(steps / STEPS)))
        return replace(self, survivors=survivors, most_steps=max(1, min(self.most_steps, int(steps / survivors))))

    def _polish(self, scorer: Scoring, state: SearchState, found: Found, resting: list[Any]) -> Found:
        """The best found objects with their continuous parts moved uphill; what came to rest there before stays."""
        space = cast(Continuous | PartlyContinuous, state.space)
        known = set(map(id, resting))
        few = [x for x in found.objects[: self.survivors] if id(x) not in known]
        if not few:
            return found
        ends = climb(scorer, space, space.to_vector(few), of=few, most_steps=self.most_steps, curved=True)
        moved = at_vectors(space, ends.vectors, few)
        resting += [x for x, rests in zip(moved, ends.converged.tolist(), strict=True) if rests]
        objects = moved + found.objects
        return best_distinct(objects, allowed_scores(scorer.score, state.space, objects), state, most=64)


def _joined(found: Found, more: Found, state: SearchState) -> Found:
    """What was found at first and later."""
    scores = np.concatenate([found.scores, more.scores])
    return best_distinct(found.objects + more.objects, scores, state, most=64)
