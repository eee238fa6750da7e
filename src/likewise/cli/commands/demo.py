"""`likewise demo`: a whole optimisation on a made-up problem, whose files are left to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where the files go.")] = Path("likewise-demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Batches to measure.")] = 5,
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Suggestions in a batch.")] = 8,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the files if they exist.")] = False,
    *,
    console: Console,
) -> Reply:
    """Run a full loop on made-up molecules: suggest, measure, tell, again. The files are left in FOLDER."""
    return work.demo.demo(folder, rounds, n, seed, force, console)
