"""Fields of records that are shares of a whole: fractions that add up to one, or percentages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# What shares add up to, and by how much they may miss it: they are rounded.
WHOLES, ROUNDED = (1.0, 100.0), 0.011
FEWEST = 3


def share_groups(objects: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[tuple[str, ...]]:
    """Neighbouring fields that are shares of a whole in every record, the longest first.

    >>> rows = [{"A": 0.1, "B": 0.9, "T": 20}, {"A": 0.3, "B": 0.7, "T": 80}, {"A": 0.5, "B": 0.5, "T": 50}]
    >>> share_groups(rows, ["A", "B", "T"])
    [('A', 'B')]
    """
    runs = _runs_of_numbers(objects, fields)
    found: list[tuple[str, ...]] = []
    for names in runs:
        sums = np.concatenate([np.zeros((len(objects), 1)), np.cumsum(_matrix(objects, names), axis=1)], axis=1)
        spans = [(j - i, i, j) for i in range(len(names)) for j in range(i + 2, len(names) + 1)]
        for _, i, j in sorted(spans, reverse=True):
            if not {*names[i:j]} & {name for group in found for name in group} and _whole(sums[:, j] - sums[:, i]):
                group = _matrix(objects, names[i:j])
                if len(np.unique(group, axis=0)) >= FEWEST and (np.ptp(group, axis=0) > 0).sum() > 1:
                    found.append(tuple(names[i:j]))
    return found


def _runs_of_numbers(objects: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for name in fields:
        if all(_is_share(x[name]) for x in objects):
            runs[-1].append(name)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def _is_share(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return bool(number and 0 <= value <= WHOLES[-1] * (1 + ROUNDED))


def _matrix(objects: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    return np.array([[float(x[name]) for name in names] for x in objects])


def _whole(totals: Any) -> bool:
    return any(bool(np.all(np.abs(totals - whole) <= ROUNDED * whole)) for whole in WHOLES)
