"""Fields of records that are one vector: compositions in columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.algebra import Fields
from likewise.similarity.auto import recognise, share_groups
from likewise.similarity.records import Parts

PARTS = st.lists(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), min_size=4, max_size=8)


def records(rows: list[list[float]], total: float) -> list[dict[str, float]]:
    """Shares of a whole under names."""
    return [dict(zip("ABC", (total * x / sum(row) for x in row), strict=True)) for row in rows]


@given(PARTS)
def test_fields_are_the_vector_of_their_numbers(rows: list[list[float]]) -> None:
    inner, named = lw.Hellinger(), records(rows, 1.0)
    scores = Fields(inner, ("A", "B", "C"))
    a, b = scores.encode(named), inner.encode([list(x.values()) for x in named])
    assert np.array_equal(scores.between(a, a), inner.between(b, b))


@pytest.mark.parametrize("total", [1.0, 100.0])
def test_shares_in_columns_are_a_composition_beside_other_columns(total: float) -> None:
    rng = np.random.default_rng(0)
    rows = records(rng.random((12, 3)).tolist(), total)
    assert recognise(rows).kind == "compositions"
    beside = [{**x, "temp": float(20 + i), "base": "KOH" if i % 2 else "NaH"} for i, x in enumerate(rows)]
    found = recognise(beside)
    assert "A + B + C (compositions)" in found.why
    first = found.similarities[0]
    assert isinstance(first, Parts)
    a = first.encode(beside)
    assert np.allclose(np.diag(first.between(a, a)), 1.0)
    rounded = [{name: round(value, 2 if total == 1.0 else 0) for name, value in x.items()} for x in rows]
    assert share_groups(rounded, ["A", "B", "C"]) == [("A", "B", "C")]


def test_numbers_that_add_up_to_nothing_stay_apart() -> None:
    rows = [{"A": 0.1, "B": 0.5}, {"A": 0.9, "B": 0.2}, {"A": 0.3, "B": 0.3}]
    assert share_groups(rows, ["A", "B"]) == []


def test_a_missing_field_is_named() -> None:
    with pytest.raises(SimilarityError, match="no field 'B'"):
        Fields(lw.Hellinger(), ("A", "B")).encode([{"A": 1.0}])


def test_a_ligand_is_a_category_in_a_table_of_any_size() -> None:
    ligands = ["XPhos", "SPhos", "dppf", "RuPhos"]
    for n in (4, 8, 400):
        rows = [{"ligand": ligands[i % 4], "temp": 20.0 + i} for i in range(n)]
        assert "ligand (categories)" in recognise(rows).why


def test_none_among_numbers_is_warned_of() -> None:
    found = recognise([{"T": 20.0, "b": "x"}, {"T": None, "b": "y"}, {"T": 40.0, "b": "z"}])
    assert "field 'T': 1 of 3 values are None" in found.warning
