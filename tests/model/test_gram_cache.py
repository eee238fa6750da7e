"""Gram matrices taken out of one that grows are those that would be computed afresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model import scores as grams
from likewise.model.model import EVERY_EVENT_UNTIL, Data, Model
from likewise.model.scores import Gram, GramCache
from likewise.similarity.algebra import fixed
from likewise.similarity.functions import DistanceSimilarity
from likewise.similarity.kinds.sets import Equal

POINTS = list(np.random.default_rng(0).random((40, 4)))
CALLS: list[int] = []


def near(x: Any, y: Any) -> float:
    CALLS.append(1)
    return float(np.exp(-np.abs(x - y).sum()))


@dataclass(frozen=True)
class Taxicab(DistanceSimilarity):
    """A distance whose scale is left to the data."""

    lengthscale: float | None = None
    constant: float | None = None

    def encode(self, objects: Sequence[Any]) -> Any:
        return np.array(objects, dtype=float)

    def distances(self, a: Any, b: Any) -> Any:
        return np.abs(a[:, None] - b).sum(axis=2)


@given(
    st.lists(st.lists(st.integers(0, 39), min_size=1, max_size=20), min_size=1, max_size=8), st.sampled_from([7, 99])
)
@settings(max_examples=40, deadline=None)
def test_any_selection_in_any_order_is_what_it_would_be_afresh(selections: list[list[int]], most: int) -> None:
    similarities = (lw.RBF(0.3), lw.Cosine(), lw.from_function(near))
    kept = GramCache(similarities)
    with patch.object(grams, "MOST", most):
        for selection in selections:
            objects = [POINTS[i] for i in selection]
            for gram, similarity in zip(kept.of(objects), similarities, strict=True):
                afresh = Gram.of(similarity, objects)
                assert all(a is b for a, b in zip(gram.objects, objects, strict=True))
                np.testing.assert_allclose(gram.scores, afresh.scores, atol=1e-15)
                np.testing.assert_array_equal(gram.encodings, afresh.encodings)


def test_no_two_objects_are_compared_twice() -> None:
    kept = GramCache((lw.from_function(near),))
    CALLS.clear()
    for end in range(1, 41):
        kept.of(POINTS[:end])
    once = len(CALLS)
    kept.of(POINTS[10:30])
    assert len(CALLS) == once
    assert once <= 40 * 41 / 2 + 64


def test_what_is_left_to_the_data_is_settled_again_when_they_have_doubled() -> None:
    similarity = Taxicab()
    kept = GramCache((similarity,))
    kept.of(POINTS[:3])
    for size in (2, 4, 16):
        kept.settle(POINTS[:size])
        (gram,) = kept.of(POINTS[:20])
        settled = similarity.fitted(similarity.encode(POINTS[:size]))
        np.testing.assert_allclose(gram.scores, Gram.of(settled, POINTS[:20]).scores, atol=1e-15)


def test_what_settles_as_before_is_not_compared_again() -> None:
    corners = [(float(i % 2), float(i // 2 % 2)) for i in range(32)]
    similarities = (Taxicab(), lw.Parts(x=Taxicab(), kind=Equal(0.0)), lw.RBF([0.5, 0.25]))
    kept = GramCache((similarities[0], similarities[2]))
    kept.settle(corners[:8])
    first = kept.of(corners)
    kept.settle(corners[:16])
    again = kept.of(corners)
    assert again[0].similarity is first[0].similarity
    np.testing.assert_array_equal(again[1].scores, first[1].scores)
    records = [{"x": x, "kind": i % 3} for i, x in enumerate(corners)]
    kept = GramCache((similarities[1],))
    kept.settle(records[:8])
    (first_gram,) = kept.of(records)
    kept.settle(records[:16])
    assert kept.of(records)[0].similarity is first_gram.similarity


@pytest.mark.parametrize("t", [10, EVERY_EVENT_UNTIL + 3, 130])
def test_a_model_that_grew_believes_what_one_made_at_once_does(t: int) -> None:
    rng = np.random.default_rng(1)
    objects = list(rng.random((t, 4)))
    values = np.sin(4 * np.array(objects)).sum(axis=1)
    grown = Model((lw.RBF(), Taxicab()))
    for end in sorted({1, 2, 7, t - 60, t - 20, t - 1, t} & set(range(1, t + 1))):
        committee, _ = grown.committee(Data(objects[:end], values[:end], None))
    afresh, _ = Model((lw.RBF(), Taxicab())).committee(Data(list(objects), values.copy(), None))
    np.testing.assert_array_equal(committee.predict(POINTS).mean, afresh.predict(POINTS).mean)
    np.testing.assert_array_equal(committee.predict(POINTS).std, afresh.predict(POINTS).std)


def test_what_grows_as_a_whole_is_computed_once_and_as_if_afresh() -> None:
    kept = GramCache((lw.RBF(0.5),))
    kept.of(POINTS[:10])
    calls: list[int] = []
    between = lw.RBF.between

    def counted(self: lw.RBF, a: Any, b: Any) -> Any:
        calls.append(len(a))
        return between(self, a, b)

    with patch.object(lw.RBF, "between", counted):
        (grown,) = kept.of(POINTS)
    assert calls == [40]
    np.testing.assert_array_equal(grown.scores, Gram.of(lw.RBF(0.5), POINTS).scores)


def test_a_learnt_and_a_fixed_similarity_encode_objects_once_for_both() -> None:
    similarity = lw.RBF()
    committee, _ = Model((similarity, fixed(similarity))).committee(
        # So few that neither is sure.
        Data(POINTS[:6], np.array([float(np.sin(3.0 * x).sum()) for x in POINTS[:6]]), None)
    )
    assert len(committee.used) == 2
    calls: list[int] = []
    encode = lw.RBF.encode

    def counted(self: lw.RBF, objects: Any) -> Any:
        calls.append(len(objects))
        return encode(self, objects)

    with patch.object(lw.RBF, "encode", counted):
        found = committee.encode(POINTS[:7])
    assert calls == [7]
    np.testing.assert_array_equal(found[0], found[1])
