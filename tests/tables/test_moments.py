"""Rows in the order of a column, as people count and write dates."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.tables.cleaning import order_keys


def ordered(cells: list[str | None]) -> list[str | None]:
    """The cells by their keys."""
    keys = order_keys(cells)
    return [cells[i] for i in sorted(range(len(cells)), key=lambda i: keys[i])]


@pytest.mark.parametrize(
    "cells",
    [
        ["2", "9", "10", "100"],
        ["round 1", "round 9", "round 10"],
        ["R2", "R10"],
        ["28.2.2026", "1.3.2026", "11.3.2026"],
        ["1/31/2026", "2/1/2026", "10/1/2026"],
        ["31/1/2026", "1/2/2026"],
        ["1 Mar 2026", "12 Mar 2026", "1 Apr 2026"],
        ["2026-03-01 09:00", "2026-03-01 10:30"],
    ],
)
def test_cells_that_people_order_so(cells: list[str]) -> None:
    shuffled = cells.copy()
    random.Random(1).shuffle(shuffled)
    assert ordered(shuffled) == cells
    assert ordered([*shuffled, None])[0] is None


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=12), st.sampled_from(["%d.%m.%Y", "%Y-%m-%d", "%d %b %Y"]))
def test_dates_follow_the_calendar_in_any_form(days: list[int], form: str) -> None:
    moments = [date(2020, 1, 1) + timedelta(days=day) for day in days]
    assert ordered([moment.strftime(form) for moment in moments]) == [m.strftime(form) for m in sorted(moments)]
