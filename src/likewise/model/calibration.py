"""How far a member's errors are from what it says, where its scores are no kernel.

Under a spectrum treatment the closed form of leaving out keeps the treated matrix, which has seen what is left out. So
a tenth of the observations at a time is left out, the treatment is made anew from the others, and with

    z_i = (y_i − μ(x_i)) / √(V(x_i) + σ²)      the variances are inflated by      (ν + Σ z_i²) / (ν + t),

ν observations' worth of belief that they were right. A PSD similarity has nothing to be made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from likewise.model.committee import Member
from likewise.model.gram import Gram
from likewise.model.regression import Regression, regress
from likewise.model.spectrum import Treatment, treat
from likewise.similarity.base import Matrix

Fold = tuple[NDArray[np.intp], NDArray[np.intp], Treatment, Matrix]
FOLDS = 10
STRENGTH = 4.0
LEAST = 4


def calibrate(members: Sequence[Member], grams: Sequence[Gram]) -> tuple[Member, ...]:
    """The members with their variances as large as errors in folds ask for."""
    folds: dict[object, list[Fold]] = {}
    found = []
    for member in members:
        regression = member.regression
        if regression.psd or len(regression) < LEAST:
            found.append(member)
            continue
        key = member.mix, regression.treatment.kind
        if key not in folds:
            folds[key] = _folds(np.asarray(member.mix.scores([gram.scores for gram in grams])), regression)
        found.append(replace(member, regression=replace(regression, inflation=_inflation(regression, folds[key]))))
    return tuple(found)


def _folds(scores: Matrix, regression: Regression) -> list[Fold]:
    """What is left out, what is kept, the treatment of what is kept, and the scores of the others with it."""
    t = len(scores)
    # By rank, so that every fold has large and small values, whatever the order of the observations.
    order, found = np.lexsort((np.arange(t), regression.values)), []
    for k in range(min(FOLDS, t)):
        out = np.sort(order[k :: min(FOLDS, t)])
        kept = np.setdiff1d(np.arange(t), out)
        treatment = treat(scores[np.ix_(kept, kept)], regression.treatment.kind)
        found.append((out, kept, treatment, np.hstack([scores[np.ix_(out, kept)], scores[out, out][:, None]])))
    return found


def _inflation(regression: Regression, folds: Sequence[Fold]) -> float:
    total = STRENGTH
    for out, kept, treatment, rows in folds:
        others = regress(
            treatment, regression.values[kept], regression.noise[kept], regression.amplitude, regression.prior_mean
        )
        mean, variance = others.mean(rows[:, :-1]), others.variance(rows[:, :-1], rows[:, -1])
        total += float(np.sum((regression.values[out] - mean) ** 2 / (variance + regression.noise[out])))
    return total / (STRENGTH + len(regression))
