"""`likewise suggest`: the next experiments from a table of those done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import work
from likewise.cli.commands import options
from likewise.cli.console import Console
from likewise.cli.parameters import Reply

InputFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV, TSV or Parquet, gzipped or not. Default: that of likewise.toml; not needed with --space.",
    ),
]
Number = Annotated[int | None, typer.Option("-n", "--number", min=1, help="How many suggestions. Default: 1.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write the suggestions here, to be filled in: .csv, .tsv, .parquet.")
]
SpaceText = Annotated[
    str | None,
    typer.Option(
        "--space",
        help='Where candidates come from if not from the file: "T=20..120/5, base=KOAc|NaOH", dna:8, space.toml.',
    ),
]
Report = Annotated[Path | None, typer.Option("--report", help="Write a report: one HTML file.")]
AcquisitionName = Annotated[
    str | None, typer.Option("--acquisition", help="What a candidate is worth: auto, ei, pi, ucb(2) or mean.")
]
MethodName = Annotated[
    str | None, typer.Option("--method", help="How candidates are chosen: committee, or paper as the paper prints it.")
]
StrategyName = Annotated[
    str | None,
    typer.Option("--strategy", help="How a batch is chosen: auto, sequential, thompson, top_score or two_stage."),
]
More = Annotated[
    bool, typer.Option("--more", help="Beside the last round, of which nothing has come back yet, not in its place.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds values that FILE has not, and any --report.")
]


def suggest(
    file: InputFile = None,
    n: Number = None,
    out: Out = None,
    report: Report = None,
    space: SpaceText = None,
    method: MethodName = None,
    acquisition: AcquisitionName = None,
    strategy: StrategyName = None,
    more: More = False,
    force: Force = False,
    *,
    columns: options.ColumnOptions,
    model: options.Aim,
    plate: options.PlateOptions,
    console: Console,
) -> Reply:
    """Suggest what to measure next: rows with a value are observations, rows without are candidates.

    With --out, or in the folder of a likewise.toml, the suggestions are runs with names of their own: they are written
    to --out and noted in FILE. Fill in their values, merge them with `likewise tell`, and suggest again.
    """
    options = {"n": n, "out": out, "report": report, "space": space}
    options |= {"method": method, "acquisition": acquisition, "strategy": strategy}
    return work.suggest.suggest(file, work.suggest.Typed(options, columns, model, plate, more, force), console)
