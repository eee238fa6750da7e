"""`likewise init`: looks at a table, says what it took for what, and writes the settings of the campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.commands.suggest import Out, Report, SpaceText
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The table. With --space it need not exist yet.")],
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Suggestions in a round.")] = 4,
    out: Out = None,
    report: Report = None,
    space: SpaceText = None,
    force: Annotated[bool, typer.Option("--force", help="Replace likewise.toml; a backup is kept.")] = False,
    *,
    columns: options.ColumnOptions,
    together: options.Together,
    model: options.Aim,
    console: Console,
) -> Reply:
    """Look at a table, say what is taken for what, and write likewise.toml beside it.

    From then on `likewise suggest` and `likewise tell` need no options in that folder.
    """
    return work.init.init(file, work.init.Wanted(n, out, report, space, force, together), columns, model, console)
