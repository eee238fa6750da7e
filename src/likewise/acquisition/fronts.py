"""Fronts and their hypervolumes, by moocore; larger is better in every outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import import_extra
from likewise.similarity.base import Matrix, Vector

# How far below the worst of all points the reference lies, as a share of their extent.
MARGIN = 0.01


def _library() -> Any:
    return import_extra("moocore", "a study of several objectives", "moocore", "objectives")


def is_nondominated(points: Matrix, *, equal: bool = False) -> NDArray[np.bool_]:
    """Which points no other dominates; of equal ones the first, or with `equal` all.

    >>> is_nondominated(np.array([[1.0, 2.0], [0.5, 0.5], [2.0, 1.0]])).tolist()
    [True, False, True]
    """
    if len(points) < 2:
        return np.ones(len(points), dtype=bool)
    return np.asarray(_library().is_nondominated(np.ascontiguousarray(points), maximise=True, keep_weakly=equal))


def layers(points: Matrix) -> NDArray[np.intp]:
    """The front each point is on: 0 for those that no other dominates, 1 for those without these, and so on.

    >>> layers(np.array([[1.0, 2.0], [0.5, 0.5], [2.0, 1.0]])).tolist()
    [0, 1, 0]
    """
    if not len(points):
        return np.zeros(0, dtype=np.intp)
    ranks = _library().pareto_rank(np.ascontiguousarray(points), maximise=True)
    return np.asarray(ranks, dtype=np.intp) - int(np.min(ranks))


def hypervolume(points: Matrix, reference: Vector) -> float:
    """The volume that the points dominate above a reference.

    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
    3.0
    """
    if not len(points):
        return 0.0
    if points.shape[1] == 1:
        return float(max(0.0, points.max() - reference[0]))
    return float(_library().hypervolume(np.ascontiguousarray(points), ref=reference, maximise=True))


def reference_point(points: Matrix) -> Vector:
    """What is no improvement any more: in each outcome the worst of all points so far, and a hair below it.

    >>> reference_point(np.array([[0.0, 2.0], [1.0, 1.0], [0.5, 0.0]])).round(3).tolist()
    [-0.01, -0.02]
    """
    if not len(points):
        return np.zeros(points.shape[1])
    extent = np.ptp(points, axis=0)
    return np.asarray(points.min(axis=0) - MARGIN * np.where(extent > 0, extent, 1.0))
