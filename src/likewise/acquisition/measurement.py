"""How far one measurement moves the mean: what an improvement can be found by, however much is in doubt.

One value of noise σ² at an object of variance V moves its mean by a normal of standard deviation

    s = V/√(V + σ²),      ds/dV = (V/2 + σ²)/(V + σ²)^{3/2},

which is √V without noise. Where noise hides more than is in doubt, one more value tells little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.model.committee import Committee
from likewise.model.pending import doubts
from likewise.model.regression import Regression
from likewise.similarity.base import Matrix

TINY = np.finfo(float).tiny
# An improvement has to exceed such a share of the doubt about the best.
DOUBT = 0.5


def noise_of(committee: Committee) -> Matrix:
    """The variance of one more measurement to each member, one row each."""
    regressions = [member.regression for member in committee.members]
    return np.array([[one.typical_noise * one.inflation] for one in regressions])


def margins_of(committee: Committee, places: Sequence[Sequence[int]]) -> Matrix:
    """What an improvement on these observed objects has to exceed, for each member its own places, one row each.

    Between measured objects a mean is always a little higher somewhere. Without noise that is to be gained; with noise
    it is gained by measuring there only if it is more than a share of the doubt that noise leaves about the best. To
    members to which a value, once measured, is as good as certain there is none. Where objects do not vary smoothly
    there is nothing between them, and what is no kernel may take for noise in what its twins differ: it has none there.
    """
    smooth, each = committee.differentiable, zip((m.regression for m in committee.members), places, strict=True)

    def doubt(one: Regression, own: Sequence[int]) -> float:
        counts = own and not one.certain() and (smooth or one.bounded)
        return float(doubts(one, own).mean()) if counts else 0.0

    return DOUBT * np.array([[doubt(one, own)] for one, own in each])


def moved(variances: Matrix, noise: Any) -> Matrix:
    """s from V and σ².

    >>> moved(np.array([4.0, 4.0]), np.array([0.0, 12.0])).tolist()
    [2.0, 1.0]
    """
    with np.errstate(over="ignore"):
        return np.sqrt(variances) / np.sqrt(1.0 + noise / np.maximum(variances, TINY))


def moved_slope(variances: Matrix, noise: Any) -> Matrix:
    """ds/dV; 0 where V is 0: there its root has no derivative, and the mean alone counts."""
    total = np.where(variances > 0, variances + noise, 1.0)
    return np.where(variances > 0, (0.5 * variances + noise) / total / np.sqrt(total), 0.0)
