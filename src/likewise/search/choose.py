"""Which search a space gets: by gradients, from neighbour to neighbour, over all of a pool, or by samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, final

import numpy as np

from likewise.acquisition.acquisitions import Acquisition, LogExpectedImprovement
from likewise.acquisition.scorer import Scoring
from likewise.errors import SpaceError
from likewise.search.base import Found, Search, SearchState, best_distinct, max_candidates
from likewise.search.batch import Sequential, Strategy, TwoStage
from likewise.search.climbing import ClimbingSearch
from likewise.search.gradient import GradientSearch, allowed_scores, climb
from likewise.search.pool.exhaustive import ExhaustiveSearch
from likewise.spaces.base import Continuous, Enumerable, Moves, PartlyContinuous, Space, at_vectors, is_continuous

# The last resort: a space that can only be sampled is sampled, and the best of the samples is taken.


@dataclass(frozen=True)
class SamplingSearch(Search):
    """The best of random samples."""

    samples: int = 2000

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        drawn = state.space.sample(int(min(self.samples, max_candidates(scorer))), state.rng)
        return best_distinct(drawn, scorer.score(drawn), state, most=64)


# Records with continuous parts, and boxes with whole numbers: climbing and gradient trajectories in turn.

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
        search = self.within((1.0 - SHARE) * max_candidates(scorer), cast(Continuous, state.space).dimension)
        resting: list[Any] = []
        for turn in range(self.rounds):
            found = search._polish(scorer, state, found, resting)
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
        resting_ids = set(map(id, resting))
        survivors = [x for x in found.objects[: self.survivors] if id(x) not in resting_ids]
        if not survivors:
            return found
        ends = climb(scorer, space, space.to_vector(survivors), of=survivors, most_steps=self.most_steps, curved=True)
        moved = at_vectors(space, ends.vectors, survivors)
        resting += [x for x, rests in zip(moved, ends.converged.tolist(), strict=True) if rests]
        objects = moved + found.objects
        return best_distinct(objects, allowed_scores(scorer.score, state.space, objects), state, most=64)


def _joined(found: Found, more: Found, state: SearchState) -> Found:
    """What was found at first and later."""
    scores = np.concatenate([found.scores, more.scores])
    return best_distinct(found.objects + more.objects, scores, state, most=64)


# The space's abilities choose the search, and how objects are picked together.

# Dimensions from which on a box is mostly corners.
WIDE = 30


def choose_search(space: Space, *, differentiable: bool) -> Search:
    """Exhaustive where objects can be listed, gradients where there are any, else moves, else samples."""
    if isinstance(space, Enumerable):
        return ExhaustiveSearch.over(space, space.key)
    if differentiable and is_continuous(space):
        return AlternatingSearch() if space.stepped and isinstance(space, Moves) else GradientSearch()
    if isinstance(space, Moves):
        return ClimbingSearch()
    if isinstance(space, Space):
        return SamplingSearch()
    raise SpaceError(f"{space!r} is not a space; use Pool, Box, Strings … or Custom")


def choose_strategy(space: Space, acquisition: Acquisition) -> Strategy:
    """How objects of this space are best picked, one or several.

    In a box of very many dimensions doubt is greatest in the corners, and improvement is expected there. The paper's
    two stages, which look for doubt among the peaks of the mean alone, find better objects. Another acquisition than
    the usual one picks by itself.

    >>> from likewise.spaces.numbers import Box
    >>> wide, usual = Box([0.0] * 50, [1.0] * 50), LogExpectedImprovement()
    >>> choose_strategy(wide, usual), choose_strategy(Box([0.0] * 5, [1.0] * 5), usual)
    (TwoStage(), Sequential())
    """
    wide = space.kind == "vectors" and isinstance(space, Continuous) and space.dimension >= WIDE
    return TwoStage() if wide and isinstance(acquisition, LogExpectedImprovement) else Sequential()


# A search that is asked once more, because other workers were faster, goes on from what it found before.


@final
@dataclass(eq=False)
class Resuming(Search):
    """A search that keeps what it has found, and begins where the one before it ended.

    A strategy asks the same queries in the same order whenever it picks; what was found in answer to a query is
    where the search for a new answer begins, with more objects pending.
    """

    search: Search
    before: Sequence[Found] = ()
    found: list[Found] = field(default_factory=list)

    def resume(self) -> Resuming:
        """The search for picking once more."""
        return Resuming(self.search, self.found)

    def thorough(self) -> Search:
        return Resuming(self.search.thorough(), self.before, self.found)

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        if last is not None:
            self.found[-1:] = [self.search.equilibria(scorer, state, last=last, most=most)]
            return self.found[-1]
        earlier = self.before[len(self.found)] if len(self.found) < len(self.before) else None
        begin = earlier if earlier is not None and earlier.objects else None
        answer = self.search.equilibria(scorer, state, last=begin, most=most)
        if begin is not None and not answer.objects:
            answer = self.search.equilibria(scorer, state, most=most)
        self.found.append(answer)
        return answer
