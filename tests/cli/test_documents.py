"""What README and the command line's page show is run: commands, snippets, files and the fields of JSON."""

from __future__ import annotations

import csv
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.cli.main import COMMANDS, load
from likewise.spaces.description import spaces

Run = Callable[..., Any]
Save = Callable[..., Path]

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The commands that are shown after a prompt."""
    lines = [line for block in blocks(text, "console") for line in block.splitlines()]
    return [shlex.split(line[2:])[1:] for line in lines if line.startswith("$ likewise ")]


def worded(line: str) -> str:
    """A line without its numbers."""
    return re.sub(r"\d+", "…", line)


def test_the_first_screen_of_the_readme_is_what_the_commands_say(run: Run) -> None:
    pytest.importorskip("rdkit")
    pytest.importorskip("matplotlib")
    demo, suggest = commands(README)
    assert run(*demo).code == 0
    answer = run(*suggest)
    assert answer.code == 0
    shown = blocks(README, "console")[0].splitlines()[2:]
    said = [line.rstrip() for line in (answer.err + answer.out).splitlines()]
    assert [worded(line) for line in said[:3]] == [worded(line) for line in shown[:3]]
    assert [line.split(":")[0] for line in said[-5:]] == [line.split(":")[0] for line in shown[-5:]]
    runs = [[line for line in lines if re.match(r"R\d+-", line)] for lines in (said, shown)]
    assert list(map(len, runs)) == [3, 3]
    told = suggest[suggest.index("--out") + 1]
    with Path(told).open(newline="") as file:
        header, *rows = list(csv.reader(file))
    filled = [[*row[: header.index("yield")], "50", *row[header.index("yield") + 1 :]] for row in rows]
    with Path(told).open("w", newline="") as file:
        csv.writer(file).writerows([header, *filled])
    (merge,) = re.findall(r"`likewise (tell [^`]*)`", README)
    assert run(*shlex.split(merge)).code == 0
    assert run("diagnose", *suggest[1:6], "--json").data["observations"] == 27


def test_the_snippets_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    pytest.importorskip("matplotlib")
    import likewise as lw

    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {
        "f": lambda x: float(len(x)),
        "smiles": [f"{'C' * i}{end}" for i in range(1, 9) for end in "NOF"],
        "measure": lambda x: float(x.count("A")),
        "objects": ["ACGTACGA", "TTTTTTTT"],
        "obj": "ACGTACGA",
        "space": lw.Strings("ACGT", length=5),
    }
    for block in blocks(README, "python"):
        # The budgets are those of real experiments.
        exec(re.sub(r"budget=\d+", "budget=12", block), names)
    assert names["best"].value == 9.0
    assert names["figure"].axes
    assert Path("study.db").exists()


def test_links_within_the_page_lead_to_a_heading() -> None:
    headings = {
        re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= headings


def test_every_option_of_every_command_is_on_the_page() -> None:
    documented = set(re.findall(r"`(-{1,2}[a-z][a-z-]*)", PAGE))
    for name in COMMANDS:
        assert f"`{name}`" in PAGE or f"likewise {name} " in PAGE
        for parameter in load(name).params:
            options = [option for option in parameter.opts if option.startswith("-")]
            assert set(options) <= documented, (name, options)


@pytest.fixture
def table(save: Save) -> Path:
    """A small table under the name that the page uses."""
    pytest.importorskip("rdkit")
    lines = [f"{'C' * i}{end},{i + len(end) if i < 8 else ''}" for i in range(1, 11) for end in ("N", "O", "C(=O)N")]
    return save("\n".join(["smiles,yield", "c1ccccc1C(=O)NCC,5.5", *lines]), "molecules.csv")


def test_the_settings_on_the_page_are_settings(run: Run, table: Path, save: Save) -> None:
    (text,) = blocks(PAGE, "toml likewise")
    save(text, "likewise.toml")
    pytest.importorskip("matplotlib")
    answer = run("suggest", "--json")
    assert answer.code == 0, answer.err
    assert len(answer.data["suggestions"]) == 4
    assert (answer.data["out"], answer.data["report"]) == ("next.csv", "report.html")
    save(text.replace("number = 4", "numbre = 4"), "likewise.toml")
    assert "'numbre', which is not known" in run("suggest").err


def shape(data: Any) -> Any:
    """The fields of JSON data, without what they hold."""
    if isinstance(data, dict):
        return {key: shape(value) for key, value in data.items()}
    return [shape(data[0])] if isinstance(data, list) and data and isinstance(data[0], dict) else None


def test_the_fields_of_json_are_those_on_the_page(run: Run, table: Path, save: Save, tmp_path: Path) -> None:
    import likewise as lw

    lw.Study(lw.Strings("AB", length=3), lw.Hamming(), storage=f"sqlite:///{tmp_path / 's.db'}", name="a").tell(
        "AAB", 1.0
    )
    results = save("smiles,yield\nCCN,9\nCCCCCCCCN,3\n", "next.csv")
    options = ("--object", "smiles", "-s", "tanimoto,canonical_smiles(indel)")
    asked = run("suggest", table, "-n", 2, "--out", "new.csv", "--report", "r.html", "--json", *options)
    run_name = asked.data["suggestions"][0]["run"]
    save(f"run,yield\n{run_name},7\n", "flask.csv")
    assert run("tell", table, "flask.csv", "--object", "smiles").code == 0
    answers = {
        "suggest": asked,
        "tell": run("tell", table, results, "--on-conflict", "keep", "--json"),
        "why": run("why", run_name, table, "--json"),
        "init": run("init", save("word,score\nABC,1\nABD,\n", "words.csv"), "--json"),
        "explain": run("explain", table, "CCO", "--json", *options),
        "compare": run("compare", table, "--json", *options),
        "diagnose": run("diagnose", table, "--json", *options),
        "studies": run("studies", "s.db", "--json"),
        "export": run("export", "s.db", "a", "--json"),
        "similarities": run("similarities", "--json"),
        "spaces": run("spaces", "--json"),
        "demo": run("demo", "d", "--rounds", 1, "-n", 3, "--json"),
    }
    shown = {json.loads(block)["command"]: json.loads(block) for block in blocks(PAGE, "json [a-z]+")}
    shown["diagnose"] = {key: value for key, value in shown["compare"].items() if key not in ("rows", "recognised")}
    assert shown.keys() == answers.keys()
    Path("likewise.toml").unlink()
    for name, answer in answers.items():
        assert answer.code == 0, answer.err
        found, expected = answer.data, shape(shown[name])
        # Lists that are empty here or there say nothing about their fields.
        for key in found:
            if found[key] == [] or shown[name].get(key) == []:
                expected[key] = shape(found[key])
        for free in ("cells", "options", "notes"):
            # What is in them depends on the table and on what was asked for.
            for part in (found, expected):
                for each in (part, part.get("suggestion") or {}, part.get("round") if name == "why" else {}):
                    (each or {}).pop(free, None)
        assert shape(found) == expected, name
        assert found["command"] == name
        assert found["schema"] == 1


@pytest.mark.parametrize("text", blocks(PAGE, "toml"), ids=lambda text: tomllib.loads(text)["space"])
def test_the_space_files_of_the_page_are_spaces(run: Run, save: Save, text: str) -> None:
    kind = tomllib.loads(text)["space"]
    if kind == "Molecules":
        pytest.importorskip("selfies")
    if kind == "Graphs":
        pytest.importorskip("networkx")
    save(text, "space.toml")
    answer = run("suggest", "--space", "space.toml", "-n", 2, "--json", "--out", "next.csv")
    assert answer.code == 0, answer.err
    assert len(answer.data["suggestions"]) == 2
    # What is written is read again, with a value.
    with Path("next.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    where = lines[0].index("value")
    for number, line in enumerate(lines[1:]):
        line[where] = str(number)
    with Path("table.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    columns = [part for name in lines[0][:where] for part in ("-o", name)]
    again = run("suggest", "table.csv", "--space", "space.toml", *columns, "--value", "value", "--json")
    assert again.code == 0, again.err
    assert again.data["measured"] == 2


def test_every_space_has_a_file_on_the_page() -> None:
    assert {tomllib.loads(text)["space"] for text in blocks(PAGE, "toml")} == set(spaces())
