"""`likewise explain`: what is expected of any object, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


def explain(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] OBJECT",
            help="The table (default: that of likewise.toml) and the object; for records COLUMN=CELL for each column.",
        ),
    ],
    most: Annotated[int, typer.Option("-n", "--number", min=1, help="How many analogues.")] = 8,
    *,
    columns: options.ColumnOptions,
    model: options.Aim,
    console: Console,
) -> Reply:
    """Predict any object, measured or not, in FILE or not, and show the measured objects that speak for it."""
    return work.explain.explain(what, most, columns, model, console)
