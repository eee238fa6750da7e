"""What a person has typed is never lost: tables are restored, remarks come before states, rows cannot be read."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_campaign import FAST, fill, following, rewrite, vowels

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]


def ask(words: Path, out: str = "next.csv") -> tuple[object, ...]:
    return ("suggest", words, "-n", 3, "-o", "word", *FAST, "--out", out)


@pytest.mark.parametrize("begun", [True, False], ids=["runs in the old copy", "no runs in the old copy"])
def test_results_told_before_an_old_copy_came_back_are_kept(run: Run, words: Path, rows: Rows, begun: bool) -> None:
    before = words.read_bytes()
    assert run(*ask(words)).code == 0
    before = words.read_bytes() if begun else before
    fill(Path("next.csv"), "score", vowels)
    typed = Path("next.csv").read_bytes()
    tell = ("tell", words, "next.csv", "-o", "word")
    assert run(*tell).code == 0
    told = {row["run"]: row["score"] for row in rows(words) if row["run"]}
    words.write_bytes(before)

    refused = run(*ask(words))
    assert refused.code == 2
    text = " ".join(refused.err.split())
    assert "3 rows that" in text
    assert "an older copy may have been saved over" in text
    assert Path("next.csv").read_bytes() == typed

    beside = run(*ask(words, "other.csv"))
    assert beside.code == 0
    assert "has no result of" in " ".join(beside.err.split())
    assert all(f"{name} ({float(score)}" in " ".join(beside.err.split()) for name, score in told.items())
    assert "Nothing has come back" not in beside.err

    assert "3 results filled in" in run(*tell).out
    assert told.items() <= {row["run"]: row["score"] for row in rows(words)}.items()
    again = run(*ask(words))
    assert again.code == 0
    assert "has no result of" not in again.err


def test_a_state_after_a_remark_counts_and_the_remark_stays(run: Run, words: Path, rows: Rows) -> None:
    assert run(*ask(words)).code == 0
    name = rows(Path("next.csv"))[0]["run"]

    def note(text: str) -> str:
        rewrite(Path("next.csv"), lambda each: [row.update(status=text) for row in each if row["run"] == name] and None)
        told = run("tell", words, "next.csv", "-o", "word")
        assert told.code == 0, told.err
        (row,) = [row for row in rows(words) if row["run"] == name]
        assert run(*ask(words)).code == 0
        return row["status"]

    assert note("broke the vial") == "broke the vial"
    assert [row["status"] for row in rows(Path("next.csv")) if row["run"] == name] == ["broke the vial"]
    assert note("failed") == "failed; broke the vial"
    assert name not in {row["run"] for row in rows(Path("next.csv"))}
    assert run("suggest", words, "-o", "word", *FAST, "--json").code == 0


@pytest.mark.parametrize("typed", ["failed; broke the vial", "Skipped; no KOH left", "n.d.; lamp was out"])
def test_a_state_with_a_remark_is_one_cell(run: Run, words: Path, rows: Rows, typed: str) -> None:
    assert run(*ask(words)).code == 0
    rewrite(Path("next.csv"), lambda each: each[0].update(status=typed))
    assert "1 result filled in" in run("tell", words, "next.csv", "-o", "word").out
    assert [row["status"].lower() for row in rows(words) if ";" in row["status"]] == [typed.lower()]


def test_what_could_not_be_read_stays_in_its_file(run: Run, words: Path) -> None:
    """The printed commands go on: tell names the row, suggest refuses, and once it is empty both work."""
    assert run(*ask(words)).code == 0
    typed = iter(("7?5?", "3", ""))
    fill(Path("next.csv"), "score", lambda row: next(typed))
    refused = run(*ask(words))
    assert refused.code == 2
    (printed,) = [text.partition(")")[0] for text in " ".join(refused.err.split()).split("(")[1:]]
    told = run(*shlex.split(printed)[1:])
    assert "row 2. Correct or empty" in told.out
    command = following(told)
    assert command[0] == "tell"
    before = Path("next.csv").read_bytes()
    assert run(*ask(words)).code == 2
    assert Path("next.csv").read_bytes() == before
    rewrite(Path("next.csv"), lambda each: each[0].update(score=""))
    assert run(*following(run(*command))).code == 0


def test_a_file_of_results_that_we_have_not_written_is_not_replaced(run: Run, words: Path, save: Save) -> None:
    lab = save("word,score,instrument\nBBBA,7,nmr\n", "lab.csv")
    before = lab.read_bytes()
    assert run("suggest", words, "-o", "word", *FAST).code == 0
    told = run("tell", words, lab, "-o", "word")
    assert run(*following(told), *FAST).code == 0
    assert run(*ask(words, "lab.csv")).code == 2
    assert lab.read_bytes() == before


def test_printed_commands_leave_out_bad_rows_with_settings_that_do_not(run: Run, save: Save, words: Path) -> None:
    """What was typed beyond the settings goes on, from round to round, and a decision that is asked for, too."""
    assert following(run("init", words, "-o", "word", "-n", 2, *FAST)) == ["suggest"]
    words.write_text(words.read_text(encoding="utf-8") + "w81,ABCD,oops\n", encoding="utf-8")
    assert run("suggest").code == 1
    answer = run("suggest", "--skip-bad")
    for _ in range(2):
        command = following(answer)
        assert command == ["tell", "--skip-bad"]
        fill(Path("next.csv"), "score", vowels)
        command = following(run(*command))
        assert command == ["suggest", "--skip-bad"]
        answer = run(*command)
    fill(Path("next.csv"), "score", vowels)
    assert run("tell", "--skip-bad").code == 0
    rewrite(Path("next.csv"), lambda each: each[0].update(score="99"))
    rewrite(words, lambda each: [row.update(score="98") for row in each if row["status"] == "done"] and None)
    refused = run("tell", "--skip-bad")
    assert refused.code == 1
    ways = [line.partition("  (")[0].split()[1:] for line in refused.err.splitlines() if line.startswith("  likewise")]
    assert ways
    assert all("--skip-bad" in way for way in ways)
    assert following(run(*ways[0])) == ["suggest", "--skip-bad"]


def test_a_table_of_headers_alone_says_what_comes_before_the_command(run: Run, save: Save) -> None:
    table = save("smiles,yield\n", "heads.csv")
    begun = run("init", table)
    assert "add one for each object" in begun.out
    command = following(begun)
    table.write_text("smiles,yield\n" + "".join(f"C{'C' * k}O,\n" for k in range(9)), encoding="utf-8")
    assert following(run(*command)) == ["tell"]
