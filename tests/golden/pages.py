"""The commands that the pages show, run in their order in an empty folder, and what they answer with `--json`."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fixtures import alloys

import likewise as lw

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = r"^\$ (mkdir .*|likewise .*)$"
LINES = r"^(likewise .*)$"
# What differs from day to day and from version to version.
PASSING = {"likewise", "created", "updated", "time", "started", "seconds"}


def molecules(folder: Path) -> None:
    """The table that the page of the command line speaks of."""
    lines = [f"{'C' * i}{end},{i + len(end) if i < 8 else ''}" for i in range(1, 11) for end in ("N", "O", "C(=O)N")]
    (folder / "molecules.csv").write_text("\n".join(["smiles,yield", "c1ccccc1C(=O)NCC,5.5", *lines, ""]))


def shared(folder: Path) -> None:
    """A stored study."""
    study = lw.Study(
        lw.Box([0.0, 0.0], [1.0, 1.0]), storage=f"sqlite:///{folder / 'shared.db'}", name="simulation", worker="a"
    )
    study.tell_many([([0.2, 0.4], -0.1), ([0.6, 0.4], -0.18)])
    study.fail([0.1, 0.9], "no convergence")


def mixed(folder: Path) -> None:
    """A table of alloys with three outcomes, not all of which are measured."""
    header, *rows = alloys.table(rows=16, known=10).replace("imp", "impurity").splitlines()
    more = [f"{row},{'monday' if k % 3 else 'friday'},{2 + k % 5}" for k, row in enumerate(rows)]
    (folder / "alloys.csv").write_text("\n".join([f"{header},day,euro", *more, ""]))


@dataclass(frozen=True)
class Page:
    """Commands of a page, what lies in the folder before them, and commands of the same kind after them."""

    file: str
    lines: str = PROMPTS
    before: Callable[[Path], None] = lambda folder: None
    after: Sequence[str] = ()
    needs: Sequence[str] = ()

    @property
    def commands(self) -> list[str]:
        text = (ROOT / self.file).read_text(encoding="utf-8")
        return [*re.findall(self.lines, text, flags=re.MULTILINE), *self.after]


README_TELL = "likewise tell likewise-demo/molecules.csv next.csv --object smiles --value yield"
OUTCOMES = "alloys.csv --object a --object b --value strength:max --value price:min --require 'impurity<2'"
PAGES = {
    "README": Page(
        "README.md",
        after=[README_TELL, "likewise diagnose likewise-demo/molecules.csv -o smiles -v yield"],
        needs=["rdkit", "matplotlib"],
    ),
    "the command line": Page("docs/cli.md", before=molecules, needs=["rdkit", "matplotlib"]),
    "a spreadsheet": Page(
        "docs/start/spreadsheet.md",
        after=["likewise suggest --same temperature", "likewise suggest --where \"solvent != 'DMF'\""],
        needs=["python_calamine", "xlsxwriter", "openpyxl", "matplotlib"],
    ),
    "a cluster": Page(
        "docs/start/cluster.md",
        LINES,
        shared,
        ["likewise export sqlite:///shared.db simulation", "likewise check sqlite:///shared.db"],
    ),
    "several objectives": Page(
        "docs/objectives.md",
        LINES,
        mixed,
        [
            "likewise tell alloys.csv next.csv --object a --object b --value strength:max --value price:min",
            f"likewise explain {OUTCOMES} a=0.3 b=0.6",
            f"likewise diagnose {OUTCOMES}",
            f"likewise compare {OUTCOMES}",
            "likewise suggest alloys.csv --object a --object b --value price --minimize -n 2 --method paper",
            "likewise suggest alloys.csv -o a -o b -v price --minimize -n 2 --block day --where 'a < 0.8'",
            "likewise suggest alloys.csv -o a -o b -v strength --std sd -n 3 --strategy thompson --acquisition pi",
            "likewise suggest alloys.csv -o a -o b -v strength --cost euro --budget 9 -n 3 --fix b=0.66",
        ],
        needs=["moocore"],
    ),
    "names": Page("docs/index.md", r"^\$ nothing$", after=["likewise similarities", "likewise spaces"]),
}


def run(page: Page, folder: Path) -> dict[str, Any]:
    """What each command of a page answers: its exit code and its JSON."""
    answers = {}
    with chdir(folder):
        page.before(folder)
        for number, command in enumerate(page.commands, start=1):
            program, *words = shlex.split(command)
            if program == "mkdir":
                Path(words[0]).mkdir()
                continue
            words = prepared(words)
            answers[f"{number}. {command}"] = invoke([*words, "--json"])
    return answers


def prepared(words: list[str]) -> list[str]:
    """Write results before they are told, and name a run that there is."""
    if words[0] == "tell":
        fill_in(next(path for name in ("next.csv", "next.xlsx") if (path := Path(name)).exists()))
    if words[0] == "why":
        with Path("molecules.csv").open(newline="", encoding="utf-8") as file:
            words[1] = next(row["run"] for row in csv.DictReader(file) if row["round"] == "1")
    return words


def invoke(words: list[str]) -> dict[str, Any]:
    from typer.testing import CliRunner

    from likewise.cli.main import app

    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return {"code": result.exit_code, "json": steady(json.loads(result.stdout)) if result.stdout else None}


def steady(data: Any) -> Any:
    """JSON without what is of the day."""
    if isinstance(data, Mapping):
        return {name: steady(value) for name, value in data.items() if name not in PASSING}
    return [steady(value) for value in data] if isinstance(data, list) else data


def fill_in(path: Path) -> None:
    """Write values into the empty cells of what was measured."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        for column, cells in measured(header):
            for number, row in enumerate(rows):
                row[column] = row[column] or cells(number)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        return
    import openpyxl

    book = openpyxl.load_workbook(path)
    header, *lines = list(book.active.iter_rows())
    for column, cells in measured([cell.value for cell in header]):
        for number, line in enumerate(lines):
            line[column].value = line[column].value or float(cells(number))
    book.save(path)


def measured(header: Sequence[str]) -> list[tuple[int, Callable[[int], str]]]:
    """The columns of what is measured, and the value that each row gets there."""
    outcomes = ("yield", "strength", "price", "impurity")
    return [
        (header.index(name), lambda number, k=k: f"{3 + 2.5 * number - k}")
        for k, name in enumerate(outcomes)
        if name in header
    ]
