"""`explain`, `compare` and `diagnose` of several outcomes: each is answered as if it were the only one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.alloys import AIMS, RECORD, table

import likewise as lw

Run = Callable[..., Any]
Save = Callable[..., Path]
OBJECT = ("a=0.3", "b=0.4")


def single(name: str) -> tuple[str, ...]:
    return (*RECORD, "--value", {"strength": "strength:max", "price": "price:min", "imp": "imp:min"}[name])


@pytest.mark.parametrize("command", [("explain", "t.csv", *OBJECT), ("compare", "t.csv"), ("diagnose", "t.csv")])
def test_each_outcome_is_answered_as_if_it_were_the_only_one(run: Run, save: Save, command: tuple[str, ...]) -> None:
    save(table(strength="<0.5"), "t.csv")
    data = run(*command, *AIMS, "--json").data
    assert list(data["outcomes"]) == ["strength", "price", "imp"]
    assert data["constraints"] == {"imp": [None, 2.2]}
    for name, each in data["outcomes"].items():
        alone = run(*command, *single(name), "--json").data
        # What is noted of the table is said once, for all.
        for key, value in ((key, value) for key, value in each.items() if key != "notes"):
            assert _close(value, alone[key]), (name, key)


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return set(one) == set(other) and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return one == other or (isinstance(one, float) and math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9))


def test_explain_says_each_outcome_with_its_analogues_and_the_chance_to_keep_the_limits(run: Run, save: Save) -> None:
    file = save(table(), "t.csv").name
    answer = run("explain", file, *OBJECT, *AIMS, "-n", 2)
    assert answer.code == 0, answer.err
    assert "Chance to keep imp at most 2.2: " in answer.out
    for heading in ("strength (maximize)", "price (minimize)", "imp (at most 2.2)"):
        assert heading in answer.out.splitlines()
    assert answer.out.count("weight") == answer.out.count("with a chance of 95 %") == 3
    measured = run("explain", file, "a=0", "b=0", *AIMS).out
    assert "It was measured: 0 in row 2." in measured
    assert "It was measured: 2 in row 2." in measured


def test_the_chance_to_keep_the_limits_is_that_of_suggest(run: Run, save: Save) -> None:
    file = save(table(14), "t.csv").name
    found = run("suggest", file, *AIMS, "--json").data["suggestions"][0]
    words = [f"{name}={value}" for name, value in found["object"].items()]
    data = run("explain", file, *words, *AIMS, "--json").data
    assert data["chance_feasible"] == pytest.approx(found["chance_feasible"], rel=1e-6)
    for name, expected in found["outcomes"].items():
        assert data["outcomes"][name]["mean"] == pytest.approx(expected["mean"], rel=1e-6)


def test_compare_says_where_the_order_of_the_similarities_differs(run: Run, save: Save) -> None:
    lines = ["x,smooth,steps"]
    for k in range(24):
        lines.append(f"{k / 4},{math.sin(k / 4):.4f},{(k // 3) % 2 + 0.01 * math.cos(k):.4f}")
    file = save("\n".join([*lines, ""]), "t.csv").name
    aims = ("--object", "x", "--value", "smooth", "--value", "steps", "--similarity")
    answer = run("compare", file, *aims, "rbf,matern")
    assert answer.code == 0, answer.err
    data = run("compare", file, *aims, "rbf,matern", "--json").data
    best = {name: each["rows"][0]["name"] for name, each in data["outcomes"].items()}
    differs = "The order differs between outcomes. Predicted best are smooth by "
    assert (differs in answer.out) == (best["smooth"] != best["steps"]) == (not data["same_ranking"])
    assert best["smooth"] != best["steps"]
    assert "The order" not in run("compare", file, *aims, "rbf").out


def test_an_outcome_with_too_few_values_is_named_and_the_others_are_answered(run: Run, save: Save) -> None:
    lines = table().splitlines()
    lines[2:] = [",".join([*line.split(",")[:4], "", *line.split(",")[5:]]) for line in lines[2:]]
    file = save("\n".join([*lines, ""]), "t.csv").name
    for command in ("compare", "diagnose"):
        answer = run(command, file, *AIMS, "--json")
        assert answer.code == 0, answer.err
        assert list(answer.data["outcomes"]) == ["strength", "price"]
        assert any("imp: 1 value, and" in note for note in answer.data["notes"])
    lines[1] = ",".join([*lines[1].split(",")[:4], "", *lines[1].split(",")[5:]])
    file = save("\n".join([*lines, ""]), "t.csv").name
    answer = run("explain", file, *OBJECT, *AIMS, "--json")
    assert list(answer.data["outcomes"]) == ["strength", "price"]
    assert answer.data["chance_feasible"] is None
    assert run("diagnose", save("a,b,strength,price\n1,2,3,4\n", "s.csv").name, *AIMS[:8]).code == 2


def test_an_outcome_of_limits_alone_is_named_and_nothing_else_is_lost(run: Run, save: Save) -> None:
    lines = table(14).splitlines()
    limits = [",".join([*line.split(",")[:4], "<0.1" if line.split(",")[4] else "", "", ""]) for line in lines[1:]]
    file = save("\n".join([lines[0], *limits, ""]), "t.csv").name
    for command in (["diagnose", file], ["explain", file, *OBJECT], ["suggest", file, "--report", "report.html"]):
        answer = run(*command, *AIMS)
        assert answer.code == 0, (command, answer.err)
        assert "strength" in answer.out
    assert "imp: every value is only a limit" in run("diagnose", file, *AIMS).err


def test_what_is_known_of_every_row_is_said_and_not_predicted(run: Run, save: Save) -> None:
    lines = table(14).splitlines()
    file = save("\n".join(f"{line},{'euro' if k == 0 else k}" for k, line in enumerate(lines)) + "\n", "t.csv").name
    aims = (*RECORD, "--value", "strength", "--value", "euro:min")
    known = run("explain", file, "a=0", "b=0", *aims)
    assert "euro is known: 1." in known.out
    assert run("explain", file, "a=0", "b=0", *aims, "--json").data["known"] == {"euro": 1.0}
    assert run("explain", file, *OBJECT, *aims, "--json").data["known"] == {}


def test_one_column_of_a_project_of_several_is_looked_at_with_its_own_settings(run: Run, save: Save) -> None:
    file = save(table(), "t.csv").name
    stds = ("--std", "strength=sd", "--std", "price=psd", "--bounds", "strength=0,20;price=0,")
    begun = run("init", file, *AIMS, *stds)
    assert begun.code == 0, begun.err
    for command in (("explain", *OBJECT), ("compare",), ("diagnose",)):
        assert list(run(*command, "--json").data["outcomes"]) == ["strength", "price", "imp"]
        alone = run(*command, "--value", "price", "--json")
        assert alone.code == 0, alone.err
        assert alone.data["direction"] == "minimize"
        typed = run(*command[:1], file, *command[1:], *single("price"), "--std", "psd", "--bounds", "0,", "--json").data
        assert {**alone.data, "notes": []} == {**typed, "notes": []}


def test_why_says_what_was_expected_of_each_outcome_of_a_stored_trial(run: Run, tmp_path: Path) -> None:
    goals = {"objectives": {"x": "maximize", "y": "minimize"}, "constraints": {"z": lw.AtMost(2.0)}}
    study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), storage=f"sqlite:///{tmp_path}/s.db", name="lab", **goals)
    for _ in range(7):
        (s,) = study.ask()
        study.tell(s, {"x": float(s.object[0]), "y": float(s.object[0]) ** 2, "z": 3 * float(s.object[0])})
    said = run("why", 6, "--storage", "s.db", "--study", "lab")
    assert said.code == 0, said.err
    for name, expected in s.outcomes.items():
        assert f"Expected {name} " in said.out
        data = run("why", 6, "--storage", "s.db", "--study", "lab", "--json").data
        assert data["said"]["outcomes"][name]["mean"] == pytest.approx(expected.mean)
        assert list(data["said"]["because"][name].values()) == pytest.approx(
            [a.influence for a in s.analogues[name]], abs=1e-5
        )
    assert "to keep the limits" in said.out
