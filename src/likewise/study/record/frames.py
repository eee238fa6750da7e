"""Trials and data frames: what was measured, one row for each, as people of pandas and polars hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from likewise.errors import SpaceError, StudyError
from likewise.spaces.base import Space
from likewise.study.goals import Goals
from likewise.study.measurement import Measurement
from likewise.study.record.findings import Finding, read_notes, told
from likewise.study.record.trial_tables import BLOCK, LIMIT, NOTES, PREFIX, RESERVED, SPREAD, columns_of, limit_cell
from likewise.study.trial import State, Trial
from likewise.tables.cells import empty
from likewise.tables.frames import as_objects
from likewise.tables.nesting import read_json

if TYPE_CHECKING:
    import polars

TIMES = ("created", "updated")


def to_frame(rows: Sequence[Trial], outcomes: Sequence[str] = ()) -> polars.DataFrame:
    """One row for each trial, in order of their ids; the fields of records have columns of their own."""
    import polars

    found = columns_of(rows, outcomes, text=True)
    times = [name for name in TIMES if name in found.columns]
    stamps = {name: [datetime.fromtimestamp(seconds, UTC) for seconds in found[name].to_list()] for name in times}
    return found.with_columns(
        polars.Series(name, moments, dtype=polars.Datetime("us", "UTC")) for name, moments in stamps.items()
    )


def frame_findings(frame: Any, space: Space, goals: Goals) -> list[Finding]:
    """The values and failures in a frame's rows; a row without either is passed over."""
    columns = [str(name) for name in frame.columns]
    values = _value_columns(columns, goals)
    measured = {name + end for name in values.values() for end in ("", SPREAD, LIMIT, BLOCK)}
    objects = _objects(frame, columns, measured, space)
    cells = {name: as_objects(frame[own]) for name, own in zip(columns, frame.columns, strict=True)}
    rows = [{name: cells[name][i] for name in columns} for i in range(len(objects))]
    found = [_finding(f"row {i} of the frame", x, rows[i], values, space, goals) for i, x in enumerate(objects)]
    return [finding for finding in found if finding is not None]


def _value_columns(columns: Sequence[str], goals: Goals) -> dict[str, str]:
    """The column of each outcome that the frame has."""
    names = goals.named_outcomes if goals.named else ("value",)
    found = {name: name for name in names if name in columns}
    if not found and goals.named and len(names) == 1 and "value" in columns:
        found = {names[0]: "value"}
    if not found:
        raise StudyError(
            f"the frame has no column {' or '.join(map(repr, names))} with values; its columns are "
            f"{', '.join(map(repr, columns))}"
        )
    return found


def _objects(frame: Any, columns: Sequence[str], measured: set[str], space: Space) -> list[Any]:
    """What was measured: the column "object", or those of a record's fields."""
    if "object" in columns:
        return as_objects(frame["object"])
    fields = [name for name in columns if name not in RESERVED | measured and not name.startswith(NOTES)]
    if not fields:
        raise StudyError(f"the frame has no column for the objects; its columns are {', '.join(map(repr, columns))}")
    cells = [as_objects(frame[name]) for name in frame.columns if str(name) in fields]
    if len(fields) == 1 and not _of_records(space):
        return cells[0]
    plain = [name.removeprefix(PREFIX) for name in fields]
    return [
        {name: cell for name, cell in zip(plain, row, strict=True) if not _missing(cell)}
        for row in zip(*cells, strict=True)
    ]


def _of_records(space: Space) -> bool:
    """Whether the space's objects are mappings, as one column of a frame does not say."""
    import numpy as np

    return isinstance(space.sample(1, np.random.default_rng(0))[0], Mapping)


def _missing(cell: Any) -> bool:
    """Whether a cell is empty: pandas has a number for it that is not equal to itself."""
    return cell is None or (isinstance(cell, float) and cell != cell) or (isinstance(cell, str) and empty(cell))


def _finding(
    where: str, x: Any, row: Mapping[str, Any], columns: Mapping[str, str], space: Space, goals: Goals
) -> Finding | None:
    failed = row.get("state") == State.FAILED
    values = {name: row[column] for name, column in columns.items() if not _missing(row[column])}
    if not failed and not values:
        return None
    notes = {name.removeprefix(NOTES): cell for name, cell in row.items() if name.startswith(NOTES)}
    noted = read_notes({name: cell for name, cell in notes.items() if not _missing(cell)})
    fitted = _fit(where, x, space)
    reason = "failed" if _missing(row.get("error")) else str(row.get("error"))
    if failed and not (values and goals.named):
        return Finding(fitted, State.FAILED, error=reason, notes=noted)
    try:
        given = {name: _measurement(where, row, columns[name], goals) for name in values}
        found = told(goals, fitted, given if goals.named else given["value"])
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error
    # Of named outcomes some may have been told before it failed.
    return replace(found, state=State.FAILED, error=reason, notes=noted) if failed else replace(found, notes=noted)


def _measurement(where: str, row: Mapping[str, Any], column: str, goals: Goals) -> Measurement:
    """A value with the standard deviation, the limit and the block beside it, if they are there."""
    std, limit = row.get(column + SPREAD if goals.named and column != "value" else "std"), row.get(column + LIMIT)
    side = None if _missing(limit) else limit_cell(where, row, column)
    block = row.get(column + BLOCK)
    return Measurement(row[column], None if _missing(std) else std, side, None if _missing(block) else str(block))


def _fit(where: str, x: Any, space: Space) -> Any:
    """A cell's object in the space: as JSON has it, if it is JSON, and otherwise as a user writes it."""
    unread: Exception | None = None
    content = x
    try:
        json.dumps(x, allow_nan=False)
    except (TypeError, ValueError):
        pass
    else:
        try:
            content = space.from_json(x)
        except Exception as error:
            unread = error
    try:
        fitted = space.fit(content)
        if unread is not None:
            # Whatever kept it from being read: what cannot be stored and read again is no object of the space.
            space.from_json(space.to_json(fitted))
    except Exception as error:
        nested = _nested(x, space)
        if nested != x:
            return _fit(where, nested, space)
        if isinstance(error, SpaceError):
            raise SpaceError(f"{where}: {error}") from (unread or error)
        raise SpaceError(
            f"{where}: {x!r} cannot be stored and read again by {type(space).__name__}: {type(error).__name__} "
            f"{error}; check its to_json and from_json"
        ) from error
    return fitted


def _nested(x: Any, space: Space) -> Any:
    """The object with what is JSON text, as `to_frame` writes lists and mappings, read; texts of a field stay texts."""
    if not isinstance(x, Mapping):
        return _parsed(x)
    parts = space.parts
    return {name: cell if name in parts and cell in parts[name] else _parsed(cell) for name, cell in x.items()}


def _parsed(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(("{", "[")):
        return cell
    try:
        return read_json(cell)
    except ValueError:
        return cell
