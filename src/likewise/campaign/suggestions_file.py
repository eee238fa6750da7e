"""The file of suggestions: the columns of the input and what is predicted, ready to be filled in and merged back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from likewise.campaign.listener import Listener
from likewise.campaign.merge import merge_results
from likewise.campaign.objects import to_cells
from likewise.campaign.problem import Problem
from likewise.campaign.roles import PREFIX
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.wording import because
from likewise.errors import LikewiseError
from likewise.spaces.base import Space
from likewise.study.suggestion import Suggestion
from likewise.tables.cells import Decimal, empty
from likewise.tables.dialect import Dialect
from likewise.tables.formatting import number_text
from likewise.tables.writing import dialect_for, write

PREDICTIONS = ("mean", "std", "low", "high", "chance")
DIGITS = 6


def count_unmerged(target: Path, table: Sheet | None) -> int | None:
    """How many results a file of suggestions holds that the table has not; None where it is no such file."""
    chosen = Choices(skip_bad=True)
    try:
        like = chosen if table is None else replace(table.of_results(chosen), std=None)
        told = sheet(target, like, Listener())
    except LikewiseError as error:
        # Suggestions of which none were left can be replaced; any other file is somebody's.
        return 0 if "no row below" in str(error) and PREFIX in str(error) else None
    # Rows that cannot be used may hold results all the same.
    cells = told.table.column(told.roles.value).to_list()
    odd = sum(not empty(cells[bad.place]) or bad.place in told.table.overlong for bad in told.skipped)
    if table is None:
        return odd + len(told.measured)
    merge = merge_results(table, told, "keep")
    return odd + merge.filled + merge.added + len(merge.conflicts)


def write_suggestions(problem: Problem, found: Sequence[Suggestion], target: Path, chosen: Choices) -> None:
    """Write the suggestions in the dialect of the input."""
    source = problem.sheet
    like = Dialect() if source is None else source.table.dialect
    dialect = dialect_for(target, like)
    own = _fresh(problem.study.space, found, chosen) if source is None else _rows(problem, source, found)
    write(_with_predictions(own, found, dialect, "." if source is None else source.decimal), target, dialect)


def _rows(problem: Problem, source: Sheet, found: Sequence[Suggestion]) -> polars.DataFrame:
    """The rows of the input that were suggested; objects that are not in it get rows of their own."""
    frame = source.table.frame.select([c for c in source.table.columns if not c.startswith(PREFIX)])
    space = problem.study.space
    places = [problem.place(s.object) for s in found]
    if all(place is not None for place in places):
        return _unmeasured(frame[[int(place) for place in places if place is not None]], places, source)
    cells = [to_cells(space, s.object, source.roles.objects, source.decimal) for s in found]
    columns: dict[str, list[Any]] = {name: [None] * len(found) for name in frame.columns}
    for number, name in enumerate(source.roles.objects):
        columns[name] = [row[number] for row in cells]
    schema = {name: frame.schema[name] if name == source.roles.value else polars.String() for name in columns}
    return polars.DataFrame(columns, schema=schema)


def _unmeasured(rows: polars.DataFrame, places: Sequence[int | None], source: Sheet) -> polars.DataFrame:
    """The rows with nothing filled in: what is to be measured again has a value already."""
    measured = set(source.measured)
    again = polars.Series([place in measured for place in places], dtype=polars.Boolean())
    filled = [name for name in (source.roles.value, source.roles.std) if name in rows.columns]
    return rows.with_columns(polars.when(again).then(None).otherwise(polars.col(name)).alias(name) for name in filled)


def _fresh(space: Space, found: Sequence[Suggestion], chosen: Choices) -> polars.DataFrame:
    """A table where there was none: a column for the object, or for each part of a record, and one for the value."""
    names = list(chosen.objects) or list(space.parts) or ["object"]
    cells = [to_cells(space, s.object, names) for s in found]
    columns: dict[str, list[Any]] = {name: [row[number] for row in cells] for number, name in enumerate(names)}
    columns[chosen.value or "value"] = [None] * len(found)
    return polars.DataFrame(columns, schema=dict.fromkeys(columns, polars.String()))


def _with_predictions(
    frame: polars.DataFrame, found: Sequence[Suggestion], dialect: Dialect, decimal: Decimal
) -> polars.DataFrame:
    extra: list[polars.Series] = []
    for name in PREDICTIONS:
        values = [getattr(s, name) for s in found]
        if dialect.kind != "csv":
            extra.append(polars.Series(f"{PREFIX}{name}", values, dtype=polars.Float64()))
        else:
            texts = [None if value is None else number_text(value, decimal, DIGITS) for value in values]
            extra.append(polars.Series(f"{PREFIX}{name}", texts, dtype=polars.String()))
    reasons = [because(s) or None for s in found]
    return frame.with_columns([*extra, polars.Series(f"{PREFIX}because", reasons, dtype=polars.String())])
