"""A repeat is proposed exactly where one is worth more than a new object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.scorer import Scorer
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram


def measured(noise: float, space: Any, n: int = 25) -> lw.Study:
    rng = np.random.default_rng(0)
    study = lw.Study(space, lw.RBF(), seed=0)
    x = np.linspace(0, 1, n)
    y = np.exp(-(((x - 0.5) / 0.15) ** 2)) + noise * rng.standard_normal(n)
    study.tell_many([([float(a)], float(b), noise or None) for a, b in zip(x, y, strict=True)])
    return study


def repeats(study: lw.Study, n: int) -> int:
    keys = {study.space.key(t.object) for t in study.trials}
    return sum(study.space.key(s.object) in keys for s in study.ask(n, replicates=True))


@pytest.mark.parametrize("space", [lw.Box([0.0], [1.0]), lw.Pool([[float(a)] for a in np.linspace(0, 1, 49)])])
def test_without_noise_nothing_is_measured_again(space: Any) -> None:
    assert repeats(measured(0.0, space), 3) == 0


def test_with_nothing_new_repeats_are_all_there_is_and_the_promising_come_first() -> None:
    pool = lw.Pool([[float(a)] for a in np.linspace(0, 1, 25)])
    study = measured(0.3, pool)
    found = [float(s.object[0]) for s in study.ask(3, replicates=True)]
    assert abs(found[0] - 0.5) < 0.2, found
    assert len(set(found)) == 3
    assert study.ask(replicates=False) == []


def test_good_objects_that_nobody_can_rank_are_worth_repeats() -> None:
    """Two good objects of uncertain order, and a new one that is like those known to be bad."""
    pool = lw.Pool(["aaaa", "aaab", *(f"zz{a}{b}" for a in "wxyz" for b in "wxyz")])
    study = lw.Study(pool, lw.Hamming(), initial=2)
    study.tell_many([("aaaa", 11.0, 1.5), ("aaab", 11.2, 1.5)])
    study.tell_many([(x, 0.1 * i, 0.1) for i, x in enumerate(pool.objects[2:-1])])
    (s,) = study.ask(replicates=True)
    assert s.object in {"aaaa", "aaab"}
    (s,) = study.ask()
    assert s.object == pool.objects[-1]


def test_an_exact_measurement_is_never_worth_repeating_and_an_uncertain_one_is_more() -> None:
    x = [np.array([v]) for v in np.linspace(0, 1, 12)]
    y = np.sin(5 * np.linspace(0, 1, 12))
    worth = []
    for ratio in (1e-6, 1e-3, 1e-1):
        made = fit([Gram.of(lw.RBF(0.3), x)], y, settings=FitSettings(ratios=(ratio,), learn=False))
        worth.append(Scorer.on(made, lw.LogExpectedImprovement()).score_repeats().max())
    assert worth[0] < worth[1] < worth[2]


def test_replicates_of_one_object_share_their_worth() -> None:
    rng = np.random.default_rng(0)
    x = [np.array([v]) for v in (0.1, 0.5, 0.1, 0.9, 0.5)]
    made = fit([Gram.of(lw.RBF(0.3), x)], rng.normal(size=5), settings=FitSettings(ratios=(0.1,), learn=False))
    scores = Scorer.on(made, lw.LogExpectedImprovement()).score_repeats()
    assert (scores[0], scores[1]) == (scores[2], scores[4])
