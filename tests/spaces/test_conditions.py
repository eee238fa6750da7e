"""Conditions as text: what they mean, that rounding does not break them, and that nothing else can be said."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.spaces.condition import Condition

NAMES = {"class": 1, "lambda": 2, "not": 3, "None": 4, "ﬁ": 5, "fi": 6, "_0": 7}
ROW = {**NAMES, "cost": 12.5, "solvent": "THF", "T": 80, "x": 0.1, "y": 0.2, "missing": None, "n (mol%)": 5, "ok": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cost < 20 and solvent != 'DMF'", True),
        ("cost < 20 and solvent = 'DMF'", False),
        ("cost > 20 or (T >= 80 and not solvent in ['DMF', \"NMP\"])", True),
        ("60 < T <= 80 < 100", True),
        ("x + y = 0.3", True),
        ("x + y - 0.3 = 0", True),
        ("3*x - y <= 0.1", True),
        ("2 * (x + y) / 4 - -1 == 1.15", True),
        ("`n (mol%)` ≥ 5", True),
        ("`n (mol%)` <> 5", False),
        ("solvent not in ('THF')", False),
        ("T in [60, 80]", True),
        ("missing < 3", False),
        ("missing != 3", True),
        ("missing + 1 > 0", False),
        ("T / (x - x) > 1", False),
        ("solvent = 3", False),
        ("T = 8e1", True),
        ("T in [x, 80] and not ok in [x]", True),
        ("0 < x in [0.1, T]", True),
        ("class = 1 and lambda < 3 and `not` = 3 and None = 4 and ﬁ = 5 and fi != 5 and _0 = 7", True),
        ("x = 1e308 * 10 or x > 1e308 * 10", False),
        ("T = 80 AND NOT  solvent NOT\nIN ['THF']", True),
        ("T" + " * 1" * 400 + " = 80", True),
        ("not (" * 99 + "T < 3" + ")" * 99, True),
    ],
)
def test_meaning(text: str, expected: bool) -> None:
    assert Condition.read(text, ROW)(ROW) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: it ends here; write a name, a number"),
        ("cost", "position 5: it ends here; write a comparison"),
        ("cost < < 20", "position 8: '<' is not expected"),
        ("cost < 20 and", "position 14: it ends here"),
        ("cost < 20 solvent", "position 11: 'solvent' is not expected; write `and`"),
        ("(cost < 20", "position 1: '\\(' is never closed"),
        ("cost in [20)", "position 12: '\\)' is not expected"),
        ("cots < 20", "position 1: there is no field 'cots'; did you mean 'cost'"),
        ("solvent = DMF", "position 11: there is no field 'DMF'.*in quotes: 'DMF'"),
        ("solvent = 'DMF", "position 11: the quote ' is not closed"),
        ("2nd < 3", "position 1: this is no number"),
        ("T in 3", "a list such as"),
        ("T in [[1]]", "position 7: '\\[' is not expected; write a name, a number .*lists after `in` alone"),
        ("T in []", "a list such as"),
        ("T < 3, x < 2", "write a comparison"),
        ("T(3) < 1", "position 2: '\\(' is not expected"),
        ("T ** 2 < 1", "position 4: '\\*' is not expected"),
        ("(T < 3) + 1 = 2", "position 2: a comparison is no number to calculate with"),
        ("T < 1e999", "position 5: 1e999 is too large"),
        ("-" * 1900 + "T < 3", "too many signs"),
        ("not T", "write a comparison"),
        ("T @ 3", "position 3: '@' means nothing here"),
        ("__import__('os').system('x') = 1", "position 11: '\\(' is not expected"),
        ("(" * 300 + "T" + ")" * 300 + " < 3", "too many signs or parentheses"),
        ("T < 3 " * 999, "at most 2000 characters"),
        ("T.real < 3", "'.' means nothing"),
        ("[T for T in x] = 1", "'for' is not expected"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_position_with_the_remedy(text: str, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Condition.read(text, ROW)


@pytest.mark.parametrize("text", ["solvent < 3", "solvent + 1 < 3", "ok * 2 > 1", "-solvent = 1"])
def test_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(SpaceError, match=r"the condition .*(one kind|no number)"):
        Condition.read(text, ROW)(ROW)


@given(st.text(alphabet="Txy01. <>=!+-*/()[]'`,andorti\n", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = Condition.read(text, ROW)
        assert found({**ROW, "T": 1.0}) in (True, False)
    except SpaceError:
        pass


@given(st.sampled_from(["x", "y", "x + y", "T * y", "x - y", "y / T"]), st.floats(-3, 3), st.floats(-3, 3))
def test_numbers_are_less_or_equal_or_greater(term: str, x: float, y: float) -> None:
    row = {"x": x, "y": y, "T": 2.0}
    below, same, above = (Condition.read(f"{term} {sign} x", row)(row) for sign in "<=>")
    assert below + same + above == 1
    assert Condition.read(f"{term} <= x", row)(row) == (below or same)
    assert Condition.read(f"{term} != x", row)(row) != same


def test_conditions_travel_to_other_processes() -> None:
    condition = Condition.read("x + " * 390 + "x > 3 or T = 80", ROW)
    copied = pickle.loads(pickle.dumps(condition))
    assert copied == condition
    assert copied(ROW)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6), st.floats(1e-6, 1e6))
def test_sums_hold_up_to_rounding_in_any_unit(shares: list[float], unit: float) -> None:
    row: dict[str, Any] = {f"x{i}": unit * share for i, share in enumerate(shares)}
    total = float(np.sum(list(row.values())[::-1]))
    for sign in ("=", "<=", ">="):
        assert Condition.read(f"{' + '.join(row)} {sign} {total!r}", row)(row)
    if total > 0:
        assert not Condition.read(f"{' + '.join(row)} = {1.001 * total!r}", row)(row)
    long = Condition.read(" + ".join(["x0"] * 390) + " >= 0", row)
    assert long(row)
