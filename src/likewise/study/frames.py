"""Trials as tables: data frames of pandas and polars, CSV, Parquet and JSON, written and read again."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likewise.errors import SpaceError, StorageError, StudyError, TableError, UsageError
from likewise.spaces.base import Space
from likewise.study.goals import Goals
from likewise.study.log import Ledger
from likewise.study.recording import Finding, read_notes, told
from likewise.study.trial import LIMITS, VALUE, Measurement, State, Trial
from likewise.tables.cells import Decimal, as_objects, empty, number, read_json
from likewise.tables.cleaning import sign_of
from likewise.tables.dialect import Dialect
from likewise.tables.reading import read
from likewise.tables.writing import write, write_bytes

if TYPE_CHECKING:
    import polars

# Trials as tables: CSV and Parquet with one column per field of a record, JSON with the objects as they are.
#
# What is written comes back exactly. In CSV, where everything is text, a column is read as JSON if every cell is JSON,
# and as plain text otherwise; texts that would be mistaken for JSON are written in quotes, as JSON. In Parquet, numbers
# and texts have their types, and what has no type of its own is JSON in a binary column.

AFTER = ("value", "std", "state", "error", "worker", "created", "updated")
# What was amended or withdrawn, where anything was.
CORRECTIONS = "corrections"
RESERVED = frozenset(("id", "object", *AFTER, CORRECTIONS))
PREFIX = "object."
# What the columns of a user's notes begin with.
NOTES = "notes."
# What the columns of an outcome's standard deviation and limit are called after it.
SPREAD, LIMIT, BLOCK = " std", " limit", " block"
SUFFIXES = (".csv", ".parquet", ".json")
# Whole numbers beyond this are not all doubles.
WHOLE = 2**53
# A cell without content, unlike None, which is JSON's null.
ABSENT: Any = ...


class TrialRow(NamedTuple):
    """A trial read from a table: the object as JSON text, and what is known about it.

    outcomes: each that is there, by name.
    """

    payload: str
    state: State
    error: str | None
    outcomes: Mapping[str, Measurement] = {}
    notes: Mapping[str, Any] = {}


def export(rows: Sequence[Trial], path: str | os.PathLike[str], outcomes: Sequence[str] = ()) -> None:
    """Write trials to a .csv, .parquet or .json file, in order of their ids; an existing file is replaced at once.

    Named `outcomes` have columns of their own, and one for their standard deviations where any is known. Those that
    rows have are always written. Notes have columns, too.
    """
    target = Path(path)
    suffix = _suffix(target)
    after = _after(rows, outcomes)
    records = [_record(row, after) for row in sorted(rows, key=lambda row: row.id)]
    try:
        if suffix == ".json":
            write_bytes(target, json.dumps(records, indent=1).encode())
        else:
            write(_frame(records, suffix, after), target, Dialect(kind="csv" if suffix == ".csv" else "parquet"))
    except TableError as error:
        raise StorageError(str(error)) from error


def columns_of(rows: Sequence[Trial], outcomes: Sequence[str] = (), *, text: bool = False) -> polars.DataFrame:
    """What `export` writes, as a frame; what has no type of its own is JSON, as text or as bytes."""
    import polars

    after = _after(rows, outcomes)
    records = [_record(row, after) for row in sorted(rows, key=lambda row: row.id)]
    frame = _frame(records, ".parquet", after)
    as_text = [column.cast(polars.String) for column in frame if text and column.dtype == polars.Binary()]
    return frame.with_columns(as_text)


def read_entries(
    path: str | os.PathLike[str],
    *,
    object: str | Sequence[str] | None = None,
    value: Any = "value",
    std: str = "std",
    outcomes: Mapping[str, str] | None = None,
) -> list[TrialRow]:
    """Every trial of a table, as `export` writes it or as a user does.

    `object` is the column that holds the objects, or the columns that are the fields of a record; left out, it is the
    column "object", or else every column that `export` does not use itself. A row without a value has not been told.
    `outcomes` are the columns of named outcomes, by name.
    """
    source = Path(path)
    measured = list((outcomes or {}).values()) or [value]
    spreads = [column + SPREAD for column in measured] if outcomes else [std]
    limits = [column + end for column in measured for end in (LIMIT, BLOCK)]
    columns, records = _read(source, (*measured, *spreads))
    given = [] if object is None else [object] if isinstance(object, str) else list(object)
    if records and (missing := [name for name in (*measured, *given) if name not in columns]):
        raise StudyError(f"{source} has no column {missing[0]!r}; its columns are {', '.join(map(repr, columns))}")
    if object is None and "object" in columns:
        object = "object"
    elif object is None:
        reserved = RESERVED | {*measured, *spreads, *limits}
        object = [name for name in columns if name not in reserved and not name.startswith(NOTES)]
    if records and not object:
        raise StudyError(f"{source} has no column for the objects; its columns are {', '.join(map(repr, columns))}")
    named = outcomes or {}
    return [
        _entry(f"{source}, data row {number}", record, object, value, std, named)
        for number, record in enumerate(records, 1)
    ]


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise StudyError(f"{path} ends in {path.suffix!r}; a table ends in {', '.join(SUFFIXES)}")
    return suffix


def _after(rows: Sequence[Trial], outcomes: Sequence[str]) -> tuple[str, ...]:
    """The columns after the object: those of the outcomes instead of one value, where they are named."""
    known = [{name: outcome.to_dict() for name, outcome in row.outcomes.items()} for row in rows]
    noted = tuple(dict.fromkeys(NOTES + name for row in rows for name in row.notes))
    noted = (*([CORRECTIONS] if any(row.corrections for row in rows) else ()), *noted)
    names = list(dict.fromkeys([*outcomes, *(name for outcome in known for name in outcome)]))
    if not outcomes and names in ([], [VALUE]):
        return (*AFTER[:2], *_more(known, [VALUE]), *AFTER[2:], *noted)
    outcomes = names
    stds = [name for name in outcomes if any("std" in outcome.get(name, {}) for outcome in known)]
    return (*outcomes, *(name + SPREAD for name in stds), *_more(known, outcomes), *AFTER[2:], *noted)


def _more(known: Sequence[Mapping[str, Any]], outcomes: Sequence[str]) -> list[str]:
    """The columns of limits and of blocks, where any is known."""
    fields = ((LIMIT, "limit"), (BLOCK, "block"))
    return [n + end for end, field in fields for n in outcomes if any(field in outcome.get(n, {}) for outcome in known)]


def _record(row: Trial, after: Sequence[str]) -> dict[str, Any]:
    outcomes = {name: outcome.to_dict() for name, outcome in row.outcomes.items()}
    values = {name: outcome["value"] for name, outcome in outcomes.items()}
    values |= {
        name + SPREAD if name != VALUE else "std": outcome["std"]
        for name, outcome in outcomes.items()
        if "std" in outcome
    }
    for end, field in ((LIMIT, "limit"), (BLOCK, "block")):
        values |= {name + end: outcome[field] for name, outcome in outcomes.items() if field in outcome}
    values[CORRECTIONS] = [correction.to_dict() for correction in row.corrections] or None
    values |= {NOTES + name: content for name, content in row.notes.items()}
    fields = {name: values[name] if name in values else getattr(row, name, None) for name in after}
    return {"id": row.id, "object": row.object, **fields}


def _frame(records: Sequence[Mapping[str, Any]], suffix: str, after: Sequence[str]) -> polars.DataFrame:
    import polars

    columns = _flat(records, after).items()
    if suffix == ".parquet":
        return polars.DataFrame([_column_of(name, cells) for name, cells in columns])
    return polars.DataFrame([polars.Series(name, _texts(cells), dtype=polars.String()) for name, cells in columns])


def _flat(records: Sequence[Mapping[str, Any]], after: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of cells, the fields of records among them as columns of their own."""
    objects = [record["object"] for record in records]
    if objects and all(isinstance(each, dict) and each and all(map(_names, each)) for each in objects):
        fields = dict.fromkeys(name for each in objects for name in each)
        middle = {_column(name, after): [each.get(name, ABSENT) for each in objects] for name in fields}
    else:
        middle = {"object": objects}
    last = {name: [_cell(record[name]) for record in records] for name in after}
    return {"id": [record["id"] for record in records], **middle, **last}


def _names(field: str) -> bool:
    """Whether a field can name a column in every kind of file."""
    return field.isprintable() and field.strip() == field != "" and '"' not in field


def _column(field: str, after: Sequence[str]) -> str:
    """The name of a field's column; those that would be mistaken for another get a prefix."""
    beside = {name + end for name in after for end in ("", SPREAD, LIMIT, BLOCK)}
    return PREFIX + field if field in RESERVED | beside or field.startswith((PREFIX, NOTES)) else field


def _cell(content: Any) -> Any:
    return ABSENT if content is None else content


def _texts(cells: Sequence[Any]) -> list[str | None]:
    """The column as CSV: plain texts if a reader will know them for that, otherwise JSON."""
    present = [cell for cell in cells if cell is not ABSENT]
    plain = all(isinstance(cell, str) and cell and _encodable(cell) for cell in present)
    as_json = not plain or all(_is_json(cell) for cell in present)
    return [None if cell is ABSENT else json.dumps(cell) if as_json else cell for cell in cells]


def _column_of(name: str, cells: Sequence[Any]) -> polars.Series:
    """The column as Parquet: booleans, numbers, texts or lists of them; otherwise JSON as bytes."""
    import polars

    present = [cell for cell in cells if cell is not ABSENT]
    lists = bool(present) and all(isinstance(cell, list) for cell in present)
    kind = _kind([item for cell in present for item in cell] if lists else present)
    if kind is None:
        json_cells = [None if cell is ABSENT else json.dumps(cell).encode() for cell in cells]
        return polars.Series(name, json_cells, dtype=polars.Binary())
    native = [None if cell is ABSENT else cell for cell in cells]
    return polars.Series(name, native, dtype=polars.List(kind) if lists else kind, strict=False)


def _kind(present: Sequence[Any]) -> polars.DataType | None:
    """The type that holds all these exactly, if there is one."""
    import polars

    kinds = {str if isinstance(value, str) else type(value) for value in present}
    if kinds == {bool}:
        return polars.Boolean()
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in present):
        return polars.Int64()
    if kinds <= {int, float} and all(abs(value) <= WHOLE for value in present if isinstance(value, int)):
        return polars.Float64()
    return polars.String() if kinds == {str} and all(map(_encodable, present)) else None


def _read(path: Path, measured: Sequence[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns' names, and the rows as dictionaries without empty cells."""
    try:
        if path.suffix.lower() == ".json":
            return _read_json(path)
        table = read(path, may_be_empty=True)
        if table.dialect.kind == "parquet":
            columns = {column.name: _native(column.to_list()) for column in table.frame}
        else:
            decimal = sign_of(table, [name for name in measured if name in table.columns]) or "."
            columns = {column.name: _parse(column.to_list(), decimal) for column in table.frame}
    except (TableError, UsageError) as error:
        raise StorageError(str(error)) from error
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be read: {error}") from error
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return list(columns), [_present(row) for row in rows]


def _read_json(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    rows = read_json(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("it is not a list of JSON objects, one per trial")
    columns = dict.fromkeys(name for row in rows for name in row)
    records = [{name: cell if name == "object" else _cell(cell) for name, cell in row.items()} for row in rows]
    return list(columns), [_present(row) for row in records]


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if cell is not ABSENT}


def _parse(cells: Sequence[str | None], decimal: Decimal) -> list[Any]:
    """Cells of CSV: JSON if all are, numbers if all are with a decimal comma that the table has, else texts."""
    present = [cell for cell in cells if cell is not None]
    if all(map(_is_json, present)):
        return [ABSENT if cell is None else read_json(cell) for cell in cells]
    numbers = [ABSENT if cell is None else number(cell, ",") for cell in cells] if decimal == "," else [None]
    return [ABSENT if cell is None else cell for cell in cells] if None in numbers else numbers


def _native(cells: Sequence[Any]) -> list[Any]:
    return [ABSENT if cell is None else read_json(cell) if isinstance(cell, bytes) else cell for cell in cells]


def _entry(
    where: str,
    record: Mapping[str, Any],
    object: str | Sequence[str],
    value: str,
    std: str,
    outcomes: Mapping[str, str],
) -> TrialRow:
    values = _outcomes(where, record, outcomes or {VALUE: value}, None if outcomes else std)
    state = _state(where, record.get("state"), next(iter(values.values())).value if values else None, bool(outcomes))
    if isinstance(object, str):
        content = record.get(object)
    else:
        content = {name.removeprefix(PREFIX): record[name] for name in object if name in record}
    try:
        payload = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{where}: the object {content!r} is not JSON: {error}") from error
    error_text = record.get("error")
    notes = {name.removeprefix(NOTES): cell for name, cell in record.items() if name.startswith(NOTES)}
    return TrialRow(payload, state, None if error_text is None else str(error_text), values, notes)


def _outcomes(
    where: str, record: Mapping[str, Any], outcomes: Mapping[str, str], std: str | None
) -> dict[str, Measurement]:
    """The outcomes of a row that are there; `std` is the column of the standard deviations, if it has its own name."""
    told = {}
    for name, column in outcomes.items():
        spread = std or column + SPREAD
        value = _number(where, column, record.get(column))
        known = _number(where, spread, record.get(spread))
        if value is not None:
            sides = limit_cell(where, record, column), block_cell(record, column)
            told[name] = Measurement(value, known, *sides)
    return told


def block_cell(record: Mapping[str, Any], column: str) -> str | None:
    """The block that a value was measured in, if it is known."""
    cell = record.get(column + BLOCK)
    return None if empty(cell) else str(cell)


def limit_cell(where: str, record: Mapping[str, Any], column: str) -> str | None:
    """On which side a value is only a limit, if it is one."""
    cell = record.get(column + LIMIT)
    if empty(cell):
        return None
    if cell not in LIMITS:
        raise StudyError(f"{where}: {column + LIMIT} is {cell!r}; write {' or '.join(LIMITS)}, or leave it empty")
    return str(cell)


def _number(where: str, column: str, cell: Any) -> float | None:
    if empty(cell):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise StudyError(f"{where}: {column} is {cell!r}; write a finite number, or leave it empty if there is none")
    return number


def _state(where: str, cell: Any, value: float | None, named: bool) -> State:
    try:
        state = State(cell) if cell is not None else State.ASKED if value is None else State.TOLD
    except ValueError:
        raise StudyError(f"{where}: state is {cell!r}; it is one of {', '.join(State)}") from None
    # A trial that was told some outcomes may have failed since.
    if (state is State.TOLD) is (value is None) and not (named and state is State.FAILED):
        raise StudyError(f"{where}: a trial that is {state.value} with value {value!r}; told trials alone have values")
    return state


def _is_json(text: str) -> bool:
    try:
        read_json(text, constants=False)
    except ValueError:
        return False
    return True


def _encodable(text: str) -> bool:
    """Whether a file of text can hold this text as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


# Trials and data frames: what was measured, one row for each, as people of pandas and polars hold it.

TIMES = ("created", "updated")


def to_frame(rows: Sequence[Trial], outcomes: Sequence[str] = ()) -> polars.DataFrame:
    """One row for each trial, in order of their ids; the fields of records have columns of their own."""
    import polars

    columns = columns_of(rows, outcomes, text=True)
    times = [name for name in TIMES if name in columns.columns]
    stamps = {name: [datetime.fromtimestamp(seconds, UTC) for seconds in columns[name].to_list()] for name in times}
    return columns.with_columns(
        polars.Series(name, moments, dtype=polars.Datetime("us", "UTC")) for name, moments in stamps.items()
    )


def frame_findings(frame: Any, space: Space, goals: Goals) -> list[Finding]:
    """The values and failures in a frame's rows; a row without either is passed over."""
    columns = [str(name) for name in frame.columns]
    values = _value_columns(columns, goals)
    measured = {name + end for name in values.values() for end in ("", SPREAD, LIMIT, BLOCK)}
    objects = _objects(frame, columns, measured, space)
    cells = {name: as_objects(frame[column]) for name, column in zip(columns, frame.columns, strict=True)}
    rows = [{name: cells[name][i] for name in columns} for i in range(len(objects))]
    findings = [
        _finding_of_row(f"row {i} of the frame", x, rows[i], values, space, goals) for i, x in enumerate(objects)
    ]
    return [finding for finding in findings if finding is not None]


def _value_columns(columns: Sequence[str], goals: Goals) -> dict[str, str]:
    """The column of each outcome that the frame has."""
    names = goals.named_outcomes if goals.named else ("value",)
    columns_by_name = {name: name for name in names if name in columns}
    if not columns_by_name and goals.named and len(names) == 1 and "value" in columns:
        columns_by_name = {names[0]: "value"}
    if not columns_by_name:
        raise StudyError(
            f"the frame has no column {' or '.join(map(repr, names))} with values; its columns are "
            f"{', '.join(map(repr, columns))}"
        )
    return columns_by_name


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


def _finding_of_row(
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
        measurements = {name: _measurement(where, row, columns[name], goals) for name in values}
        finding = told(goals, fitted, measurements if goals.named else measurements["value"])
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error
    # Of named outcomes some may have been told before it failed.
    return replace(finding, state=State.FAILED, error=reason, notes=noted) if failed else replace(finding, notes=noted)


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


# What a table has that a study does not: told and failed trials, each once.

SETTLED = (State.TOLD, State.FAILED)


def new_findings(path: str, entries: Sequence[TrialRow], space: Space, ledger: Ledger, goals: Goals) -> list[Finding]:
    """The told and failed trials of a table beyond those that are known: of three equal ones, two known, the third."""
    counts = Counter(_identity(space, t.object, result) for t in ledger.trials for result in _results(t))
    findings = []
    for row, entry in enumerate(entries, 1):
        if entry.state in SETTLED:
            finding = _finding_of_trial(space, entry, f"{path}, data row {row}", goals)
            identity = _identity(space, finding.what, finding)
            if counts[identity] > 0:
                counts[identity] -= 1
            else:
                findings.append(finding)
    return findings


def _results(trial: Trial) -> Iterator[Trial | Finding]:
    """What a trial says, and what it said before it was corrected: an older table has that."""
    if trial.state in SETTLED:
        yield trial
    for before in trial.corrections:
        yield Finding(trial, State.FAILED if before.error else State.TOLD, before.outcomes)


def _identity(space: Space, x: Any, result: Trial | Finding) -> tuple[Any, ...]:
    outcomes = tuple(
        sorted(
            (name, outcome.value, outcome.std or 0.0, outcome.limit or "", outcome.block or "")
            for name, outcome in result.outcomes.items()
        )
    )
    return space.key(x), result.state, outcomes


def _finding_of_trial(space: Space, entry: TrialRow, where: str, goals: Goals) -> Finding:
    try:
        x = space.fit(space.from_json(json.loads(entry.payload)))
    except SpaceError as error:
        raise SpaceError(f"{where}: {error}") from error
    except Exception as error:
        raise SpaceError(f"{where}: {entry.payload} is not an object of {space!r}: {error}") from error
    if entry.state is State.TOLD:
        try:
            value = entry.outcomes if goals.named else entry.outcomes[VALUE]
            return replace(told(goals, x, value), notes=read_notes(entry.notes))
        except StudyError as error:
            raise StudyError(f"{where}: {error}") from error
    # What was told before it failed.
    outcomes = told(goals, x, entry.outcomes).outcomes if entry.outcomes else {}
    return Finding(x, entry.state, outcomes, entry.error, notes=read_notes(entry.notes))
