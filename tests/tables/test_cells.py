"""Numbers as people write them, gaps, and cells that a spreadsheet must not run."""

from __future__ import annotations

import math

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.tables.cells import HARMLESS, guard, missing, number, number_text, numbers, unguard

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.one_of(text, st.text("=+-@'\t\r1a.", max_size=6)))
def test_what_is_guarded_comes_back(cell: str) -> None:
    assert unguard(guard(cell)) == cell


@given(st.sampled_from("=+-@\t\r"), st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_no_written_cell_begins_like_a_formula_unless_it_is_a_number(first: str, rest: str) -> None:
    written = guard(first + rest)
    assert written.startswith("'") or HARMLESS.match(written)


@given(finite, st.sampled_from([".", ","]))
def test_a_written_number_is_read_again(value: float, decimal: str) -> None:
    read = number(number_text(value, decimal), decimal)  # type: ignore[arg-type]
    assert read == value


def _grouped(value: int, part: str, grouping: str, decimal: str) -> str:
    return f"{value:,}".replace(",", grouping) + (f"{decimal}{part}" if part else "")


parts = st.from_regex(r"[0-9]{1,2}|[0-9]{4,6}", fullmatch=True)
signs_of = st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u00a0", ","), ("\u202f", ",")])


@given(st.lists(st.tuples(st.integers(1000, 10**9), parts), min_size=1), signs_of)
def test_grouped_numbers_are_read_whatever_the_signs(cells: list[tuple[int, str]], signs: tuple[str, str]) -> None:
    grouping, decimal = signs
    column = polars.Series([_grouped(value, part, grouping, decimal) for value, part in cells])
    found = numbers(column)
    assert not found.bad
    assert found.unclear is None
    assert found.decimal == decimal
    assert found.values == [float(f"{value}.{part}") for value, part in cells]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.5", "2"], [1.5, 2.0]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1,234", "12.5"], [1234.0, 12.5]),
        (["1.234", "12,5"], [1234.0, 12.5]),
        (["1.234", "2.345"], [1.234, 2.345]),
        (["−3", "+2", " 4 "], [-3.0, 2.0, 4.0]),
        ([".5", "5.", "1e3", "1E-3"], [0.5, 5.0, 1000.0, 0.001]),
        (["1,5e3", "2,5"], [1500.0, 2.5]),
        (["1.234.567", "1"], [1234567.0, 1.0]),
    ],
)
def test_the_whole_column_tells_what_a_comma_means(cells: list[str], values: list[float]) -> None:
    found = numbers(polars.Series(cells))
    assert (found.values, found.bad, found.unclear) == (values, [], None)


def test_a_column_that_does_not_tell_is_unclear_and_an_option_settles_it() -> None:
    column = polars.Series(["1,234", "2,345"])
    assert numbers(column).unclear == 0
    assert numbers(column, ",").values == [1.234, 2.345]
    assert numbers(column, ".").values == [1234.0, 2345.0]
    assert numbers(column, ",").unclear is None


@pytest.mark.parametrize(
    "cell", ["12 mg", "<5", "n.d.", "85%", "1.2.3", "12,34,5", "0x1f", "1_000", "inf", "1e999", "true", "1.١", "²"]
)
def test_what_is_no_finite_number_is_bad_and_never_guessed(cell: str) -> None:
    found = numbers(polars.Series(["1.5", cell, None]))
    assert found.bad == [1]
    assert math.isnan(found.values[1])


@pytest.mark.parametrize("cell", ["", "  ", "NA", "n/a", "#N/A", "NaN", "nan", "null", "None"])
def test_gaps_are_gaps(cell: str) -> None:
    found = numbers(polars.Series([cell, "2.5"]))
    assert missing(cell)
    assert found.bad == []
    assert math.isnan(found.values[0])


def test_mixed_styles_are_bad_rather_than_wrong() -> None:
    found = numbers(polars.Series(["1.5", "2.5", "3,5"]))
    assert found.bad == [2]


def test_typed_columns() -> None:
    assert numbers(polars.Series([1, 2, None])).values[:2] == [1.0, 2.0]
    assert numbers(polars.Series([1.0, float("inf")])).bad == [1]
    assert numbers(polars.Series([True, None])).bad == [0]
