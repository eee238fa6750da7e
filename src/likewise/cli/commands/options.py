"""Options that commands share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from likewise.campaign.sheet import Choices
from likewise.errors import UsageError
from likewise.study.methods.bounded import Bounds
from likewise.tables.cells import Decimal


def _debugging(context: typer.Context, value: bool) -> bool:
    if value:
        context.meta["likewise.debug"] = True
    return value


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV or Parquet, gzipped or not, with an object in each row.")
]
Object = Annotated[
    list[str] | None,
    typer.Option("--object", "-o", help="Column of the objects; once for each column if they are records."),
]
Value = Annotated[str | None, typer.Option("--value", "-v", help="Column of the measured values.")]
Std = Annotated[str | None, typer.Option("--std", help="Column of the measurements' standard deviations.")]
Text = Annotated[list[str] | None, typer.Option("--text", help="Column of numbers to compare as text.")]
DecimalSign = Annotated[str | None, typer.Option("--decimal", help="Decimal sign, '.' or ','; detected if not given.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be used, and say which.")]
Minimize = Annotated[bool, typer.Option("--minimize", help="Look for the smallest value, not the largest.")]
Similarities = Annotated[
    list[str] | None,
    typer.Option("--similarity", "-s", help="NAME[,NAME…] or COLUMN=NAME[,…]; see `likewise similarities`."),
]
SpaceText = Annotated[
    str | None,
    typer.Option("--space", help="Where candidates come from if not from the file: strings:ACGT:8 or space.toml."),
]
BoundsText = Annotated[
    str | None,
    typer.Option("--bounds", help="Between which values lie: 0,100 (or 0, without an end)."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed and file give the same answer.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON (docs/cli.md describes it).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr.")]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", callback=_debugging, is_eager=True)
]


def choices(
    object: list[str] | None,
    value: str | None,
    std: str | None = None,
    text: list[str] | None = None,
    decimal: str | None = None,
    skip_bad: bool = False,
) -> Choices:
    """What the user said about the columns."""
    if decimal not in (None, ".", ","):
        raise UsageError(f"--decimal is '.' or ',', not {decimal!r}.")
    return Choices(tuple(object or ()), value, std, tuple(text or ()), cast("Decimal | None", decimal), skip_bad)


def direction(minimize: bool) -> Literal["maximize", "minimize"]:
    """The direction of a study."""
    return "minimize" if minimize else "maximize"


def bounds(text: str | None) -> Bounds | None:
    """The lower and the upper bound of the values.

    >>> bounds("0,100"), bounds("0,")
    ((0.0, 100.0), (0.0, None))
    """
    if text is None:
        return None
    try:
        low, high = (float(part) if part.strip() else None for part in text.split(","))
    except ValueError:
        raise UsageError(f"--bounds is two numbers with a comma between them, as in 0,100, not {text!r}.") from None
    return low, high


def words(chosen: Choices) -> list[str]:
    """The options that say the same about the columns.

    >>> words(Choices(("ligand", "base"), "yield", decimal=","))
    ['--object', 'ligand', '--object', 'base', '--value', 'yield', '--decimal', ',']
    """
    named = [("--object", chosen.objects), ("--value", (chosen.value,)), ("--std", (chosen.std,))]
    named += [("--text", chosen.text), ("--decimal", (chosen.decimal,))]
    return [word for option, given in named for name in given if name is not None for word in (option, name)]


def next_command(table: Path | None, results: Path, chosen: Choices, *further: str) -> str:
    """The command that merges results into the table, or goes on with them where there is none yet.

    It says about the columns what the user said.
    """
    if table is None:
        return f"{shlex.join(['likewise', 'suggest', str(results), *words(chosen)])} --space …"
    return shlex.join(["likewise", "tell", str(table), str(results), *words(chosen), *further])
