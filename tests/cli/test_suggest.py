"""`likewise suggest`: the answer, its files, what it leaves alone, and the worst files there are."""

from __future__ import annotations

import gzip
import json
import shlex
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars
import pytest

from likewise.spaces.pool import Pool

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]

FAST = ("--similarity", "hamming")


def test_the_answer_is_a_table_for_people_and_notes_go_to_stderr(run: Run, words: Path) -> None:
    answer = run("suggest", words, "-n", 3, "--object", "word", *FAST)
    assert answer.code == 0
    assert "expected score" in answer.out
    assert "Best so far" in answer.out
    assert "Verdict" in answer.out
    assert "values from column 'score'" in answer.err
    assert "17 measured rows, 64 candidates" in answer.err
    assert "\x1b" not in answer.out


def test_the_command_to_go_on_with_can_be_pasted(run: Run, words: Path, save: Save) -> None:
    """Names with spaces are quoted, there and where results would be lost."""
    table = save(words.read_bytes(), "my words.csv")
    answer = run("suggest", table.name, "-n", 1, "--object", "word", "--out", "what next.csv", *FAST)
    follow = next(line for line in answer.out.splitlines() if line.startswith("Fill in")).split("then: ")[1]
    assert shlex.split(follow) == ["likewise", "tell", "my words.csv", "what next.csv", "--object", "word"]
    header, row = Path("what next.csv").read_text().splitlines()
    cells = row.split(",")
    cells[header.split(",").index("score")] = "3"
    save("\n".join([header, ",".join(cells), ""]), "what next.csv")
    again = run("suggest", table.name, "-n", 1, "--object", "word", "--out", "what next.csv", *FAST)
    assert again.code == 2
    assert "(likewise tell 'my words.csv' 'what next.csv' --object word)" in " ".join(again.err.split())


def test_json_is_alone_on_stdout_and_says_everything(run: Run, words: Path) -> None:
    data = run("suggest", words, "-n", 3, "--json", "--object", "word", *FAST).data
    assert data["schema"] == 1
    assert data["command"] == "suggest"
    assert (data["object_columns"], data["value_column"], data["direction"]) == (["word"], "score", "maximize")
    assert (data["measured"], data["candidates"], data["skipped_rows"]) == (17, 64, [])
    assert data["best"]["value"] == 10.0
    assert [s["rank"] for s in data["suggestions"]] == [1, 2, 3]
    table = words.read_text().splitlines()
    for suggestion in data["suggestions"]:
        assert table[suggestion["row"] - 1].split(",")[1:] == [suggestion["object"], ""]
        assert suggestion["std"] > 0
        assert 0 <= suggestion["chance"] <= 1
        for analogue in suggestion["because"]:
            assert table[analogue["row"] - 1].split(",")[1] == analogue["object"]
            assert float(table[analogue["row"] - 1].split(",")[2]) == analogue["value"]
    assert sum(s["weight"] for s in data["similarities"]) == pytest.approx(1.0)
    assert data["verdict"]


def test_the_same_seed_gives_the_same_answer(run: Run, words: Path) -> None:
    first, second = (run("suggest", words, "-n", 3, "--json", "-o", "word", *FAST, "--seed", 4).out for _ in range(2))
    assert first == second


@pytest.mark.parametrize("target", ["no/such/next.csv", "."])
def test_a_place_that_cannot_be_written_is_refused_first(run: Run, words: Path, target: str) -> None:
    answer = run("suggest", words, "-o", "word", *FAST, "--out", target, "--force")
    assert answer.code == 2
    assert f"--out {target}" in answer.err
    assert "column" not in answer.err


def test_minimising_mirrors_maximising(run: Run, words: Path, save: Save) -> None:
    lines = [line.split(",") for line in words.read_text().splitlines()]
    mirrored = [",".join([*line[:2], f"-{line[2]}" if line[2] and i else line[2]]) for i, line in enumerate(lines)]
    other = save("\n".join(mirrored), "mirrored.csv")
    up = run("suggest", words, "-n", 4, "--json", "-o", "word", *FAST).data["suggestions"]
    down = run("suggest", other, "-n", 4, "--json", "-o", "word", *FAST, "--minimize").data["suggestions"]
    assert [s["object"] for s in up] == [s["object"] for s in down]
    assert [s["mean"] for s in up] == pytest.approx([-s["mean"] for s in down])
    assert [s["chance"] for s in up] == pytest.approx([s["chance"] for s in down])


def test_the_loop_closes(run: Run, words: Path, rows: Rows) -> None:
    """Suggest, fill in, tell, suggest again: what was told is not suggested again.

    Looking changes nothing; with --out, the runs are noted in the table.
    """
    before = words.read_bytes()
    assert run("suggest", words, "-n", 4, "-o", "word", *FAST).code == 0
    assert words.read_bytes() == before
    assert run("suggest", words, "-n", 4, "--out", "next.csv", "-o", "word", *FAST).code == 0
    assert Path("words.csv.bak").read_bytes() == before
    assert [line.rsplit(",", 3)[0] for line in words.read_text().splitlines()] == before.decode().splitlines()
    following = Path("next.csv")
    found = rows(following)
    assert list(found[0]) == [
        "id",
        "word",
        "score",
        "run",
        "status",
        "round",
        "likewise_mean",
        "likewise_std",
        "likewise_low",
        "likewise_high",
        "likewise_chance",
        "likewise_because",
    ]
    assert all(row["score"] == "" and row["id"] for row in found)
    filled = following.read_text().splitlines()
    filled = [filled[0], *(line.replace(",,", ",7,", 1) for line in filled[1:])]
    following.write_text("\n".join(filled))
    assert run("tell", words, following, "-o", "word").code == 0
    again = run("suggest", words, "-n", 4, "--json", "-o", "word", *FAST).data
    assert again["measured"] == 21
    assert not {s["object"] for s in again["suggestions"]} & {row["word"] for row in found}


def test_appended_suggestions_are_understood_too(run: Run, words: Path) -> None:
    """Without `tell`: the filled-in rows pasted below the table, prediction columns and all."""
    run("suggest", words, "-n", 2, "--out", "next.csv", "-o", "word", *FAST)
    header, *new = Path("next.csv").read_text().splitlines()
    old = words.read_text().splitlines()[1:]
    together = [header, *(f"{line},,,," for line in old), *(line.replace(",,", ",9.5,", 1) for line in new)]
    words.write_text("\n".join(together))
    data = run("suggest", words, "-n", 2, "--json", "-o", "word", *FAST).data
    assert (data["value_column"], data["measured"]) == ("score", 19)


def test_results_that_were_not_merged_are_not_overwritten(run: Run, words: Path) -> None:
    command = ("suggest", words, "-n", 2, "--out", "next.csv", "-o", "word", *FAST)
    assert run(*command).code == 0
    assert run(*command).code == 0
    following = Path("next.csv")
    lines = following.read_text().splitlines()
    following.write_text("\n".join([lines[0], lines[1].replace(",,", ",7,", 1), *lines[2:]]))
    refused = run(*command)
    assert refused.code == 2
    assert f"1 row that {words} has not" in " ".join(refused.err.split())
    assert "likewise tell" in refused.err
    assert run(*command, "--force").code == 0
    assert run("suggest", words, "--out", words, "-o", "word", "--force").code == 2
    following.write_text("a letter to my mother")
    assert run(*command).code == 2


def test_records_of_several_columns(run: Run, save: Save) -> None:
    lines = ["ligand,temperature,yield"]
    for i, ligand in enumerate(["XPhos", "SPhos", "none"]):
        for t in (20, 40, 60, 80):
            lines.append(f"{ligand},{t},{10 * i + t / 10 if t != 80 else ''}")
    table = save("\n".join(lines))
    data = run("suggest", table, "-n", 2, "--json", "-o", "ligand", "-o", "temperature").data
    assert data["suggestions"][0]["object"]["temperature"] == 80.0
    named = run(
        "suggest", table, "--json", "-o", "ligand", "-o", "temperature", "-s", "ligand=equal,temperature=matern"
    )
    assert named.code == 0
    assert run("suggest", table, "-o", "ligand", "-o", "temperature", "-s", "solvent=equal").code == 2
    assert run("suggest", table, "-o", "ligand", "-s", "ligand=equal").code == 2


def test_known_standard_deviations_are_used(run: Run, save: Save) -> None:
    lines = ["x,y,sd", *(f"{i},{(i - 4.3) ** 2:.2f},{0.01 if i % 2 else 5.0}" for i in range(10)), "4.5,,", "11,,"]
    table = save("\n".join(lines))
    command = ("suggest", table, "-o", "x", "--json", "--minimize", "-s", "matern")
    with_stds = run(*command, "--std", "sd").data["suggestions"][0]
    without = run(*command).data["suggestions"][0]
    assert with_stds["std"] != without["std"]
    negative = save(table.read_text().replace("5.0", "-5.0"), "negative.csv")
    answer = run("suggest", negative, "-o", "x", "--std", "sd")
    assert answer.code == 1
    assert "standard deviation" in answer.err


def test_none_measured_gives_a_spread_out_batch(run: Run, save: Save) -> None:
    table = save("word,score\n" + "".join(f"{w},\n" for w in ("AAAA", "AAAB", "AABA", "ZZZZ", "ZZZY", "MMMM")))
    answer = run("suggest", table, "-n", 3, "--out", "next.csv", "--json", *FAST)
    assert answer.code == 0
    first = [s["object"][0] for s in answer.data["suggestions"]]
    assert sorted(first) == ["A", "M", "Z"]
    assert answer.data["suggestions"][0]["mean"] is None
    assert "spread out" in answer.err
    assert run("suggest", table, "-n", 3, *FAST).code == 0


def test_all_measured_says_so(run: Run, save: Save) -> None:
    table = save("word,score\n" + "".join(f"{w}{w},{i}\n" for i, w in enumerate("ABCDEFGH")))
    answer = run("suggest", table, "-n", 3, "--out", "next.csv", *FAST)
    assert answer.code == 0
    assert "nothing left to suggest" in answer.out
    assert run("suggest", table, "--json", *FAST).data["suggestions"] == []


def test_fewer_candidates_than_asked_for(run: Run, words: Path) -> None:
    answer = run("suggest", words, "-n", 500, "--json", "-o", "word", *FAST)
    assert len(answer.data["suggestions"]) == 64
    assert "Only 64 candidates are left" in answer.err


@pytest.mark.parametrize("count", [1, 2, 4])
def test_very_few_measured(run: Run, save: Save, count: int) -> None:
    table = save("word,score\n" + "".join(f"{w}{w},{i if i < count else ''}\n" for i, w in enumerate("ABCDEFGH")))
    data = run("suggest", table, "-n", 2, "--json", "--report", "r.html", *FAST).data
    assert len(data["suggestions"]) == 2


def test_constant_values(run: Run, save: Save) -> None:
    table = save("word,score\n" + "".join(f"{w}{w},{5 if i < 6 else ''}\n" for i, w in enumerate("ABCDEFGH")))
    assert run("suggest", table, "-n", 2, "--report", "r.html", *FAST).code == 0


@pytest.mark.parametrize(
    ("name", "delimiter", "decimal"), [("next.csv", ";", ","), ("next.tsv", "\t", ","), ("next.csv.gz", ";", ",")]
)
def test_the_next_file_is_written_as_the_input_is(
    run: Run, save: Save, name: str, delimiter: str, decimal: str
) -> None:
    lines = ["Wort;Wert", *(f"{w}{w};{'' if i > 6 else f'{i},5'}" for i, w in enumerate("ABCDEFGHIJ"))]
    table = save("\r\n".join(lines))
    answer = run("suggest", table, "-n", 2, "--out", name, "--value", "Wert", "--json", *FAST)
    assert answer.code == 0
    data = Path(name).read_bytes()
    text = (gzip.decompress(data) if name.endswith("gz") else data).decode()
    header, first, *_ = text.split("\r\n")
    assert header.split(delimiter)[:3] == ["Wort", "Wert", "run"]
    mean = first.split(delimiter)[header.split(delimiter).index("likewise_mean")]
    assert decimal in mean
    assert float(mean.replace(",", ".")) == pytest.approx(answer.data["suggestions"][0]["mean"], rel=1e-4)


def test_parquet_in_and_out(run: Run, tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {"x": [[float(i), 1.0] for i in range(9)], "y": [*(float(i) for i in range(7)), None, None]}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    answer = run("suggest", "t.parquet", "-n", 1, "--out", "next.parquet", "--json", "--value", "y", "-s", "rbf")
    assert answer.code == 0
    following = polars.read_parquet("next.parquet")
    assert following.columns[:3] == ["x", "y", "run"]
    assert following["likewise_mean"].dtype == polars.Float64
    assert following["x"].to_list() == [answer.data["suggestions"][0]["object"]]


def test_written_cells_are_never_formulas(run: Run, save: Save) -> None:
    table = save("word,score\n" + "".join(f"{s}AB{i},{i if i < 8 else ''}\n" for i, s in enumerate("==++--@@=+-@")))
    assert run("suggest", table, "-n", 4, "--out", "next.csv", "-s", "indel").code == 0
    for line in Path("next.csv").read_text().splitlines()[1:]:
        assert line.startswith("'")
        assert not any(cell.strip('"')[:1] in tuple("=+@") for cell in line.split(","))


BAD_SMILES = "".join(f"C{'C' * (i % 30)}O,{i if i < 20 else ''}\n" for i in range(200))


def test_a_broken_smiles_is_reported_with_its_row_and_skipped_only_if_told(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save(f"smiles,yield\n{BAD_SMILES}C1CC,\n" + "".join(f"C{'N' * i}C,\n" for i in range(1, 5)))
    answer = run("suggest", table, "-n", 2, "-s", "tanimoto")
    assert answer.code == 1
    for word in ("table.csv", "row 202", "'smiles'", "C1CC", "--skip-bad"):
        assert word in answer.err
    assert answer.out == ""
    skipped = run("suggest", table, "-n", 2, "-s", "tanimoto", "--skip-bad", "--json")
    assert skipped.code == 0
    assert skipped.data["skipped_rows"] == [202]
    assert "left out 1 row" in skipped.err


def test_one_broken_smiles_among_ten_thousand(run: Run, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    monkeypatch.setattr("likewise.similarity.parallel.cores", lambda: 1)
    lines = [f"{'C' * (i % 10 + 1)}{'NOS'[i % 3]}{'C' * (i // 30 % 10)},{i if i < 20 else ''}" for i in range(10_000)]
    lines[7776] = "C1CC((,"
    table = save("\n".join(["smiles,yield", *lines]))
    command = ("suggest", table, "-s", "tanimoto")
    answer = run(*command)
    assert answer.code == 1
    for word in ("table.csv", "row 7778", "'smiles'", "'C1CC(('", "not valid SMILES", "--skip-bad"):
        assert word in answer.err
    assert run(*command, "--skip-bad", "--json").data["skipped_rows"] == [7778]


def test_a_broken_smiles_is_found_before_anything_is_measured(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save("smiles,yield\n" + "".join(f"{'C' * (i % 30 + 1)}O,\n" for i in range(1500)) + "C1CC,\n")
    answer = run("suggest", table, "-n", 2)
    assert answer.code == 1
    assert "row 1502" in answer.err
    skipped = run("suggest", table, "-n", 2, "--skip-bad", "--json").data
    assert skipped["skipped_rows"] == [1502]
    assert len([note for note in skipped["notes"] if "as molecules" in note]) == 1


def test_a_column_called_smiles_holds_molecules_even_if_many_are_broken(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    rows = [f"{'C' * (i + 1)}O,{i if i < 6 else ''}" for i in range(9)]
    broken = [f"C1CC{'C' * i},2" for i in range(4)]
    answer = run("suggest", save("\n".join(["smiles,yield", *rows, *broken])))
    assert answer.code == 1
    assert "4 rows are like this: 11, 12, 13, 14" in answer.err
    other = save("\n".join(["smiles,yield", *(f"name {i},{i if i < 6 else ''}" for i in range(9))]), "names.csv")
    assert "as texts" in run("suggest", other).err


@pytest.mark.parametrize(
    ("data", "arguments", "code", "words"),
    [
        ("a,b\nx,1\ny,\n", ["--object", "c"], 2, ["no column 'c'", "'a', 'b'"]),
        ("a,b\nx,1\ny,\n", ["--value", "c"], 2, ["no column 'c'"]),
        ("a,b\nx,1\ny,\n", ["--std", "c"], 2, ["no column 'c'"]),
        ("a,b\nx,1\ny,\n", ["--object", "b", "--value", "b"], 2, ["objects and values", "'b'"]),
        ("", [], 1, ["empty"]),
        ("a,b\n", [], 1, ["no row"]),
        ("a,a\nx,1\n", [], 1, ["rename"]),
        ("a,b\nx,one\ny,\nz,2\n", ["--value", "b"], 1, ["row 2", "'b'", "'one'", "not a number", "--skip-bad"]),
        ("a,b\nx,1;5\ny,2\n", ["--value", "b"], 1, ["row 2", "'1;5'"]),
        ("a,b\nx,\"1,234\"\ny,\n", ["--value", "b"], 1, ["row 2", "1234", "1.234", "--decimal"]),
        ("a,b\nx,1e999\ny,2\n", ["--value", "b"], 1, ["row 2", "'1e999'"]),
        ("a,b\n,1\ny,2\nz,\n", ["--value", "b"], 1, ["row 2", "empty"]),
        ("a,b,c\nx,1,2\ny,4,3\n", ["--object", "a"], 2, ["--value", "'b', 'c'"]),
        ("a,b,c\nx,u,1\ny,v,\n", [], 2, ["--object", "'a', 'b'"]),
        ("t,y\n20,1\n30,2\n40,3\n50,4\n60,5\n70,6\n80,7\n90,8\nrt,9\n95,10\n99,\n", ["--value", "y"], 1,
         ["row 10", "'t'", "'rt'", "--text t"]),
        (b"a,b\nx\0,1\n", [], 1, ["NUL"]),
        (b"PK\x03\x04", [], 1, ["Excel"]),
        ("a,b\nx,1,2\n", [], 1, ["row 2", "cells"]),
        ("a,b\nx,1\ny,\n", ["--decimal", "x"], 2, ["--decimal"]),
        ("a,b\nx,1\ny,\n", ["--similarity", "tanimotto"], 2, ["'tanimoto'"]),
        ("a,b\nx,1\ny,\n", ["--acquisition", "foo"], 2, ["acquisition"]),
        ("a,b\nx,1\ny,\n", ["--strategy", "foo"], 2, ["no strategy called"]),
        ("a,b\nx,1\ny,\n", ["--space", "foo:3"], 2, ["strings:ACGT:8"]),
    ],
)  # fmt: skip
def test_bad_files_and_commands_are_answered_by_a_paragraph(
    run: Run, save: Save, data: str | bytes, arguments: list[str], code: int, words: list[str]
) -> None:
    answer = run("suggest", save(data), *arguments)
    assert answer.code == code
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


def test_bad_rows_are_skipped_only_if_told_and_all_are_named(run: Run, save: Save) -> None:
    rows = [f"{w}{w},{i}" for i, w in enumerate("ABCDEFGH")]
    table = save("\n".join(["word,score", *rows, "KK,oops", ",3", "LL,", "MM,1,2"]))
    answer = run("suggest", table, "--value", "score", *FAST)
    assert answer.code == 1
    assert "row 13" in answer.err
    skipped = run("suggest", table, "--value", "score", "--skip-bad", "--json", *FAST)
    assert skipped.code == 0
    assert sorted(skipped.data["skipped_rows"]) == [10, 11, 13]
    assert [s["object"] for s in skipped.data["suggestions"]] == ["LL"]


def test_blank_rows_are_no_rows(run: Run, save: Save) -> None:
    rows = [f"{w}{w},{i if i < 6 else ''}" for i, w in enumerate("ABCDEFGH")]
    table = save("\n".join(["word,score", *rows[:3], "", ",", *rows[3:], ",", ""]))
    data = run("suggest", table, "--json", *FAST).data
    assert (data["measured"], data["candidates"]) == (6, 2)


def test_debug_shows_the_traceback(run: Run, save: Save) -> None:
    from likewise.errors import TableError

    with pytest.raises(TableError):
        run("suggest", save(""), "--debug")


def test_inner_failures_are_a_paragraph_too(run: Run, words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.study.study import Study

    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Study, "ask", broken)
    answer = run("suggest", words, "-o", "word", *FAST)
    assert answer.code == 1
    assert "ZeroDivisionError" in answer.err
    assert "--debug" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("method", ["paper", "paper(noise=0.1, strategy='top')", "committee"])
def test_methods(run: Run, words: Path, method: str) -> None:
    data = run("suggest", words, "-n", 3, "--json", "-o", "word", "--method", method).data
    assert len({s["object"] for s in data["suggestions"]}) == 3
    assert len(data["similarities"]) == 1 or method == "committee"


def test_a_method_refuses_options_that_are_not_its_own(run: Run, words: Path) -> None:
    answer = run("suggest", words, "-o", "word", "--method", "paper", "--acquisition", "mean")
    assert answer.code != 0
    assert "options of the default method" in answer.err
    assert "there is no method called 'papers'" in run("suggest", words, "-o", "word", "--method", "papers").err


@pytest.mark.parametrize(
    ("strategy", "acquisition"),
    [("thompson", "ei"), ("top-score", "ucb(1.5)"), ("two_stage", "mean"), ("sequential", "pi")],
)
def test_strategies_and_acquisitions(run: Run, words: Path, strategy: str, acquisition: str) -> None:
    command = ("suggest", words, "-n", 3, "--json", "-o", "word", *FAST)
    data = run(*command, "--strategy", strategy, "--acquisition", acquisition).data
    assert len({s["object"] for s in data["suggestions"]}) == 3


def test_auto_says_what_it_recognised(run: Run, words: Path) -> None:
    answer = run("suggest", words, "--object", "word")
    assert answer.code == 0
    assert "Treating column 'word' as" in answer.err


def test_quiet_is_quiet(run: Run, words: Path) -> None:
    assert run("suggest", words, "-o", "word", "--quiet", *FAST).err == ""


def test_json_has_no_nan(run: Run, save: Save) -> None:
    table = save("word,score\n" + "".join(f"{w}{w},{5 if i < 6 else ''}\n" for i, w in enumerate("ABCDEFGH")))
    for command in ("suggest", "diagnose", "compare"):
        json.loads(run(command, table, "--json", *FAST).out, parse_constant=lambda name: pytest.fail(name))


def test_before_anything_is_measured_the_empty_column_is_the_value(run: Run, save: Save) -> None:
    table = save("sequence,binding\n" + "".join(f"{w},\n" for w in ("AAAA", "AAAB", "ZZZZ", "MMMM")))
    answer = run("suggest", table, "-n", 2, *FAST)
    assert answer.code == 0
    assert "values from column 'binding'" in answer.err
    both = save("sequence,binding,cost\nAAAA,,\nBBBB,,\n", "both.csv")
    assert run("suggest", both, *FAST).code == 2


def test_analogues_of_records_are_told_by_what_they_have_different(run: Run, save: Save) -> None:
    rows = [f"{a},{b},{t},{i if i < 14 else ''}" for i, (a, b, t) in enumerate(product("KLM", "xyz", (20, 40)))]
    table = save("\n".join(["base,ligand,t,y", *rows]))
    command = ("suggest", table, "-o", "base", "-o", "ligand", "-o", "t", "-s", "base=equal,ligand=equal,t=rbf")
    answer = run(*command, "--report", "r.html", "--out", "next.csv")
    text = Path("r.html").read_text(encoding="utf-8")
    assert "the same with" in text
    assert "likewise_because" in Path("next.csv").read_text()
    said = run(*command, "--json").data["suggestions"][0]
    nearest = said["because"][0]["object"]
    unlike = [f"{k} {v:g}" if k == "t" else f"{k} {v}" for k, v in nearest.items() if v != said["object"][k]]
    assert f"{said['because'][0]['value']:g} with {', '.join(unlike)}" in answer.out
    assert [line.split()[:3] for line in answer.out.splitlines()[:1]] == [["base", "ligand", "t"]]


def test_rows_alone_are_read_by_what_needs_no_candidates(run: Run, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    monkeypatch.setattr(Pool, "encodings", lambda *_: pytest.fail("the candidates were read"))
    table = save("smiles,y\n" + "".join(f"{'C' * i}O,{i if i < 9 else ''}\n" for i in range(1, 30)))
    for command in (("explain", table, "CCN"), ("diagnose", table), ("compare", table)):
        assert run(*command, "-s", "tanimoto").code == 0


def test_objects_of_a_million_letters_are_refused_and_skipped_if_told(run: Run, save: Save) -> None:
    rows = "".join(f"{letter * 10**6},{place}\n" for place, letter in enumerate("ABC"))
    short = "".join(f"{letter * 3}x,{place if place < 5 else ''}\n" for place, letter in enumerate("ABCDEFG"))
    table = save(f"word,score\n{rows}{short}")
    answer = run("suggest", table, "-o", "word", *FAST)
    assert answer.code == 1
    assert "row 2, column 'word', 'AAAA" in answer.err
    assert "it has 1000000 characters, and at most 100000 can be compared" in answer.err
    assert len(answer.err) < 1500
    skipped = run("suggest", table, "-o", "word", "--skip-bad", "--json", *FAST).data
    assert (skipped["measured"], skipped["candidates"]) == (5, 2)


def test_long_cells_that_are_no_objects_come_along(run: Run, save: Save, tmp_path: Path) -> None:
    rows = "".join(
        f"{letter * 3}x,{place if place < 5 else ''},{'n' * 10**6}\n" for place, letter in enumerate("ABCDEFG")
    )
    run("suggest", save(f"word,score,notes\n{rows}"), "-o", "word", "--out", "next.csv", "-s", "ngrams(2)")
    assert (tmp_path / "next.csv").stat().st_size > 10**6


def test_long_texts_are_not_compared_by_edits(run: Run, save: Save) -> None:
    from random import Random

    draw = Random(0)
    texts = ["".join(draw.choices("abcdefgh xyz", k=50_000)) for _ in range(10)]
    table = save("word,score\n" + "".join(f"{text},{k if k < 6 else ''}\n" for k, text in enumerate(texts)))
    data = run("suggest", table, "-o", "word", "-v", "score", "--json").data
    assert {each["name"] for each in data["similarities"]} == {"NGrams(1–2, minmax)", "NGrams(1–4, minmax)"}


def test_intervals_are_shown_and_keep_to_the_bounds(run: Run, words: Path) -> None:
    free = run("suggest", words, "-n", 3, "-o", "word", *FAST, "--json").data["suggestions"]
    low, high = min(s["mean"] for s in free) - 1e-3, max(s["mean"] for s in free) + 1e-3
    assert all(s["low"] < s["mean"] < s["high"] for s in free)
    bounds = ("--bounds", f"{low},{high}")
    kept = run("suggest", words, "-n", 3, "-o", "word", *FAST, *bounds, "--json").data["suggestions"]
    assert all(low <= s["low"] <= s["mean"] <= s["high"] <= high for s in kept)
    explained = run("explain", words, free[0]["object"], "-o", "word", *bounds, "--json").data
    assert low <= explained["low"] <= explained["mean"] <= explained["high"] <= high
    assert "95 % interval" in run("suggest", words, "-o", "word", *FAST).out
    assert run("suggest", words, "-o", "word", *FAST, "--bounds", "low").code == 2


def test_limits_are_shown_with_their_signs(save: Save, run: Run) -> None:
    rows = ["<5", "<5", "20", "40", "60", ">75"]
    table = save("temp,yield\n" + "".join(f"{20 + 10 * i},{cell}\n" for i, cell in enumerate(rows)) + "90,\n25,\n")
    answer = run("suggest", table, "-n", 2, "--report", "r.html", "--out", "next.csv")
    assert answer.code == 0
    assert "'<5' taken as below 5: a limit, and not a value" in " ".join(answer.err.split())
    assert "yield >75 (row 7)" in answer.out
    assert "&gt;75" in Path("r.html").read_text()
    suggested = Path("next.csv").read_text().splitlines()[1].split(",")
    name = next(cell for cell in suggested if cell.startswith("R1-"))
    why = run("why", name, table)
    assert "with >75." in why.out
    assert run("compare", table).code == run("diagnose", table).code == run("explain", table, "30").code == 0


def test_a_column_of_days_is_a_block(run: Run, save: Save) -> None:
    days = [("mon", 0.0), ("tue", 30.0), ("wed", -20.0)]
    rows = [
        f"{20 + 4 * i},{days[i % 3][0]},{50 - 0.02 * (20 + 4 * i - 70) ** 2 + days[i % 3][1]:.4g}" for i in range(24)
    ]
    table = save("\n".join(["temp,day,yield", *rows, "71,,", "118,,", ""]))
    options = ("--object", "temp", "--value", "yield")
    plain = run("explain", table, "70", *options, "--json").data
    found = run("explain", table, "70", *options, "--block", "day", "--json").data
    assert abs(found["mean"] - (50 + 10 / 3)) < 4.0
    assert found["std"] < 0.6 * plain["std"]
    answer = run("suggest", table, "-n", 1, *options, "--block", "day", "--out", "next.csv")
    assert answer.code == 0
    assert "--block day" in answer.out
    assert "71" in Path("next.csv").read_text()
    assert run("suggest", table, "-n", 1, *options, "--block", "yield").code == 2
