"""Whole campaigns by the printed commands alone: the loop closes, and nothing that a person typed is lost."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]
Measure = Callable[[dict[str, str]], str]

FAST = ("--similarity", "hamming")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def following(answer: Any) -> list[str]:
    """The command that an answer prints to go on with, without `likewise` itself."""
    assert answer.code == 0, answer.err
    found = re.findall(r"(?:Next|then|written down): (likewise .*)$", answer.out, flags=re.MULTILINE)
    assert len(found) == 1, answer.out
    assert "…" not in found[0]
    return shlex.split(found[0])[1:]


def rewrite(path: Path, change: Callable[[list[dict[str, str]]], None], delimiter: str = ",") -> None:
    """Change the rows of a file, as a spreadsheet would."""
    text = path.read_text(encoding="utf-8")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    found = list(reader)
    names = list(reader.fieldnames or [])
    change(found)
    names += [name for row in found for name in row if name not in names]
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(dict.fromkeys(names)), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    path.write_text(stream.getvalue(), encoding="utf-8")


def fill(path: Path, column: str, measure: Measure, delimiter: str = ",") -> None:
    """Fill in the values of all runs that have none."""

    def change(found: list[dict[str, str]]) -> None:
        for row in found:
            row[column] = row[column] or measure(row)

    rewrite(path, change, delimiter)


def walk(run: Run, first: Any, measure: Measure, column: str, rounds: int = 6, delimiter: str = ",") -> list[Path]:
    """Rounds of suggest, fill in, tell, by the printed commands; the files of suggestions that were filled in."""
    told: list[Path] = []
    answer = first
    for _ in range(rounds):
        command = following(answer)
        if command[0] == "suggest":
            answer = run(*command)
            command = following(answer)
        out = Path(re.findall(r"Fill in column .* of (.*), then:", answer.out)[0])
        fill(out, column, measure, delimiter)
        told.append(out)
        answer = run(*command)
        if command[0] == "suggest" and "--space" in command:
            # The first table of a space is its own results.
            fill(Path(command[command.index("--out") + 1]), column, measure, delimiter)
            answer = run(*following(answer))
    return told


def vowels(row: dict[str, str]) -> str:
    return str(sum(place + 1.0 for place, letter in enumerate(row["word"]) if letter in "AE"))


def test_six_rounds_by_the_printed_commands_without_settings(run: Run, words: Path, rows: Rows) -> None:
    first = run("suggest", words, "-n", 4, "-o", "word", *FAST)
    walk(run, first, vowels, "score")
    told = [row for row in rows(words) if row["run"]]
    assert len(told) == 24
    assert {row["status"] for row in told} == {"done"}
    assert sorted(row["round"] for row in told) == sorted(str(k) for k in range(1, 7) for _ in range(4))


def test_six_rounds_with_settings_need_no_options(run: Run, words: Path, rows: Rows) -> None:
    begun = run("init", words, "-o", "word", "-n", 4, *FAST, "--minimize")
    assert following(begun) == ["suggest"]
    answer = run("suggest")
    for _ in range(6):
        assert "smallest score" in answer.err
        assert following(answer) == ["tell"]
        fill(Path("next.csv"), "score", vowels)
        told = run("tell")
        assert following(told) == ["suggest"]
        answer = run("suggest")
    assert len([row for row in rows(words) if row["status"] == "done"]) == 24
    assert min(float(row["score"]) for row in rows(words) if row["score"]) == 0.0
    override = run("suggest", "--maximize")
    assert "--maximize in place of what" in override.err
    assert "largest score" in override.err


def test_numbers_in_several_columns_of_a_space(run: Run, rows: Rows) -> None:
    """The command is printed with its space whole; what is told is not asked for again."""
    space = ("--space", "box:1..10,20..120", "-o", "t", "-o", "temp", "-v", "yield")

    def measure(row: dict[str, str]) -> str:
        return f"{100 - (float(row['t']) - 4) ** 2 - (float(row['temp']) - 70) ** 2 / 50:.2f}"

    answer = run("suggest", *space, "-n", 4, "--out", "runs.csv")
    command = following(answer)
    assert command[:2] == ["suggest", "runs.csv"]
    assert command[command.index("--space") + 1] == "box:1..10,20..120"
    fill(Path("runs.csv"), "yield", measure)
    for _ in range(3):
        answer = run(*command)
        tell = following(answer)
        assert tell[0] == "tell"
        fill(Path("next.csv"), "yield", measure)
        told = run(*tell)
        assert "4 results filled in, 0 rows added" in told.out
        command = following(told)
    found = rows(Path("runs.csv"))
    assert len(found) == 16
    assert len({(row["t"], row["temp"]) for row in found}) == 16
    assert all(row["yield"] and row["status"] for row in found)


def test_a_space_with_settings_begins_without_a_table(run: Run, rows: Rows) -> None:
    begun = run("init", "runs.csv", "--space", "box:1..10,20..120", "-o", "t", "-o", "temp", "-v", "yield", "-n", 3)
    assert following(begun) == ["suggest"]
    for number in range(1, 4):
        assert following(run("suggest")) == ["tell"]
        fill(Path("next.csv"), "yield", lambda row: f"{float(row['t']):.2f}")
        assert following(run("tell")) == ["suggest"]
        assert len(rows(Path("runs.csv"))) == 3 * number


def test_semicolons_and_decimal_commas(run: Run, save: Save, rows: Rows) -> None:
    lines = ["Temp;Base;Ausbeute", *(f"{t},5;{base};" for t, base in product(range(20, 50, 2), ("KOH", "NaH")))]
    table = save("\r\n".join([lines[0], f"{lines[1]}1,25", *lines[2:], ""]))

    def measure(row: dict[str, str]) -> str:
        return f"{float(row['Temp'].replace(',', '.')) * (2 if row['Base'] == 'KOH' else 1) + 0.25:.2f}".replace(
            ".", ","
        )

    begun = run("init", table, "-o", "Temp", "-o", "Base", "-v", "Ausbeute", "-n", 4)
    walk(run, begun, measure, "Ausbeute", 4, ";")
    found = rows(table, ";")
    assert len(found) == 30
    assert sum(row["Ausbeute"] != "" for row in found) == 17
    assert all("." not in row["Ausbeute"] for row in found)
    assert table.read_bytes().count(b"\r\n") == 31


def test_the_direction_is_not_forgotten(run: Run, words: Path) -> None:
    assert "smallest" in run("suggest", words, "-n", 2, "-o", "word", *FAST, "--minimize", "--out", "next.csv").err
    fill(Path("next.csv"), "score", vowels)
    told = run("tell", words, "next.csv", "-o", "word")
    assert "--minimize" in following(told)
    forgotten = run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv")
    assert "smallest value, as in the last round" in forgotten.err
    assert run("suggest", words, "-o", "word", *FAST, "--maximize", "--json").data["direction"] == "maximize"


def test_results_of_another_column_are_not_overwritten(run: Run, save: Save) -> None:
    smiles = ["CCO", "CCN", "CCC", "CCF", "CCS", "CCBr", "CCCl", "CCI"]
    one = save("smiles,yield\n" + "".join(f"{s},{k if k < 5 else ''}\n" for k, s in enumerate(smiles)), "one.csv")
    two = save("smiles,cost\n" + "".join(f"{s},{k if k < 5 else ''}\n" for k, s in enumerate(smiles)), "two.csv")
    assert run("suggest", one, "-o", "smiles", "-v", "yield", "-n", 2, "--out", "m.csv", *FAST[:1], "indel").code == 0
    fill(Path("m.csv"), "yield", lambda row: "50")
    before = Path("m.csv").read_bytes()
    answer = run("suggest", two, "-o", "smiles", "-v", "cost", "--out", "m.csv", *FAST[:1], "indel")
    assert answer.code == 2
    assert "m.csv" in answer.err
    assert Path("m.csv").read_bytes() == before


def test_a_note_without_a_value_is_kept(run: Run, words: Path, rows: Rows) -> None:
    command = ("suggest", words, "-n", 3, "-o", "word", *FAST, "--out", "next.csv")
    assert run(*command).code == 0
    rewrite(Path("next.csv"), lambda found: found[1].update(note="smells odd"))
    refused = run(*command)
    assert refused.code == 2
    assert "exists, with 1 row that" in " ".join(refused.err.split())
    told = run("tell", words, "next.csv", "-o", "word")
    assert told.code == 0
    assert "taken as running" in told.err
    (noted,) = [row for row in rows(words) if row["note"]]
    assert (noted["note"], noted["status"]) == ("smells odd", "running")
    again = run(*command, "--json").data
    assert noted["word"] not in {each["object"] for each in again["suggestions"]}
    assert {row["word"] for row in rows(Path("next.csv"))} >= {noted["word"]}


@pytest.mark.parametrize("keep_runs", [True, False])
def test_numbers_that_a_spreadsheet_rounds_are_recognised(run: Run, save: Save, rows: Rows, keep_runs: bool) -> None:
    lines = [
        "id,conc,temp,yield",
        *(f"x{k},{0.013 + 0.011 * k:.3f},{20.04 + k:.2f},{k if k < 6 else ''}" for k in range(16)),
    ]
    table = save("\n".join(lines) + "\n")
    columns = ("-o", "conc", "-o", "temp")
    assert run("suggest", table, *columns, "-v", "yield", "-n", 4, "--out", "next.csv").code == 0
    asked = {row["id"] for row in rows(Path("next.csv"))}

    def shown_by_a_spreadsheet(found: list[dict[str, str]]) -> None:
        for row in found:
            row.update(conc=f"{float(row['conc']):.2f}", temp=f"{float(row['temp']):.1f}", **{"yield": "9"})
            if not keep_runs:
                del row["run"], row["id"]

    rewrite(Path("next.csv"), shown_by_a_spreadsheet)
    told = run("tell", table, "next.csv", *columns, "-v", "yield", "--json")
    assert told.code == 0, told.err
    assert (told.data["filled"], told.data["added"]) == (4, 0)
    found = rows(table)
    assert len(found) == 16
    assert {row["id"] for row in found if row["yield"] == "9"} == asked
    assert all(len(row["conc"]) == 5 for row in found)


def test_rounded_numbers_that_fit_two_runs_stop(run: Run, save: Save) -> None:
    table = save("conc,yield\n0.057,\n0.062,\n0.9,1\n0.8,2\n")
    before = table.read_bytes()
    answer = run("tell", table, save("conc,yield\n0.06,5\n", "next.csv"))
    assert answer.code == 1
    assert "could be row 2 (0.057) or row 3 (0.062)" in " ".join(answer.err.split())
    assert table.read_bytes() == before


def test_two_flasks_of_four(run: Run, words: Path, rows: Rows) -> None:
    """The others stay under way: they are in the file, are not suggested again, and are taken into account."""
    command = ("suggest", words, "-n", 4, "-o", "word", *FAST, "--out", "next.csv")
    assert run(*command).code == 0
    first = rows(Path("next.csv"))
    rewrite(Path("next.csv"), lambda found: [row.update(score=vowels(row)) for row in found[:2]] and None)
    told = run("tell", words, "next.csv", "-o", "word")
    assert "2 runs still under way" in told.out
    answer = run(*following(told), "--json")
    assert answer.code == 0, answer.err
    out = {row["run"] for row in first[2:]}
    assert set(answer.data["under_way"]) == out
    asked = {each["object"] for each in answer.data["suggestions"]}
    assert len(asked) == 4
    assert not asked & {row["word"] for row in first}
    assert {row["run"] for row in rows(Path("next.csv"))} >= out
    assert len(rows(Path("next.csv"))) == 6
    later = run("suggest", words, "-n", 4, "-o", "word", *FAST, "--more", "--out", "next.csv", "--json").data
    assert not {each["object"] for each in later["suggestions"]} & (asked | {row["word"] for row in first})
    assert len(rows(Path("next.csv"))) == 10


def test_asking_twice_is_one_round(run: Run, words: Path) -> None:
    command = ("suggest", words, "-n", 3, "-o", "word", *FAST, "--out", "next.csv")
    assert run(*command).code == 0
    files = [Path(name).read_bytes() for name in ("next.csv", "words.csv", "words.csv.likewise.jsonl")]
    again = run(*command)
    assert "Nothing has come back of round 1 yet" in again.err
    assert [Path(name).read_bytes() for name in ("next.csv", "words.csv", "words.csv.likewise.jsonl")] == files


def test_the_best_of_replicates_is_named_by_its_rows(run: Run, save: Save) -> None:
    table = save("smiles,yield\nCCO,1\nCCN,2\nCCC,1\nCCO,7\nCCCC,3\nCCF,\n")
    answer = run("suggest", table, "-s", "indel")
    assert "Best so far: yield 4 (mean of rows 2, 5), CCO." in answer.out
    assert run("suggest", table, "-s", "indel", "--json").data["best"]["rows"] == [2, 5]


def test_two_replicates_that_are_told_at_once_are_named_by_their_rows(run: Run, save: Save) -> None:
    table = save("smiles,yield\nCCO,1\nCCN,\n")
    answer = run("tell", table, save("smiles,yield\nCCN,50\nCCN,51\n", "next.csv"))
    assert answer.code == 1
    assert "CCN: 50 in row 2 of the results, 51 in row 3 of the results" in answer.err


STATES = {"failed": "failed", "n.d.": "n.d.", "running": "running", "<0.1": "below limit", "> 9.5 %": "above limit"}


def test_states_are_said_and_kept(run: Run, words: Path, rows: Rows) -> None:
    assert run("suggest", words, "-n", 5, "-o", "word", *FAST, "--out", "next.csv").code == 0

    def write(found: list[dict[str, str]]) -> None:
        for row, text in zip(found, STATES, strict=True):
            row["score"] = text

    rewrite(Path("next.csv"), write)
    told = run("tell", words, "next.csv", "-o", "word")
    assert told.code == 0, told.err
    for text in ("'failed' taken as failed", "'n.d.' taken as not determined", "'<0.1' taken as below 0.1"):
        assert text in told.err
    found = {row["word"]: row for row in rows(words) if row["run"]}
    assert sorted(row["status"] for row in found.values()) == sorted(STATES.values())
    assert {row["score"] for row in found.values()} == {"failed", "n.d.", "", "<0.1", "> 9.5 %"}
    for extra in ((), ("--skip-bad",)):
        later = run("suggest", words, "-n", 60, "-o", "word", *FAST, "--json", *extra).data
        assert not {each["object"] for each in later["suggestions"]} & set(found)
        assert later["measured"] == 19
        assert later["skipped_rows"] == []
    assert "1 under way, 1 failed, 1 left out" in run("suggest", words, "-o", "word", *FAST).err


def test_a_user_s_own_columns_are_left_alone(run: Run, save: Save, rows: Rows) -> None:
    """`run` and `status` mean something else here, and are neither written nor taken for states."""
    lines = [
        f"{k},{w}{w},{'in stock' if k % 2 else 'ordered'},{k if k < 6 else ''}" for k, w in enumerate("ABCDEFGHIJ")
    ]
    table = save("\n".join(["run,word,status,score", *lines, ""]))
    answer = run("suggest", table, "-o", "word", "-v", "score", "-n", 2, "--out", "next.csv", *FAST)
    assert "column 'status' holds something else" in answer.err
    fill(Path("next.csv"), "score", lambda row: "5")
    assert run(*following(answer)).code == 0
    found = rows(table)
    assert [row["run"] for row in found] == [str(k) for k in range(10)]
    assert {row["status"] for row in found} == {"in stock", "ordered"}
    assert [row["likewise_status"] for row in found].count("done") == 2


def test_what_was_run_in_another_way_is_a_run_of_its_own(run: Run, save: Save, rows: Rows) -> None:
    lines = [f"{t},{b},{t if t < 60 else ''}" for t in range(20, 100, 10) for b in ("KOH", "NaH")]
    table = save("\n".join(["temp,base,yield", *lines, ""]))
    answer = run("suggest", table, "-o", "temp", "-o", "base", "-v", "yield", "-n", 2, "--out", "next.csv")
    rewrite(Path("next.csv"), lambda found: found[0].update(temp="83", **{"yield": "77"}))
    told = run(*following(answer))
    assert told.code == 0, told.err
    assert "'temp' was changed" in told.err
    found = rows(table)
    (other,) = [row for row in found if row["temp"] == "83"]
    assert (other["yield"], other["status"], bool(other["run"])) == ("77", "done", True)
    assert len([row for row in found if row["run"]]) == 2


def test_results_that_name_runs_alone(run: Run, words: Path, rows: Rows, save: Save) -> None:
    run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv")
    one, two = (row["run"] for row in rows(Path("next.csv")))
    assert run("tell", words, save(f"run,score\n{two},8\n{one},7\n", "lab.csv"), "-o", "word").code == 0
    assert [row["score"] for row in rows(words) if row["run"]] == ["7", "8"] or [
        row["score"] for row in rows(words) if row["run"]
    ] == ["8", "7"]
    assert run("tell", words, save("run,score\nR9-9zz,8\n", "lab.csv"), "-o", "word").code == 1


def test_a_note_in_both_files_is_a_contradiction_unless_one_was_only_copied(run: Run, save: Save, rows: Rows) -> None:
    lines = [f"{w}{w},{k if k < 6 else ''},{'old' if k > 5 else ''}" for k, w in enumerate("ABCDEFGHIJ")]
    table = save("\n".join(["word,score,remark", *lines, ""]))
    answer = run("suggest", table, "-o", "word", "-v", "score", "-n", 3, "--out", "next.csv", *FAST)
    tell, asked = following(answer), [row["word"] for row in rows(Path("next.csv"))]

    def edit(found: list[dict[str, str]]) -> None:
        found[0].update(score="1", remark="in the file")
        found[1].update(score="2")
        found[2].update(score="3", remark="in the file")

    def edit_table(found: list[dict[str, str]]) -> None:
        for row in found:
            if row["word"] in asked[1:]:
                row["remark"] = "in the table"

    rewrite(Path("next.csv"), edit)
    rewrite(table, edit_table)
    refused = run(*tell)
    assert refused.code == 1
    assert "column 'remark': 'in the table' in row" in refused.err
    assert run(*tell, "--on-conflict", "keep").code == 0
    remarks = {row["word"]: row["remark"] for row in rows(table)}
    assert [remarks[word] for word in asked] == ["in the file", "in the table", "in the table"]


def test_why_a_run_was_suggested_can_be_read_later(run: Run, words: Path, rows: Rows) -> None:
    answer = run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv", "--json").data
    name = answer["suggestions"][0]["run"]
    fill(Path("next.csv"), "score", vowels)
    assert run("tell", words, "next.csv", "-o", "word").code == 0
    words.write_text(words.read_text().replace("w1,", "v1,"))
    with Path("words.csv.likewise.jsonl").open("a") as file:
        file.write('{"kind": "suggestion", "run": "R9')
    found = run("why", name, words)
    for text in (name, "because of", "seed 0", "Told on", "hamming", "Verdict then"):
        assert text in found.out
    data = run("why", name, words, "--json").data
    assert data["suggestion"]["mean"] == answer["suggestions"][0]["mean"]
    assert data["round"]["options"]["similarity"] == ["hamming"]
    assert len(data["results"]) == 1
    assert run("why", "R9-9zz", words).code == 2


@pytest.mark.parametrize(
    ("name", "columns", "value", "begin", "extra"),
    [
        (
            "direct_arylation/direct_arylation.csv",
            ["Base", "Ligand", "Solvent", "Concentration", "Temp_C"],
            "yield",
            8,
            (),
        ),
        ("olympus/crossed_barrel.csv", None, None, 8, ()),
        ("olympus/oer_plate_3496.csv", None, None, 8, ("--minimize",)),
    ],
)
@pytest.mark.soak
def test_campaigns_on_real_data(
    run: Run, save: Save, rows: Rows, name: str, columns: list[str] | None, value: str | None, begin: int, extra: Any
) -> None:
    source = DATA / name
    if not source.exists():
        pytest.skip("the data sets are not beside the project")
    with source.open(newline="") as file:
        reader = csv.DictReader(file)
        found = list(reader)
    names = list(found[0])
    value = value or names[-1]
    columns = columns or names[:-1]
    truth = {tuple(row[c] for c in columns): row[value] for row in found}
    lines = [[row[c] for c in columns] for row in found]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    chosen = {len(lines) * k // begin for k in range(begin)}
    writer.writerow([*columns, value])
    writer.writerows([*line, truth[tuple(line)] if k in chosen else ""] for k, line in enumerate(lines))
    table = save(stream.getvalue(), "table.csv")
    objects = [word for column in columns for word in ("-o", column)]
    begun = run("init", table, *objects, "-v", value, "-n", 4, *extra)
    walk(run, begun, lambda row: truth[tuple(row[c] for c in columns)], value)
    assert len([row for row in rows(table) if row["status"] == "done"]) == 24


def test_a_value_that_is_corrected_in_the_table_is_no_dead_end(run: Run, words: Path, rows: Rows) -> None:
    run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv")
    fill(Path("next.csv"), "score", lambda row: "7")
    tell = ("tell", words, "next.csv", "-o", "word")
    assert run(*tell).code == 0
    asked = rows(Path("next.csv"))[0]["word"]
    rewrite(words, lambda found: [row.update(score="8") for row in found if row["word"] == asked] and None)
    again = run(*tell, "--json")
    assert (again.code, again.data["known"]) == (0, 2)
    assert run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv").code == 0
    assert next(row["score"] for row in rows(words) if row["word"] == asked) == "8"


def test_a_decision_to_keep_is_not_asked_for_twice(run: Run, words: Path, rows: Rows) -> None:
    run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv")
    fill(Path("next.csv"), "score", lambda row: "7")
    rewrite(words, lambda found: [row.update(score="8") for row in found if row["run"]] and None)
    tell = ("tell", words, "next.csv", "-o", "word")
    assert run(*tell).code == 1
    assert run(*tell, "--on-conflict", "keep").code == 0
    assert run(*tell).code == 0
    assert run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv").code == 0
    assert [row["score"] for row in rows(words) if row["round"] == "1"] == ["8", "8"]


def test_a_correction_in_the_results_is_listed_and_replaces(run: Run, words: Path, rows: Rows) -> None:
    run("suggest", words, "-n", 2, "-o", "word", *FAST, "--out", "next.csv")
    fill(Path("next.csv"), "score", lambda row: "7")
    tell = ("tell", words, "next.csv", "-o", "word")
    assert run(*tell).code == 0
    rewrite(Path("next.csv"), lambda found: found[0].update(score="9"))
    assert run("suggest", words, "-o", "word", *FAST, "--out", "next.csv").code == 2
    assert run(*tell).code == 1
    assert run(*tell, "--on-conflict", "replace").code == 0
    assert sorted(row["score"] for row in rows(words) if row["run"]) == ["7", "9"]
    assert run("suggest", words, "-o", "word", *FAST, "--out", "next.csv").code == 0


def test_typed_tables_keep_states_in_the_column_of_the_status(run: Run, tmp_path: Path, save: Save) -> None:
    import polars

    table = tmp_path / "t.parquet"
    frame = {"word": [f"{w}{w}" for w in "ABCDEFGHIJ"], "score": [*map(float, range(6)), None, None, None, None]}
    polars.DataFrame(frame).write_parquet(table)
    assert run("suggest", table, "-o", "word", "-n", 3, "--out", "next.csv", *FAST).code == 0
    rewrite(
        Path("next.csv"),
        lambda found: (
            [row.update(score=text) for row, text in zip(found, ("<0.1", "failed", "2.5"), strict=True)] and None
        ),
    )
    told = run("tell", table, "next.csv", "-o", "word")
    assert told.code == 0, told.err
    after = polars.read_parquet(table)
    assert after["score"].dtype == polars.Float64
    assert sorted(filter(None, after["status"].to_list())) == ["<0.1", "done", "failed"]
    again = run("suggest", table, "-o", "word", "-n", 4, "--out", "next.csv", *FAST, "--json")
    assert again.code == 0, again.err
    assert (again.data["measured"], len(again.data["suggestions"])) == (8, 1)
    assert sorted(filter(None, polars.read_parquet(table)["status"].to_list()))[0] == "<0.1"


def test_a_campaign_in_another_folder_is_named_whole(run: Run, words: Path, tmp_path: Path) -> None:
    (tmp_path / "my lab").mkdir()
    table = tmp_path / "my lab" / "words.csv"
    table.write_bytes(words.read_bytes())
    answer = run("init", "my lab/words.csv", "-o", "word", "-n", 2, *FAST)
    assert following(answer) == ["suggest", "my lab/words.csv"]
    answer = run(*following(answer))
    assert following(answer) == ["tell", "my lab/words.csv"]
    fill(tmp_path / "my lab" / "next.csv", "score", vowels)
    told = run(*following(answer))
    assert "2 results filled in" in told.out
    assert following(told) == ["suggest", "my lab/words.csv"]


def test_why_a_trial_of_a_stored_study_was_asked_for(run: Run, tmp_path: Path) -> None:
    import likewise as lw

    study = lw.Study(
        lw.Strings("AB", length=5), lw.Hamming(), storage=f"sqlite:///{tmp_path / 's.db'}", name="words", seed=3
    )
    for _ in range(8):
        (s,) = study.ask()
        study.tell(s, float(s.object.count("A")))
    answer = run("why", 7, "--storage", "s.db", "--study", "words")
    for text in ("Trial 7", "because of", "seed 3"):
        assert text in answer.out
    said = run("why", 7, "--storage", "s.db", "--study", "words", "--json").data["said"]
    assert said["mean"] == study.trials[7].summary["mean"]
    assert run("why", 70, "--storage", "s.db", "--study", "words").code == 2
    assert run("why", 7, "--storage", "s.db", "--study", "other").code == 2


def test_two_rounds_in_a_workbook(run: Run, tmp_path: Path) -> None:
    """Formulas beside the table stay, and the columns of the runs stand behind them."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    pytest.importorskip("xlsxwriter")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["entry", "ligand", "temp (°C)", "Yield (%)"])
    for place, (ligand, temp) in enumerate(product(("XPhos", "SPhos", "dppf", "PPh3"), (60, 80, 100))):
        sheet.append([place, ligand, temp, 7 * place % 50 if place % 2 else None])
    sheet["G2"] = "=SUM(D2:D13)"
    book.save("lab.xlsx")
    answer = run("init", "lab.xlsx", "-n", 2)
    assert "Values lie between: 0 and 100" in answer.out
    for values in ((33.5, "failed"), ("<1", 44)):
        answer = run(*following(answer))
        told = openpyxl.load_workbook("next.xlsx")
        names = [cell.value for cell in told.active[1]]
        for row, value in enumerate(values, 2):
            told.active.cell(row, names.index("Yield (%)") + 1).value = value
        told.save("next.xlsx")
        answer = run(*following(answer))
        assert "2 results filled in" in answer.out, answer.err
    after = openpyxl.load_workbook("lab.xlsx").active
    assert after["G2"].value == "=SUM(D2:D13)"
    names = [cell.value for cell in after[1]]
    assert names[7:] == ["run", "status", "round"]
    assert sorted(filter(None, (row[8].value for row in after.iter_rows(min_row=2)))) == [
        "<1",
        "done",
        "done",
        "failed",
    ]


@pytest.mark.parametrize("step", ["replace_table", "add_round", "write_suggestions"])
def test_a_command_that_ends_half_way_is_run_again(
    run: Run, words: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Wherever it stops, the same command makes the same round again, and nothing is out twice."""
    from likewise.campaign import outputs

    command = ("suggest", words, "-n", 3, "-o", "word", *FAST, "--out", "next.csv")

    def stop(*_: Any, **__: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(outputs, step, stop)
        assert run(*command).code == 1
    assert run(*command).code == 0
    asked = rows(Path("next.csv"))
    assert len(asked) == 3
    assert [row["run"] for row in rows(words) if row["run"]] == sorted(
        (row["run"] for row in asked), key=[row["run"] for row in rows(words)].index
    )
    assert {row["round"] for row in asked} == {"1"}
    assert run("why", asked[0]["run"], words).code == 0


def test_a_table_that_changes_while_it_is_thought_about_is_left_alone(
    run: Run, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from likewise.cli.work import suggest

    judge = suggest.judge

    def meanwhile(*arguments: Any) -> Any:
        words.write_text(words.read_text() + "w99,BBBBB,4\n")
        return judge(*arguments)

    monkeypatch.setattr(suggest, "judge", meanwhile)
    answer = run("suggest", words, "-n", 2, "-o", "word", "-s", "indel", "--out", "next.csv")
    assert answer.code == 1
    assert "changed by another program meanwhile; nothing was written" in " ".join(answer.err.split())
    assert words.read_text().endswith("w99,BBBBB,4\n")
    assert not Path("next.csv").exists()
    assert not list(Path().glob("*.bak*"))
