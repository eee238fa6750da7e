"""Prices of similarities: what is kept is affordable, and a similarity that is left out is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.similarity import auto
from likewise.similarity.algebra import fixed

shares = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 100.0)), min_size=1, max_size=6)


@given(shares, st.floats(1.0, 100.0))
def test_what_is_kept_is_affordable_and_holds_the_weightiest(pairs: list[tuple[float, float]], seconds: float) -> None:
    weights, costs = [w for w, _ in pairs], [c for _, c in pairs]
    kept = auto.affordable(weights, costs, seconds)
    assert int(np.argmax(weights)) in kept
    if len(kept) > 1:
        assert sum(costs[k] for k in kept) <= seconds
    spent = sum(costs[k] for k in kept)
    left = [k for k in range(len(pairs)) if k not in kept and weights[k] >= auto.LEAST]
    assert all(spent + costs[k] > seconds for k in left)


def test_a_similarity_says_its_price_whatever_it_is_wrapped_in() -> None:
    dear = lw.Tanimoto("maccs")
    assert dear.price > 10 * lw.Tanimoto().price > 0
    assert fixed(dear).price == (2.0 * dear).price == lw.warped(dear, 2.0).price == dear.price
    assert (dear + lw.Descriptors()).price == dear.price + lw.Descriptors().price
    assert lw.Hamming().price == lw.from_function(lambda x, y: 1.0).price == 0


@pytest.mark.parametrize("objects", [1000, 100_000])
def test_reading_is_paid_once_by_molecules_alone(objects: int) -> None:
    assert auto.encoding_seconds([lw.Hamming()], objects) == ([0.0], auto.SECONDS)
    assert auto.encoding_seconds([lw.Tanimoto()] * 3, objects)[1] == auto.SECONDS - objects * 160e-6 / 2
