"""An impatient chemist with a spreadsheet: whatever is done to the files, results are merged, or the command stops."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Rows = Callable[..., list[dict[str, str]]]
Table = list[dict[str, str]]


def write(path: str | Path, rows: Table) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def by_run(rows: Table) -> dict[str, dict[str, str]]:
    return {row["run"]: row for row in rows if row["run"]}


@pytest.fixture
def asked(run: Run, rows: Rows) -> Table:
    """A campaign with its first round of four, of which nothing is measured yet."""
    places = enumerate(product(("XPhos", "SPhos", "dppf"), ("DMF", "THF"), (20.5, 40, 60, 80)))
    table = [
        {"ligand": ligand, "solvent": solvent, "temp": str(temp), "note": "", "yield": str(7 * i % 50 if i % 4 else "")}
        for i, (ligand, solvent, temp) in places
    ]
    for place in range(1, 12):
        table[place]["yield"] = ""
    write("t.csv", table)
    columns = ("-o", "ligand", "-o", "solvent", "-o", "temp", "-v", "yield")
    assert run("init", "t.csv", *columns, "-n", 4).code == 0
    assert run("suggest").code == 0
    return rows(Path("next.csv"))


def fill(asked: Table, *values: object) -> Table:
    for row, value in zip(asked, values, strict=False):
        row["yield"] = str(value)
    return asked


def _with_blanks(rows: Table) -> Table:
    blank = dict.fromkeys(rows[0], "")
    return [blank, rows[0], blank, blank, *rows[1:], blank]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[::-1],
        lambda rows: [{name: cell for name, cell in row.items() if name != "run"} for row in rows],
        _with_blanks,
        lambda rows: [{**row, "yield": f"{row['yield']} %"} for row in rows],
        lambda rows: [{name: row[name] for name in ("yield", "run")} for row in rows],
        lambda rows: [{**row, "temp": f"{float(row['temp']):.0f}"} for row in rows],
    ],
    ids=["sorted", "without runs", "blank rows", "units", "two columns", "rounded"],
)
def test_a_file_that_a_spreadsheet_has_changed_is_understood(
    run: Run, rows: Rows, asked: Table, change: Callable[[Table], Table]
) -> None:
    write("next.csv", change(fill(asked, 11, 12, 13, 14)))
    assert run("tell").code == 0
    found = by_run(rows(Path("t.csv")))
    assert [found[row["run"]]["yield"].strip(" %") for row in asked] == ["11", "12", "13", "14"]


def test_a_renamed_file_is_asked_for_and_taken(run: Run, asked: Table) -> None:
    write("monday.csv", fill(asked, 11, 12, 13, 14))
    Path("next.csv").unlink()
    stopped = run("tell")
    assert stopped.code == 2
    assert "likewise tell FILE" in stopped.err
    assert "4 results filled in" in run("tell", "monday.csv").out


def test_a_table_that_is_open_elsewhere_is_not_changed_behind_its_back(run: Run, asked: Table) -> None:
    write("next.csv", fill(asked, 11))
    for mark in (Path("~$t.csv"), Path(".~lock.t.csv#")):
        mark.write_text("anna")
        before = Path("t.csv").read_bytes()
        for command in ("tell", "suggest"):
            stopped = run(command)
            assert stopped.code == 1
            assert f"t.csv is open in another program, as {mark} says" in " ".join(stopped.err.split())
        assert Path("t.csv").read_bytes() == before
        mark.unlink()
    Path("~$next.csv").write_text("anna")
    told = run("tell")
    assert told.code == 0
    assert "what is not saved there is not told" in " ".join(told.err.split())


def test_two_people_tell_different_halves(run: Run, rows: Rows, asked: Table) -> None:
    mine, hers = [dict(row) for row in asked], [dict(row) for row in asked]
    fill(mine, 11, 12)
    hers[2]["yield"], hers[3]["yield"], hers[3]["note"] = "13", "failed", "leaked"
    write("mine.csv", mine)
    write("hers.csv", hers)
    assert "2 runs still under way" in run("tell", "mine.csv").out
    assert run("tell", "hers.csv").code == 0
    found = by_run(rows(Path("t.csv")))
    assert [found[row["run"]]["yield"] for row in asked] == ["11", "12", "13", "failed"]
    assert found[asked[3]["run"]]["note"] == "leaked"


def test_what_was_run_in_place_of_a_run_leaves_nothing_under_way(run: Run, rows: Rows, asked: Table) -> None:
    fill(asked, 11, 12, 13, 14)[0]["temp"] = "55"
    write("next.csv", asked)
    told = run("tell", "--json").data
    assert (told["filled"], told["added"], told["under_way"]) == (3, 1, 0)
    (row,) = [row for row in rows(Path("t.csv")) if row["temp"] == "55"]
    assert (row["run"], row["yield"], row["round"]) == (asked[0]["run"], "11", "1")
    assert {row["round"] for row in rows(Path("t.csv")) if not row["run"]} == {""}


def test_an_object_that_was_corrected_in_the_table_keeps_its_run(run: Run, rows: Rows, asked: Table) -> None:
    """The results say what was suggested, so that it is the table which was changed."""
    table = rows(Path("t.csv"))
    by_run(table)[asked[0]["run"]]["temp"] = "65"
    write("t.csv", table)
    write("next.csv", fill(asked, 11, 12, 13, 14))
    told = run("tell")
    assert "4 results filled in, 0 rows added" in told.out
    assert "was changed in row" in told.err
    found = by_run(rows(Path("t.csv")))[asked[0]["run"]]
    assert (found["temp"], found["yield"]) == ("65", "11")
    assert "4 known already" in run("tell").out


def test_a_contradiction_prints_the_commands_that_settle_it(run: Run, rows: Rows, asked: Table) -> None:
    write("next.csv", fill(asked, 11, 12, 13, 14))
    assert run("tell").code == 0
    write("next.csv", fill(asked, 17))
    stopped = run("tell")
    assert stopped.code == 1
    assert "  likewise tell --on-conflict replace  (" in stopped.err
    assert run("tell", "--on-conflict", "replace").code == 0
    assert by_run(rows(Path("t.csv")))[asked[0]["run"]]["yield"] == "17"


def test_the_first_and_the_last_backups_are_kept_and_those_of_others(run: Run, asked: Table) -> None:
    mine = Path("t.csv.bak3")
    mine.write_text("mine")
    first = Path("t.csv.bak").read_bytes()
    for value in range(10):
        write("next.csv", fill(asked, value))
        assert run("tell", "--on-conflict", "replace").code == 0
    found = sorted(Path().glob("t.csv.bak*"), key=lambda path: int(path.name.partition("bak")[2] or 0))
    assert [path.name.partition("bak")[2] for path in found] == ["", "3", "9", "10", "11", "12", "13"]
    assert found[0].read_bytes() == first
    assert mine.read_text() == "mine"
    assert "last 5 are kept" in run_again(run, asked)


def run_again(run: Run, asked: Table) -> str:
    write("next.csv", fill(asked, 99))
    return " ".join(run("tell", "--on-conflict", "replace").err.split())


def test_a_table_that_changes_once_is_read_again(run: Run, asked: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.campaign import results
    from likewise.cli.work import suggest

    def once(module: Any, name: str) -> None:
        work, todo = getattr(module, name), [1]

        def meanwhile(*arguments: Any, **given: Any) -> Any:
            if todo and todo.pop():
                path = Path("t.csv")
                path.write_text(path.read_text().replace("XPhos,DMF,40,,", "XPhos,DMF,40,seen,", 1) + "\n")
            return work(*arguments, **given)

        monkeypatch.setattr(module, name, meanwhile)

    write("next.csv", fill(asked, 11, 12, 13, 14))
    once(results, "merge_results")
    told = run("tell")
    assert told.code == 0, told.err
    assert "it is read again" in told.err
    assert "seen" in Path("t.csv").read_text()
    once(suggest, "judge")
    again = run("suggest")
    assert again.code == 0, again.err
    assert "it is read again" in again.err


def test_settings_of_a_plate_and_a_condition_hold_in_every_round(run: Run, rows: Rows, asked: Table) -> None:
    path = Path("likewise.toml")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("[plate]", '[plate]\nsame = ["solvent"]').replace("# where = ", "where = 'temp < 70' #")
    )
    write("next.csv", fill(asked, 11, 12, 13, 14))
    for _ in range(2):
        assert run("tell").code == 0
        assert run("suggest").code == 0
        found = rows(Path("next.csv"))
        assert len({row["solvent"] for row in found}) == 1
        assert all(float(row["temp"]) < 70 for row in found)
        write("next.csv", fill(found, 15, 16, 17, 18))
    path.write_text(text.replace("[plate]", "[plate]\nsmae = 1"), encoding="utf-8")
    assert "'plate.smae', which is not known" in run("suggest").err


@pytest.mark.parametrize("how", ["stop", "add"])
def test_rounded_numbers_without_runs_are_known_the_second_time(run: Run, asked: Table, how: str) -> None:
    told = [{name: row[name] for name in ("ligand", "solvent", "temp", "yield")} for row in fill(asked, 11, 12, 13, 14)]
    write("next.csv", [{**row, "temp": f"{float(row['temp']):.0f}"} for row in told])
    first = run("tell", "--on-conflict", how, "--json").data
    again = run("tell", "--on-conflict", how, "--json").data
    assert (first["filled"], first["added"]) == (4, 0)
    assert (again["filled"], again["added"], again["known"]) == (0, 0, 4)


def test_a_further_measurement_is_added_once(run: Run, rows: Rows, asked: Table) -> None:
    """A copied row of a run, a run that is named alone, and an object that was corrected in the table meanwhile."""
    write("next.csv", fill(asked, 11, 12, 13, 14))
    assert run("tell").code == 0
    table = rows(Path("t.csv"))
    by_run(table)[asked[0]["run"]]["temp"] = "65"
    write("t.csv", table)
    write("next.csv", [*asked, {**asked[0], "yield": "31"}])
    write("alone.csv", [{"run": asked[1]["run"], "yield": "12"}, {"run": asked[1]["run"], "yield": "32"}])
    for added in (1, 0, 0):
        for file in ("next.csv", "alone.csv"):
            told = run("tell", file, "--on-conflict", "add", "--json")
            assert told.code == 0, told.err
            assert told.data["added"] == added
    found = {row["yield"]: row for row in rows(Path("t.csv")) if row["run"]}
    assert found["31"]["temp"] == "65"
    assert found["32"]["ligand"] == asked[1]["ligand"]
    assert len(rows(Path("t.csv"))) == len(table) + 2


def test_notes_are_joined_once(run: Run, rows: Rows, asked: Table) -> None:
    for note in ("red", "warm", "warm", "warm"):
        fill(asked, 11)[0]["note"] = note
        write("next.csv", asked)
        assert run("tell", "--on-conflict", "add").code == 0
    assert by_run(rows(Path("t.csv")))[asked[0]["run"]]["note"] == "red; warm"
