"""The file of suggestions: the columns of the input and what is predicted, ready to be filled in and merged back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from likewise.campaign.display.numbers import rounded
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.listener import Listener
from likewise.campaign.objects import to_cells
from likewise.campaign.roles import PREFIX
from likewise.campaign.runs.columns import RunColumns, run_name
from likewise.campaign.runs.merge import merge_results
from likewise.campaign.runs.merged import Base
from likewise.campaign.runs.results import as_results, unusable
from likewise.campaign.runs.rounds import Round
from likewise.campaign.sheets.reading import sheet
from likewise.campaign.sheets.sheet import Choices, Sheet
from likewise.campaign.states import Kind
from likewise.errors import LikewiseError
from likewise.spaces.base import Space
from likewise.study.suggestion import Suggestion
from likewise.tables.cells import Decimal
from likewise.tables.dialect import Dialect
from likewise.tables.formatting import number_text
from likewise.tables.reading import read
from likewise.tables.writing import dialect_for, write

PREDICTIONS = ("mean", "std", "low", "high", "chance")
CHANCES = ("chance", "feasible")
DIGITS, CHANCE_DIGITS = 6, 3
# What is said of a suggestion, by the name of its column.
Said = Mapping[str, Any]


def is_suggestions_file(target: Path) -> bool:
    """Whether likewise has written a file, by its columns."""
    try:
        columns = read(target, skip_ragged=True, may_be_empty=True).columns
    except LikewiseError:
        return False
    return any(name.startswith(PREFIX) for name in columns)


@dataclass(frozen=True)
class Unmerged:
    """What a file of suggestions says that the table does not: rows, contradictions, and rows that cannot be used."""

    rows: int = 0
    conflicts: int = 0
    bad: tuple[int, ...] = ()


def find_unmerged(target: Path, table: Sheet | None, base: Base | None = None) -> Unmerged | None:
    """What a file of suggestions says that the table does not; None where it is no such file."""
    if not is_suggestions_file(target):
        return None
    chosen = Choices(skip_bad=True)
    try:
        told = sheet(
            target, chosen if table is None else as_results(table, target, chosen), Listener(), may_be_empty=True
        )
        bad = unusable(told)
        if table is None:
            return Unmerged(len(told.measured), bad=bad)
        merge = merge_results(table, told, "keep", base)
        return Unmerged(merge.changes - len(merge.conflicts), len(merge.conflicts), bad)
    except LikewiseError:
        # Whatever is in the way of reading it, a person wrote it.
        return Unmerged(1)


def write_suggestions(target: Path, source: Sheet, round: Round, said: Sequence[Said]) -> None:
    """Write the runs that are out and the new ones, in the dialect of the table; `said` is in the same order."""
    dialect = dialect_for(target, source.table.dialect)
    # The columns in the order of the table, so that rows can be pasted below it.
    names = [c for c in round.frame.columns if c in source.own or not c.startswith(PREFIX)]
    frame = round.frame.select(names)[[*round.before, *round.places]]
    write(_with_predictions(frame, said, dialect, source.decimal), target, dialect)


def write_first_table(target: Path, space: Space, found: Sequence[Suggestion], chosen: Choices) -> list[str]:
    """A table where there was none, which is the table from then on; the names of its runs."""
    own, dialect = RunColumns(), dialect_for(target, Dialect())
    runs = [run_name(1, rank, space.key(s.object)) for rank, s in enumerate(found, 1)]
    names = list(chosen.objects) or list(space.parts) or ["object"]
    cells = [to_cells(space, s.object, names) for s in found]
    columns: dict[str, list[Any]] = {name: [row[number] for row in cells] for number, name in enumerate(names)}
    columns |= {name: [None] * len(found) for name in chosen.measured}
    kept = dict(zip(own, (runs, [Kind.SUGGESTED.value] * len(found), ["1"] * len(found)), strict=True))
    frame = polars.DataFrame({**columns, **kept}, schema=dict.fromkeys((*columns, *kept), polars.String()))
    write(_with_predictions(frame, [said_of(s) for s in found], dialect, "."), target, dialect)
    return runs


def said_of(suggestion: Suggestion, reasons: Reasons | None = None) -> dict[str, Any]:
    """What the model said of a suggestion, by the name of its column."""
    because = None if reasons is None else reasons.text(suggestion) or None
    numbers = {name: getattr(suggestion, name) for name in PREDICTIONS}
    outcomes = {name: vars(expected) for name, expected in suggestion.outcomes.items()}
    return {**numbers, "outcomes": outcomes, "feasible": suggestion.chance_feasible, "because": because}


def _flat(said: Said) -> tuple[dict[str, Any], dict[str, float | None]]:
    """What was said, a column for each number, and the uncertainty of each; of several outcomes each has its own."""
    outcomes = said.get("outcomes") or {}
    if not outcomes:
        return {name: said.get(name) for name in PREDICTIONS}, dict.fromkeys(PREDICTIONS, said.get("std"))
    ends = ("mean", "std", "low", "high")
    found = {f"{name} {end}": each.get(end) for name, each in outcomes.items() for end in ends}
    stds = {f"{name} {end}": each.get("std") for name, each in outcomes.items() for end in ends}
    chances = {"chance": said.get("chance")} | (
        {"feasible": said["feasible"]} if said.get("feasible") is not None else {}
    )
    return {**found, **chances}, stds


def _with_predictions(
    frame: polars.DataFrame, said: Sequence[Said], dialect: Dialect, decimal: Decimal
) -> polars.DataFrame:
    extra: list[polars.Series] = []
    flat = [_flat(each) for each in said]
    named = dict.fromkeys(name for each, _ in flat for name in each)
    columns = [n for n in named if n not in CHANCES] + [n for n in named if n in CHANCES]
    if any(each.get("outcomes") for each in said):
        # Runs of a first round have no predictions, and need no columns for them.
        columns = [name for name in columns if name not in PREDICTIONS or name in CHANCES]
    for name in columns:
        values = [each.get(name) for each, _ in flat]
        if dialect.kind != "csv":
            extra.append(polars.Series(f"{PREFIX}{name}", values, dtype=polars.Float64()))
        else:
            texts = [_text(name, value, stds.get(name), decimal) for value, (_, stds) in zip(values, flat, strict=True)]
            extra.append(polars.Series(f"{PREFIX}{name}", texts, dtype=polars.String()))
    reasons = [each.get("because") for each in said]
    return frame.with_columns([*extra, polars.Series(f"{PREFIX}because", reasons, dtype=polars.String())])


def _text(name: str, value: float | None, std: float | None, decimal: Decimal) -> str | None:
    """A number of a prediction as a cell, with the digits that its uncertainty leaves it."""
    if value is None:
        return None
    if name in CHANCES or not std:
        return number_text(value, decimal, CHANCE_DIGITS if name in CHANCES else DIGITS)
    return rounded(value, std).replace(".", decimal)
