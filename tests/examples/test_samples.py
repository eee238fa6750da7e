"""Samples as objects: transport against SciPy, POT and Gaussians."""

from __future__ import annotations

import numpy as np
import pytest
from examples.similarities.samples import SampleWasserstein, SlicedWasserstein
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from likewise.errors import SimilarityError
from likewise.similarity.kinds.gaussians import Gaussian, Wasserstein2
from likewise.testing.similarities import check_similarity

numbers = st.lists(st.floats(-5, 5), min_size=1, max_size=12)


def squared(x: object, y: object) -> float:
    S = SampleWasserstein()
    return float(S.distances(S.encode([x]), S.encode([y]))[0, 0])


@given(numbers, numbers)
@settings(deadline=None)
def test_one_dimension_is_the_pairing_of_sorted_repeats(x: list[float], y: list[float]) -> None:
    """Repeating every draw changes no distribution; at equal sizes the sorted samples are paired."""
    pairs = np.sort(np.repeat(x, len(y))), np.sort(np.repeat(y, len(x)))
    assert squared(x, y) == pytest.approx(np.mean((pairs[0] - pairs[1]) ** 2), abs=1e-9)
    assert squared(x, y) == pytest.approx(squared(y, x), abs=1e-12)
    assert squared(x, x[::-1]) == 0.0


@given(numbers, numbers, st.floats(-3, 3))
@settings(deadline=None)
def test_scipys_first_order_distance_is_a_lower_bound_that_a_shift_attains(
    x: list[float], y: list[float], shift: float
) -> None:
    from scipy.stats import wasserstein_distance

    assert wasserstein_distance(x, y) ** 2 <= squared(x, y) + 1e-9
    moved = [v + shift for v in x]
    assert squared(x, moved) == pytest.approx(wasserstein_distance(x, moved) ** 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_several_dimensions_are_the_best_assignment(seed: int) -> None:
    pytest.importorskip("ot")
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)) + 1.0
    costs = np.sum((x[:, None] - y[None]) ** 2, axis=2)
    assert squared(x, y) == pytest.approx(costs[linear_sum_assignment(costs)].mean())
    assert squared(x, np.repeat(y, 2, axis=0)) == pytest.approx(squared(x, y))


def test_many_samples_come_near_the_closed_form() -> None:
    p, q = Gaussian(0.0, 1.0), Gaussian(1.5, 2.5)
    x, y = (g.sample(20_000, np.random.default_rng(i)) for i, g in enumerate((p, q)))
    exact = 20.0 - Wasserstein2(constant=20.0)(p, q)
    assert squared(x, y[:15_000]) == pytest.approx(exact, rel=0.05)
    assert 20.0 - SlicedWasserstein(constant=20.0, quantiles=500)(x, y) == pytest.approx(exact, rel=0.05)


def test_sliced_is_the_mean_over_directions() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 3)), rng.normal([1.0, 0.0, 2.0], size=(64, 3))
    S = SlicedWasserstein(directions=5)
    found = S.distances(S.encode([x]), S.encode([y]))[0, 0]
    assert found == pytest.approx(np.mean([squared(x @ u, y @ u) for u in S._directions(3).T]))


LINES = [np.random.default_rng(i).normal(size=5 + i) + i for i in range(5)]
CLOUDS = [np.random.default_rng(i).normal(size=(5 + i, 2)) + 0.3 * i for i in range(5)]


@pytest.mark.parametrize("similarity", [SampleWasserstein(), SampleWasserstein(constant=1e3), SlicedWasserstein()])
@pytest.mark.parametrize("objects", [LINES, CLOUDS, [x[:5] for x in LINES]])
def test_laws_of_similarities(similarity, objects) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("ot")
    check_similarity(similarity, objects, wrong=["x", [], [np.nan], np.zeros((2, 3)), np.zeros((2, 2, 2)), 3.0])


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SimilarityError, match="directions, 1 or more, not 0"):
        SlicedWasserstein(directions=0)
    with pytest.raises(SimilarityError, match="positive lengthscale"):
        SampleWasserstein(lengthscale=-1.0)
