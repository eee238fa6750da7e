"""What `likewise demo` does: a whole optimisation on a made-up problem, whose files are left to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign.listener import Listener
from likewise.campaign.runs.journal import Journal
from likewise.campaign.runs.results import merge_files
from likewise.campaign.sheets.sheet import Choices
from likewise.campaign.similarities import Request
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_table
from likewise.cli.demo_lab import Laboratory
from likewise.cli.parameters import Reply
from likewise.cli.work.suggest import Typed, answer, suggest
from likewise.cli.work.suggest_reply import Files
from likewise.errors import UsageError

TABLE, NEXT, REPORT = "molecules.csv", "next.csv", "report.html"
COLUMNS = options.Columns(["smiles"], ["yield"])


class Round(NamedTuple):
    """What was known after a batch: the best measured yield, and how many molecules are truly better than any of these.

    `rank` counts from 1 among all `molecules`, by the yield without noise.
    """

    round: int
    measured: int
    best: float
    rank: int
    molecules: int


def demo(folder: Path, rounds: int, n: int, seed: int, force: bool, console: Console) -> Reply:
    """The rounds of a made-up optimisation, and the suggestions after them."""
    table, following, report = _files(folder, force)
    laboratory = Laboratory(seed)
    laboratory.write(table)
    with console.working("measuring", rounds) as progress:
        done = []
        for number in range(1, rounds + 1):
            done.append(_measure(laboratory, table, following, n, number))
            progress.advance()
    command = f"likewise suggest {table} --object smiles --value yield -n {n} --out {following} --report {report}"

    def data() -> dict[str, Any]:
        answer(table, COLUMNS.choices, _request(seed), n, Files(following, report), Listener())
        files = {"table": str(table), "next": str(following), "report": str(report)}
        return {"rounds": [each._asdict() for each in done], "files": files, "next_command": command}

    def in_words() -> None:
        say(f"{table}: {len(laboratory.molecules)} made-up molecules, none of them measured at first.", "")
        rows = [(str(r.round), str(r.measured), f"{r.best:.1f}", f"{r.rank} of {r.molecules}") for r in done]
        say_table(("round", "measured", "best yield (%)", "true rank"), rows, right=(0, 1, 2, 3))
        say("", "The next batch, and the report:", "", f"    {command}", "")
        own = dict.fromkeys(("space", "method", "acquisition", "strategy"))
        own |= {"n": n, "out": following, "report": report}
        typed = Typed(own, COLUMNS, options.Aim(seed=seed), options.Plate(), more=False, force=False)
        suggest(table, typed, console).say()

    return Reply(data, in_words)


def _files(folder: Path, force: bool) -> list[Path]:
    """The files of the demonstration in their folder, where none of them is left."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and the demonstration needs a folder; give another name.")
    files = [folder / name for name in (TABLE, NEXT, REPORT)]
    taken = [file for file in (*files, Journal.of(files[0]).path) if file.exists()]
    if taken and not force:
        there = ", ".join(file.name for file in taken)
        raise UsageError(f"{folder} holds {there} already; give another folder, or --force to replace them.")
    folder.mkdir(parents=True, exist_ok=True)
    for file in taken:
        file.unlink()
    return files


def _request(seed: int) -> Request:
    return Request(seed=seed, searching=True)


def _measure(laboratory: Laboratory, table: Path, following: Path, n: int, number: int) -> Round:
    """One round: suggestions, their measurements, and both merged into the table."""
    asked = answer(table, COLUMNS.choices, _request(laboratory.seed), n, Files(following), Listener())
    laboratory.fill_in(following)
    merged = merge_files(table, following, Choices(), "stop", table, Listener())
    first = None if asked.committed is None else asked.committed.backup
    for file in (first, merged.backup, following):
        if file is not None:
            file.unlink()
    measured = laboratory.measurements(table)
    found = max(laboratory.truth[smiles] for smiles in measured)
    better = sum(truth > found for truth in laboratory.truth.values())
    return Round(number, len(measured), max(measured.values()), better + 1, len(laboratory.truth))
