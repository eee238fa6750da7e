"""Options that commands share, in groups. An option that is not given is None: then the settings file may say it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from likewise.errors import UsageError

if TYPE_CHECKING:
    # What computes loads where it is used, so that the list of a command's options is there at once.
    from likewise.campaign.columns import Aims
    from likewise.campaign.names import Request
    from likewise.campaign.sheet import Choices
    from likewise.cli.batches import Batch
    from likewise.study.goals import Bounds
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
class ColumnOptions:
    """What the user says about the columns of a table."""

    object: Annotated[
        list[str] | None,
        typer.Option("--object", "-o", help="Column of the objects; once for each column if they are records."),
    ] = None
    value: Annotated[
        list[str] | None,
        typer.Option("--value", "-v", help="Column of the measured values; several: yield:max, and again cost:min."),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option("--require", help='Column of measured values that has to keep a limit: "impurity<2", "pH 6..8".'),
    ] = None
    std: Annotated[
        list[str] | None,
        typer.Option("--std", help="Column of the measurements' standard deviations; of several: yield=sd, and again."),
    ] = None
    block: Annotated[
        str | None, typer.Option("--block", help="Column of a day, plate or person that may shift the values.")
    ] = None
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
        value, *further = self.aims().columns or (None,)
        from likewise.campaign.sheet import Choices

        return Choices(
            tuple(self.object or ()),
            value,
            tuple(self.std or ()),
            tuple(self.text or ()),
            decimal,
            bool(self.skip_bad),
            others=tuple(name for name in further if name is not None),
            block=self.block,
            optimised=tuple(self.aims().objectives),
        )

    def aims(self, minimize: bool | None = None) -> Aims:
        """What is wanted of the columns of values."""
        from likewise.campaign.columns import read_aims

        aims = read_aims(self.value or (), self.require or (), minimize=minimize)
        if aims.limits and not aims.objectives:
            raise UsageError("--require needs a column to optimise beside it; give --value yield:max, say.")
        return aims


@dataclass(frozen=True)
class ModelOptions:
    """How objects are compared."""

    similarity: Annotated[
        list[str] | None,
        typer.Option("--similarity", "-s", help="NAME[,NAME…] or COLUMN=NAME[,…]; see `likewise similarities`."),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed and file give the same answer. Default: 0.")
    ] = None

    def request(self, columns: ColumnOptions) -> Request:
        """What is asked for, of a table with these columns."""
        from likewise.campaign.names import Request

        return Request(tuple(self.similarity or ()), seed=self.seed or 0, skip_bad=bool(columns.skip_bad))


@dataclass(frozen=True)
class Aim(ModelOptions):
    """How objects are compared, and which are the best."""

    minimize: Annotated[
        bool | None,
        typer.Option("--minimize/--maximize", help="Look for the smallest value, or the largest (default)."),
    ] = None
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", help="Between which values lie: 0,100 (or 0, without an end); yield=0,100 of several."
        ),
    ] = None

    def request(self, columns: ColumnOptions) -> Request:
        """What is asked for, of a table with these columns."""
        aims = columns.aims(self.minimize)
        directions = [*aims.objectives.values()] or ["minimize" if self.minimize else "maximize"]
        request = replace(super().request(columns), direction=directions[0])
        if not aims.several:
            return replace(request, bounds=parse_bounds(_own_bounds(self.bounds, aims)))
        return replace(request, aims=aims, bounds=parse_named_bounds(self.bounds))


@dataclass(frozen=True)
class Together:
    """What the suggestions of a batch must keep to together."""

    same: Annotated[
        list[str] | None, typer.Option("--same", help="Column that has one value in the batch, or in each group.")
    ] = None
    groups: Annotated[int | None, typer.Option("--groups", min=1, help="Groups that share --same. Default: 1.")] = None
    at_most: Annotated[
        list[str] | None, typer.Option("--at-most", help="So many different values in the batch: 3:ligand.")
    ] = None
    fix: Annotated[list[str] | None, typer.Option("--fix", help="A column with one value: base=KOAc.")] = None
    cost: Annotated[
        str | None, typer.Option("--cost", help="Column of what a run costs: chosen is the most gain for its cost.")
    ] = None
    budget: Annotated[float | None, typer.Option("--budget", help="What the batch may cost together.")] = None
    where: Annotated[
        str | None, typer.Option("--where", help="What may be suggested: \"cost < 20 and solvent != 'DMF'\".")
    ] = None

    @property
    def batch(self) -> Batch:
        """What the suggestions must keep to."""
        parts = (tuple(self.same or ()), self.groups or 1, tuple(self.at_most or ()), tuple(self.fix or ()))
        from likewise.cli.batches import Batch

        return Batch(*parts, self.where, self.cost, self.budget)


@dataclass(frozen=True)
class PlateOptions(Together):
    """What the suggestions of a batch must keep to together, and where each is put."""

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


def _own_bounds(text: str | None, aims: Aims) -> str | None:
    """The bounds of the one column, which may be named: yield=0,100."""
    name = next(iter(aims.columns), None)
    return text if text is None or name is None else text.strip().removeprefix(f"{name}=")


def parse_named_bounds(text: str | None) -> dict[str, Bounds] | None:
    """The bounds of several columns by name.

    >>> parse_named_bounds("yield=0,100; cost=0,")
    {'yield': (0.0, 100.0), 'cost': (0.0, None)}
    """
    if text is None:
        return None
    by_name: dict[str, Bounds] = {}
    for part in text.split(";"):
        name, sign, ends = part.rpartition("=")
        bounds = parse_bounds(ends) if sign else None
        if bounds is None:
            raise UsageError(f"--bounds {text!r}: there are several columns of values; say whose, as in yield=0,100.")
        by_name[name.strip()] = bounds
    return by_name


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
