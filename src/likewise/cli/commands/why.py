"""`likewise why`: on what grounds a run was suggested, and what came of it, from the journal beside the table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The name of the run, such as R3-2fk.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The table. Default: that of likewise.toml.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option("--storage", help="Of a stored study: URL or file; RUN is the number of its trial."),
    ] = None,
    study: Annotated[str, typer.Option("--study", help="The name of the stored study.")] = "study",
    *,
    console: Console,
) -> Reply:
    """Say why a run was suggested: what the model expected, because of which results, with which settings and data."""
    return work.why.why(run, file, storage, study, console)
