"""Values of several objects drawn together, as the committee believes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.acquisition.thompson import draw_normal
from likewise.model.committee import Committee, Member
from likewise.model.evidence import AMPLITUDE_STRENGTH, misfit_share
from likewise.similarity.base import Matrix

TINY = 1e-300


def draw_values(committee: Committee, objects: Sequence[Any], n: int, rng: np.random.Generator) -> Matrix:
    """`n` joint draws of the true values of these objects, one row each, on the user's scale; larger is better.

    Each draw is of a member chosen by its vote, with Student's t for its amplitude and, with the share of its `misfit`,
    with what it takes for noise. So every column has the distribution that `Committee.predict` gives.
    """
    alone = committee.without_pending()
    chosen = rng.choice(len(alone.members), size=n, p=alone.weights / alone.weights.sum())
    encodings = alone.encode(objects)
    rows, selves = alone.rows(encodings, objects), alone.selves(encodings, objects)
    among = {k: alone.grams[k].similarity.between(encoding, encoding) for k, encoding in encodings.items()}
    draws, freedom = np.empty((n, len(objects))), len(alone) + AMPLITUDE_STRENGTH
    widen = np.sqrt(freedom / rng.chisquare(freedom, size=n))
    for i in np.unique(chosen).tolist():
        mix, member, mask = alone.members[i].mix, alone.members[i], chosen == i
        mixed = mix.scores(rows)
        mean = np.clip(member.regression.mean(mixed), *alone.reach(member.regression))
        covariance = _covariance(member, mixed, mix.scores(selves), mix.scores(among))
        away = draw_normal(np.zeros(len(objects)), covariance, int(mask.sum()), rng)
        draws[mask] = mean + widen[mask, None] * _with_misfit(member, away, rng)
    return np.asarray(alone.transform.backward(draws))


def _covariance(member: Member, rows: Matrix, selves: Any, among: Matrix) -> Matrix:
    """The covariance of the objects, whose diagonal is the variance that is believed of each."""
    signed = member.regression.covariance(rows, among)
    own = np.sqrt(np.maximum(np.diag(signed), TINY))
    believed = np.sqrt(np.maximum(member.regression.variance(rows, selves), 0.0))
    return np.asarray(np.clip(signed / np.outer(own, own), -1.0, 1.0) * np.outer(believed, believed))


def _with_misfit(member: Member, away: Matrix, rng: np.random.Generator) -> Matrix:
    """What a member cannot explain belongs to the objects in some of the draws, to each its own."""
    noise = member.ratio * member.regression.amplitude
    belongs = rng.random(len(away)) < misfit_share(np.array([noise]))[0]
    return away + np.where(belongs[:, None], np.sqrt(noise) * rng.standard_normal(away.shape), 0.0)
