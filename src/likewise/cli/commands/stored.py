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


def check(url: Url) -> Reply:
    """List the stored events that cannot be used, with study and reason; nothing is ever deleted."""
    return work.stored.check(url)
