"""Scores that are distances are refused where they come in; scores of zero are no reason to crash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model.fit import fit
from likewise.model.scores import Gram

DISTANCES = [lambda a, b: abs(a - b), lambda a, b: float(a != b), lambda a, b: abs(a - b) + 1e-9]


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=20)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True))
def test_a_distance_is_refused(distance, objects):
    with pytest.raises(lw.SimilarityError, match=r"looks like a distance: S\(.*\) = .* use exp"):
        Gram.of(lw.from_function(distance), objects)
    first = Gram.of(lw.from_function(distance), objects[:1])
    with pytest.raises(lw.SimilarityError, match="looks like a distance"):
        first.grow(objects[1:])


def test_a_matrix_of_distances_is_refused():
    with pytest.raises(lw.SimilarityError, match=r"S\('a', 'b'\) = 2, but S\('a', 'a'\) = 0, .* exp"):
        lw.Precomputed(["a", "b"], [[0.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "similarity",
    [
        lambda a, b: 0.0,
        lambda a, b: 1e-320,
        lambda a, b: float(a * b > 0),
        lambda a, b: float(a == b == 1),
        lw.Linear(),
        lw.Cosine(),
    ],
)
@pytest.mark.parametrize("objects", [[0], [0, 1], [0, 1, 2], [0, 0, 1, 3]])
def test_scores_of_zero_do_not_crash(similarity, objects):
    values = np.arange(len(objects), dtype=float)
    given = similarity if isinstance(similarity, lw.Similarity) else lw.from_function(similarity)
    committee = fit([Gram.of(given, objects)], values)
    found = committee.predict([0, 1, 5])
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.std).all()
    post = lw.condition(given, objects, values)
    assert np.isfinite(post.mean([0, 1, 5])).all()
