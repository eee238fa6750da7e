"""Climbing: the paper's trajectories where there is no gradient, from neighbour to neighbour.

From every observation, the best ones first when there are many, and from fresh samples, each trajectory goes to the
best of its sampled moves as long as that is strictly better. All advance together: one batched comparison a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scoring
from likewise.search.base import Found, Search, SearchState, best_distinct, max_candidates
from likewise.similarity.base import Vector
from likewise.spaces.base import Crossover, Generator, Moves

# Where little may be looked at: the share that is drawn at random, and about how many steps the trajectories take.
# There are as many of those as the root of what may be looked at, divided by SPARSE.
DRAWN, STEPS, SPARSE = 0.25, 3, 4


@dataclass(frozen=True)
class ClimbingSearch(Search):
    """Climbs by a space's moves.

    It looks at `samples` random objects, `crossings` of good observations and at most `most_scored` neighbours,
    `breadth` of each object; at fewer where comparing takes long. Of all that, each later search of an ask, for the
    next object of a batch, looks at the share `later`: it begins with what was found before.
    """

    observations: int = 10
    samples: int = 200
    fresh: int = 6
    crossings: int = 60
    most_steps: int = 40
    most_scored: int = 6_000
    breadth: int | None = None
    # Of what a search may look at where comparing takes long.
    share: float = 1.0
    later: float = 0.04

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        looks = min(self.share * max_candidates(scorer), self.size)
        if last is not None:
            return self.within(self.later * looks)._go_on(scorer, state, last)
        return self.within(looks)._begin(scorer, state)

    @property
    def size(self) -> int:
        """How many objects are looked at."""
        return self.samples + self.crossings + self.most_scored

    def within(self, most: float) -> ClimbingSearch:
        """The search that looks at about so many objects: fewer trajectories, of fewer moves a step.

        >>> few = ClimbingSearch().within(200)
        >>> few.samples + few.crossings + few.most_scored, few.observations, few.breadth
        (199, 4, 12)
        """
        if most >= self.size:
            return self
        drawn, starts = most * DRAWN, max(2, round(most**0.5 / SPARSE))
        crossed = self.crossings / max(1, self.samples + self.crossings)
        return replace(
            self,
            observations=min(self.observations, starts),
            fresh=min(self.fresh, starts // 2),
            samples=max(1, int(drawn * (1.0 - crossed))),
            crossings=int(drawn * crossed),
            most_scored=int(most - drawn),
            breadth=max(4, int(most - drawn) // (starts * STEPS)),
        )

    def _begin(self, scorer: Scoring, state: SearchState) -> Found:
        drawn = state.space.sample(self.samples, state.rng) + self._crossover(state)
        fresh = _best(drawn, scorer, self.fresh + self.observations // 2)
        starts = [*state.observed[: self.observations], *fresh]
        return self._climb(scorer, state, starts, free_scores(scorer, state, starts))

    def _go_on(self, scorer: Scoring, state: SearchState, last: Found) -> Found:
        """What was found before, its best objects' moves and fresh samples, scored anew; on from what is better."""
        space, first = cast(Moves, state.space), last.objects[: self.observations]
        near = [y for x in first for y in _some(space.moves(x, state.rng), self.breadth, state.rng)]
        starts = [*last.objects, *near, *state.space.sample(self.samples, state.rng)]
        scores = free_scores(scorer, state, starts)
        begun = len(last.objects)
        better = begun + np.flatnonzero(scores[begun:] > scores[:begun].max(initial=-np.inf))
        best = better[np.argsort(-scores[better], kind="stable")][: self.fresh]
        climbed = self._climb(scorer, state, [starts[i] for i in best.tolist()], scores[best])
        return best_distinct(climbed.objects + starts, np.concatenate([climbed.scores, scores]), state, most=64)

    def _crossover(self, state: SearchState) -> list[Any]:
        """Mixtures of good observations, where the space can make them."""
        if not isinstance(state.space, Crossover) or len(state.observed) < 2:
            return []
        parents = state.observed[: 2 * self.observations]
        pairs = state.rng.integers(len(parents), size=(self.crossings, 2)).tolist()
        children = [state.space.crossover(parents[i], parents[j], state.rng) for i, j in pairs if i != j]
        return [x for x, fine in zip(children, state.space.allowed(children).tolist(), strict=True) if fine]

    def _climb(self, scorer: Scoring, state: SearchState, starts: list[Any], scores: Vector) -> Found:
        climbed = climb_moves(scorer, state, starts, scores, self.most_steps, self.most_scored, self.breadth)
        # Every object met on the way is a candidate: the runner-up of one trajectory may be the second of a batch.
        return best_distinct(climbed.met, climbed.met_scores, state, most=64)


@dataclass(frozen=True, eq=False)
class Climbed:
    """The path of each trajectory from its start to its end, whether it rests there, and all objects met on the way."""

    paths: list[list[Any]]
    rested: NDArray[np.bool_]
    met: list[Any]
    met_scores: Vector


def climb_moves(
    scorer: Scoring,
    state: SearchState,
    starts: Sequence[Any],
    scores: Vector,
    most_steps: int,
    most_scored: float = np.inf,
    breadth: int | None = None,
) -> Climbed:
    """From each start, of these scores, to the best of its sampled moves, as long as that is strictly better.

    It ends after so many steps, or when so many objects were scored. `breadth` is how many moves of each trajectory
    are looked at in a step; by default all that the space draws.
    """
    space = cast(Moves, state.space)
    paths = [[x] for x in starts]
    scores = scores.copy()
    met, met_scores = list(starts), [scores.copy()]
    active = list(range(len(paths)))
    for _ in range(most_steps if active else 0):
        neighbours = [_some(space.moves(paths[i][-1], state.rng), breadth, state.rng) for i in active]
        flat = [x for group in neighbours for x in group]
        values = score(scorer, flat)
        ends = np.cumsum([0, *map(len, neighbours)], dtype=np.intp)
        tops = _free_tops(values, ends, flat, scores[active], state)
        met += flat
        met_scores.append(values)
        still: list[int] = []
        for i, top in zip(active, tops, strict=True):
            if top is not None:
                paths[i].append(flat[top])
                scores[i] = values[top]
                still.append(i)
        active = still
        if not active or len(met) - len(paths) >= most_scored:
            break
    rested = np.ones(len(paths), dtype=bool)
    rested[active] = False
    return Climbed(paths, rested, met, np.concatenate(met_scores))


def _some(objects: list[Any], most: int | None, rng: Generator) -> list[Any]:
    """All of the objects, or so many of them at random."""
    if most is None or len(objects) <= most:
        return objects
    return [objects[i] for i in sorted(rng.choice(len(objects), most, replace=False).tolist())]


def _free_tops(
    values: Vector, ends: NDArray[np.intp], flat: list[Any], before: Vector, state: SearchState
) -> list[int | None]:
    """The place of the best free object of each group, if that is better than before.

    Groups lie between the `ends`. Whether an object may be proposed takes longer to say than what it is worth: it is
    asked of the best one, and only where that is taken of the whole group. What is taken loses its value.
    """
    tops: list[int | None] = [None] * (len(ends) - 1)
    groups = [g for g in range(len(tops)) if ends[g] < ends[g + 1]]
    for everything in (False, True):
        best = {g: int(ends[g] + np.argmax(values[ends[g] : ends[g + 1]])) for g in groups}
        better = {g: place for g, place in best.items() if values[place] > before[g]}
        asked = [p for g, place in better.items() for p in (range(ends[g], ends[g + 1]) if everything else (place,))]
        free = dict(zip(asked, state.all_free([flat[p] for p in asked]).tolist(), strict=True)) if asked else {}
        values[[p for p, may in free.items() if not may]] = -np.inf
        for g, place in better.items():
            top = int(ends[g] + np.argmax(values[ends[g] : ends[g + 1]])) if everything else place
            tops[g] = top if free[top] and values[top] > before[g] else None
        groups = [g for g in better if tops[g] is None]
    return tops


def free_scores(scorer: Scoring, state: SearchState, objects: list[Any]) -> Vector:
    """Scores, with taken objects at the bottom: a trajectory leaves them for any free neighbour."""
    free = state.all_free(objects)
    scores = np.full(len(objects), -np.inf)
    if free.any():
        scores[free] = score(scorer, [x for x, f in zip(objects, free.tolist(), strict=True) if f])
    return scores


def score(scorer: Scoring, objects: list[Any]) -> Vector:
    """The scores, which a scorer has of one object or more."""
    return scorer.score(objects) if objects else np.zeros(0)


def _best(objects: list[Any], scorer: Scoring, most: int) -> list[Any]:
    """The objects of the highest scores."""
    return [objects[i] for i in np.argsort(-score(scorer, objects), kind="stable")[:most].tolist()]
