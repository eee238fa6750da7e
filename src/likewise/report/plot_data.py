"""What pictures show, computed from a study: progress, and a map. What is left out is in a study's diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from likewise.figures.data import Course, Expectations, Map
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.study.study import Study
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State

MAPPED = 1500
NEGLIGIBLE = 0.01
SMALL = 300


def course(study: Study, rounds: Sequence[int] = ()) -> Course:
    """How the best value came about; `rounds` are the places at which rounds begin."""
    told = [t for t in study.trials if t.state is State.TOLD]
    values = np.array([t.value for t in told], dtype=float)
    # What is only known to be worse than a limit is not the best.
    good = np.where([study.reaches(t) for t in told], values, np.nan)
    return Course(values, (np.fmin if study.direction == "minimize" else np.fmax).accumulate(good), rounds)


def expectations(suggestions: Sequence[Suggestion]) -> Expectations:
    """What is expected of suggestions, as far as anything is."""
    known = [(s.mean, s.low, s.high) for s in suggestions if s.mean is not None]
    return Expectations(*np.array(known, dtype=float).reshape(-1, 3).T)


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
    told = [t for t in study.trials if t.state is State.TOLD]
    room = max(0, most - len(picks))
    if len(told) > room // 2:
        told = [told[i] for i in np.sort(rng.choice(len(told), size=room // 2, replace=False))]
    known = {study.space.key(x) for x in [*picks, *(t.object for t in told)]}
    others = [x for x in study.space.sample(room - len(told), rng) if study.space.key(x) not in known]
    others = list({study.space.key(x): x for x in others}.values())
    objects = [*others, *(t.object for t in told), *picks]
    values = np.full(len(objects), np.nan)
    values[len(others) : len(others) + len(told)] = [t.value for t in told]
    points, share = embedding(_similarity(study, objects, similarities))
    return Map(objects, points, values, list(range(len(others) + len(told), len(objects))), share)


def _similarity(study: Study, objects: Sequence[Any], given: Sequence[Similarity] | None) -> Matrix:
    """How alike the objects are: each similarity scaled to 1 on its diagonal, mixed by its weight."""
    if given is None:
        committee = study.committee()
        similarities, weights = committee.similarities, committee.similarity_weights()
    else:
        similarities, weights = tuple(map(study.space.view, given)), np.ones(len(given))
    total = np.zeros((len(objects), len(objects)))
    for similarity, weight in zip(similarities, weights / weights.sum(), strict=True):
        if weight < NEGLIGIBLE:
            continue
        encoded = similarity.encode(objects)
        scores = similarity.between(encoded, encoded)
        own = np.sqrt(np.maximum(np.diag(scores), 1e-300))
        total += weight * scores / np.outer(own, own)
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
    kept = np.maximum(levels, 0.0)
    points = basis * np.sqrt(kept)
    # The sign of an eigenvector is arbitrary; the same objects should give the same map.
    points = points * np.where(points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])] < 0, -1.0, 1.0)
    spread = float(np.linalg.norm(inner, ord="nuc")) if n <= SMALL else float(np.trace(inner))
    return points, float(np.clip(kept.sum() / max(spread, 1e-300), 0.0, 1.0))


def _largest(matrix: Matrix) -> tuple[Vector, Matrix]:
    """The two largest eigenvalues and their vectors; of a large matrix by Lanczos's method, which needs those alone."""
    if len(matrix) > SMALL:
        with suppress(ArpackNoConvergence):
            start = np.ones(len(matrix)) + np.arange(len(matrix))
            levels, basis = eigsh(matrix, k=2, which="LA", v0=start, tol=1e-6)
            return levels[::-1], basis[:, ::-1]
    levels, basis = np.linalg.eigh(matrix)
    return levels[:-3:-1], basis[:, :-3:-1]
