"""`likewise studies`, `likewise export` and `likewise check`: studies that are kept in a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.parameters import Reply

Url = Annotated[str, typer.Argument(metavar="URL", help="sqlite:///study.db, postgresql://…, or a SQLite file.")]


def studies(url: Url) -> Reply:
    """List the studies of a storage."""
    return work.stored.studies(url)


def export(
    url: Url,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="A .csv, .parquet or .json file. Default: NAME.csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> Reply:
    """Write all trials of a stored study to a table."""
    return work.stored.export(url, name, out, force)


def check(
    url: Url,
    set_aside: Annotated[
        bool,
        typer.Option("--set-aside", help="Move bad trials to the table likewise_aside, and mend counts."),
    ] = False,
) -> Reply:
    """List the stored rows that cannot be used, with study, trial and field; nothing is ever deleted."""
    return work.stored.check(url, set_aside)
