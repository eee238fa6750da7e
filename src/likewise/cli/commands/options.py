"""Options that commands share, in groups. An option that is not given is None: then the settings file may say it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, cast

import typer

from likewise.campaign.sheet import Choices
from likewise.campaign.similarities import Request
from likewise.cli.batches import Batch
from likewise.errors import UsageError
from likewise.study.methods.bounded import Bounds
from likewise.tables.cells import Decimal

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV, TSV or Parquet, gzipped or not, with an object in each row. Default: that of likewise.toml.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed and file give the same answer.")]


@dataclass(frozen=True)
class Columns:
    """What the user says about the columns of a table."""

    object: Annotated[
        list[str] | None,
        typer.Option("--object", "-o", help="Column of the objects; once for each column if they are records."),
    ] = None
    value: Annotated[list[str] | None, typer.Option("--value", "-v", help="Column of the measured values.")] = None
    std: Annotated[str | None, typer.Option("--std", help="Column of the measurements' standard deviations.")] = None
    text: Annotated[list[str] | None, typer.Option("--text", help="Column of numbers to compare as text.")] = None
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="Decimal sign, '.' or ','; detected if not given.")
    ] = None
    skip_bad: Annotated[
        bool | None, typer.Option("--skip-bad", help="Leave out rows that cannot be used, and say which.")
    ] = None

    @property
    def choices(self) -> Choices:
        """The same for a table."""
        if self.decimal not in (None, ".", ","):
            raise UsageError(f"--decimal is '.' or ',', not {self.decimal!r}.")
        decimal = cast("Decimal | None", self.decimal)
        return Choices(
            tuple(self.object or ()),
            self._one_value(),
            self.std,
            tuple(self.text or ()),
            decimal,
            bool(self.skip_bad),
        )

    def _one_value(self) -> str | None:
        """The column of the values; more than one is refused, so that none of them is dropped unsaid."""
        several = list(dict.fromkeys(self.value or ()))
        if len(several) > 1:
            names = " and ".join(f"--value {shlex.quote(name)}" for name in several)
            raise UsageError(f"{names} are two objectives, and one column is optimised at a time; give one --value.")
        return several[0] if several else None


@dataclass(frozen=True)
class Model:
    """How objects are compared."""

    similarity: Annotated[
        list[str] | None,
        typer.Option("--similarity", "-s", help="NAME[,NAME…] or COLUMN=NAME[,…]; see `likewise similarities`."),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed and file give the same answer. Default: 0.")
    ] = None

    def request(self, columns: Columns) -> Request:
        """What is asked for, of a table with these columns."""
        return Request(tuple(self.similarity or ()), seed=self.seed or 0, skip_bad=bool(columns.skip_bad))


@dataclass(frozen=True)
class Aim(Model):
    """How objects are compared, and which are the best."""

    minimize: Annotated[
        bool | None,
        typer.Option("--minimize/--maximize", help="Look for the smallest value, or the largest (default)."),
    ] = None
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="Between which values lie: 0,100 (or 0, without an end).")
    ] = None

    def request(self, columns: Columns) -> Request:
        """What is asked for, of a table with these columns."""
        given = replace(super().request(columns), bounds=parse_bounds(self.bounds))
        return replace(given, direction="minimize" if self.minimize else "maximize")


@dataclass(frozen=True)
class Plate:
    """What the suggestions of a batch must keep to together, and where each is put."""

    same: Annotated[
        list[str] | None, typer.Option("--same", help="Column that has one value in the batch, or in each group.")
    ] = None
    groups: Annotated[int | None, typer.Option("--groups", min=1, help="Groups that share --same. Default: 1.")] = None
    at_most: Annotated[
        list[str] | None, typer.Option("--at-most", help="So many different values in the batch: 3:ligand.")
    ] = None
    fix: Annotated[list[str] | None, typer.Option("--fix", help="A column with one value: base=KOAc.")] = None
    where: Annotated[
        str | None, typer.Option("--where", help="What may be suggested: \"cost < 20 and solvent != 'DMF'\".")
    ] = None
    plate: Annotated[
        Path | None, typer.Option("--plate", help="Write a plate map: each run in a well, in random order.")
    ] = None
    wells: Annotated[int | None, typer.Option("--wells", help="Wells of a plate. Default: 96.")] = None
    controls: Annotated[int | None, typer.Option("--controls", min=0, help="Controls on each plate. Default: 0.")] = (
        None
    )
    replicates: Annotated[
        int | None, typer.Option("--replicates", min=1, help="Wells of each run on the plate map. Default: 1.")
    ] = None

    @property
    def batch(self) -> Batch:
        """What the suggestions must keep to."""
        parts = (tuple(self.same or ()), self.groups or 1, tuple(self.at_most or ()), tuple(self.fix or ()))
        return Batch(*parts, self.where)


def parse_bounds(text: str | None) -> Bounds | None:
    """The lower and the upper bound of the values.

    >>> parse_bounds("0,100"), parse_bounds("0,")
    ((0.0, 100.0), (0.0, None))
    """
    if text is None:
        return None
    try:
        low, high = (float(part) if part.strip() else None for part in text.split(","))
    except ValueError:
        raise UsageError(f"--bounds is two numbers with a comma between them, as in 0,100, not {text!r}.") from None
    return low, high
