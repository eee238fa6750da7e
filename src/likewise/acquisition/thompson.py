"""Thompson sampling: one draw from the posterior at a set of objects; the best object of the draw is the suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.model.committee import Committee
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.scores import check_scores


def draw(committee: Committee, objects: Sequence[Any], n: int, rng: np.random.Generator) -> Matrix:
    """`n` joint draws of the values of these objects on the model's scale, each from a member chosen by its vote."""
    chosen = rng.choice(len(committee.members), size=n, p=committee.weights)
    draws = np.empty((n, len(objects)))
    encodings = committee.encode(objects)
    rows = committee.without_pending().rows(encodings, objects)
    among = {k: _among(committee.grams[k].similarity, encoding, objects) for k, encoding in encodings.items()}
    for i in np.unique(chosen).tolist():
        mix, regression, mask = committee.members[i].mix, committee.members[i].regression, chosen == i
        mixed = mix.scores(rows)
        covariance = regression.covariance(mixed, mix.scores(among))
        draws[mask] = draw_normal(regression.mean(mixed), covariance, int(mask.sum()), rng)
    return draws


def _among(similarity: Similarity, encodings: Encoding, objects: Sequence[Any]) -> Matrix:
    scores = similarity.between(encodings, encodings)
    check_scores(scores, objects, objects, signed=similarity.signed)
    return scores


def draw_normal(mean: Vector, covariance: Matrix, n: int, rng: np.random.Generator) -> Matrix:
    """Draws from N(mean, covariance); what an indefinite similarity leaves negative in the covariance is clipped.

    >>> draw_normal(np.zeros(2), np.eye(2), 3, np.random.default_rng(0)).shape
    (3, 2)
    """
    levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = basis * np.sqrt(np.maximum(levels, 0.0))
    return mean + rng.standard_normal((n, len(mean))) @ root.T
