"""Gradient trajectories in continuous spaces, from the observations and from fresh samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from likewise.acquisition.scoring import Scoring
from likewise.search.allowance import allowance
from likewise.search.base import Found, Search, SearchState, best_distinct
from likewise.search.newton import climb_curved
from likewise.search.places import rests_of
from likewise.search.trajectories import Indices, Trajectories, ascend, distinct
from likewise.similarity import effort
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.encodings.arrays import distinct as distinct_keys
from likewise.spaces.base import Continuous, PartlyContinuous, Space, at_vectors

# So many of the objects that are too close to others are moved aside, in so many directions and by so many times the
# space's resolution.
ASIDE, DIRECTIONS, DISTANCES = 3, 8, (2.0, 6.0, 20.0)

# A trajectory keeps a matrix of so many rows at most.
MOST_CURVED = 50

# Where little may be looked at: the share that is drawn at random, and about how many steps the trajectories take.
DRAWN, STEPS = 0.3, 10


@dataclass(frozen=True)
class GradientSearch(Search):
    """Climbs from the best observations and from the best of fresh samples, all together.

    After a few steps the most promising trajectories go on to their ends; `survivors=None` lets all of them.
    """

    observations: int = 40
    samples: int = 512
    fresh: int = 12
    scouting: int = 8
    survivors: int | None = 16
    most_steps: int = 60
    tolerance: float = 1e-3

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        few = self.within(allowance(scorer), _space(state).dimension)
        if last is None:
            return few._follow(scorer, state, few._starts(scorer, state))
        fresh = replace(few, observations=0, samples=few.samples // 4)._starts(scorer, state)
        again = last.objects[: min(8, few.observations)]
        return few._follow(scorer, state, np.vstack([_space(state).to_vector(again), fresh]))

    def within(self, most: float, dimension: int) -> GradientSearch:
        """The search that looks at about so many objects, of which differences take two for each number of a gradient.

        >>> few = GradientSearch().within(300, dimension=2)
        >>> few.samples, few.observations, few.fresh, few.most_steps
        (72, 2, 2, 10)
        """
        if most == np.inf:
            return self
        drawn, steps = most * DRAWN, most * (1.0 - DRAWN) / (2 * dimension + 1)
        starts = max(2, min(self.observations + self.fresh, int(steps / STEPS)))
        return replace(
            self,
            observations=min(self.observations, starts - starts // 2),
            samples=min(self.samples, max(1, int(drawn / 1.25))),
            fresh=min(self.fresh, starts // 2),
            survivors=None,
            most_steps=min(self.most_steps, max(1, int(steps / starts))),
        )

    def thorough(self) -> Search:
        return replace(self, survivors=None)

    def _starts(self, scorer: Scoring, state: SearchState) -> Matrix:
        """The best observations, and the best of random samples and of steps around the best observation."""
        space = _space(state)
        few = list(state.observed[: self.observations])
        starts = space.to_vector(few) if few else np.zeros((0, space.dimension))
        drawn = space.to_vector(state.space.sample(self.samples, state.rng))
        if len(state.observed):
            best = space.to_vector(list(state.observed[:1]))
            reach = np.exp(state.rng.uniform(np.log(1e-3), np.log(0.3), (self.samples // 4, 1)))
            near = best + reach * state.rng.standard_normal((self.samples // 4, space.dimension))
            drawn = np.vstack([drawn, space.project(near)])
        scores = allowed_scores(scorer.score, state.space, space.from_vector(drawn))
        return np.vstack([starts, drawn[np.argsort(-scores, kind="stable")[: self.fresh]]])

    def _follow(self, scorer: Scoring, state: SearchState, starts: Matrix) -> Found:
        if self.survivors is not None and len(starts) > self.survivors:
            scouts = climb(scorer, _space(state), starts, most_steps=self.scouting)
            apart = distinct(scouts.vectors, scouts.scores, self.tolerance)
            starts = scouts.vectors[apart[: self.survivors]]
        ends = climb(scorer, _space(state), starts, most_steps=self.most_steps, curved=True)
        kept = distinct(ends.vectors, ends.scores, self.tolerance)
        objects = _space(state).from_vector(ends.vectors[kept])
        # Where every trajectory ends at what was tried already, where they began and what is beside is what is left.
        objects += _beside(objects, state) + _space(state).from_vector(starts[-self.fresh :])
        # Rounding whole numbers moves an equilibrium off its peak; the score of what is proposed is what counts.
        scores = allowed_scores(scorer.score, state.space, objects)
        return best_distinct(objects, scores, state)


def climb(
    scorer: Scoring,
    space: Continuous | PartlyContinuous,
    starts: Matrix,
    *,
    of: Sequence[Any] = (),
    most_steps: int = 60,
    curved: bool = False,
) -> Trajectories:
    """Trajectories of a scorer; in a space that is continuous in part, `of` are the objects the starts belong to.

    `curved` are those that learn the curvature on their way, which pays where they go to their ends.
    """
    where = cast(Space, space)

    def at(vectors: Matrix, which: Indices) -> list[Any]:
        return at_vectors(space, vectors, [of[i] for i in which.tolist()] if len(of) else ())

    def linearise(vectors: Matrix, which: Indices) -> tuple[Vector, Callable[[], Matrix]]:
        objects = at(vectors, which)
        effort.count(objects=len(objects))
        scores, gradient = scorer.linearise(objects)
        if where.where is not None:
            scores = np.where(where.allowed(objects), scores, -np.inf)
        return scores, lambda: space.pull(vectors, gradient())

    if not curved or space.dimension > MOST_CURVED:
        return ascend(linearise, starts, space.project, most_steps=most_steps)
    settle = (lambda vectors, which: space.to_vector(at(vectors, which))) if where.stepped else None
    rests = rests_of(where, of) if len(of) else ()
    kinds = distinct_keys(rests)[1] if rests else None
    return climb_curved(linearise, starts, space.project, most_steps=most_steps, settle=settle, kinds=kinds)


def _beside(objects: Sequence[Any], state: SearchState) -> list[Any]:
    """Of objects that are too close to tried ones, the best few moved aside in several directions, near and far."""
    close = np.flatnonzero(state.places.close(objects))[:ASIDE].tolist()
    if not close:
        return []
    space = _space(state)
    vectors = space.to_vector([objects[i] for i in close])
    away = state.rng.standard_normal((DIRECTIONS, *vectors.shape))
    away /= np.abs(away).max(axis=2, keepdims=True)
    steps = [vectors + distance * np.max(state.space.resolution) * away for distance in DISTANCES]
    return space.from_vector(space.project(np.concatenate(steps).reshape(-1, space.dimension)))


def _space(state: SearchState) -> Continuous:
    return cast(Continuous, state.space)


def allowed_scores(score: Callable[[Sequence[Any]], Vector], space: Space, objects: Sequence[Any]) -> Vector:
    effort.count(objects=len(objects))
    scores = score(objects)
    return scores if space.where is None else np.where(space.allowed(objects), scores, -np.inf)
