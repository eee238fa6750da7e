"""`likewise compare` and `likewise diagnose`: which similarity suits the measured rows, and whether it is any good."""

from __future__ import annotations

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply


def compare(
    file: options.File = None, *, columns: options.ColumnOptions, model: options.Aim, console: Console
) -> Reply:
    """Rank similarities by how well each predicts measured values it has not seen."""
    return work.assess.compare(file, columns, model, console)


def diagnose(
    file: options.File = None, *, columns: options.ColumnOptions, model: options.Aim, console: Console
) -> Reply:
    """Say whether the similarities explain the values: leave-one-out errors, calibration, outliers and a verdict."""
    return work.assess.diagnose(file, columns, model, console)
