"""What is closer than a space can set is one object: found as by comparing all pairs, and never suggested beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.search import batch
from likewise.search.base import NearDuplicates
from likewise.spaces.base import RESOLUTION

BOX = lw.Box([0.0, 1.0, 0.0], [1.0, 100.0, 5000.0], log=[1], integer=[2])
RECORD = lw.Record(solvent=["water", "DMF"], T=lw.Box(20.0, 120.0), n=lw.Box(0, 5000, integer=[0]))


def crowded(space: Any, seed: int, n: int = 30) -> list[Any]:
    """Objects many of which differ by about the resolution."""
    rng = np.random.default_rng(seed)
    seeds = space.sample(4, rng)
    vectors = space.to_vector([seeds[i] for i in rng.integers(4, size=n)])
    moved = space.project(vectors + rng.uniform(-1.5, 1.5, vectors.shape) * RESOLUTION)
    chosen = space.sample(n, rng)
    return space.with_vector(chosen, moved) if isinstance(space, lw.Record) else space.from_vector(moved)


def one(space: Any, x: Any, y: Any) -> bool:
    gap = np.abs(space.to_vector([x]) - space.to_vector([y]))[0]
    whole = np.broadcast_to(np.asarray(space.resolution) == 0, gap.shape)
    same = not isinstance(space, lw.Record) or x["solvent"] == y["solvent"]
    return bool(same and np.all(gap <= np.where(whole, 1e-12, RESOLUTION * (1 + 1e-9))))


@pytest.mark.parametrize("space", [BOX, RECORD])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_close_is_close_to_any(space: Any, seed: int) -> None:
    objects, others = crowded(space, seed), crowded(space, seed + 1) + crowded(space, seed, 5)
    expected = [any(one(space, x, y) for y in objects) for x in others]
    assert NearDuplicates.of(space, objects).close(others).tolist() == expected


@pytest.mark.parametrize("space", [BOX, RECORD])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_objects_apart_are_the_first_of_their_kind(space: Any, seed: int) -> None:
    objects = crowded(space, seed)
    kept: list[int] = []
    for i, x in enumerate(objects):
        if not any(one(space, x, objects[j]) for j in kept):
            kept.append(i)
    assert NearDuplicates.of(space).apart(objects) == kept


def test_spaces_without_coordinates_have_no_close_objects() -> None:
    pool = lw.Pool(["a", "b"])
    assert NearDuplicates.of(pool, ["a"]).close(["a", "b"]).tolist() == [False, False]
    assert NearDuplicates.of(pool, ["a"]).apart(["a", "b"]) == [0, 1]


@pytest.mark.parametrize(("space", "n"), [(lw.Box([0.0], [1.0]), 1), (lw.Box([0.0], [1.0]), 5), (RECORD, 3)])
def test_no_suggestion_is_closer_than_the_resolution_to_what_was_tried(space: Any, n: int) -> None:
    """A noisy objective with one narrow peak, which draws every suggestion to itself."""
    rng, tried = np.random.default_rng(n), []
    study = lw.Study(space, seed=n)
    for _ in range(15 // n if space is not RECORD else 3):
        for s in study.ask(n):
            vector = space.to_vector([s.object])[0]
            assert not NearDuplicates.of(space, tried).close([s.object])[0], s.object
            tried.append(s.object)
            study.tell(s, -float(np.abs(vector - 0.4).sum()) + 0.1 * rng.standard_normal())


@pytest.mark.parametrize("strategy", [lw.Sequential(), lw.TwoStage(), lw.TopScore(), lw.Thompson()])
@pytest.mark.parametrize("space", [lw.Box([0.0], [1.0]), lw.Record(solvent=["water", "DMF"], T=lw.Box(20.0, 120.0))])
def test_batches_are_filled_by_searching_on(space: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function with one peak has one equilibrium; the others are not random samples."""
    filled: list[int] = []
    fill = batch.fill_up
    monkeypatch.setattr(
        batch, "fill_up", lambda picks, n, state: (filled.append(n - len(picks)), fill(picks, n, state))[1]
    )
    study = lw.Study(space, seed=0, strategy=strategy)
    for x in space.sample(8, np.random.default_rng(0)):
        study.tell(x, -float(np.square(space.to_vector([x])[0] - 0.4).sum()))
    assert len(study.ask(5)) == 5
    assert sum(filled) == 0


def test_a_box_whose_places_are_used_up_is_not() -> None:
    """What the space cannot set apart is still proposed when there is nothing else."""
    study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(0.2), seed=0)
    study.tell_many([([float(x)], float(x)) for x in np.linspace(0, 1, 700)])
    assert len(study.ask(2)) == 2
