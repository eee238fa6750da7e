"""Climbing: the paper's trajectories where there is no gradient, from neighbour to neighbour.

From every observation, the best ones first when there are many, and from fresh samples, each trajectory goes to the
best of its sampled moves as long as that is strictly better. All advance together: one batched comparison a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scoring import Scoring
from likewise.search.base import Found, Search, SearchState, best_distinct
from likewise.similarity.base import Vector
from likewise.spaces.base import Crossover, Moves


@dataclass(frozen=True)
class ClimbingSearch(Search):
    """Climbs by a space's moves."""

    observations: int = 10
    samples: int = 200
    fresh: int = 6
    crossings: int = 60
    most_steps: int = 40
    most_scored: int = 6_000

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        if last is not None:
            drawn = state.space.sample(self.samples // 4, state.rng)
            return self._climb(scorer, state, last.objects[:8] + _best(drawn, scorer, self.fresh))
        drawn = state.space.sample(self.samples, state.rng) + self._crossover(state)
        fresh = _best(drawn, scorer, self.fresh + self.observations // 2)
        return self._climb(scorer, state, [*state.observed[: self.observations], *fresh])

    def _crossover(self, state: SearchState) -> list[Any]:
        """Mixtures of good observations, where the space can make them."""
        if not isinstance(state.space, Crossover) or len(state.observed) < 2:
            return []
        parents = state.observed[: 2 * self.observations]
        pairs = state.rng.integers(len(parents), size=(self.crossings, 2)).tolist()
        made = [state.space.crossover(parents[i], parents[j], state.rng) for i, j in pairs if i != j]
        return [x for x, fine in zip(made, state.space.allowed(made).tolist(), strict=True) if fine]

    def _climb(self, scorer: Scoring, state: SearchState, starts: list[Any]) -> Found:
        climbed = climb_moves(scorer, state, starts, self.most_steps, self.most_scored)
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
    scorer: Scoring, state: SearchState, starts: Sequence[Any], most_steps: int, most_scored: float = np.inf
) -> Climbed:
    """From each start to the best of its sampled moves, as long as that is strictly better."""
    space = cast(Moves, state.space)
    paths = [[x] for x in starts]
    scores = _free_scores(scorer, state, list(starts))
    met, met_scores = list(starts), [scores.copy()]
    active = list(range(len(paths)))
    for _ in range(most_steps if active else 0):
        neighbours = [space.moves(paths[i][-1], state.rng) for i in active]
        flat = [x for group in neighbours for x in group]
        values = scorer.score(flat) if flat else np.zeros(0)
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


def _free_tops(
    values: Vector, ends: NDArray[np.intp], flat: list[Any], before: Vector, state: SearchState
) -> list[int | None]:
    """The place of the best free object of each group, if that is better than before.

    Groups lie between the `ends`. Whether an object may be proposed takes longer to say than what it is worth: it is
    asked of the best one, and only where that is taken of the whole group. What is taken loses its value.
    """
    tops: list[int | None] = [None] * (len(ends) - 1)
    groups = [g for g in range(len(tops)) if ends[g] < ends[g + 1]]
    for whole in (False, True):
        best = {g: int(ends[g] + np.argmax(values[ends[g] : ends[g + 1]])) for g in groups}
        better = {g: place for g, place in best.items() if values[place] > before[g]}
        asked = [p for g, place in better.items() for p in (range(ends[g], ends[g + 1]) if whole else (place,))]
        free = dict(zip(asked, state.all_free([flat[p] for p in asked]).tolist(), strict=True)) if asked else {}
        values[[p for p, may in free.items() if not may]] = -np.inf
        for g, place in better.items():
            top = int(ends[g] + np.argmax(values[ends[g] : ends[g + 1]])) if whole else place
            tops[g] = top if free[top] and values[top] > before[g] else None
        groups = [g for g in better if tops[g] is None]
    return tops


def _free_scores(scorer: Scoring, state: SearchState, objects: list[Any]) -> Vector:
    """Scores, with taken objects at the bottom: a trajectory leaves them for any free neighbour."""
    free = state.all_free(objects)
    scores = np.full(len(objects), -np.inf)
    if free.any():
        scores[free] = scorer.score([x for x, f in zip(objects, free.tolist(), strict=True) if f])
    return scores


def _best(objects: list[Any], scorer: Scoring, most: int) -> list[Any]:
    """The objects of the highest scores."""
    return [objects[i] for i in np.argsort(-scorer.score(objects), kind="stable")[:most].tolist()]
