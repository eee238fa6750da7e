"""Regret, and how methods compare by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.methods import OURS
from benchmarks.store import scores
from benchmarks.tasks.base import Matrix, Vector

OFFSET = 0.005
# Seeds shared with likewise of which the luck of the initial objects does not decide; peers with fewer are shown, but
# are not the best one.
ENOUGH = 5
# Optima are stored to twelve digits; what is left below this is rounding.
ROUNDING = 1e-11
RESAMPLES = 10_000


@dataclass(frozen=True)
class Measures:
    """One method on one task, an entry per seed: AUC regret, final regret, top 1 % found, seconds of a round."""

    seeds: tuple[int, ...]
    curves: Matrix
    auc: Vector
    final: Vector
    found: Vector
    seconds: Vector
    cpu_seconds: Vector


def regrets(header: Mapping[str, Any], line: Mapping[str, Any]) -> Vector:
    """r_t = (y* − best_t)/(y* − median) after each evaluation, the initial ones included."""
    sign = 1.0 if header["direction"] == "maximize" else -1.0
    best, median = sign * header["best"], sign * header["median"]
    found = (best - np.maximum.accumulate(scores(header, line))) / (best - median)
    return np.where(found > ROUNDING, found, 0.0)


def measures(header: Mapping[str, Any], runs: Mapping[str, Any]) -> Measures:
    """All measures of a method's runs."""
    seeds = sorted(map(int, runs))
    lines = [runs[str(seed)] for seed in seeds]
    sign = 1.0 if header["direction"] == "maximize" else -1.0
    curves = np.stack([regrets(header, line) for line in lines])
    after = curves[:, header["initial"] :]
    found = [np.sum(scores(header, line) >= sign * header["top"]) for line in lines]
    return Measures(
        tuple(seeds),
        curves,
        after.mean(axis=1),
        after[:, -1],
        np.array(found, dtype=float),
        np.array([line["seconds"] for line in lines]),
        np.array([line["cpu_seconds"] for line in lines]),
    )


def standard_error(values: Vector) -> float:
    """Of the mean; nothing is known of it from one seed."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def shared(ours: Measures, theirs: Measures) -> list[int]:
    """The seeds both methods have."""
    return sorted(set(ours.seeds) & set(theirs.seeds))


def paired(ours: Measures, theirs: Measures, of: str = "auc") -> tuple[Vector, Vector]:
    """A measure of two methods on the seeds both have."""
    common = shared(ours, theirs)
    return tuple(  # type: ignore[return-value]
        np.array([getattr(one, of)[one.seeds.index(seed)] for seed in common]) for one in (ours, theirs)
    )


def bootstrap(ours: Vector, theirs: Vector, statistic: str = "difference", level: float = 0.9) -> tuple[float, float]:
    """An interval of the difference, or of the ratio, of two means over the same seeds, by resampling seeds."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(ours), size=(RESAMPLES, len(ours)))
    a, b = ours[drawn].mean(axis=1), theirs[drawn].mean(axis=1)
    values = a - b if statistic == "difference" else a / np.maximum(b, 1e-300)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def eligible(table: Mapping[str, Measures], peers: Sequence[str]) -> list[str]:
    """The peers that share enough seeds with likewise."""
    there = [name for name in peers if OURS in table and name in table]
    return [name for name in there if len(shared(table[OURS], table[name])) >= ENOUGH]


def best_peer(table: Mapping[str, Measures], peers: Sequence[str]) -> str | None:
    """The peer that is hardest to beat: the largest ratio, of the eligible ones if there are any.

    Without likewise in the table, the peer of lowest mean AUC regret.
    """
    there = [name for name in peers if name in table]
    if there and OURS not in table:
        return min(there, key=lambda name: float(table[name].auc.mean()))
    paired_with = eligible(table, peers) or [name for name in there if shared(table[OURS], table[name])]
    return max(paired_with, key=lambda name: ratio(table[OURS], table[name]), default=None)


def ratio(ours: Measures, theirs: Measures) -> float:
    """(AUC + 0.005)/(the other's AUC + 0.005), on the seeds both have: regrets near zero do not make it explode."""
    a, b = paired(ours, theirs)
    return float((a.mean() + OFFSET) / (b.mean() + OFFSET))


def geometric_mean(ratios: Sequence[float]) -> float:
    """Over tasks."""
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
