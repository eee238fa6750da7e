"""What pictures show, computed from a study: progress, a map, and for several objectives the front."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from likewise.acquisition.hypervolume import hypervolume, is_nondominated
from likewise.errors import StudyError
from likewise.figures.figures import Course, DataMatrix, Expectations, FrontData, Map, Volumes
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.study.study import Study
from likewise.study.trial import State, Suggestion, Trial

# What pictures show, computed from a study: progress, and a map. What is left out is in a study's diagnosis.

MAPPED = 1500
NEGLIGIBLE = 0.01
SMALL = 300


def course(study: Study, rounds: Sequence[int] = ()) -> Course:
    """How the best value came about; `rounds` are the places at which rounds begin."""
    trials = [t for t in study.trials if t.state is State.TOLD]
    values = np.array([t.value for t in trials], dtype=float)
    # What is only known to be worse than a limit is not the best.
    good = np.where([study.reaches(t) for t in trials], values, np.nan)
    return Course(values, (np.fmin if study.direction == "minimize" else np.fmax).accumulate(good), rounds)


def expectations(suggestions: Sequence[Suggestion]) -> Expectations:
    """What is expected of suggestions, as far as anything is."""
    intervals = [(s.mean, s.low, s.high) for s in suggestions if s.mean is not None]
    return Expectations(*np.array(intervals, dtype=float).reshape(-1, 3).T)


def object_map(
    study: Study,
    suggestions: Sequence[Suggestion] = (),
    most: int = MAPPED,
    similarities: Sequence[Similarity] | None = None,
) -> Map:
    """A map of the study's objects: the measured ones, the suggestions, and some of the rest.

    Similarity is that of the committee, or of these similarities to equal parts.
    """
    rng = np.random.default_rng(study.seed)
    picks = [s.object for s in suggestions]
    trials = [t for t in study.trials if t.state is State.TOLD]
    room = max(0, most - len(picks))
    if len(trials) > room // 2:
        trials = [trials[i] for i in np.sort(rng.choice(len(trials), size=room // 2, replace=False))]
    keys = {study.space.key(x) for x in [*picks, *(t.object for t in trials)]}
    unmeasured = [x for x in study.space.sample(room - len(trials), rng) if study.space.key(x) not in keys]
    unmeasured = list({study.space.key(x): x for x in unmeasured}.values())
    objects = [*unmeasured, *(t.object for t in trials), *picks]
    values = np.full(len(objects), np.nan)
    values[len(unmeasured) : len(unmeasured) + len(trials)] = [t.value for t in trials]
    points, share = embedding(_similarity(study, objects, similarities))
    return Map(objects, points, values, list(range(len(unmeasured) + len(trials), len(objects))), share)


def _similarity(study: Study, objects: Sequence[Any], chosen: Sequence[Similarity] | None) -> Matrix:
    """How alike the objects are: each similarity scaled to 1 on its diagonal, mixed by its weight."""
    if chosen is None:
        committee = study.committee()
        similarities, weights = committee.similarities, committee.similarity_weights()
    else:
        similarities, weights = tuple(map(study.space.view, chosen)), np.ones(len(chosen))
    total = np.zeros((len(objects), len(objects)))
    for similarity, weight in zip(similarities, weights / weights.sum(), strict=True):
        if weight < NEGLIGIBLE:
            continue
        encoded = similarity.encode(objects)
        scores = similarity.between(encoded, encoded)
        selves = np.sqrt(np.maximum(np.diag(scores), 1e-300))
        total += weight * scores / np.outer(selves, selves)
    return total


def embedding(scores: Matrix) -> tuple[Matrix, float]:
    """Points in the plane whose distances are near 1 − S (classical scaling), and the share of the spread they show.

    >>> points, share = embedding(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> near, far = (np.linalg.norm(points[0] - points[k]) for k in (1, 2))
    >>> bool(near < 0.2 * far)
    True
    """
    n = len(scores)
    if n < 2:
        return np.zeros((n, 2)), 1.0
    squared = np.maximum(1.0 - scores, 0.0) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    inner = -0.25 * (centred + centred.T)
    levels, basis = _largest(inner)
    positive = np.maximum(levels, 0.0)
    points = basis * np.sqrt(positive)
    # The sign of an eigenvector is arbitrary; the same objects should give the same map.
    points = points * np.where(points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])] < 0, -1.0, 1.0)
    spread = float(np.linalg.norm(inner, ord="nuc")) if n <= SMALL else float(np.trace(inner))
    return points, float(np.clip(positive.sum() / max(spread, 1e-300), 0.0, 1.0))


def _largest(matrix: Matrix) -> tuple[Vector, Matrix]:
    """The two largest eigenvalues and their vectors; of a large matrix by Lanczos's method, which needs those alone."""
    if len(matrix) > SMALL:
        with suppress(ArpackNoConvergence):
            start = np.ones(len(matrix)) + np.arange(len(matrix))
            levels, basis = eigsh(matrix, k=2, which="LA", v0=start, tol=1e-6)
            return levels[::-1], basis[:, ::-1]
    levels, basis = np.linalg.eigh(matrix)
    return levels[:-3:-1], basis[:, :-3:-1]


# What pictures of several objectives show, computed from a study.


def front(study: Study, suggestions: Sequence[Suggestion] = ()) -> FrontData:
    """The objectives of what was measured, the front among it, and what is expected of suggestions."""
    goals = study.goals
    trials, values = measured(study)
    feasible = np.array([goals.feasible(t.outcomes) for t in trials], dtype=np.bool_)
    best = np.zeros(len(trials), dtype=np.bool_)
    if feasible.any():
        best[np.flatnonzero(feasible)] = is_nondominated((values * _signs(study))[feasible], equal=True)
    expected = [_expected(study, s) for s in suggestions if s.outcomes]
    mean, low, high = np.array(expected, dtype=float).reshape(-1, 3, len(goals.objectives)).transpose(1, 0, 2)
    larger = [way == "maximize" for way in goals.objectives.values()]
    return FrontData(list(goals.objectives), larger, values, best, feasible, mean, low, high)


def volumes(study: Study, rounds: Sequence[int] = ()) -> Volumes:
    """The hypervolume after each measurement, counted from the reference that the study has by now."""
    goals, (trials, values) = study.goals, measured(study)
    signed = values * _signs(study)
    worst = signed.min(axis=0)
    stated = [goals.sign(n) * goals.reference[n] if n in goals.reference else np.nan for n in goals.objectives]
    reference = np.where(np.isnan(stated), worst, stated)
    feasible = np.array([goals.feasible(t.outcomes) for t in trials], dtype=np.bool_)
    sizes = [hypervolume(signed[: i + 1][feasible[: i + 1]], reference) for i in range(len(trials))]
    return Volumes(np.array(sizes), rounds)


def measured(study: Study) -> tuple[list[Trial], DataMatrix]:
    """The trials that have every objective, in the order they were made, and their objectives."""
    names = list(study.goals.objectives)
    if len(names) < 2:
        raise StudyError(f"study {study.name!r} has one objective; this picture is for several")
    trials = [(t, study.objectives_of(t)) for t in study.trials if t.state is State.TOLD]
    complete = [(t, values) for t, values in trials if len(values) == len(names)]
    if not complete:
        raise StudyError(f"study {study.name!r} has no observation with every objective yet; tell it one first")
    return [t for t, _ in complete], np.array([[values[name] for name in names] for _, values in complete])


def _signs(study: Study) -> DataMatrix:
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
