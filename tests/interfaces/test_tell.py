"""Filled-in results go back into the table, contradictions are listed, and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]

TABLE = "smiles,yield,comment\nCCO,1.5,\nCCN,,dry\nCCC,,\nCCO,1.7,again\n"


def test_gaps_are_filled_new_objects_appended_and_the_input_stays(run: Run, save: Save, rows: Rows) -> None:
    table = save(TABLE)
    results = save("smiles,yield,comment,likewise_mean\nCCN,2.5,wet,9\nCCCC,3,new,9\nCCC,,,9\n", "next.csv")
    answer = run("tell", table, results, "--json")
    assert answer.code == 0
    assert {k: answer.data[k] for k in ("filled", "added", "known", "without_value", "conflicts")} == {
        "filled": 1, "added": 1, "known": 0, "without_value": 1, "conflicts": [],
    }  # fmt: skip
    assert table.read_text() == TABLE
    assert rows(Path("table-told.csv")) == [
        {"smiles": "CCO", "yield": "1.5", "comment": ""},
        {"smiles": "CCN", "yield": "2.5", "comment": "dry"},
        {"smiles": "CCC", "yield": "", "comment": ""},
        {"smiles": "CCO", "yield": "1.7", "comment": "again"},
        {"smiles": "CCCC", "yield": "3", "comment": "new"},
    ]


def test_telling_twice_changes_nothing(run: Run, save: Save) -> None:
    table, results = save(TABLE), save("smiles,yield\nCCN,2.5\nCCCC,3\nCCO,1.7\n", "next.csv")
    assert run("tell", table, results, "--in-place").code == 0
    once = table.read_bytes()
    again = run("tell", table, results, "--in-place", "--json")
    assert again.data["known"] == 3
    assert table.read_bytes() == once


def test_in_place_keeps_backups_and_the_dialect(run: Run, save: Save) -> None:
    original = "\ufeffObjekt;Ausbeute\r\nCCO;1,5\r\nCCN;\r\n".encode()
    table = save(original)
    results = save("Objekt,Ausbeute\nCCN,2.25\n", "next.csv")
    answer = run("tell", table, results, "--in-place", "--object", "Objekt", "--value", "Ausbeute")
    assert answer.code == 0
    assert table.read_bytes() == "\ufeffObjekt;Ausbeute\r\nCCO;1,5\r\nCCN;2,25\r\n".encode()
    assert Path("table.csv.bak").read_bytes() == original
    assert "table.csv.bak" in answer.out


CONFLICT = "smiles,yield\nCCO,9\nCCN,2\nCCN,3\n"


def test_contradictions_stop_everything_and_are_listed(run: Run, save: Save) -> None:
    table = save("smiles,yield\nCCO,1.5\nCCN,\n")
    answer = run("tell", table, save(CONFLICT, "next.csv"), "--in-place")
    assert answer.code == 1
    assert "CCO: 1.5 in row 2 of the table, 9 in row 2 of the results" in answer.err
    assert "CCN: 2 in row 3 of the table, 3 in row 4 of the results" in answer.err
    assert table.read_text() == "smiles,yield\nCCO,1.5\nCCN,\n"
    assert sorted(os.listdir()) == ["next.csv", "table.csv"]


@pytest.mark.parametrize(
    ("how", "values"),
    [("keep", ["1.5", "2"]), ("replace", ["9", "3"]), ("add", ["1.5", "2", "9", "3"])],
)
def test_contradictions_are_settled_as_the_user_says(
    run: Run, save: Save, rows: Rows, how: str, values: list[str]
) -> None:
    table = save("smiles,yield\nCCO,1.5\nCCN,\n")
    answer = run("tell", table, save(CONFLICT, "next.csv"), "--on-conflict", how, "--out", "new.csv")
    assert answer.code == 0
    assert [row["yield"] for row in rows(Path("new.csv"))] == values


def test_what_is_no_number_is_named_with_row_and_column(run: Run, save: Save) -> None:
    table = save(TABLE)
    answer = run("tell", table, save("smiles,yield\nCCN,failed\n", "next.csv"))
    assert answer.code == 1
    for word in ("next.csv", "row 2", "'yield'", "'failed'", "leave the cell empty", "--skip-bad"):
        assert word in answer.err


def test_no_value_at_all_is_said(run: Run, save: Save) -> None:
    answer = run("tell", save(TABLE), save("smiles,yield\nCCN,\n", "next.csv"))
    assert answer.code == 1
    assert "no value in column 'yield'" in answer.err


def test_nothing_that_is_there_is_overwritten_unasked(run: Run, save: Save) -> None:
    table, results = save(TABLE), save("smiles,yield\nCCN,2\n", "next.csv")
    other = save("precious", "table-told.csv")
    assert run("tell", table, results).code == 2
    assert run("tell", table, results, "--out", "table.csv").code == 2
    assert run("tell", table, results, "--out", "next.csv", "--force").code == 2
    assert run("tell", table, results, "--out", "x.csv", "--in-place").code == 2
    assert other.read_text() == "precious"
    assert run("tell", table, results, "--force").code == 0


def test_numbers_and_codes_mean_the_same_in_both_files(run: Run, save: Save, rows: Rows) -> None:
    table = save("plate,temperature,yield\n007,80,\n012,90.0,\n7,80,1\n")
    results = save("plate,temperature,yield\n012,90,5\n7,8e1,1.0\n", "next.csv")
    answer = run("tell", table, results, "--object", "plate", "--object", "temperature", "--json", "--out", "new.csv")
    assert (answer.data["filled"], answer.data["known"], answer.data["added"]) == (1, 1, 0)
    assert [row["yield"] for row in rows(Path("new.csv"))] == ["", "5", "1"]


def test_rounds_are_counted_where_the_table_counts_them(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,score,round\nABC,1,1\nABD,2,2\nABE,,\nABF,,\n")
    assert run("tell", table, save("word,score,round\nABE,3,\nXYZ,4,\n", "next.csv"), "--in-place").code == 0
    assert [row["round"] for row in rows(table)] == ["1", "2", "3", "", "3"]


def test_parquet_tables_take_results_from_a_spreadsheet(run: Run, save: Save, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    polars.DataFrame({"smiles": ["CCO", "CCN"], "yield": [1, None], "lot": [7, 8]}).write_parquet(table)
    results = save("smiles,yield,lot\nCCN,2.5,8\nCCCC,3,9\n", "next.csv")
    assert run("tell", table, results, "--in-place").code == 0
    frame = polars.read_parquet(table)
    assert frame["yield"].to_list() == [1.0, 2.5, 3.0]
    assert frame["lot"].to_list() == [7, 8, 9]


def test_formulas_are_disarmed_and_recognised_again(run: Run, save: Save, rows: Rows) -> None:
    table = save("object,value\n=A1,\n-CH3,\n@x,1\n")
    results = save("object,value\n'=A1,5\n'-CH3,6\n", "next.csv")
    answer = run("tell", table, results, "--json", "--out", "new.csv")
    assert (answer.data["filled"], answer.data["added"]) == (2, 0)
    assert [row["object"] for row in rows(Path("new.csv"))] == ["'=A1", "'-CH3", "'@x"]
    again = run("tell", "new.csv", results, "--json", "--out", "newer.csv")
    assert again.data["known"] == 2
