"""Which factor matters, and how: what the model expects of each level, the other factors as they come in the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from likewise.acquisition.joint_draws import draw_values
from likewise.campaign.display.naming import Names, columns_of
from likewise.campaign.problem import FIRST, Problem
from likewise.campaign.wording import shown
from likewise.model.committee import Committee
from likewise.similarity.base import Vector

# Levels of a factor that are shown, points of a curve, and objects that are predicted at once for one factor.
LEVELS, FEW, POINTS, AT_ONCE = 12, 8, 9, 240
# Objects of the table that a level is averaged over at most, and by which the whole spread is judged.
BACKGROUND, SPREAD = 40, 400
DRAWS = 400


@dataclass(frozen=True, eq=False)
class Effect:
    """What is expected of each level of a factor, averaged over the other factors, the best level first.

    low, high: the ends of the 95 % interval of that average.
    chance: that the level is the best of those shown.
    measured: runs that were measured at the level.
    share: of the differences that the model predicts, how much the factor alone accounts for.
    others: levels that are not shown.
    """

    column: str
    heading: str
    levels: list[Any]
    labels: list[str]
    mean: Vector
    low: Vector
    high: Vector
    chance: Vector
    measured: list[int]
    share: float
    numeric: bool
    others: int = 0


def effects(problem: Problem, names: Names, outcome: str | None = None) -> list[Effect]:
    """The effects of all factors on an outcome (by default the one objective), the most important first.

    There are none where objects have no factors, or little is known, or all values are the same.
    """
    study, columns = problem.study, columns_of(problem)
    outcome = study.goals.objective if outcome is None else outcome
    if outcome is None or _is_little_known(problem, outcome) or len(columns) < 2:
        return []
    rng, committee = np.random.default_rng(study.seed), study.committee(outcome)
    table = _objects(problem, rng)
    if not table or any(_get(table[0], columns, c) is None for c in columns):
        return []
    sign = study.goals.sign(outcome)
    spread = float(np.var(committee.predict(_sample(table, SPREAD, rng)).mean))
    found = [_effect(c, columns, table, problem, committee, sign, spread, names, rng) for c in columns]
    every = [effect for effect in found if effect is not None]
    total = max(1.0, sum(effect.share for effect in every))
    scaled = [Effect(**{**vars(effect), "share": effect.share / total}) for effect in every]
    return sorted(scaled, key=lambda effect: -effect.share)


def _is_little_known(problem: Problem, outcome: str) -> bool:
    """Whether there are too few values of an outcome, or all are the same."""
    if outcome not in problem.outcomes or problem.sheet is None:
        return problem.measured < FIRST or problem.level
    rows = (problem.sheet.results(i) for i in problem.sheet.measured)
    values = [row[outcome] for row in rows if outcome in row]
    return len(values) < FIRST or len(set(values)) == 1


def _objects(problem: Problem, rng: np.random.Generator) -> list[Any]:
    """Where the factors are taken from: the table, or what the space draws."""
    if problem.pool is not None and problem.sheet is not None:
        return problem.sheet.in_play
    return list(problem.study.space.sample(SPREAD, rng))


def _sample(objects: Sequence[Any], most: int, rng: np.random.Generator) -> list[Any]:
    if len(objects) <= most:
        return list(objects)
    return [objects[i] for i in np.sort(rng.choice(len(objects), size=most, replace=False)).tolist()]


def _effect(
    column: str,
    columns: Sequence[str],
    table: Sequence[Any],
    problem: Problem,
    committee: Committee,
    sign: float,
    spread: float,
    names: Names,
    rng: np.random.Generator,
) -> Effect | None:
    values = [_get(x, columns, column) for x in table]
    counted = _counts(problem, columns, column)
    numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    if not numeric and not all(isinstance(value, str | bool) for value in values):
        return None
    levels, others = _numbers(values) if numeric else _categories(values, counted)
    if len(levels) < 2:
        return None
    place = _placing(table, columns, column)
    around = _sample(table, min(BACKGROUND, max(4, AT_ONCE // len(levels))), rng)
    objects = [place(x, level) for level in levels for x in around]
    mean = sign * committee.predict(objects).mean.reshape(len(levels), -1).mean(axis=1)
    draws = sign * draw_values(committee, objects, DRAWS, rng).reshape(DRAWS, len(levels), -1).mean(axis=2)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    best = np.bincount(np.argmax(sign * draws, axis=1), minlength=len(levels)) / DRAWS
    order = list(range(len(levels))) if numeric else np.argsort(-sign * mean, kind="stable").tolist()
    share = float(np.var(mean)) / max(spread, 1e-300)
    labels = [names.of(column, levels[i]) for i in order]
    counts = [counted.get(shown(levels[i]), 0) for i in order]
    picked = [levels[i] for i in order]
    heading = names.heading(column)
    ends = np.minimum(low, mean)[order], np.maximum(high, mean)[order]
    return Effect(column, heading, picked, labels, mean[order], *ends, best[order], counts, share, numeric, others)


def _counts(problem: Problem, columns: Sequence[str], column: str) -> dict[str, int]:
    """How many measured runs have each value of a factor."""
    sheet = problem.sheet
    objects = [] if sheet is None else [sheet.objects[place] for place in sheet.measured]
    return dict(Counter(shown(_get(x, columns, column)) for x in objects))


def _numbers(values: Sequence[Any]) -> tuple[list[Any], int]:
    """The values of a number: those that there are, or points between the smallest and the largest."""
    distinct = sorted(set(values))
    if len(distinct) <= FEW:
        return distinct, 0
    points = np.linspace(float(distinct[0]), float(distinct[-1]), POINTS)
    if all(float(value).is_integer() for value in distinct):
        points = np.unique(np.round(points))
    return [type(distinct[0])(point) for point in points], 0


def _categories(values: Sequence[Any], counted: Mapping[str, int]) -> tuple[list[Any], int]:
    """The levels of a category, those with the most measured runs where there are too many."""
    distinct = sorted(dict.fromkeys(values), key=lambda value: -counted.get(shown(value), 0))
    return distinct[:LEVELS], max(0, len(distinct) - LEVELS)


def _get(x: Any, columns: Sequence[str], column: str) -> Any:
    """A factor of an object: the field of a record, or the entry of a vector that has one for each column."""
    if isinstance(x, Mapping):
        return x.get(column)
    if hasattr(x, "__len__") and not isinstance(x, str) and len(x) == len(columns):
        value = x[columns.index(column)]
        return value.item() if hasattr(value, "item") else value
    return None


def _placing(table: Sequence[Any], columns: Sequence[str], column: str) -> Callable[[Any, Any], Any]:
    """How an object gets another level; parts of a mixture, whose sum is the same everywhere, make room for it."""
    numeric = [c for c in columns if isinstance(_get(table[0], columns, c), float)]
    sums = [sum(_get(x, columns, c) for c in numeric) for x in table[:SPREAD]] if len(numeric) > 1 else []
    mixed = bool(sums) and column in numeric and float(np.ptp(sums)) <= 1e-6 * abs(sums[0])
    total, parts = (sums[0], [c for c in numeric if c != column]) if mixed else (0.0, [])

    def place(x: Any, level: Any) -> Any:
        changed = {column: level}
        rest = sum(_get(x, columns, c) for c in parts)
        for c in parts:
            share = _get(x, columns, c) / rest if rest else 1.0 / len(parts)
            changed[c] = share * (total - level)
        if isinstance(x, Mapping):
            return {**x, **changed}
        made = [changed.get(c, _get(x, columns, c)) for c in columns]
        return np.array(made, dtype=float) if isinstance(x, np.ndarray) else type(x)(made)

    return place
