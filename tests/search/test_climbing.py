"""Climbing by moves: trajectories never go down, end where no move is better, and propose nothing that is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer
from likewise.model.model import Data, Model
from likewise.search.base import SearchState
from likewise.search.climbing import ClimbingSearch
from likewise.spaces.base import Space

SPACES: dict[str, tuple[Space, Any]] = {
    "strings": (lw.Strings("ACGT", length=6), lw.Hamming()),
    "permutations": (lw.Permutations(7), lw.Positions()),
    "subsets": (lw.Subsets(list(range(9))), lw.Dice()),
}


def prepared(name: str, t: int, seed: int) -> tuple[Scorer, SearchState]:
    """A scorer conditioned on t objects with random values, and the state to search."""
    space, similarity = SPACES[name]
    rng = np.random.default_rng(seed)
    objects = list({space.key(x): x for x in space.sample(4 * t, rng)}.values())[:t]
    values = rng.normal(size=len(objects))
    committee = Model((similarity,)).committee(Data(objects, values, None))[0]
    order = np.argsort(-values, kind="stable").tolist()
    taken = {space.key(x) for x in objects}
    scorer = Scorer.on(committee, LogExpectedImprovement())
    return scorer, SearchState(space, [objects[i] for i in order], taken, rng)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("t", "seed"), [(2, 0), (5, 1), (9, 2), (13, 3)])
def test_found_objects_are_free_distinct_of_the_space_and_in_order(name: str, t: int, seed: int) -> None:
    scorer, state = prepared(name, t, seed)
    found = ClimbingSearch(samples=40, most_scored=600).equilibria(scorer, state)
    keys = [state.space.key(x) for x in found.objects]
    assert keys
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set(state.taken)
    assert all(x in state.space for x in found.objects)
    assert np.all(np.diff(found.scores) <= 0)
    np.testing.assert_allclose(scorer.score(found.objects), found.scores, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_a_search_ends_at_an_equilibrium(name: str) -> None:
    """No single move from the best of it is better, in spaces whose moves are all tried."""
    scorer, state = prepared(name, 9, 3)
    found = ClimbingSearch(most_scored=10**6).equilibria(scorer, state)
    near: Sequence[Any] = [y for _ in range(20) for y in state.space.moves(found.objects[0], state.rng)]  # type: ignore[attr-defined]
    free = [y for y in near if state.free(y)]
    assert float(scorer.score(free).max()) <= found.scores[0] + 1e-9


def test_a_search_goes_on_where_every_step_is_taken() -> None:
    """A best observation whose neighbours have all been tried does not end the study."""
    space, similarity = lw.Strings("ab", length=4), lw.Hamming()
    study = lw.Study(space, similarity, seed=0)
    tried = []
    for _ in range(16):
        (suggestion,) = study.ask()
        tried.append(suggestion.object)
        study.tell(suggestion, float(suggestion.object.count("a")))
    assert len(set(tried)) == 16
    assert study.ask() == []
