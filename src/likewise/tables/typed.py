"""Cells of one table in the columns of another: as its type holds them, in a wider type where they do not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal as Exact
from typing import Any
from zoneinfo import ZoneInfo

import polars

from likewise.tables.cells import Decimal, number, read_json

WHOLE = re.compile(r"[+\-]?\d+")
SINGLE = 1e-6


def parse_as(text: str, kind: polars.DataType, decimal: Decimal) -> Any:
    """What a text means in a column of this type; a ValueError that says why where it means nothing."""
    text = text.strip()
    if kind.is_numeric():
        return _parse_number(text, kind, decimal)
    if kind == polars.Boolean:
        if text.lower() not in ("true", "false"):
            raise ValueError("it is neither true nor false")
        return text.lower() == "true"
    if isinstance(kind, polars.Date | polars.Datetime | polars.Time):
        return _parse_moment(text, kind)
    if kind.is_nested():
        try:
            return read_json(text)
        except ValueError as error:
            raise ValueError(f"it is not JSON ({error})") from None
    return text


def _parse_number(text: str, kind: polars.DataType, decimal: Decimal) -> Any:
    value = number(text, decimal)
    if value is None or not math.isfinite(value):
        raise ValueError("it is not a number")
    if kind.is_decimal():
        return Exact(repr(value))
    if WHOLE.fullmatch(text):
        return int(text)
    return int(value) if kind.is_integer() and value.is_integer() else value


def _parse_moment(text: str, kind: polars.DataType) -> Any:
    read = date if kind == polars.Date else time if kind == polars.Time else datetime
    try:
        moment: Any = read.fromisoformat(text)
    except ValueError:
        raise ValueError("it is no date or time such as 2026-01-31 or 2026-01-31 14:30") from None
    zone = getattr(kind, "time_zone", None)
    return moment.replace(tzinfo=ZoneInfo(zone)) if zone and moment.tzinfo is None else moment


def with_cells(column: polars.Series, changed: Mapping[int, Any], below: Sequence[Any]) -> polars.Series:
    """The column with some cells changed and others below it; a ValueError where no type holds the old and the new."""
    new = [*changed.values(), *below]
    if not new:
        return column
    for kind in _wider(column.dtype, new):
        old, cells = _cast(column, kind), _series(new, kind)
        if old is None or cells is None:
            continue
        places = list(range(len(column)))
        for further, place in enumerate(changed, len(column)):
            places[place] = further
        places += range(len(column) + len(changed), len(column) + len(new))
        return polars.concat([old, cells.rename(column.name)]).gather(places)
    raise ValueError(f"it does not fit the type of the column, {column.dtype}")


def _wider(kind: polars.DataType, new: Sequence[Any]) -> Iterator[polars.DataType]:
    """The type itself, then those that hold whatever it holds."""
    if kind == polars.Null:
        yield from (polars.Int64(), polars.Float64(), polars.String(), polars.Series(new, strict=False).dtype)
        return
    yield kind
    if kind.is_integer():
        yield from (polars.Int64(), polars.UInt64(), polars.Float64())
    elif kind == polars.Float32:
        yield polars.Float64()
    elif isinstance(kind, polars.Decimal):
        scale = max((-int(cell.as_tuple().exponent) for cell in new if isinstance(cell, Exact)), default=0)
        yield polars.Decimal(38, max(scale, kind.scale))
    elif isinstance(kind, polars.Enum | polars.Categorical):
        yield polars.String()


def _cast(column: polars.Series, kind: polars.DataType) -> polars.Series | None:
    """The column in another type, if it is the same there."""
    if kind == column.dtype:
        return column
    try:
        wide = column.cast(kind, strict=True)
        return wide if column.dtype == polars.Null or wide.cast(column.dtype).equals(column) else None
    except polars.exceptions.PolarsError:
        return None


def _series(cells: Sequence[Any], kind: polars.DataType) -> polars.Series | None:
    """The cells as a column of this type, if it holds them as they are."""
    try:
        series = polars.Series(cells, dtype=kind, strict=True)
    except (TypeError, ValueError, OverflowError, polars.exceptions.PolarsError):
        return None
    near = SINGLE if kind == polars.Float32 else 0.0
    return series if all(_is_same(a, b, near) for a, b in zip(cells, series.to_list(), strict=True)) else None


def _is_same(value: Any, held: Any, near: float) -> bool:
    if isinstance(value, float) and isinstance(held, float):
        return math.isclose(value, held, rel_tol=near) or (math.isnan(value) and math.isnan(held))
    return bool(value == held) and isinstance(value, str) == isinstance(held, str)
