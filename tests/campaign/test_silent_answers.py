"""Tables as people write them: understood where they are clear, otherwise refused by row, value and remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]


def said(answer: Any) -> str:
    """What a command said to people, in one line."""
    return " ".join(f"{answer.out} {answer.err}".split())


def test_two_objectives_are_not_silently_one(run: Run, save: Save) -> None:
    table = save("word,a,b\nxy,1,2\nxz,3,1\nyz,,\n")
    answer = run("suggest", table, "--value", "a", "--value", "b")
    assert answer.code == 0
    assert "Looking for the largest a and the largest b" in said(answer)


def test_a_german_results_file_is_told_into_a_table_with_points(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,value\nxy,1.5\nxz,2.25\nyz,\nzz,\n")
    results = save("word;value\nyz;12,345\nzz;1,5\n", "results.csv")
    assert run("tell", table, results).code == 0
    assert [row["value"] for row in rows(table)] == ["1.5", "2.25", "12.345", "1.5"]


def test_a_german_number_that_could_be_two_is_read_by_its_own_file(run: Run, save: Save, rows: Rows) -> None:
    table = save("word,value\nxy,1.5\nyz,\n")
    assert run("tell", table, save("word;value\nyz;12,345\n", "results.csv")).code == 0
    assert rows(table)[1]["value"] == "12.345"


def test_one_text_among_the_values_does_not_make_another_column_the_value(run: Run, save: Save) -> None:
    table = save("smiles,potency,price\nCCO,1.5,10\nCCN,broken,20\nCCC,2,30\nCCF,3,\n")
    answer = run("suggest", table)
    assert answer.code == 2
    assert "'potency', 'price'" in said(answer)
    named = run("suggest", table, "--value", "potency")
    assert named.code == 1
    assert "row 3, column 'potency', 'broken': it is not a number" in said(named)


def test_units_in_cells_are_read(run: Run, save: Save) -> None:
    table = save("ligand,temp,yield\nXPhos,80 °C,10%\nSPhos,90 ºC,20 %\ndppf,80,30\nXPhos,100°C,\n")
    data = run("suggest", table, "-o", "ligand", "-o", "temp", "--json").data
    assert data["best"]["value"] == 30
    assert data["suggestions"][0]["object"] == {"ligand": "XPhos", "temp": 100.0}
    assert "column 'temp' has numbers in °C" in " ".join(data["notes"])


def test_two_units_in_a_column_are_said(run: Run, save: Save) -> None:
    table = save("ligand,temp,yield\nXPhos,80 °C,10\nSPhos,353 K,20\ndppf,90 °C,30\nXPhos,100 °C,\n")
    answer = run("suggest", table, "-o", "ligand", "-o", "temp")
    assert "'°C' (row 2) and 'K' (row 3); write all of them in one unit" in said(answer)


def test_a_row_of_units_and_an_average_are_no_experiments(run: Run, save: Save, rows: Rows) -> None:
    text = "entry,ligand,temp,yield\n,,°C,[%]\n1,XPhos,80,10\n2,SPhos,90,20\n3,dppf,80,\n,average,,15\n"
    table = save(text)
    answer = run("suggest", table, "-o", "ligand", "-o", "temp", "--json")
    assert (answer.data["measured"], answer.data["candidates"]) == (2, 1)
    notes = " ".join(answer.data["notes"])
    assert "row 2 is left out, as it holds units" in notes
    assert "row 6 is left out, as it says 'average'" in notes
    results = save("ligand,temp,yield\ndppf,80,33\n", "results.csv")
    assert run("tell", table, results, "-o", "ligand", "-o", "temp").code == 0
    assert table.read_text() == text.replace("3,dppf,80,", "3,dppf,80,33")


def test_room_temperature_among_numbers_is_asked_about(run: Run, save: Save) -> None:
    cells = "".join(f"L{i},{20 + i},{i}\n" for i in range(7))
    answer = run("suggest", save(f"ligand,temp,yield\n{cells}L8,rt,\n"), "-o", "ligand", "-o", "temp")
    assert answer.code == 1
    assert "row 9, column 'temp', 'rt': it is not a number (20 or 25 °C for room temperature)" in said(answer)
    assert "--text temp" in said(answer)


def test_none_among_numbers_is_asked_about(run: Run, save: Save) -> None:
    answer = run("suggest", save("base,eq,yield\nA,1,2\nB,none,3\nC,2,\n"), "-o", "base", "-o", "eq")
    assert "write 0 where nothing was added" in said(answer)


@pytest.mark.parametrize("name", ["entry", "Run", "No.", "#", "exp"])
def test_a_column_that_counts_the_rows_is_no_object(run: Run, save: Save, name: str) -> None:
    answer = run("suggest", save(f"{name},yield\n1,2\n2,3\n3,\n"))
    assert answer.code == 2
    counted = save(f"{name},ligand,yield\n1,XPhos,2\n2,SPhos,3\n3,dppf,\n", "other.csv")
    assert "objects from column 'ligand'" in said(run("suggest", counted))


def test_compare_takes_the_direction(run: Run, words: Path) -> None:
    assert run("compare", words, "-o", "word", "-s", "hamming", "--minimize").code == 0


def test_a_similarity_that_does_not_fit_is_named(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save("smiles,yield\nCCO,1\nc1ccccc1,2\nCCN,3\nCCF,\n")
    answer = run("suggest", table, "-s", "tanimoto,hamming")
    assert "'CCO' has 3 and 'c1ccccc1' has 8" in said(answer)
    assert "similarity Hamming" in said(answer)


def test_a_value_outside_the_box_is_blamed_on_its_column(run: Run, save: Save) -> None:
    table = save("t,temp,yield\n1,20,3\n2,30,4\n3,400,5\n")
    answer = run("suggest", table, "--space", "box:1..10,20..120", "-o", "t", "-o", "temp")
    assert "row 4, column 'temp', '400'" in said(answer)


def test_a_report_is_html(run: Run, words: Path) -> None:
    answer = run("suggest", words, "-o", "word", "--report", "r.pdf")
    assert answer.code == 2
    assert "write r.html" in said(answer)
    assert not Path("r.pdf").exists()


def test_the_first_line_of_excel_is_understood_and_kept(run: Run, save: Save) -> None:
    table = save("sep=;\nword;value\nab;1,5\nac;2,5\nbb;\n")
    data = run("suggest", table, "--out", "next.csv", "--json").data
    assert data["best"] == {"row": 4, "object": "ac", "value": 2.5, "rows": [4]}
    assert Path("next.csv").read_text().startswith("sep=;\nword;value;")
    results = save("word,value\nbb,3.5\n", "results.csv")
    assert run("tell", table, results).code == 0
    first, header, *lines = table.read_text().splitlines()
    assert (first, header) == ("sep=;", "word;value;run;status;round")
    assert [line.split(";")[:2] for line in lines] == [["ab", "1,5"], ["ac", "2,5"], ["bb", "3,5"]]


@pytest.mark.parametrize("total", [1, 100])
@pytest.mark.parametrize("options", [(), ("-s", "hellinger"), ("-s", "matern")])
def test_columns_of_shares_are_a_composition(run: Run, save: Save, total: int, options: tuple[str, ...]) -> None:
    shares = [(0.1, 0.2, 0.7), (0.3, 0.3, 0.4), (0.5, 0.25, 0.25), (0.2, 0.2, 0.6), (0.1, 0.8, 0.1), (0.6, 0.2, 0.2)]
    lines = [f"{total * a},{total * b},{total * c},{i if i < 5 else ''}" for i, (a, b, c) in enumerate(shares)]
    table = save("\n".join(["water,ethanol,DMSO,value", *lines, ""]))
    answer = run("suggest", table, "-o", "water", "-o", "ethanol", "-o", "DMSO", "--json", *options)
    assert answer.code == 0
    assert "of water, ethanol, DMSO" in answer.data["similarities"][0]["name"]


def test_names_of_chemicals_are_warned_of(run: Run, save: Save) -> None:
    table = save("compound,value\nbenzoic acid,1\ntoluene,2\naniline,3\nethanol,\n")
    assert "a column of SMILES would compare the molecules" in said(run("suggest", table))


def test_reactions_are_compared_as_reactions(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save(
        "rxn,yield\nCCO>[Pd]>CC=O,1\nCCCO>[Pd]>CCC=O,2\nCC(C)O>[Cu]>CC(C)=O,3\nOCC>[Pd]>O=CC,\nCCCCO>>CCCC=O,\n"
    )
    data = run("suggest", table, "-n", 2, "--json").data
    assert "as reactions" in " ".join(data["notes"])
    assert [each["object"] for each in data["suggestions"]] == ["CCCCO>>CCCC=O"]


@pytest.mark.parametrize("measured", [1, 3, 4])
def test_few_values_explore_and_no_model_speaks_for_that(run: Run, save: Save, measured: int) -> None:
    words = ["ab", "ac", "bb", "bc", "cc", "ca", "cb"]
    table = save("word,yield\n" + "".join(f"{word},{i + 10 if i < measured else ''}\n" for i, word in enumerate(words)))
    answer = run("suggest", table, "-n", 2, "--report", "r.html")
    assert "beats best" not in answer.out
    assert "the suggestions explore" in said(answer)
    data = run("suggest", table, "-n", 2, "--json").data
    assert all(each["chance"] is each["mean"] is None and not each["because"] for each in data["suggestions"])


def test_values_that_are_all_the_same_promise_no_chance(run: Run, save: Save) -> None:
    table = save("word,yield\nab,0\nac,0\nbb,0\nbc,0\ncc,0\nca,0\ncb,\nba,\n")
    answer = run("suggest", table, "-n", 2)
    assert "50 %" not in answer.out
    assert "All 6 values are the same" in said(answer)


FORGOTTEN = "ligand,temp,yield\nX,80,10\nX,100,50\nS,80,12\nS,100,55\ndppf,80,9\ndppf,80,8\ndppf,100,52\nx,80,\n"


def test_a_factor_that_was_not_named_is_warned_of(run: Run, save: Save) -> None:
    note = "If you set 'temp', name it as a column of the objects, too"
    assert note in said(run("suggest", save(FORGOTTEN), "-o", "ligand", "-v", "yield"))
    assert note not in said(run("suggest", save(FORGOTTEN), "-o", "ligand", "-o", "temp", "-v", "yield"))
    noise = "word,operator,machine,yield\n" + "".join(
        f"w{i // 4},{i % 2},{i % 3},{i // 4 + i % 4 / 10}\n" for i in range(24)
    )
    assert "name it as a column" not in said(run("suggest", save(f"{noise}z,1,1,\n"), "-o", "word", "-v", "yield"))


def test_a_prediction_far_outside_says_so(run: Run, save: Save) -> None:
    rows = "".join(f"L{i % 3},{60 + 10 * i},{i}\n" for i in range(8))
    table = save(f"ligand,temp,yield\n{rows}")
    options = ("-o", "ligand", "-o", "temp", "-v", "yield")
    far = run("explain", table, "ligand=L1", "temp=8000", *options)
    assert "'temp' is 8000, outside of what the table has seen, 60 to 130" in said(far)
    assert "outside of what" not in said(run("explain", table, "ligand=l1", "temp=85", *options))
