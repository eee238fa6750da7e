"""Records of many rows: what recurs in a field is compared once, and nothing else changes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.similarity.encoding import FEW, MANY, recurring, take
from likewise.similarity.records import Parts
from likewise.similarity.same import Same
from likewise.similarity.strings import Hamming
from likewise.similarity.vectors import RBF, Linear
from likewise.spaces.pool import Pool

N = MANY + 500


def grid(seed: int = 0) -> list[dict[str, Any]]:
    """A grid's rows, with one number that never recurs."""
    rng = np.random.default_rng(seed)
    heats, colours, codes = (
        rng.choice([20.0, 40.0, 90.0], N),
        rng.choice(["red", "blue"], N),
        rng.choice(["ab", "cd"], N),
    )
    rows = zip(heats.tolist(), colours.tolist(), codes.tolist(), rng.random(N).tolist(), strict=True)
    return [dict(zip(("heat", "colour", "code", "dose"), row, strict=True)) for row in rows]


@pytest.mark.parametrize("how", ["product", "sum"])
@pytest.mark.parametrize("weights", [None, [0.3, 2.0, 1.0, 0.7]])
@pytest.mark.parametrize("otherwise", [0.0, 0.5])
def test_the_scores_of_many_rows_are_those_of_few(
    how: Literal["product", "sum"], weights: list[float] | None, otherwise: float
) -> None:
    rows = grid()
    parts = Parts(how, weights, heat=RBF(0.5), colour=Same(otherwise), code=Hamming(), dose=RBF(0.5))
    seen = Pool(rows).view(parts)
    many, few = seen.encode(rows), seen.encode(rows[:7])
    in_pieces = np.vstack([seen.between(take(many, slice(i, i + 300)), few) for i in range(0, N, 300)])
    np.testing.assert_allclose(seen.between(many, few), in_pieces, rtol=1e-13, atol=1e-300)


def test_negative_scores_are_multiplied_as_they_are() -> None:
    parts = Parts("product", [1.0, 0.5], x=Linear(), colour=Same())
    rows = [{"x": [-1.0 if i % 2 else 2.0], "colour": "ab"[i % 3 == 0]} for i in range(N)]
    many, few = parts.encode(rows), parts.encode(rows[:4])
    scores = parts.between(many, few)
    assert scores.min() < 0
    np.testing.assert_allclose(scores[:9], [[parts(a, b) for b in rows[:4]] for a in rows[:9]])


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 5))
def test_what_recurs_gives_back_all_entries(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = tuple(rng.integers(size, size=(N, 1)).astype(float) for size in sizes)
    found = recurring(columns)
    assert found is not None
    first, which = found
    assert len(first) == len(np.unique(np.hstack(columns), axis=0))
    for column in columns:
        np.testing.assert_array_equal(column[first][which], column)


def test_an_entry_that_a_glance_misses_is_found() -> None:
    column = np.zeros(N)
    column[7] = 1.0
    found = recurring(column)
    assert found is not None
    np.testing.assert_array_equal(column[found[0]][found[1]], column)


@pytest.mark.parametrize(
    "encoding",
    [np.zeros(MANY - 1), np.arange(N), np.zeros((N, 2)), ["a"] * N, np.r_[np.zeros(N - FEW), np.arange(FEW + 0.0) + 1]],
)
def test_other_encodings_are_left_as_they_are(encoding: Any) -> None:
    assert recurring(encoding) is None
