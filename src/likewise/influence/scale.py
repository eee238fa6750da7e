"""Which scale the values are modelled on: as they are, bent by a power, or by their ranks.

The power transform is chosen by evidence: densities on the user's scale, so its Jacobian counts. Ranks have no honest
Jacobian and are chosen by leave-one-out error on the user's scale, and only where they win clearly. The error is that
of the better half: a scale that orders the poor objects well and blurs the good ones would never find the best.
Both are judged on one rough matrix, the mean of all likenesses before anything is learnt: one eigendecomposition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.influence.evidence import NOISE_PRIOR, spectral_evidence
from likewise.influence.influence import Spectral
from likewise.influence.values import Ranked, Standardised, Transform, YeoJohnson
from likewise.similarity.base import Matrix, Vector

FROM = 8
NATS_FOR_POWER = 1.0
SHARE_FOR_RANKS = 0.9
RATIOS = np.geomspace(1e-6, 1.0, 13)


class _Fit(NamedTuple):
    log_evidence: float
    error: float


def suitable_scale(scores: Matrix, values: Vector) -> type[Transform]:
    """The transform that suits these values best, under a matrix of scores of the observed objects."""
    if len(values) < FROM or np.ptp(values) == 0:
        return Standardised
    levels, basis = np.linalg.eigh(scores)
    levels = np.maximum(levels, 0.0)
    plain = _fit(Standardised.of(values), values, levels, basis)
    bent = _fit(YeoJohnson.of(values), values, levels, basis)
    best: type[Transform] = Standardised
    error = plain.error
    if bent.log_evidence > plain.log_evidence + NATS_FOR_POWER:
        best, error = YeoJohnson, bent.error
    ranked = _fit(Ranked.of(values), values, levels, basis)
    return Ranked if ranked.error < SHARE_FOR_RANKS * error else best


def _fit(transform: Transform, values: Vector, levels: Vector, basis: Matrix) -> _Fit:
    """Evidence at the best noise, and the leave-one-out error, both on the user's scale."""
    z = np.asarray(transform.forward(values), dtype=float)
    rotated = z @ basis
    found = [spectral_evidence(levels, rotated, ratio) for ratio in RATIOS]
    priors = -0.5 * ((np.log(RATIOS) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2
    best = int(np.argmax([evidence.log + prior for evidence, prior in zip(found, priors, strict=True)]))
    solution = Spectral(basis, np.ones(len(levels)), levels + RATIOS[best])
    diagonal = solution.diagonal
    left_out = z - solution.solve(z) / diagonal
    spread = np.sqrt(found[best].amplitude / diagonal)
    predicted = transform.moments(left_out, spread)[0]
    jacobian = float(np.sum(np.log(np.maximum(transform.slope(values), 1e-300))))
    good = values >= np.median(values)
    return _Fit(found[best].log + jacobian, float(np.sqrt(np.mean((predicted[good] - values[good]) ** 2))))
