"""A whole campaign in a workbook, as a chemist would play it: `python examples/campaign.py`.

A made-up coupling reaction has 216 conditions, and eight of them are measured. From `likewise init` on, the script
types what the commands print after "Next:" and "then:", and now and then a setting of its own. In the laboratory runs
fail, one stays under way for two rounds, one is below the limit of detection, notes are written, and a value is
corrected. After each round every cell that was typed is looked for in the workbook.

`--rounds` (3 to 6) says how many rounds, `--folder` where the files stay.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
from openpyxl.styles import Font, PatternFill
from typer.testing import CliRunner

from likewise.cli.main import app

TABLE, NEXT, REPORT = Path("coupling.xlsx"), Path("next.xlsx"), Path("report.html")
YIELD, TEMPERATURE = "yield (%)", "temperature (°C)"
LIGANDS = {"XPhos": 38.0, "SPhos": 31.0, "BrettPhos": 62.0, "dppf": 12.0, "PPh3": 1.0, "PCy3": 8.0}
BASES = {"K3PO4": 12.0, "Cs2CO3": 8.0, "KOAc": 0.0}
SOLVENTS = {"toluene": 10.0, "dioxane": 14.0, "DMF": 0.0}
TEMPERATURES = (60, 80, 100, 120)
QUALITY = {"XPhos": 40, "SPhos": 34, "BrettPhos": 46, "dppf": 22, "PPh3": 8, "PCy3": 15}
MEASURED = 8


def true_yield(row: Mapping[str, Any]) -> float:
    """The yield of a made-up reaction, without noise."""
    heat = 14 - abs(row[TEMPERATURE] - 100) * 0.5
    return max(0.0, QUALITY[row["ligand"]] + BASES[row["base"]] + SOLVENTS[row["solvent"]] + heat)


def write_workbook(rng: np.random.Generator) -> None:
    """A table as people have it: a coloured header, prices, a formula in each row, and a second sheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "screen"
    header = ["ligand", "base", "solvent", TEMPERATURE, "cost", "cost for ten", YIELD]
    sheet.append(header)
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDEBF7")
    rows = list(product(LIGANDS, BASES, SOLVENTS, TEMPERATURES))
    known = set(rng.choice(len(rows), MEASURED, replace=False).tolist())
    for place, row in enumerate(rows):
        factors = dict(zip(header, row, strict=False))
        measured = round(true_yield(factors) + rng.normal(0, 1), 1) if place in known else None
        sheet.append([*row, LIGANDS[row[0]], f"=10*E{place + 2}", measured])
        sheet.cell(place + 2, 5).number_format = "0.00"
    book.create_sheet("safety")["A1"] = "PCy3 ignites in air"
    book.save(TABLE)


def likewise(command: str) -> str:
    """Run a command as it is printed; what it prints."""
    print(f"\n$ {command}")
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    print(done.output.rstrip())
    if done.exit_code:
        raise SystemExit(f"{command} ended with {done.exit_code}")
    return done.output


def following(output: str) -> str:
    """The command that an answer ends with."""
    (found,) = re.findall(r"(?:Next|then): (likewise .*)$", output, flags=re.MULTILINE)
    return str(found)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of the first sheet, with formulas as they are written."""
    header, *rows = openpyxl.load_workbook(path).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def write(path: Path, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Type cells into the rows of these runs, and columns that are not there behind the last one."""
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    header = [cell.value for cell in sheet[1]]
    for name in dict.fromkeys(name for cells in changes.values() for name in cells):
        if name not in header:
            header.append(name)
            sheet.cell(1, len(header)).value = name
    for row in sheet.iter_rows(min_row=2):
        for name, cell in changes.get(row[header.index("run")].value, {}).items():
            sheet.cell(row[0].row, header.index(name) + 1).value = cell
    book.save(path)


@dataclass
class Campaign:
    """The chemist: what was typed, by run and column, and the run that takes long."""

    rng: np.random.Generator
    typed: dict[str, dict[str, Any]] = field(default_factory=dict)
    slow: str | None = None

    def work(self, number: int) -> None:
        """A round in the laboratory: what is typed into the file of suggestions."""
        rows = read(NEXT)
        new = [row for row in rows if row["run"] not in self.typed]
        cells = {row["run"]: {YIELD: round(max(0.0, true_yield(row) + self.rng.normal(0, 1)), 1)} for row in new}
        runs = list(cells)
        if number == 1:
            self.slow = runs[0]
            cells[runs[0]] = {"status": "running", "note": "stirs over the weekend"}
            cells[runs[1]] = {YIELD: "failed", "note": "flask broke"}
        if number == 2:
            cells[runs[0]] = {YIELD: f"<{cells[runs[0]][YIELD] + 2:.0f}", "note": "hidden under the solvent peak"}
            cells[runs[1]] |= {"note": "colour: deep red; 2nd crop"}
        if number == 3 and self.slow is not None:
            row = next(row for row in rows if row["run"] == self.slow)
            cells[self.slow] = {YIELD: round(true_yield(row), 1), "status": "done"}
            cells[runs[0]] = {"status": "failed", "note": "no stirring"}
        write(NEXT, cells)
        for run, typed in cells.items():
            self.typed.setdefault(run, {}).update(typed)

    def correct(self) -> str:
        """A value of the last round was misread: it is corrected in the file, and told again; the run."""
        run = next(run for run in reversed(self.typed) if isinstance(self.typed[run].get(YIELD), float))
        self.typed[run][YIELD] += 3.0
        write(NEXT, {run: {YIELD: self.typed[run][YIELD]}})
        return run

    def check(self, before: list[dict[str, Any]]) -> None:
        """Everything that was there or was typed is in the workbook."""
        rows = read(TABLE)
        for old, new in zip(before, rows, strict=True):
            kept = {name: cell for name, cell in old.items() if cell is not None}
            assert kept.items() <= new.items(), f"the table had {kept}, and has {new}"
        found = {row["run"]: row for row in rows if row["run"]}
        for run, cells in self.typed.items():
            for name, cell in cells.items():
                said = (found[run][name], found[run]["status"])
                assert cell in said or (name == YIELD and str(cell) in map(str, said)), (run, name, cell, said)
        book = openpyxl.load_workbook(TABLE)
        assert book["safety"]["A1"].value == "PCy3 ignites in air"
        assert book["screen"]["A1"].font.bold
        assert book["screen"]["E2"].number_format == "0.00"
        print(f"({len(self.typed)} runs typed; all of it is in {TABLE})")


# What the chemist adds to the printed command in a round.
SETTINGS = {2: f"--same '{TEMPERATURE}'", 3: "--where 'cost < 35'"}


def play(rounds: int, seed: int = 0) -> Campaign:
    """The campaign in the current folder."""
    rng = np.random.default_rng(seed)
    write_workbook(rng)
    before = read(TABLE)
    chemist = Campaign(rng)
    output = likewise(f"likewise init {TABLE} -n 4 {_columns()}")
    for number in range(1, rounds + 1):
        extra = SETTINGS.get(number, "") + (f" --report {REPORT}" if number == rounds else "")
        output = likewise(f"{following(output)} {extra}".strip())
        _check_settings(number, [row for row in read(NEXT) if row["run"] not in chemist.typed])
        chemist.work(number)
        told = following(output)
        output = likewise(told)
        chemist.check(before)
    run = chemist.correct()
    _settle(told, run)
    chemist.check(before)
    likewise(f"likewise why {run}")
    assert REPORT.stat().st_size > 10_000
    return chemist


def _columns() -> str:
    names = ("ligand", "base", "solvent", TEMPERATURE)
    return shlex.join([word for name in names for word in ("--object", name)])


def _check_settings(number: int, new: list[dict[str, Any]]) -> None:
    """The batch keeps to what was asked of it."""
    if number == 2:
        assert len({row[TEMPERATURE] for row in new}) == 1
    if number == 3:
        assert all(row["cost"] < 35 for row in new)


def _settle(told: str, run: str) -> None:
    """Tell a corrected value: the command stops, says what contradicts what, and the command it names settles it."""
    stopped = CliRunner().invoke(app, shlex.split(told)[1:])
    print(f"\n$ {told}\n{stopped.output.rstrip()}")
    assert stopped.exit_code == 1
    assert run in "".join(row["run"] for row in read(NEXT))
    (settled,) = re.findall(r"^ *(likewise tell .*replace)  \(", stopped.output, flags=re.MULTILINE)
    likewise(settled)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Play the campaign, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, choices=range(3, 7), default=6)
    parser.add_argument("--folder", type=Path, help="keep the files here; default: a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, inside(given.folder or Path(temporary)):
        play(given.rounds)
        values = [row[YIELD] for row in read(TABLE) if isinstance(row[YIELD], int | float)]
        print(f"\nBest yield after {given.rounds} rounds: {max(values)} %, of {len(values)} measured.")


if __name__ == "__main__":
    main()
