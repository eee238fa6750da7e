"""`likewise demo`: a whole optimisation on a made-up problem, whose files are left to look at."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from likewise.campaign.console import Console, say, say_json, say_table
from likewise.cli.commands.options import Debug, Json, Quiet, Seed
from likewise.errors import UsageError

if TYPE_CHECKING:
    from likewise.cli.demo_lab import Laboratory

TABLE, NEXT, REPORT = "molecules.csv", "next.csv", "report.html"
FILES = (TABLE, NEXT, REPORT)


class Round(NamedTuple):
    """What was known after a batch: the best measured yield, and how many molecules are truly better than any of these.

    `rank` counts from 1 among all `molecules`, by the yield without noise.
    """

    round: int
    measured: int
    best: float
    rank: int
    molecules: int


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where the files go.")] = Path("likewise-demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Batches to measure.")] = 5,
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Suggestions in a batch.")] = 8,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the files if they are there already.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a full loop on made-up molecules: suggest, measure, tell, again. The files are left in FOLDER."""
    from likewise.cli.commands.suggest import suggest
    from likewise.cli.commands.tell import OnConflict, tell
    from likewise.cli.demo_lab import Laboratory

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and the demonstration needs a folder; give another name.")
    taken = [name for name in FILES if (folder / name).exists()]
    if taken and not force:
        raise UsageError(f"{folder} holds {', '.join(taken)} already; give another folder, or --force to replace them.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in taken:
        (folder / name).unlink()
    table, following, report = (folder / name for name in FILES)
    laboratory = Laboratory(seed)
    laboratory.write(table)
    console = Console(quiet)
    done: list[Round] = []
    with console.working("measuring", rounds) as progress:
        for number in range(1, rounds + 1):
            _answer(suggest, file=table, n=n, object=["smiles"], value="yield", out=following, seed=seed)
            laboratory.fill_in(following)
            told = _answer(tell, file=table, results=following, in_place=True, on_conflict=OnConflict.STOP)
            Path(told["backup"]).unlink()
            following.unlink()
            done.append(_round(laboratory, table, number))
            progress.advance()
    last: dict[str, Any] = {
        "file": table,
        "n": n,
        "object": ["smiles"],
        "value": "yield",
        "out": following,
        "report": report,
    }
    command = f"likewise suggest {table} --object smiles --value yield -n {n} --out {following} --report {report}"
    if as_json:
        _answer(suggest, **last, seed=seed)
        files = {"table": str(table), "next": str(following), "report": str(report)}
        say_json("demo", {"rounds": [each._asdict() for each in done], "files": files, "next_command": command})
        return
    say(f"{table}: {len(laboratory.molecules)} made-up molecules, none of them measured at first.", "")
    rows = [(str(r.round), str(r.measured), f"{r.best:.1f}", f"{r.rank} of {r.molecules}") for r in done]
    say_table(("round", "measured", "best yield (%)", "true rank"), rows, right=(0, 1, 2, 3))
    say("", "The next batch, and the report:", "", f"    {command}", "")
    suggest(**last, seed=seed, quiet=quiet)


def _answer(command: Callable[..., None], **arguments: Any) -> Any:
    """What a command answers in JSON; nothing of it is shown."""
    with redirect_stdout(io.StringIO()) as said:
        command(**arguments, as_json=True, quiet=True)
    return json.loads(said.getvalue())


def _round(laboratory: Laboratory, table: Path, number: int) -> Round:
    measured = laboratory.measured(table)
    found = max(laboratory.truth[smiles] for smiles in measured)
    better = sum(truth > found for truth in laboratory.truth.values())
    return Round(number, len(measured), max(measured.values()), better + 1, len(laboratory.truth))
