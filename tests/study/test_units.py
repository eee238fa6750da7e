"""The units of the values are none of the search's business: a·y + b with a > 0 changes no suggestion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw

WORDS = [a + b + c + d for a in "ACGT" for b in "ACG" for c in "AT" for d in "CGT"]
SPACES = {"pool": lw.Pool(WORDS), "box": lw.Box([0.0, 0.0], [1.0, 1.0])}


def _told(kind: str, n: int, seed: int) -> list[tuple[Any, float]]:
    rng = np.random.default_rng(seed)
    if kind == "pool":
        return [(WORDS[i], WORDS[i].count("C") + 0.3 * rng.normal()) for i in rng.permutation(len(WORDS))[:n]]
    return [(x, float(np.sin(5 * x[0]) + x[1] ** 2)) for x in rng.random((n, 2))]


def _study(kind: str, rows: list[tuple[Any, float]], scale: float = 1.0, offset: float = 0.0) -> lw.Study:
    study = lw.Study(SPACES[kind], seed=1)
    study.tell_many([(x, scale * y + offset) for x, y in rows])
    return study


@given(
    st.sampled_from(["pool", "box"]),
    st.sampled_from([1, 5, 6, 10, 22]),
    st.integers(0, 99),
    st.sampled_from([1e-3, 0.37, 2.0, 1000.0]),
    st.sampled_from([-50.0, 0.0, 7.0, 500.0]),
)
@settings(max_examples=15, deadline=None)
def test_other_units_change_no_suggestion(kind: str, n: int, seed: int, scale: float, offset: float) -> None:
    rows = _told(kind, n, seed)
    plain, other = _study(kind, rows).ask(3), _study(kind, rows, scale, offset).ask(3)
    for a, b in zip(plain, other, strict=True):
        if kind == "pool":
            assert a.object == b.object
        else:  # a climb on values rounded in another unit ends a little beside
            np.testing.assert_allclose(a.object, b.object, atol=1e-6)


@pytest.mark.parametrize("values", [[40.0], [40.0] * 4, [-40.0] * 7, [3e-200], [1e-180, 2e-180, 4e-180]])
@pytest.mark.parametrize("scale", [1e-3, 2.0, 1e6])
def test_what_is_not_known_grows_with_the_values(values: list[float], scale: float) -> None:
    """Also where they are all the same, or one alone."""
    rows = list(zip(WORDS, values, strict=False))
    plain, other = (_study("pool", rows, factor).predict(WORDS[-9:]) for factor in (1.0, scale))
    np.testing.assert_allclose(other.mean, scale * plain.mean, rtol=1e-6)
    np.testing.assert_allclose(other.std, scale * plain.std, rtol=1e-6)
    assert np.all(plain.std > 0)
