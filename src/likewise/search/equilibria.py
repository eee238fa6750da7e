"""The paper's trajectories: one from every observation, to the point where it rests, equi(x_i).

- Where the space has numbers and the similarity gradients, x ← x + ∇u(x) in the object's own numbers and units, each
  step projected onto the space.
- Where the space has moves, from neighbour to neighbour as long as that is better, and off measured objects at once.
- Where objects can only be listed or drawn, each is every other's neighbour: the trajectories end at the best free
  objects, the best observation's at the best of them, the second's at the second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scorer
from likewise.search.base import Search, SearchState, best_distinct
from likewise.search.choose import choose_search
from likewise.search.climbing import climb_moves, free_scores
from likewise.search.trajectories import Indices, Step, ascend, distinct, iterate
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Enumerable, Moves, OwnNumbers, Space

# The paper names no end of its iteration: a trajectory has at most so many steps.
STEPS = 200
# As shares of the range of each number: a trajectory rests when it moves by less, and ends that are closer are one.
REST, SAME = 1e-10, 1e-4


@dataclass(frozen=True, eq=False)
class Followed:
    """Trajectories, one from each start: where each went, whether it came to rest, and the distinct ends, best first.

    Paths are whole where they were asked for, and otherwise the start and the end.
    """

    paths: list[list[Any]]
    converged: NDArray[np.bool_]
    equilibria: list[Any]


def follow(
    scorer: Scorer,
    state: SearchState,
    starts: Sequence[Any],
    step: Step,
    *,
    search: Search | None = None,
    whole: bool = False,
) -> Followed:
    """The trajectories of a score from these starts, in the way that suits the space.

    `search` is that of a pool, where it is at hand; `whole` asks for whole paths.
    """
    if has_own_numbers(state.space, differentiable=scorer.committee.differentiable):
        return _by_gradients(scorer, state, starts, step, whole)
    if isinstance(state.space, Moves) and not isinstance(state.space, Enumerable):
        climbed = climb_moves(scorer, state, starts, free_scores(scorer, state, list(starts)), STEPS)
        ends = [path[-1] for path in climbed.paths]
        return Followed(climbed.paths, climbed.rested, _different(scorer, state, ends))
    return _by_listing(scorer, state, starts, search or choose_search(state.space, differentiable=False))


def has_own_numbers(space: Space, *, differentiable: bool) -> bool:
    """Whether trajectories follow gradients: whole numbers do not, as a step below one half would be undone."""
    return differentiable and isinstance(space, OwnNumbers) and not space.stepped


def _by_gradients(scorer: Scorer, state: SearchState, starts: Sequence[Any], step: Step, whole: bool) -> Followed:
    space = cast(OwnNumbers, state.space)
    visited: list[Matrix] = []
    # Those of the last projection, which are compared next.
    objects: list[Any] = []

    def linearise(numbers: Matrix, which: Indices) -> tuple[Vector, Callable[[], Matrix]]:
        return scorer.linearise(objects)

    def project(numbers: Matrix) -> Matrix:
        objects[:] = space.from_numbers(numbers)
        return space.to_numbers(objects)

    begin = space.to_numbers(list(starts))
    visit, rest = visited.append if whole else None, REST * space.spans
    if step == "unit":
        ended = iterate(linearise, begin, project, most_steps=STEPS, tolerance=rest, visit=visit)
    else:
        # The first step is the printed one; as it has to raise u, none is too long.
        options: dict[str, Any] = {"most_steps": STEPS, "tolerance": rest, "visit": visit}
        ended = ascend(linearise, begin, project, first=1.0, largest=np.inf, **options)
    ends = space.from_numbers(ended.vectors)
    paths = _paths(space, visited) if whole else [[x, y] for x, y in zip(starts, ends, strict=True)]
    allowed = np.flatnonzero(state.space.allowed(ends))
    apart = distinct(ended.vectors[allowed] / space.spans, ended.scores[allowed], SAME)
    return Followed(paths, ended.converged, [ends[i] for i in allowed[apart].tolist()])


def _paths(space: OwnNumbers, visited: list[Matrix]) -> list[list[Any]]:
    """The objects along each trajectory, up to the last that moved."""
    places = np.stack(visited, axis=1)
    moving = np.any(np.diff(places, axis=1) != 0, axis=2)
    steps = [int(row.nonzero()[0][-1]) + 1 if row.any() else 0 for row in moving]
    return [space.from_numbers(path[: last + 1]) for path, last in zip(places, steps, strict=True)]


def _by_listing(scorer: Scorer, state: SearchState, starts: Sequence[Any], search: Search) -> Followed:
    best = search.equilibria(scorer, state).objects[: len(starts)]
    rank = np.argsort(np.argsort(-scorer.score(list(starts)), kind="stable"), kind="stable").tolist()
    paths = [[x, best[i]] if i < len(best) else [x] for x, i in zip(starts, rank, strict=True)]
    return Followed(paths, np.ones(len(paths), dtype=bool), best)


def _different(scorer: Scorer, state: SearchState, ends: list[Any]) -> list[Any]:
    """The different ends, best first, without those that are taken."""
    return best_distinct(ends, scorer.score(ends), state).objects if ends else []
