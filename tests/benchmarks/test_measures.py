"""Regret and ratios, as the benchmarks define them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.measures import Measures, best_peer, bootstrap, eligible, geometric_mean, measures, paired, ratio
from benchmarks.tables import shared_means

HEADER = {"direction": "maximize", "best": 10.0, "median": 2.0, "top": 9.0, "initial": 2}
values = st.lists(st.floats(-5.0, 10.0), min_size=4, max_size=12)


def of(*runs: list[float], **changes: Any) -> Measures:
    lines = {str(seed): {"values": run, "seconds": 0.1, "cpu_seconds": 0.1} for seed, run in enumerate(runs)}
    return measures(HEADER | changes, lines)


def test_regret_is_one_at_the_median_and_nought_at_the_best() -> None:
    curve = of([2.0, 1.0, 6.0, 5.0, 10.0]).curves[0]
    np.testing.assert_allclose(curve, [1.0, 1.0, 0.5, 0.5, 0.0])


def test_the_initial_objects_do_not_count() -> None:
    found = of([2.0, 2.0, 6.0, 10.0])
    assert found.auc[0] == pytest.approx(0.25)
    assert found.found[0] == 1


@given(values)
def test_regret_falls_and_minimising_mirrors_it(run: list[float]) -> None:
    ours = of(run)
    assert np.all(np.diff(ours.curves[0]) <= 0)
    mirrored = of([-v for v in run], direction="minimize", best=-10.0, median=-2.0, top=-9.0)
    np.testing.assert_array_equal(mirrored.curves, ours.curves)
    np.testing.assert_array_equal(mirrored.found, ours.found)


@given(values, values)
def test_ratios_are_inverse_to_each_other(a: list[float], b: list[float]) -> None:
    ours, theirs = of(a), of(b)
    assert ratio(ours, theirs) * ratio(theirs, ours) == pytest.approx(1.0)
    assert ratio(ours, ours) == 1.0


def test_only_seeds_that_both_have_are_paired() -> None:
    a, b = paired(of([2.0, 2.0, 2.0], [2.0, 2.0, 10.0]), of([2.0, 2.0, 6.0]))
    assert (a.tolist(), b.tolist()) == ([1.0], [0.5])


def test_the_interval_of_a_difference_holds_it() -> None:
    rng = np.random.default_rng(0)
    b = rng.normal(size=40)
    a = b + 1.0 + 0.1 * rng.normal(size=40)
    low, high = bootstrap(a, b)
    assert low < np.mean(a - b) < high
    assert high - low == pytest.approx(2 * 1.645 * 0.1 / np.sqrt(40), rel=0.3)


def runs(*reached: float) -> Measures:
    """A run per seed that reaches this value at once after the initial objects."""
    return of(*[[2.0, 2.0, value] for value in reached])


def test_the_best_peer_is_the_hardest_on_shared_seeds() -> None:
    # tpe has the lower mean over its own seeds, gp over the five that likewise has too.
    table = {"likewise": runs(*[9.0] * 5), "tpe": runs(*[6.0] * 5, *[10.0] * 15), "gp": runs(*[7.0] * 5)}
    assert table["tpe"].auc.mean() < table["gp"].auc.mean()
    assert best_peer(table, ["tpe", "gp", "absent"]) == "gp"
    assert best_peer(table, ["absent"]) is None
    assert eligible(table, ["tpe", "gp", "absent"]) == ["tpe", "gp"]
    assert shared_means(table["likewise"], table["tpe"]) == "0.1250 / 0.5000 (5)"


def test_peers_with_few_shared_seeds_are_the_best_only_among_themselves() -> None:
    table = {"likewise": runs(*[9.0] * 5), "lucky": runs(10.0, 10.0), "random": runs(*[3.0] * 5)}
    assert best_peer(table, ["lucky", "random"]) == "random"
    assert best_peer(table, ["lucky"]) == "lucky"
    del table["likewise"]
    assert best_peer(table, ["lucky", "random"]) == "lucky"


def test_the_geometric_mean_of_a_half_and_two_is_one() -> None:
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
