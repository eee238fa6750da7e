"""Laws of asking that hold whatever is measured."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import likewise as lw

WORDS = ["".join(word) for word in product("abcd", repeat=3)]


def told(space: Any, similarity: Any, seed: int, sign: float = 1.0, n: int = 8) -> lw.Study:
    rng = np.random.default_rng(seed)
    direction: Any = "maximize" if sign > 0 else "minimize"
    study = lw.Study(space, similarity, seed=seed, direction=direction)
    objects = list({space.key(x): x for x in space.sample(n, rng)}.values())
    study.tell_many([(x, sign * float(rng.normal())) for x in objects])
    return study


@pytest.mark.parametrize("space", [lw.Pool(WORDS), lw.Strings("abcd", length=3), lw.Box([0.0, 0.0], [1.0, 1.0])])
def test_minimising_is_maximising_the_negative(space: Any) -> None:
    similarity = lw.RBF() if isinstance(space, lw.Box) else lw.Hamming()
    for seed in range(3):
        up, down = (told(space, similarity, seed, sign) for sign in (1.0, -1.0))
        for s, t in zip(up.ask(3), down.ask(3), strict=True):
            assert space.key(s.object) == space.key(t.object)
            assert s.mean == pytest.approx(-(t.mean or 0.0), abs=1e-9)
            assert s.improvement == pytest.approx(t.improvement, abs=1e-9)


def test_a_batch_asked_at_once_is_what_is_asked_one_by_one_where_nothing_is_equal() -> None:
    rng = np.random.default_rng(0)
    pool = lw.Pool([tuple(x) for x in rng.random((300, 2)).tolist()])
    for seed in range(3):
        at_once, one_by_one = (told(pool, lw.RBF(0.3), seed) for _ in range(2))
        assert [s.object for s in at_once.ask(4)] == [one_by_one.ask()[0].object for _ in range(4)]


def height(x: Any) -> float:
    """Smooth, with its top inside: of a vector, or of a record with a choice, a float and a whole number."""
    if not isinstance(x, dict):
        return -float(np.sum((np.asarray(x) - 0.3) ** 2))
    if "solvent" not in x:
        ((branch, inside),) = x.items()
        return {"heat": 0.3, "light": 0.0}[branch] - (inside.get("T", 60.0) / 100 - 0.7) ** 2
    return {"water": 0.0, "DMF": 0.4, "THF": 0.2}[x["solvent"]] - (x["T"] / 100 - 0.7) ** 2 - 0.02 * (x["n"] - 3) ** 2


def far(space: Any, x: Any, y: Any) -> float:
    """How far two objects are apart in search coordinates; infinitely, if they differ in anything else."""
    vectors = space.to_vector([x, y])
    if isinstance(space, lw.Box):
        return float(np.abs(vectors[0] - vectors[1]).max())
    moved = space.with_vector([x, y], np.repeat(vectors[:1], 2, axis=0))
    return float(np.abs(vectors[0] - vectors[1]).max()) if space.key(moved[0]) == space.key(moved[1]) else np.inf


@pytest.mark.parametrize(
    "space",
    [
        lw.Box([0.0, 0.0], [1.0, 1.0]),
        lw.Record(solvent=["water", "DMF", "THF"], T=lw.Float(20, 120), n=lw.Int(1, 8)),
        lw.OneOf(heat=lw.Record(T=lw.Float(20, 120)), light=lw.Record(lamp=["red", "blue", "white"])),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_batch_is_what_is_asked_one_by_one_wherever_numbers_are_searched(space: Any, noise: float) -> None:
    """Searches begin at other random places, so that they end within the space's resolution of each other."""
    studies = [lw.Study(space, seed=1) for _ in range(2)]
    for study in studies:
        rng = np.random.default_rng(1)
        study.tell_many([(x, height(x) + noise * float(rng.normal())) for x in space.sample(10, rng)])
    at_once, one_by_one = studies[0].ask(4), [studies[1].ask()[0] for _ in range(4)]
    gaps = [far(space, s.object, t.object) for s, t in zip(at_once, one_by_one, strict=True)]
    assert max(gaps) < 10 * float(np.max(space.resolution)), gaps
