"""What people are shown: names where there are names, digits that mean something, and reasons for and against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likewise.campaign.reasons import Names, Reasons, Scale, names, prospect
from likewise.campaign.text import plus_minus, rounded
from likewise.cli.work.suggest import Line, lay_out
from likewise.study.explanation import Gain
from likewise.study.goals import Limits
from likewise.study.trial import Analogue, Outcome, Suggestion

Run = Callable[..., Any]
Save = Callable[..., Path]


@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e6))
def test_rounding_loses_less_than_a_tenth_of_the_uncertainty(value: float, std: float) -> None:
    assert abs(float(rounded(value, std)) - value) <= 0.051 * std
    assert "e" not in rounded(value, std)


@pytest.mark.parametrize(
    ("mean", "std", "shown"), [(67.2, 18.7, "67 ± 19"), (7029, 2400, "7000 ± 2400"), (0, 0, "0 ± 0")]
)
def test_numbers_are_rounded_to_their_uncertainty(mean: float, std: float, shown: str) -> None:
    assert plus_minus(mean, std) == shown


@pytest.mark.parametrize(
    ("other", "column", "expected"),
    [
        ("Ligand", "Ligand_SMILES", True),
        ("ligand name", "ligand", True),
        ("name", "smiles", True),
        ("compound", "SMILES", True),
        ("Ligand_SMILES", "Ligand", False),
        ("Base", "Ligand_SMILES", False),
        ("price", "smiles", False),
        ("time", "temperature", False),
    ],
)
def test_a_column_of_names_is_known_by_its_title(other: str, column: str, expected: bool) -> None:
    assert names(other, column) is expected


def test_names_that_are_not_one_to_one_are_no_names(run: Run, save: Save) -> None:
    rows = [f"{'C' * (i + 1)}O,{'x' if i < 2 else f'n{i}'},{i if i < 6 else ''}" for i in range(8)]
    table = save("\n".join(["smiles,name,y", *rows]))
    assert "name" not in run("suggest", table, "-s", "indel").out.splitlines()[0].split()


def test_what_speaks_for_comes_first_and_low_values_speak_against() -> None:
    near, low, far = Analogue("a", 80.0, 0.2), Analogue("b", 5.0, 0.9), Analogue("c", 70.0, 0.4)
    suggestion = Suggestion(0, "x", 50.0, analogues=(low, far, near))
    assert Reasons({"": Scale(40.0)}).text(suggestion) == "70 of c; 80 of a; against it: low 5 of b"
    # What is good is turned round where small values are good.
    assert Reasons({"": Scale(40.0, -1.0)}).text(suggestion) == "5 of b; against it: high 70 of c; high 80 of a"


@given(st.integers(-100, 100), st.integers(-100, 100), st.floats(0.01, 1), st.booleans())
def test_a_result_speaks_for_one_direction_and_against_the_other(
    value: int, typical: int, influence: float, like: bool
) -> None:
    assume(value != typical)
    analogue = Analogue("a", value, influence if like else -influence)
    up, down = (Reasons({"y": Scale(typical, sign)}).side(analogue, "y") for sign in (1.0, -1.0))
    assert {up, down} == {"for", "against"}
    assert (up == "for") == ((value > typical) == like)


@given(st.floats(-100, 100), st.floats(-100, 0), st.floats(0.01, 100))
def test_a_result_that_keeps_the_limits_speaks_for_what_is_like_it(value: float, low: float, width: float) -> None:
    for limits in (Limits(low, low + width), Limits(-np.inf, low), Limits(low, np.inf)):
        side = Reasons({"y": Scale(0.0, 1.0, limits)}).side(Analogue("a", value, 0.5), "y")
        assert (side == "for") == limits.holds(Outcome(value))


def test_reasons_of_several_outcomes_have_a_side_everywhere(run: Run, save: Save, rows: Callable[..., Any]) -> None:
    """Suggest, its file, its JSON, the report and `why` say alike which results speak for an outcome and which not."""
    pytest.importorskip("matplotlib", reason="a report needs Matplotlib")
    lines = [
        f"{a}{b},{10 * i + j if (i + j) % 2 else ''},{60 - 9 * i - j if (i + j) % 2 else ''},{j if (i + j) % 2 else ''}"
        for i, a in enumerate("ABCDE")
        for j, b in enumerate("PQRS")
    ]
    table = save("\n".join(["word,yield,cost,tox", *lines]) + "\n")
    aims = ("-v", "yield:maximize", "-v", "cost:minimize", "--require", "tox<=1.5")
    ask = ("suggest", table, "-o", "word", *aims, "--similarity", "hamming", "-n", 2, "--out", "next.csv")
    assert run(*ask).code == 0
    said = run(*ask, "--report", "report.html")
    assert said.code == 0, said.err
    data = run(*ask, "--json").data
    better: dict[str, Callable[[float, float], bool]] = {
        "yield": lambda value, mean: value >= mean,
        "cost": lambda value, mean: value <= mean,
        "tox": lambda value, mean: value <= 1.5,
    }
    measured = [row for row in rows(table) if row["yield"]]
    means = {name: float(np.mean([float(row[name]) for row in measured])) for name in better}
    every = [(name, a) for s in data["suggestions"] for name, because in s["because"].items() for a in because]
    assert {name for name, _ in every} == set(better)
    for name, a in every:
        good = better[name](a["value"], means[name]) == (a["influence"] >= 0)
        assert a["speaks"] == ("for" if good else "against"), (name, a)
    texts = {row["likewise_because"] for row in rows(Path("next.csv"))}
    assert any("against it: high" in text.partition("cost: ")[2] for text in texts)
    assert "cost against" in said.out
    assert "against it: high" in Path("report.html").read_text(encoding="utf-8")
    for s in data["suggestions"]:
        why = run("why", s["run"], table).out
        assert [line.split()[2] for line in why.splitlines() if line.lstrip()[:1] in ("+", "-")] == [
            a["speaks"] for because in s["because"].values() for a in because[:8]
        ]


def test_a_record_is_told_by_the_names_of_what_it_has_different() -> None:
    known = Names({"L": "Ligand"}, {"L": {"CCP": "XPhos"}})
    near = Analogue({"L": "CCP", "t": 80.0}, 90.0, 0.5)
    suggestion = Suggestion(0, {"L": "CP", "t": 80.0}, 1.0, analogues=(near,))
    assert Reasons({"": Scale(40.0)}, names=known).text(suggestion) == "90 with Ligand XPhos"


@given(st.integers(30, 200), st.lists(st.text("CO=()1ü漢 ", max_size=90), min_size=3, max_size=3))
def test_no_line_is_wider_than_the_terminal(width: int, cells: list[str]) -> None:
    from rich.cells import cell_len

    lines = lay_out(("", "ligand", "solvent"), [Line(cells, [("because", "of " + cells[1])])], width)
    assert max(map(cell_len, lines)) <= max(width, 30 + cell_len(cells[0]) + 25)


def test_what_is_to_be_gained_is_said_in_words() -> None:
    said = prospect(Gain(0.0312, 0.02, 4), "cost", minimize=True)
    assert said == (
        "Still to be gained: about 0.031 less cost on average by these 4; chance of 2 % that one of them "
        "beats the best so far. That is little: it may be time to stop."
    )
    assert prospect(Gain(None, None, 4), "cost") == ""


def test_every_round_says_what_is_to_be_gained(run: Run, words: Path) -> None:
    answer = run("suggest", words, "-n", 3, "-o", "word", "-s", "hamming")
    assert "Still to be gained: about" in answer.out
    gain = run("suggest", words, "-n", 3, "-o", "word", "-s", "hamming", "--json").data["gain"]
    assert gain["expected"] > 0
    assert 0 < gain["chance"] <= 1


def test_factors_stand_below_each_other_where_they_do_not_fit(
    run: Run, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{'C' * (i + 1)}P,ligand {i},{20 + i},{i if i < 7 else ''}" for i in range(9)]
    table = save("\n".join(["Ligand_SMILES,Ligand,temp,y", *rows]))
    command = ("suggest", table, "-o", "Ligand_SMILES", "-o", "temp", "-s", "Ligand_SMILES=indel,temp=rbf")
    monkeypatch.setenv("COLUMNS", "160")
    wide = run(*command).out.splitlines()
    assert wide[0].split()[:2] == ["Ligand", "temp"]
    assert "CP" not in "".join(wide[:3])
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run(*command).out.splitlines()
    assert [line.split()[:2] for line in narrow[:2]] == [["1", "Ligand"], ["temp", wide[1].split()[3]]]
