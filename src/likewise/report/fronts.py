"""What pictures of several objectives show, computed from a study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.acquisition.fronts import hypervolume, is_nondominated
from likewise.errors import StudyError
from likewise.figures.data import Front, Matrix, Volumes
from likewise.study.study import Study
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial


def front(study: Study, suggestions: Sequence[Suggestion] = ()) -> Front:
    """The objectives of what was measured, the front among it, and what is expected of suggestions."""
    goals = study.goals
    trials, values = measured(study)
    kept = np.array([goals.feasible(t.outcomes) for t in trials], dtype=np.bool_)
    best = np.zeros(len(trials), dtype=np.bool_)
    if kept.any():
        best[np.flatnonzero(kept)] = is_nondominated((values * _signs(study))[kept], equal=True)
    expected = [_expected(study, s) for s in suggestions if s.outcomes]
    mean, low, high = np.array(expected, dtype=float).reshape(-1, 3, len(goals.objectives)).transpose(1, 0, 2)
    larger = [way == "maximize" for way in goals.objectives.values()]
    return Front(list(goals.objectives), larger, values, best, kept, mean, low, high)


def volumes(study: Study, rounds: Sequence[int] = ()) -> Volumes:
    """The hypervolume after each measurement, counted from the reference that the study has by now."""
    goals, (trials, values) = study.goals, measured(study)
    signed = values * _signs(study)
    worst = signed.min(axis=0)
    given = [goals.sign(n) * goals.reference[n] if n in goals.reference else np.nan for n in goals.objectives]
    reference = np.where(np.isnan(given), worst, given)
    kept = np.array([goals.feasible(t.outcomes) for t in trials], dtype=np.bool_)
    found = [hypervolume(signed[: i + 1][kept[: i + 1]], reference) for i in range(len(trials))]
    return Volumes(np.array(found), rounds)


def measured(study: Study) -> tuple[list[Trial], Matrix]:
    """The trials that have every objective, in the order they were made, and their objectives."""
    names = list(study.goals.objectives)
    if len(names) < 2:
        raise StudyError(f"study {study.name!r} has one objective; this picture is for several")
    told = [(t, study.objectives_of(t)) for t in study.trials if t.state is State.TOLD]
    whole = [(t, values) for t, values in told if len(values) == len(names)]
    if not whole:
        raise StudyError(f"study {study.name!r} has no observation with every objective yet; tell it one first")
    return [t for t, _ in whole], np.array([[values[name] for name in names] for _, values in whole])


def _signs(study: Study) -> Matrix:
    return np.array([study.goals.sign(name) for name in study.goals.objectives])


def _expected(study: Study, s: Suggestion) -> list[list[float]]:
    """Mean, and the ends of the interval, of each objective; one that is computed has no uncertainty."""
    rows: list[list[float]] = []
    for name in study.goals.objectives:
        if name in study.goals.computed:
            rows.append([float(study.goals.computed[name].values([s.object])[0])] * 3)
        else:
            rows.append([s.outcomes[name].mean, s.outcomes[name].low, s.outcomes[name].high])
    return [list(column) for column in zip(*rows, strict=True)]
