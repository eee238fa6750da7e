"""Marks that would cover each other, moved apart until each can be read."""

from __future__ import annotations

import numpy as np

from likewise.figures.data import Matrix

STEPS = 400


def apart(points: Matrix, least: float) -> Matrix:
    """Places near the points, of which no two are closer than `least`; points that are far apart stay where they are.

    >>> np.round(apart(np.array([[0.0, 0.0], [0.2, 0.0], [9.0, 9.0]]), 1.0), 2).tolist()
    [[-0.4, 0.0], [0.6, 0.0], [9.0, 9.0]]
    """
    places = np.array(points, dtype=float)
    first, second = np.triu_indices(len(places), k=1)
    # Points at one spot are told apart by directions of their own.
    turns = 2.399963 * (first + 1.0) + second
    aside = np.column_stack([np.cos(turns), np.sin(turns)])
    for _ in range(STEPS):
        between = places[second] - places[first]
        distance = np.linalg.norm(between, axis=1)
        close = distance < least * (1 - 1e-6)
        if not close.any():
            break
        towards = np.where(distance[:, None] > 1e-9 * least, between / np.maximum(distance, 1e-300)[:, None], aside)
        push = (0.5 * np.maximum(least - distance, 0.0))[:, None] * towards
        np.add.at(places, second, push)
        np.add.at(places, first, -push)
    return places
