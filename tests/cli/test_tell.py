"""Filled-in results go back into the table, contradictions are listed, and nothing is lost."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars
import pytest

from likewise.tables.dialect import Dialect
from likewise.tables.reading import read
from likewise.tables.writing import dialect_for, write

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]

TABLE = "smiles,yield,comment\nCCO,1.5,\nCCN,,dry\nCCC,,\nCCO,1.7,again\n"


def test_gaps_are_filled_and_new_objects_appended(run: Run, save: Save, rows: Rows) -> None:
    """With --out the table stays as it is; nothing that was typed is dropped, and columns are added for it."""
    table = save(TABLE)
    results = save("smiles,yield,comment,likewise_mean,lot\nCCN,2.5,,9,L7\nCCCC,3,new,9,\nCCC,,,9,\n", "next.csv")
    answer = run("tell", table, results, "--json", "--out", "table-told.csv")
    assert answer.code == 0
    assert {k: answer.data[k] for k in ("filled", "added", "known", "without_value", "conflicts")} == {
        "filled": 1, "added": 1, "known": 0, "without_value": 1, "conflicts": [],
    }  # fmt: skip
    assert table.read_text() == TABLE
    assert rows(Path("table-told.csv")) == [
        {"smiles": "CCO", "yield": "1.5", "comment": "", "lot": ""},
        {"smiles": "CCN", "yield": "2.5", "comment": "dry", "lot": "L7"},
        {"smiles": "CCC", "yield": "", "comment": "", "lot": ""},
        {"smiles": "CCO", "yield": "1.7", "comment": "again", "lot": ""},
        {"smiles": "CCCC", "yield": "3", "comment": "new", "lot": ""},
    ]


def test_telling_twice_changes_nothing(run: Run, save: Save) -> None:
    table, results = save(TABLE), save("smiles,yield\nCCN,2.5\nCCCC,3\nCCO,1.7\n", "next.csv")
    assert run("tell", table, results).code == 0
    once = table.read_bytes()
    again = run("tell", table, results, "--json")
    assert again.data["known"] == 3
    assert table.read_bytes() == once


def test_in_place_keeps_backups_and_the_dialect(run: Run, save: Save) -> None:
    original = "\ufeffObjekt;Ausbeute\r\nCCO;1,5\r\nCCN;\r\n".encode()
    table = save(original)
    results = save("Objekt,Ausbeute\nCCN,2.25\n", "next.csv")
    answer = run("tell", table, results, "--object", "Objekt", "--value", "Ausbeute")
    assert answer.code == 0
    assert table.read_bytes() == "\ufeffObjekt;Ausbeute\r\nCCO;1,5\r\nCCN;2,25\r\n".encode()
    assert Path("table.csv.bak").read_bytes() == original
    assert "table.csv.bak" in answer.out


CONFLICT = "smiles,yield\nCCO,9\nCCN,2\nCCN,3\n"


def test_contradictions_stop_everything_and_are_listed(run: Run, save: Save) -> None:
    table = save("smiles,yield\nCCO,1.5\nCCN,\n")
    answer = run("tell", table, save(CONFLICT, "next.csv"))
    assert answer.code == 1
    assert "CCO: 1.5 in row 2 of the table, 9 in row 2 of the results" in answer.err
    assert "CCN: 2 in row 3 of the results, 3 in row 4 of the results" in answer.err
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
    answer = run("tell", table, save("smiles,yield\nCCN,so-so\n", "next.csv"))
    assert answer.code == 1
    for word in (
        "next.csv",
        "row 2",
        "'yield'",
        "'so-so'",
        "failed, running, n.d., <0.1",
        "leave the cell empty",
        "--skip-bad",
    ):
        assert word in answer.err


def test_no_value_at_all_is_said(run: Run, save: Save) -> None:
    answer = run("tell", save(TABLE), save("smiles,yield\nCCN,\n", "next.csv"))
    assert answer.code == 1
    assert "no value, no state and no note" in answer.err


def test_nothing_that_is_there_is_overwritten_unasked(run: Run, save: Save) -> None:
    table, results = save(TABLE), save("smiles,yield\nCCN,2\n", "next.csv")
    other = save("precious", "told.csv")
    assert run("tell", table, results, "--out", "told.csv").code == 2
    assert run("tell", table, results, "--out", "table.csv").code == 2
    assert run("tell", table, results, "--out", "next.csv", "--force").code == 2
    assert run("tell", table, table).code == 2
    assert other.read_text() == "precious"
    assert table.read_text() == TABLE
    assert run("tell", table, results, "--out", "told.csv", "--force").code == 0


def test_numbers_and_codes_mean_the_same_in_both_files(run: Run, save: Save, rows: Rows) -> None:
    table = save("plate,temperature,yield\n007,80,\n012,90.0,\n7,80,1\n")
    results = save("plate,temperature,yield\n012,90,5\n7,8e1,1.0\n", "next.csv")
    answer = run("tell", table, results, "--object", "plate", "--object", "temperature", "--json", "--out", "new.csv")
    assert (answer.data["filled"], answer.data["known"], answer.data["added"]) == (1, 1, 0)
    assert [row["yield"] for row in rows(Path("new.csv"))] == ["", "5", "1"]


def test_rounds_are_counted_where_the_table_counts_them(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,score,round\nABC,1,1\nABD,2,2\nABE,,\nABF,,\n")
    assert run("tell", table, save("word,score,round\nABE,3,\nXYZ,4,\n", "next.csv")).code == 0
    assert [row["round"] for row in rows(table)] == ["1", "2", "3", "", "3"]


def test_parquet_tables_take_results_from_a_spreadsheet(run: Run, save: Save, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    polars.DataFrame({"smiles": ["CCO", "CCN"], "yield": [1, None], "lot": [7, 8]}).write_parquet(table)
    results = save("smiles,yield,lot\nCCN,2.5,8\nCCCC,3,9\n", "next.csv")
    assert run("tell", table, results).code == 0
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


RECIPES = "ligand,smiles,temperature,yield\nSPhos,CCO,80,\nSPhos,CCN,80,\nPPh3,CCO,100,\nPPh3,CCN,100,\n"


def test_a_guessed_column_that_does_not_tell_rows_apart_is_refused(run: Run, save: Save, rows: Rows) -> None:
    table = save(RECIPES)
    results = save("ligand,smiles,temperature,yield\nSPhos,CCN,80,50\nPPh3,CCO,100,51\n", "next.csv")
    answer = run("tell", table, results)
    assert answer.code == 2
    for word in ("'smiles'", "'ligand'", "--object smiles --object ligand --object temperature", "nothing was written"):
        assert word in " ".join(answer.err.split())
    assert table.read_text() == RECIPES
    objects = ("-o", "ligand", "-o", "smiles", "-o", "temperature")
    assert run("tell", table, results, *objects).code == 0
    assert [row["yield"] for row in rows(table)] == ["", "50", "51", ""]


def test_several_people_tell_at_once_and_nothing_is_lost(save: Save, rows: Rows) -> None:
    table = save("object,value\n" + "".join(f"o{i},\n" for i in range(12)))
    command = "from likewise.cli.main import main; main()"
    people = []
    for k in range(4):
        results = save("object,value\n" + "".join(f"o{i},{i}\n" for i in range(k, 12, 4)), f"r{k}.csv")
        told = [sys.executable, "-c", command, "tell", str(table), str(results), "-q"]
        people.append(subprocess.Popen(told, stdout=subprocess.DEVNULL))
    assert [person.wait() for person in people] == [0] * 4
    assert [row["value"] for row in rows(table)] == [str(i) for i in range(12)]
    assert not list(table.parent.glob(".*"))


@pytest.mark.parametrize("work", ["campaign.results.merge_results", "campaign.results.keep_backup", "os.fsync"])
@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table.xlsx"])
def test_a_table_that_another_program_changes_meanwhile_is_left_alone(
    run: Run, save: Save, monkeypatch: pytest.MonkeyPatch, work: str, name: str
) -> None:
    """Whatever is done when it changes: what is slow is over when the file is looked at for the last time."""
    table, results = Path(name), save("smiles,yield\nCCN,2\n", "next.csv")
    write(read(save(TABLE, "first.csv")).frame, table, dialect_for(table, Dialect()))
    place = work if work == "os.fsync" else f"likewise.{work}"
    real = pkgutil.resolve_name(place.rpartition(".")[0] + ":" + place.rpartition(".")[2])

    def meanwhile(*arguments: Any) -> Any:
        done = real(*arguments)
        os.utime(table, ns=(0, table.stat().st_mtime_ns + 10**9))
        return done

    before = table.read_bytes()
    monkeypatch.setattr(place, meanwhile)
    answer = run("tell", table, results)
    assert answer.code == 1
    assert "changed by another program" in answer.err
    assert table.read_bytes() == before
    assert sorted(os.listdir()) == ["first.csv", "next.csv", name]


@pytest.mark.parametrize(
    ("column", "cells", "held"),
    [
        (polars.Series([None, None]), "300,-5", [300.0, -5.0]),
        (polars.Series([1, None], dtype=polars.Int8), "300,7", [1, 300, 7]),
        (polars.Series([1, None], dtype=polars.UInt16), "-5,7", [1, -5, 7]),
        (polars.Series([1, None], dtype=polars.UInt16), "2.5,7", [1, 2.5, 7]),
        (polars.Series([0.5, None], dtype=polars.Float32), "1e300,7", [0.5, 1e300, 7]),
        (polars.Series([2**60 + 1, None]), "3,7", [2**60 + 1, 3, 7]),
    ],
)
def test_values_widen_the_type_of_a_parquet_column(
    run: Run, save: Save, tmp_path: Path, column: polars.Series, cells: str, held: list[float]
) -> None:
    table = tmp_path / "t.parquet"
    polars.DataFrame({"object": ["AAA", "BBB"], "value": column}).write_parquet(table)
    first, second = cells.split(",")
    results = save(f"object,value\n{'AAA' if column[0] is None else 'BBB'},{first}\nNEW,{second}\n", "r.csv")
    assert run("tell", table, results, "-o", "object", "-v", "value").code == 0
    assert [cell for cell in polars.read_parquet(table)["value"].to_list() if cell is not None] == held


def test_other_columns_of_parquet_keep_or_widen_their_types(run: Run, save: Save, tmp_path: Path) -> None:
    table = tmp_path / "t.parquet"
    frame = {
        "object": polars.Series(["AAA", "BBB"], dtype=polars.Enum(["AAA", "BBB"])),
        "value": [1.0, None],
        "day": polars.Series([date(2026, 1, 30), None]),
        "dry": [True, None],
        "lot": [None, None],
    }
    polars.DataFrame(frame).write_parquet(table)
    results = save("object,value,day,dry,lot\nBBB,2,2026-01-31,false,x7\nNEW,3,2026-02-01,true,x8\n", "r.csv")
    assert run("tell", table, results, "-o", "object", "-v", "value").code == 0
    told = polars.read_parquet(table)
    assert told["object"].to_list() == ["AAA", "BBB", "NEW"]
    assert told["day"].to_list() == [date(2026, 1, 30), date(2026, 1, 31), date(2026, 2, 1)]
    assert told["dry"].to_list() == [True, False, True]
    assert told["lot"].to_list() == [None, "x7", "x8"]


@pytest.mark.parametrize("row", ["BBB,2,yesterday,1", "BBB,2,2026-01-31,A7"])
def test_cells_that_no_type_holds_are_refused(run: Run, save: Save, tmp_path: Path, row: str) -> None:
    table = tmp_path / "t.parquet"
    polars.DataFrame(
        {"object": ["AAA", "BBB"], "value": [1, None], "day": [date(2026, 1, 1)] * 2, "lot": [1, 2]}
    ).with_columns(
        polars.when(polars.col("object") == "AAA").then("day").alias("day"),
        polars.when(polars.col("object") == "AAA").then("lot").alias("lot"),
    ).write_parquet(table)
    before = table.read_bytes()
    answer = run("tell", table, save(f"object,value,day,lot\n{row}\n", "r.csv"), "-v", "value", "-o", "object")
    assert answer.code == 1
    assert "r.csv, row 2" in answer.err
    assert table.read_bytes() == before


def test_results_are_written_with_the_decimal_sign_of_the_table(run: Run, save: Save) -> None:
    table = save("temp;base;yield;cost\n75,5;KOH;1,5;2,5\n80;KOH;;\n")
    results = save("temp,base,yield,cost\n80,KOH,2.25,3.5\n75.125,KOH,6.5,4.5\n", "next.csv")
    assert run("tell", table, results, "-o", "temp", "-o", "base", "-v", "yield").code == 0
    assert table.read_text() == "temp;base;yield;cost\n75,5;KOH;1,5;2,5\n80;KOH;2,25;3,5\n75,125;KOH;6,5;4,5\n"


def test_the_table_settles_what_a_comma_means_in_the_results(run: Run, save: Save, rows: Rows) -> None:
    table = save("object;value\nA;1,5\nB;\n")
    assert run("tell", table, save("object;value\nB;1,234\n", "next.csv")).code == 0
    assert [row["value"] for row in rows(table, ";")] == ["1,5", "1,234"]
    assert run("diagnose", table, "--json").code in (0, 2)


@pytest.mark.parametrize(("data", "cell"), [("80,KOH,5\nninety,KOH,6\n", "'ninety'"), ("080,KOH,5\n", "'080'")])
def test_cells_mean_in_the_results_what_they_mean_in_the_table(run: Run, save: Save, data: str, cell: str) -> None:
    table = save("temp,base,yield\n60,KOH,1\n70,KOH,2\n80,KOH,\n90,KOH,\n")
    answer = run("tell", table, save(f"temp,base,yield\n{data}", "next.csv"), "-o", "temp", "-o", "base")
    assert answer.code == 1
    for word in ("next.csv", "'temp'", cell, "--text temp", "--skip-bad"):
        assert word in answer.err


def test_replacing_says_what_it_cannot_settle_and_drops_the_old_deviation(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,score,std\nAAA,1,\nAAA,2,\nBBB,5,0.5\n")
    replace = ("--on-conflict", "replace", "-v", "score", "-o", "word")
    answer = run("tell", table, save("word,score\nAAA,3\nBBB,7\n", "next.csv"), *replace)
    assert answer.code == 1
    for word in ("AAA", "3 (row 2", "several", "nothing was written"):
        assert word in " ".join(answer.err.split())
    answer = run("tell", table, save("word,score\nBBB,7\nDDD,8\nDDD,9\n", "next.csv"), *replace, "--json")
    assert (answer.data["filled"], answer.data["replaced"], answer.data["added"]) == (0, 2, 1)
    assert [(row["word"], row["score"], row["std"]) for row in rows(table)][2:] == [("BBB", "7", ""), ("DDD", "9", "")]


def test_equal_replicates_count_and_the_same_file_does_not_count_twice(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,score\nAAA,1\nBBB,\n")
    results = save("word,score\nAAA,1\nBBB,5\nBBB,5\nCCC,6\nCCC,6\n", "next.csv")
    add = ("--on-conflict", "add", "--json")
    assert run("tell", table, results, *add).data["added"] == 3
    assert [row["score"] for row in rows(table)] == ["1", "5", "5", "6", "6"]
    again = run("tell", table, results, *add).data
    assert (again["known"], again["added"], again["filled"]) == (5, 0, 0)


def test_telling_adds_no_apostrophes(run: Run, save: Save) -> None:
    table = save("object,storage,value\nA,-80 °C,1\nB,=A1,\nC,''@x,\n")
    for _ in range(3):
        assert run("tell", table, save("object,storage,value\nB,,2\n", "r.csv"), "-o", "object").code == 0
        assert table.read_text() == "object,storage,value\nA,'-80 °C,1\nB,'=A1,2\nC,''@x,\n"


def test_ids_with_many_digits_stay_apart(run: Run, save: Save, rows: Rows) -> None:
    table = save("object,value\n12345678901234567,\n12345678901234568,\n12345678901234569,1\n")
    answer = run("tell", table, save("object,value\n12345678901234568,5\n", "r.csv"))
    assert [row["value"] for row in rows(table)] == ["", "5", "1"]
    assert "compared as text" in answer.err
    frame = table.with_suffix(".parquet")
    polars.DataFrame({"object": [12345678901234567, 12345678901234568], "value": [None, 1.0]}).write_parquet(frame)
    assert run("tell", frame, save("object,value\n12345678901234567,5\n", "r.csv")).code == 0
    assert polars.read_parquet(frame)["value"].to_list() == [5.0, 1.0]
    assert polars.read_parquet(frame)["object"].to_list() == [12345678901234567, 12345678901234568]


def test_rows_that_are_left_out_are_written_back_untouched(run: Run, save: Save) -> None:
    table = save("object,value\n1,1\n2,failed\n3,\nmany,cells,=here\n,7\n")
    results = save("object,value\n3,4\n5,oops\n", "r.csv")
    assert run("tell", table, results, "-v", "value").code == 1
    assert run("tell", table, results, "-v", "value", "--skip-bad", "--text", "object").code == 0
    assert table.read_text() == "object,value\n1,1\n2,failed\n3,4\nmany,cells,'=here\n,7\n"
    answer = run("tell", table, results, "-v", "value", "--skip-bad", "--out", "t.parquet")
    assert answer.code == 1
    assert "Parquet" in answer.err


def test_a_workbook_can_be_asked_for(run: Run, save: Save) -> None:
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("python_calamine")
    answer = run("tell", save(TABLE), save("smiles,yield\nCCN,2\n", "next.csv"), "--out", "new.xlsx")
    assert answer.code == 0
    assert run("suggest", "new.xlsx", "-s", "indel", "--json").data["measured"] > 0
    assert run("tell", save(TABLE), "next.csv", "--out", "new.ods").code == 2


def test_results_without_a_table_are_gone_on_with(run: Run, save: Save) -> None:
    command = ("suggest", "--space", "strings:ACGT:4", "--value", "yield", "--out", "next.csv")
    follow = "likewise suggest next.csv --value yield --space strings:ACGT:4 --out next-round.csv"
    assert f"Fill in column 'yield' of next.csv, then: {follow}" in run(*command).out
    save("object,yield\nACGT,5\n", "next.csv")
    answer = run(*command)
    assert answer.code == 2
    assert "no table of suggestions" in answer.err
    Path("next.csv").unlink()
    assert run(*command).code == 0
    assert f"next.csv exists. Go on with it ({follow})" in " ".join(run(*command).err.split())


def test_results_that_cannot_be_used_are_not_overwritten_either(run: Run, save: Save) -> None:
    table = save("temp,yield\n60,1\n70,2\n80,\n90,\n")
    for row in ("ninety,6,", "90,oops,", "90,6,7,8", "90,failed,"):
        results = save(f"temp,yield,likewise_mean\n{row}\n", "next.csv")
        answer = run("suggest", table, "-o", "temp", "-v", "yield", "--out", results)
        assert answer.code == 2
        assert "exists, with 1 row that" in " ".join(answer.err.split())
        assert row in results.read_text()
