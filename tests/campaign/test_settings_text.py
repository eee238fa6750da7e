"""Settings in one line: what is read, that it is written again, and that faults are named with position and remedy."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.campaign.space_text import space, write_settings
from likewise.errors import LikewiseError, UsageError

Run = Callable[..., Any]
LINES = [
    "temp=20..120/5, time=1..24, solvent=DMF|THF|water, x+y+z=1",
    "n=1..8 int, c=1e-3..1 log, s='a|b'|c, b=dna:8, T=80, `time (h)`=1..3/0.5, base=KOAc",
    "a=0..5,b=0..5,a+2*b<=5, a>=1 and b != 3",
    "x=0..10, y=0..5, x=2*y",
    "a + 2*b <= 5",
    "k=1|2|4, p=protein:4-8",
    "s='80..90'|x, cost in [1,2], cost=1|2|3",
    "ligand=P(tBu)3|dppf, CAS=1-2-3|4-5, m=1..64 int log",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_written_as_it_is_read(line: str) -> None:
    made = space(line)
    written = write_settings(made)
    assert written is not None
    again = space(written)
    assert write_settings(again) == written
    assert again.describe() == made.describe()
    assert again.sample(5, np.random.default_rng(0)) == made.sample(5, np.random.default_rng(0))


def test_the_line_of_the_manual() -> None:
    made = space(LINES[0])
    assert made.parts["temp"] == lw.Float(20, 120, step=5)
    assert made.parts["time"] == lw.Float(1, 24)
    assert list(made.parts["solvent"].objects) == ["DMF", "THF", "water"]  # type: ignore[attr-defined]
    for x in made.sample(50, np.random.default_rng(0)):
        assert x["temp"] % 5 == 0
        assert x["x"] + x["y"] + x["z"] == pytest.approx(1, abs=1e-12)


LETTERS = st.characters(codec="utf-8", exclude_characters="`'\"", exclude_categories=["Cc", "Cs"])
NAMES = st.text(LETTERS, min_size=1).filter(lambda name: name.strip() == name and name != "where")
PARTS = st.one_of(
    st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda r: lw.Float(r[0], r[0] + r[1])),
    st.lists(st.text(LETTERS, min_size=1), min_size=1, max_size=3, unique=True),
    st.lists(st.one_of(st.integers(-99, 99), st.floats(-9, 9)), min_size=1, max_size=3, unique=True),
)


@given(st.dictionaries(NAMES, PARTS, min_size=1, max_size=3))
def test_any_parts_survive_being_written(parts: dict[str, Any]) -> None:
    made = lw.Record(**parts)
    written = write_settings(made)
    assert written is not None
    assert space(written).describe() == made.describe()


@given(st.text(alphabet="xyz=0..12,/|+*<'`:dna intlog", max_size=30))
def test_any_line_is_read_or_refused(line: str) -> None:
    with suppress(LikewiseError):
        space(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("temp=20..120/7", "position 6: .*no whole number of steps of 7; let it end at 118 or 125"),
        ("temp=20...120", "position 6: '20...120' is no range; write it as 20..120"),
        ("temp=20..", "position 6: '20..' is no range"),
        ("temp=", "position 6: it has no values"),
        ("a=1..2,,b=3..4", "position 8: there is nothing between two commas"),
        ("a=1|", "position 3: '1|' has nothing between two"),
        ("x=0,5..1", "position 5: '5..1' is neither a part.*numbers have a point"),
        ("x=1..2, y=2*q", "position 11: '2\\*q' is calculated from no part"),
        ("x=1..2, x < q", "position 13: 'q' has no range.*put it in quotes"),
        ("x+y>=1", "position 1: 'x' has no range; write x=0..1"),
        ("x+y=", "position 5: it ends here"),
        ("s='a", "position 3: the quote ' is not closed"),
        ("t=5..1", "position 3: .*swap them"),
        ("x=0..1, y=0..1, x+y=3", "no settings satisfy all constraints"),
        ("foo:8", "nor settings such as"),
        ("dna:x", "cannot be read"),
    ],
)
def test_faults_are_named_with_position_and_remedy(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        space(line)


def test_suggestions_on_the_command_line_can_be_set(run: Run) -> None:
    line = "temp=20..120/5, solvent=DMF|THF, x+y=1"
    answer = run("suggest", "--space", line, "-n", 4, "--json", "-q").data
    for each in answer["suggestions"]:
        found = each["object"]
        assert found["temp"] % 5 == 0
        assert found["x"] + found["y"] == pytest.approx(1, abs=1e-9)


def test_the_printed_commands_lead_from_round_to_round(run: Run) -> None:
    """Though a part is called y, as values are, and no column is named by the user."""
    said = run("suggest", "--space", "temp=20..120/5, x+y=1", "-n", 3, "--same", "temp", "--out", "first.csv").out
    for target in ("first.csv", "next.csv"):
        rows = list(csv.reader(Path(target).read_text().splitlines()))
        place = rows[0].index("value")
        filled = [[*row[:place], str(len(row[0])), *row[place + 1 :]] for row in rows[1:]]
        Path(target).write_text("\n".join(",".join(row) for row in [rows[0], *filled]) + "\n")
        follow = next(line for line in said.splitlines() if "then: likewise" in line).split("then: likewise ")[1]
        answer = run(*shlex.split(follow))
        assert answer.code == 0, answer.err
        said = answer.out
    assert "likewise suggest first.csv" in said


def test_alphabets_have_names() -> None:
    assert space("dna:8").size == lw.Strings("ACGT", length=8).size == lw.Strings("dna", 8).size
    assert lw.Strings("protein", min_length=2, max_length=3).size == 20**2 + 20**3
    with pytest.raises(lw.SpaceError, match="one of dna, rna, protein, not 12"):
        lw.Strings(12, 3)  # type: ignore[arg-type]
