"""The other commands: explain, compare, diagnose, studies, export, similarities, spaces, demo."""

from __future__ import annotations

import csv
import inspect
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.campaign.names import ACQUISITIONS, STRATEGIES, arguments, known_similarities, similarities
from likewise.spaces.description import spaces

Run = Callable[..., Any]
Save = Callable[..., Path]

FAST = ("--similarity", "hamming")


def test_help_loads_no_numerics() -> None:
    """Half a second is the promise for --help; benchmarks/command_line.py measures it, what is loaded decides it."""
    code = (
        "import sys; from likewise.cli.main import app; "
        "heavy = {'numpy', 'scipy', 'polars', 'sqlalchemy', 'rdkit', 'matplotlib'} & set(sys.modules); "
        "assert not heavy, heavy; app(['--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "suggest" in done.stdout


def test_every_command_has_help(run: Run) -> None:
    listing = run("--help").out
    for command in (
        "suggest", "tell", "explain", "compare", "diagnose", "demo", "similarities", "spaces", "studies", "export",
        "check",
    ):  # fmt: skip
        assert command in listing
        answer = run(command, "--help")
        assert answer.code == 0
        assert "--help" in answer.out


def test_version(run: Run) -> None:
    from likewise import __version__

    assert run("--version").out.strip() == f"likewise {__version__}"


def test_unknown_commands_and_options_are_usage(run: Run, words: Path) -> None:
    assert run("sugest").code == 2
    assert run("suggest", words, "--nonsense").code == 2
    assert run("suggest", words, "-n", "many").code == 2
    assert run("suggest").code == 2


def test_explain_agrees_with_suggest(run: Run, words: Path) -> None:
    suggestion = run("suggest", words, "--json", "-o", "word", *FAST).data["suggestions"][0]
    explained = run("explain", words, suggestion["object"], "--json", "-o", "word", *FAST).data
    assert explained["mean"] == pytest.approx(suggestion["mean"])
    assert explained["std"] == pytest.approx(suggestion["std"])
    assert [a["object"] for a in explained["because"][:5]] == [a["object"] for a in suggestion["because"]]
    assert explained["measurements"] == []


def test_explain_takes_objects_that_are_not_in_the_file(run: Run, words: Path) -> None:
    answer = run("explain", words, "ZZZZ", "-o", "word", *FAST)
    assert answer.code == 0
    assert "ZZZZ: expected score" in answer.out
    measured = run("explain", words, "AAAA", "-o", "word", "--json", *FAST).data
    assert measured["measurements"] == [{"row": 2, "value": 10.0}]
    assert measured["because"][0]["object"] == "AAAA"


def test_explain_takes_records(run: Run, save: Save) -> None:
    table = save("base,t,y\n" + "".join(f"{b},{t},{t / 10 + len(b)}\n" for b in ("KOH", "none") for t in range(5)))
    answer = run("explain", table, "base=KOH", "t=2,5", "-o", "base", "-o", "t", "--json")
    assert answer.data["object"] == {"base": "KOH", "t": 2.5}
    assert run("explain", table, "KOH", "-o", "base", "-o", "t").code == 2
    assert run("explain", table, "base=KOH", "t=warm", "-o", "base", "-o", "t").code == 2


@pytest.mark.parametrize(("what", "words"), [("C(((", "not a molecule"), ("", "without atoms")])
def test_explain_refuses_an_object_by_its_name(run: Run, save: Save, what: str, words: str) -> None:
    pytest.importorskip("rdkit")
    table = save("smiles,y\n" + "".join(f"{'C' * i}O,{i}\n" for i in range(1, 9)))
    answer = run("explain", table, what)
    assert answer.code == 2
    assert f"Object {what!r}" in answer.err
    assert words in answer.err
    assert "row 0" not in answer.err


def test_what_does_not_go_with_the_others_is_named(run: Run, save: Save, words: Path) -> None:
    """Each could be compared on its own; the row, or the argument, that is unlike those above it is named."""
    answer = run("explain", words, "ABC", "-o", "word", *FAST)
    assert answer.code == 2
    assert "Object 'ABC' does not go with the table" in answer.err
    answer = run("suggest", save("word,score\nAA,1\nAB,2\nABC,3\nBB,\n"), *FAST)
    assert answer.code == 1
    assert "row 4, column 'word', 'ABC'" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seed", "-1"), ("-s", "ngrams(0)"), ("-s", "canonical_smiles(5)"), ("-s", "reverse_complement(3)"),
        ("--acquisition", "ucb(-1)"), ("--acquisition", "ucb(x)"), ("-s", "tanimoto(radius=x)"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_usage(run: Run, words: Path, arguments: tuple[str, str]) -> None:
    answer = run("suggest", words, "-o", "word", *arguments)
    assert answer.code == 2
    assert "inside likewise" not in answer.err


def test_compare_ranks_the_similarity_that_explains_first(run: Run, words: Path) -> None:
    data = run("compare", words, "--json", "-o", "word", "-s", "equal,hamming").data
    assert data["rows"][0]["name"] == "Hamming"
    assert run("compare", words, "-o", "word", "-s", "equal,hamming").out.count("Hamming") == 1


def test_diagnose_gives_the_verdict(run: Run, words: Path) -> None:
    data = run("diagnose", words, "--json", "-o", "word", *FAST).data
    assert data["verdict"]
    assert data["observations"] == 17
    assert data["verdict"] in run("diagnose", words, "-o", "word", *FAST).out


@pytest.mark.parametrize("command", ["compare", "diagnose"])
def test_too_few_to_judge_by(run: Run, save: Save, command: str) -> None:
    answer = run(command, save("word,score\nAB,1\nAC,\nAD,\n"), *FAST)
    assert answer.code == 2
    assert "has 1 measured row; " in answer.err


def test_lists_name_what_options_take(run: Run) -> None:
    names = [each["name"] for each in run("similarities", "--json").data["similarities"]]
    assert names == list(known_similarities())
    text = run("similarities").out
    assert all(name in text for name in names)
    assert [each["name"] for each in run("spaces", "--json").data["spaces"]] == sorted(spaces())
    assert "strings:ACGT:8" in run("spaces").out


@pytest.mark.parametrize("made", [*known_similarities().values(), *ACQUISITIONS.values(), *STRATEGIES.values()])
def test_every_name_stands_for_something_that_takes_the_arguments_it_lists(made: Any) -> None:
    parameters = set(inspect.signature(made).parameters)
    for argument in arguments(made).split(", "):
        assert argument.split("=")[0] in {*parameters, ""}


def test_every_public_similarity_is_listed_unless_it_takes_functions() -> None:
    public = {name for name, home in lw.HOMES.items() if home.startswith("likewise.similarity.kinds.")}
    classes = {name for name in public if issubclass(getattr(lw, name), lw.Similarity)}
    listed = {each.__name__ for each in known_similarities().values()}
    assert classes - listed == {"Embedded", "MonteCarloJS", "MonteCarloKL"}
    assert all(each.kind for each in known_similarities().values())


@pytest.mark.parametrize("text", ["tanimoto_counts", "Tanimoto-Counts", "TanimotoCounts", "tanimotocounts(radius=2)"])
def test_names_are_known_however_they_are_written(text: str) -> None:
    found = similarities([text])
    assert isinstance(found, list)
    assert found == [lw.TanimotoCounts()]


@pytest.fixture
def stored(tmp_path: Path) -> str:
    import likewise as lw
    from likewise.similarity.kinds.strings import Hamming

    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = lw.Study(lw.Strings("AB", length=3), Hamming(), storage=url, name="first")
    for word, value in (("AAA", 1.0), ("ABA", 2.5)):
        study.tell(word, value)
    return url


def test_stored_studies_are_listed_and_exported(run: Run, stored: str, tmp_path: Path) -> None:
    listed = run("studies", stored, "--json").data["studies"]
    assert [(each["name"], each["best"], each["trials"]["told"]) for each in listed] == [("first", 2.5, 2)]
    assert "first" in run("studies", tmp_path / "study.db").out
    assert run("export", stored, "first", "--out", "first.csv").code == 0
    with Path("first.csv").open(newline="") as file:
        assert [(row["object"], float(row["value"])) for row in csv.DictReader(file)] == [("AAA", 1.0), ("ABA", 2.5)]
    assert run("export", stored, "first", "--out", "first.csv").code == 2
    assert run("export", stored, "first", "--out", "first.csv", "--force").code == 0
    assert run("export", stored, "second").code == 2
    assert run("export", stored, "first", "--out", "first.xlsx").code == 2


def test_bad_events_are_listed_and_passed_over(run: Run, stored: str) -> None:
    assert "Every event of" in run("check", stored).out
    with sqlite3.connect(stored.removeprefix("sqlite:///")) as connection:
        bad = """{"trials": [{"id": 0, "state": "told", "outcomes": {"value": {"value": "high"}}}]}"""
        connection.execute("UPDATE likewise_events SET body = ? WHERE kind = 'tell' AND study = 1", (bad,))
    connection.close()
    answer = run("export", stored, "first", "--out", "first.csv")
    assert answer.code == 0
    assert "of study 'first'" in answer.err
    assert "finite number" in answer.err
    (listed, *_) = run("check", stored, "--json").data["bad"]
    assert listed["study"] == "first"
    assert "finite number" in listed["reason"]
    assert "finite number" in run("check", stored).out.replace("\n", " ")


@pytest.mark.parametrize("password", ["hush:hush", "hush/hush", "hush@hush", "hush?hush"])
def test_passwords_are_not_shown(run: Run, password: str) -> None:
    urls = (
        f"postgresql://me:{password}@localhost:1/none",
        # An @ that is not escaped would end the name of the user there, and begin that of the server.
        f"postgresql://me@localhost:1/none?password={password.replace('@', '%40')}",
        f"postgresql://me:{password}@localhost:port/none",
        f"mysql://me:{password}@localhost:1/none",
    )
    for url in urls:
        for command in (("studies", url), ("studies", url, "--json"), ("export", url, "s"), ("check", url)):
            answer = run(*command)
            assert answer.code
            assert "hush" not in answer.out + answer.err


def test_asking_for_studies_makes_no_file(run: Run, tmp_path: Path) -> None:
    assert run("studies", "nowhere.db").code == 2
    assert run("studies", f"sqlite:///{tmp_path}/nowhere.db").code == 2
    assert run("studies", "mysql://x").code == 2
    assert list(tmp_path.iterdir()) == []


def test_asking_for_studies_changes_no_file(run: Run, tmp_path: Path) -> None:
    other, empty = tmp_path / "other.db", tmp_path / "empty.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
    empty.touch()
    before = other.read_bytes()
    for command in (("studies", other), ("export", other, "mine"), ("studies", empty)):
        answer = run(*command)
        assert answer.code == 1
        assert "is a SQLite database, but holds no likewise studies" in answer.err
    assert other.read_bytes() == before
    assert sorted((path.name, path.stat().st_size) for path in tmp_path.iterdir()) == [
        ("empty.db", 0),
        ("other.db", len(before)),
    ]


def test_a_name_that_is_no_file_asks_for_one(run: Run, stored: str) -> None:
    answer = run("export", stored, "a/b")
    assert answer.code == 2
    assert "--out" in answer.err


def test_an_export_takes_no_place_but_its_own(run: Run, stored: str, tmp_path: Path) -> None:
    answer = run("export", stored, "first", "--out", "no/such/first.csv")
    assert answer.code == 2
    assert "there is no folder" in answer.err
    (tmp_path / "study.db").rename(tmp_path / "study.json")
    before = (tmp_path / "study.json").read_bytes()
    answer = run("export", "study.json", "first", "--out", "study.json", "--force")
    assert answer.code == 2
    assert (tmp_path / "study.json").read_bytes() == before


def test_the_demonstration_finds_good_molecules_and_leaves_its_files(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    mine = {"molecules.csv.bak": "one", "molecules.csv.bak-2023": "two"}
    (tmp_path / "here").mkdir()
    for name, content in mine.items():
        (tmp_path / "here" / name).write_text(content)
    answer = run("demo", "here", "--rounds", 2, "-n", 4)
    assert answer.code == 0
    assert sorted(os.listdir("here")) == sorted(
        [*mine, "molecules.csv", "molecules.csv.likewise.jsonl", "next.csv", "report.html"]
    )
    assert {name: (tmp_path / "here" / name).read_text() for name in mine} == mine
    assert "likewise suggest" in answer.out
    with Path("here/molecules.csv").open(newline="") as file:
        told = [row for row in csv.DictReader(file) if row["yield"]]
    assert len(told) == 8
    assert {row["round"] for row in told} == {"1", "2"}
    refused = run("demo", "here")
    assert refused.code == 2
    assert "--force" in refused.err
    assert run("demo", "here/next.csv").code == 2


def test_a_closed_pipe_is_no_crash(words: Path) -> None:
    script = "from likewise.cli.main import main; main()"
    command = [sys.executable, "-c", script, "similarities"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read()
    assert b"Traceback" not in errors


def test_a_closed_stream_is_no_crash() -> None:
    script = "import sys; sys.stdout = None; from likewise.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", script, "similarities"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
