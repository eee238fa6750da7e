"""Chances and gains of a mixture on the user's scale."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.model.prediction import Mixture
from likewise.model.transforms import Bounded, Ranked, Standardised, Tamed, Transform, YeoJohnson

VALUES = np.exp(np.linspace(-1.0, 3.0, 30))


@pytest.mark.parametrize(
    "transform", [Standardised.of(VALUES), YeoJohnson.of(VALUES), Ranked.of(VALUES), Tamed.of(VALUES)]
)
@pytest.mark.parametrize("best", [-5.0, 6.0, 19.0, 25.0])
def test_the_gain_is_the_mean_of_what_lies_beyond(transform: Transform, best: float) -> None:
    rng, n = np.random.default_rng(0), 400_000
    found = Mixture(np.array([0.3, 0.7]), np.array([[0.2], [1.0]]), np.array([[0.01], [0.8]]), 9.0, transform)
    part = rng.random(n) < 0.3
    z = np.where(part, 0.2, 1.0) + np.where(part, 0.01, 0.8) * rng.standard_t(9.0, n)
    drawn = np.maximum(np.asarray(transform.backward(z)) - best, 0.0)
    gain = float(found.gain(best)[0])
    assert gain == pytest.approx(float(drawn.mean()), abs=5.0 * float(drawn.std()) / np.sqrt(n) + 2e-3 * gain)


def test_no_gain_is_larger_than_a_bound_allows() -> None:
    transform = Bounded(Standardised(50.0, 20.0), 0.0, 100.0)
    found = Mixture(np.ones(1), np.array([[9.0, 2.0]]), np.array([[1.0, 1.0]]), 9.0, transform)
    assert np.all(found.gain(98.0) <= 2.0 + 1e-9)
    assert found.gain(98.0)[0] == pytest.approx(2.0, rel=1e-3)
    assert found.gain(100.0).tolist() == [0.0, 0.0]


def test_below_the_best_where_values_are_negated() -> None:
    up = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)), 9.0)
    down = Mixture(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)), 9.0, sign=-1.0)
    assert down.gain(-0.5)[0] == up.gain(0.5)[0]
