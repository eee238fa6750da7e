"""Campaigns by the commands: 8 random rows, then six rounds of four. `python -m benchmarks.campaign`.

Ten random beginnings of two data sets, each a table in a folder of its own: `init`, and then `suggest` and `tell` by
turns, with the values of the data set filled in. Compared with random choice of as many rows: 24 further ones after
the same beginning, and what is to be expected of any 32. With `--report` the section of docs/benchmarks.md is made from
what is stored.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.sections import write_section

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = Path(__file__).parent / "results" / "campaign.json"
SEEDS, BEGUN, ROUNDS, BATCH = 10, 8, 6, 4
ALL = BEGUN + ROUNDS * BATCH


@dataclass(frozen=True)
class Task:
    """A data set: its file, the columns that a chemist would name, and whether small values are good."""

    file: str
    objects: tuple[str, ...]
    value: str
    minimize: bool = False

    def rows(self) -> list[dict[str, str]]:
        """The rows of the file."""
        with (DATA / self.file).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @property
    def sign(self) -> int:
        """What makes large values good."""
        return -1 if self.minimize else 1


METALS = tuple(f"{metal}_load" for metal in ("ni", "fe", "co", "mn", "ce", "la"))
TASKS = {
    "direct arylation": Task(
        "direct_arylation/direct_arylation.csv", ("Base", "Ligand", "Solvent", "Concentration", "Temp_C"), "yield"
    ),
    "OER": Task("olympus/oer_plate_3496.csv", METALS, "overpotential", minimize=True),
}


def command(*words: str) -> None:
    """A command of `likewise`, as it is typed."""
    from typer.testing import CliRunner

    from likewise.cli.main import app

    done = CliRunner().invoke(app, list(words))
    if done.exit_code:
        raise RuntimeError(f"likewise {' '.join(words)}: {done.output}") from done.exception


def save(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write rows as a spreadsheet would."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def campaign(task: Task, begun: Sequence[int], seed: int, folder: Path) -> list[float]:
    """The values in the order in which they are measured."""
    rows, table, results = task.rows(), folder / "table.csv", folder / "next.csv"
    truth = {tuple(row[c] for c in task.objects): row[task.value] for row in rows}
    known = set(begun)
    columns = [{c: row[c] for c in task.objects} for row in rows]
    save(table, [{**c, task.value: rows[k][task.value] if k in known else ""} for k, c in enumerate(columns)])
    options = [word for column in task.objects for word in ("--object", column)]
    options += ["--minimize"] if task.minimize else []
    command("init", str(table), *options, "--value", task.value, "-n", str(BATCH), "--seed", str(seed))
    values = [float(rows[k][task.value]) for k in begun]
    for _ in range(ROUNDS):
        command("suggest", str(table))
        told = [{**row, task.value: truth[tuple(row[c] for c in task.objects)]} for row in read(results)]
        values += [float(row[task.value]) for row in told]
        save(results, told)
        command("tell", str(table))
    return values


def expected_best(values: np.ndarray, n: int) -> float:
    """The expectation of the largest of n different ones of these values.

    >>> expected_best(np.array([1.0, 2.0, 3.0]), 2)
    2.6666666666666665
    """
    ordered, ways = np.sort(values), comb(len(values), n)
    return float(sum(value * (comb(k, n - 1) / ways) for k, value in enumerate(ordered) if k >= n - 1))


def run() -> None:
    """Fill the results, one campaign after the other; those that are stored are not run again."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, task in TASKS.items():
        truth = np.array([float(row[task.value]) for row in task.rows()])
        runs = stored.setdefault(name, {"likewise": [], "random": []})
        for seed in range(len(runs["likewise"]), SEEDS):
            order = np.random.default_rng(seed).permutation(len(truth)).tolist()
            with TemporaryDirectory() as folder:
                values = campaign(task, order[:BEGUN], seed, Path(folder))
            runs["likewise"].append(values)
            runs["random"].append(truth[order[:ALL]].tolist())
            best = [max(np.array(each) * task.sign) * task.sign for each in (values, runs["random"][-1])]
            print(name, seed, *best, f"{os.times().user:.0f} s", flush=True)
            best_expected = expected_best(task.sign * truth, ALL) * task.sign
            rank = [int((task.sign * truth > task.sign * value).sum()) + 1 for value in best]
            runs |= {"expected": best_expected, "rows": len(truth), "ranks": [*runs.get("ranks", []), rank]}
            RESULTS.write_text(json.dumps(stored) + "\n")


def table() -> str:
    """The section of the page."""
    stored = json.loads(RESULTS.read_text())
    lines = [
        f"## A campaign in a table: {BEGUN} random rows + {ROUNDS} rounds of {BATCH}, {SEEDS} beginnings",
        "",
        "Made by `python -m benchmarks.campaign`, which runs `likewise init`, `suggest` and `tell` with no settings",
        "but the columns and the direction. The best of 32 rows, its median over the beginnings, and the same by",
        "random choice: 24 further rows after the same beginning, and the expectation of the best of any 32 rows.",
        "",
        "| data set | likewise | rank | random, same beginning | random, expected | better than the same beginning | "
        "better than expected |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, task in TASKS.items():
        if name in stored:
            lines.append(_line(name, task, stored[name]))
    return "\n".join([*lines, ""])


def _line(name: str, task: Task, runs: dict[str, list[list[float]]]) -> str:
    ours, theirs = (task.sign * np.array(runs[each]).T for each in ("likewise", "random"))
    ours, theirs = ours.max(axis=0), theirs.max(axis=0)
    expected = task.sign * float(runs["expected"])  # type: ignore[arg-type]
    ranks = [pair[0] for pair in runs["ranks"]]
    equal = int((ours == theirs).sum())
    cells = [
        f"{task.sign * np.median(ours):.4g}",
        f"{np.median(ranks):.3g} of {runs['rows']}",
        f"{task.sign * np.median(theirs):.4g}",
        f"{task.sign * expected:.4g}",
        f"{int((ours > theirs).sum())} of {len(ours)}" + (f", {equal} equal" if equal else ""),
        f"{int((ours > expected).sum())} of {len(ours)}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--report", action="store_true", help="write the section of what is stored, and run nothing")
    if not parser.parse_args().report:
        run()
    write_section("campaign", table())


if __name__ == "__main__":
    main()
