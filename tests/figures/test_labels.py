"""Marks are moved apart, and no further than it takes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.figures.figures import apart

points = st.integers(1, 9).flatmap(
    lambda n: arrays(float, (n, 2), elements=st.floats(-3, 3).map(lambda x: round(x, 3)))
)


def _closest(places: np.ndarray) -> float:
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float((distances + 1e9 * np.eye(len(places))).min())


@given(points)
def test_no_two_marks_cover_each_other(found: np.ndarray) -> None:
    assert _closest(apart(found, 0.5)) > 0.45


@given(points)
def test_what_is_far_apart_stays(found: np.ndarray) -> None:
    if _closest(found) >= 0.5:
        assert np.array_equal(apart(found, 0.5), found)
    # Pushing is mutual, so that the middle of all stays where it is.
    assert np.allclose(apart(found, 0.5).mean(axis=0), found.mean(axis=0), atol=1e-6)
