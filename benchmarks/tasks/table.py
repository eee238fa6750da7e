"""Pools out of CSV files (plain or gzipped)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.tasks.pool import KINDS, Part, Pool


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
    if table.kind not in KINDS:
        raise SystemExit(f"no kind is called {table.kind!r}; choose from {', '.join(KINDS)}")
    frame = _read(table)
    parts = tuple(_part(table, column, frame[column].to_list()) for column in table.objects)
    values = frame[table.value].to_numpy()
    if table.value in table.log:
        values = np.log10(values)
    return Pool(name, table.kind, parts, values, table.sign, initial, budget)


def _read(table: Table) -> pl.DataFrame:
    # Codes such as 00012 are objects, not numbers: everything is read as text, then the value alone becomes one.
    frame = pl.read_csv(table.path, infer_schema=False, n_rows=table.rows)
    if missing := {*table.objects, table.value} - set(frame.columns):
        raise SystemExit(f"{table.path} has no column {sorted(missing)}; its columns are {frame.columns}")
    value = pl.col(table.value).cast(pl.Float64, strict=False)
    frame = frame.select(*table.objects, value).filter(value.is_finite())
    return frame.group_by(table.objects, maintain_order=True).agg(pl.col(table.value).mean())


def _part(table: Table, column: str, texts: Sequence[str]) -> Part:
    kind = _kind(table.kind, texts)
    return Part(column, kind, tuple(_value(kind, text, column in table.log) for text in texts))


def _kind(kind: str, texts: Sequence[str]) -> str:
    """What a column of such a table holds."""
    if kind in ("molecules", "string", "series"):
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
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    return all(Chem.MolFromSmiles(text) is not None for text in set(texts))


def _value(kind: str, text: str, log: bool) -> Any:
    if kind == "number":
        return float(np.log10(float(text))) if log else float(text)
    if kind == "series":
        return tuple(float(entry) for entry in text.split())
    return text
