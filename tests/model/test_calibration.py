"""Variances are as large as errors in folds ask for, and no larger because of one object."""

from __future__ import annotations

import numpy as np

import likewise as lw


def test_one_object_that_contradicts_the_others_does_not_widen_all_intervals() -> None:
    """Corners of a square by a warp that is no kernel: leaving one out leaves a positive matrix that it contradicts."""
    places = [(0, 0), (0, 1), (0.167, 0.833), (0.5, 0.667), (0.5, 0.5), (0.833, 0.167), (1, 0), (1, 1)]
    square = [{"a": i / 6, "b": j / 6} for i in range(7) for j in range(7)]
    told = [{"a": float(a), "b": float(b)} for a, b in places]
    study = lw.Study(lw.Pool([*told, *square]))
    study.tell_many([(x, 10 * x["a"] + 4 * x["b"] * (1 - x["b"])) for x in told])
    truth = np.array([10 * x["a"] + 4 * x["b"] * (1 - x["b"]) for x in square])
    low, high = study.predict(square).interval(0.95)
    assert np.mean((low <= truth) & (truth <= high)) > 0.9
    assert np.max(high - low) < 10
