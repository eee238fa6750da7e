"""Pools out of CSV files (plain or gzipped)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from benchmarks.tasks.base import Vector
from benchmarks.tasks.pool import KINDS, Part, Pool

# Kinds whose objects are one column.
ALONE = ("molecules", "string", "series")
ROW = "row of the file"


@dataclass(frozen=True)
class Table:
    """Which columns of which file make the objects and the value; `log` names columns to take the logarithm of."""

    path: Path
    objects: tuple[str, ...]
    value: str
    kind: str
    minimize: bool = False
    log: tuple[str, ...] = ()
    rows: int | None = None

    @property
    def sign(self) -> float:
        return -1.0 if self.minimize else 1.0


def pool(name: str, table: Table, initial: int = 10, budget: int = 90) -> Pool:
    """The pool of a table: rows without a value are left out, rows of the same object become their mean."""
    _check(table)
    frame, note = _read(table)
    parts = tuple(_part(table, column, frame[column].to_list()) for column in table.objects)
    values = frame[table.value].to_numpy()
    if table.value in table.log:
        values = _logarithms(table.value, values)
    return Pool(name, table.kind, parts, values, table.sign, initial, budget, note)


def check_molecules(pool: Pool) -> None:
    """Stop at a text that is no molecule in a column of molecules."""
    for part in pool.parts:
        if part.kind == "molecule" and (wrong := _not_molecules(part.values)):
            raise SystemExit(
                f"column {part.name!r} holds {wrong[0]!r}, which RDKit does not read as a molecule ({len(wrong)} such "
                "texts); correct or remove these rows, or take --kind string"
            )


def _check(table: Table) -> None:
    if table.kind not in KINDS:
        raise SystemExit(f"no kind is called {table.kind!r}; choose from {', '.join(KINDS)}")
    if table.kind in ALONE and len(table.objects) > 1:
        raise SystemExit(
            f"--kind {table.kind} takes one --object column, not {len(table.objects)} ({', '.join(table.objects)}); "
            "take --kind reaction for molecules with other parts, --kind mixed for other parts"
        )
    if not table.path.is_file():
        raise SystemExit(f"there is no file {table.path}; correct --csv, or say with --data where the data sets are")


def _read(table: Table) -> tuple[pl.DataFrame, str]:
    """The rows that have a value, one for each object, and in words how many were left out."""
    # Codes such as 00012 are objects, not numbers: everything is read as text, then the value alone becomes one.
    frame = pl.read_csv(table.path, infer_schema=False, n_rows=table.rows)
    if missing := {*table.objects, table.value} - set(frame.columns):
        raise SystemExit(f"{table.path} has no column {sorted(missing)}; its columns are {frame.columns}")
    value = pl.col(table.value).cast(pl.Float64, strict=False)
    kept = frame.with_row_index(ROW, offset=2).select(ROW, *table.objects, value).filter(value.is_finite())
    if not len(kept):
        example = f", but {frame[table.value][0]!r}" if len(frame) else ""
        raise SystemExit(f"column {table.value!r} of {table.path} holds no number{example}; choose another --value")
    for column in table.objects:
        if len(empty := kept.filter(pl.col(column).str.strip_chars().fill_null("") == "")):
            raise SystemExit(
                f"column {column!r} of {table.path} is empty in row {empty[ROW][0]} ({len(empty)} such rows); fill or "
                "remove them"
            )
    joined = kept.group_by(table.objects, maintain_order=True).agg(pl.col(table.value).mean())
    why = f" (no finite number in {table.value!r})" if len(kept) < len(frame) else ""
    same = f"; {len(joined)} different objects" if len(joined) < len(kept) else ""
    return joined, f"{len(kept)} rows kept, {len(frame) - len(kept)} left out{why}{same}"


def _part(table: Table, column: str, texts: Sequence[str]) -> Part:
    kind = _kind(table.kind, texts)
    try:
        values = tuple(_value(kind, text) for text in texts)
    except ValueError as error:
        what = "numbers between spaces" if kind == "series" else "numbers"
        raise SystemExit(
            f"column {column!r} of {table.path} should hold {what}: {error}; correct or remove such rows"
        ) from None
    return Part(column, kind, tuple(_logarithms(column, values).tolist()) if column in table.log else values)


def _kind(kind: str, texts: Sequence[str]) -> str:
    """What a column of such a table holds."""
    if kind in ALONE:
        return kind.removesuffix("s") if kind == "molecules" else kind
    if kind in ("vector", "composition") or _numbers(texts):
        return "number"
    return "molecule" if kind == "reaction" and _molecules(texts) else "category"


def _numbers(texts: Sequence[str]) -> bool:
    try:
        [float(text) for text in set(texts)]
    except ValueError:
        return False
    return True


def _molecules(texts: Sequence[str]) -> bool:
    return not _not_molecules(texts)


def _not_molecules(texts: Sequence[str]) -> list[str]:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    return [text for text in dict.fromkeys(texts) if Chem.MolFromSmiles(text) is None]


def _value(kind: str, text: str) -> Any:
    if kind == "number":
        return _finite(text)
    return tuple(map(_finite, text.split())) if kind == "series" else text


def _finite(text: str) -> float:
    if not np.isfinite(number := float(text)):
        raise ValueError(f"{text!r} is not finite")
    return number


def _logarithms(column: str, values: ArrayLike) -> Vector:
    numbers = np.asarray(values, dtype=float)
    if not np.all(numbers > 0):
        raise SystemExit(f"column {column!r} has no logarithm at {numbers.min():g}; leave --log {column} out")
    return np.log10(numbers)
