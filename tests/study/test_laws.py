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
