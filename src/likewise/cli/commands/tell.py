"""`likewise tell`: results that were filled in, back into the table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


class OnConflict(StrEnum):
    """What to do with a cell that says something else already."""

    STOP = "stop"
    KEEP = "keep"
    REPLACE = "replace"
    ADD = "add"


def tell(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TABLE] [RESULTS]",
            help="The table, and the suggestions with their values filled in. Default: those of likewise.toml.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write a new table, and leave TABLE as it is.")] = None,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="Cells that say something else: stop, keep the old, replace it, or add a measurement."),
    ] = OnConflict.STOP,
    force: Annotated[bool, typer.Option("--force", help="Replace the table of --out if it exists.")] = False,
    *,
    columns: options.ColumnOptions,
    console: Console,
) -> Reply:
    """Merge filled-in results into the table: gaps are filled, new objects appended, contradictions listed.

    TABLE itself is changed, as a whole or not at all, and a backup is kept.
    """
    return work.tell.tell(files or [], out, on_conflict, force, columns, console)
