"""Which scale the values are modelled on: as they are, bent by a power, with tame tails, or by their ranks.

The first three are chosen by evidence: densities on the user's scale, so their Jacobians count. Ranks have no honest
Jacobian and are chosen by leave-one-out errors on the user's scale, where these fall by more than their standard error.
The errors are those of the better half: a scale that orders the poor objects well and blurs the good ones would never
find the best. With few values that verdict is worth little, and ranks do not stand.
Both are judged before anything is learnt, on the scores of each similarity alone and on the mean of all: what is
straight to one of them need not be bent for the others. Evidence is added up over them. Ranks have to do better on the
mean of all, and on the scores of the most evidence, too.
Where branches vary by themselves, how much is part of the matrix and has to be read off the values on each scale: one
branch that varies more than the others would look like a tail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from likewise.model.evidence import NOISE_PRIOR, spectral_evidence
from likewise.model.influence import Spectral
from likewise.model.targets.transforms import Ranked, Standardised, Tamed, Transform, YeoJohnson
from likewise.similarity.base import Matrix, Vector

POWER_FROM, RANKS_FROM = 8, 20
# By how much the evidence must be larger for each bend: tails and a power are two.
NATS_FOR_POWER = 2.0
BENDS: dict[type[Transform], int] = {Standardised: 0, YeoJohnson: 1, Tamed: 2}
# By how many standard errors the squared errors must fall.
ERRORS_FOR_RANKS = 1.0
RATIOS = np.geomspace(1e-6, 1.0, 13)
LOG_PRIORS = -0.5 * ((np.log(RATIOS) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2


class _Evidence(NamedTuple):
    """The evidence, the values on the transform's scale, and the amplitude and the noise of their best model."""

    log: float
    z: Vector
    amplitude: float
    ratio: float


class _Fit(NamedTuple):
    log_evidence: float
    squared_errors: Vector


def choose_transform(views: Sequence[Matrix] | Callable[[Vector], Sequence[Matrix]], values: Vector) -> type[Transform]:
    """The transform that suits these values best, under matrices of scores of the observed objects.

    The last matrix is the mean of the others. They may depend on the values on the model's scale.
    """
    if len(values) < POWER_FROM or np.ptp(values) == 0:
        return Standardised
    # Every transform begins with a scale of its own, so that the unit of the values says nothing of which is best.
    values = np.asarray(Standardised.of(values).forward(values))
    eigen = None if callable(views) else list(map(np.linalg.eigh, views))

    def fit(kind: type[Transform]) -> list[_Fit]:
        transform = kind.of(values)
        own = list(map(np.linalg.eigh, views(np.asarray(transform.forward(values))))) if callable(views) else eigen
        assert own is not None
        return [_fit(transform, values, np.maximum(levels, 0.0), basis) for levels, basis in own]

    fits = {kind: fit(kind) for kind in BENDS}
    logs = {kind: np.logaddexp.reduce([one.log_evidence for one in found]) for kind, found in fits.items()}
    best = max(fits, key=lambda kind: logs[kind] - NATS_FOR_POWER * BENDS[kind])
    if len(values) < RANKS_FROM:
        return best
    ranked, plain = fit(Ranked), fits[best]
    judges = {len(plain) - 1, int(np.argmax([one.log_evidence for one in plain]))}
    less = [_clearly_less(ranked[i].squared_errors, plain[i].squared_errors) for i in judges]
    return Ranked if all(less) else best


def log_evidence(scores: Matrix, values: Vector) -> float:
    """Log evidence of values with a robust spread of one about zero, on whichever scale it is largest.

    As they are, bent by a power, or by asinh, which brings heavy tails to the length of light ones; both together
    bend almost anything, and have to be clearly better.
    """
    levels, basis = np.linalg.eigh(scores)
    levels = np.maximum(levels, 0.0)
    tame, jacobian = np.arcsinh(values), -0.5 * float(np.sum(np.log1p(values**2)))
    scales = (
        (Standardised, values, 0.0),
        (YeoJohnson, values, 0.0),
        (Standardised, tame, jacobian),
        (YeoJohnson, tame, jacobian - NATS_FOR_POWER),
    )
    return max(_evidence(kind.of(each), each, levels, basis).log + more for kind, each, more in scales)


def _clearly_less(a: Vector, b: Vector) -> bool:
    """Whether the mean of `a` is below that of `b`, pair by pair, by more than the standard error of the difference."""
    fall = b - a
    return float(fall.mean()) > ERRORS_FOR_RANKS * float(fall.std(ddof=1)) / np.sqrt(len(fall))


def _evidence(transform: Transform, values: Vector, levels: Vector, basis: Matrix) -> _Evidence:
    """Evidence on the user's scale at the best noise."""
    z = np.asarray(transform.forward(values), dtype=float)
    found = spectral_evidence(levels, z @ basis, RATIOS)
    best = int(np.argmax([evidence.log + prior for evidence, prior in zip(found, LOG_PRIORS, strict=True)]))
    jacobian = float(np.sum(np.log(np.maximum(transform.slope(values), 1e-300))))
    return _Evidence(found[best].log + jacobian, z, found[best].amplitude, float(RATIOS[best]))


def _fit(transform: Transform, values: Vector, levels: Vector, basis: Matrix) -> _Fit:
    """Evidence at the best noise, and the leave-one-out errors of the better half, both on the user's scale."""
    found = _evidence(transform, values, levels, basis)
    solution = Spectral(basis, np.ones(len(levels)), levels + found.ratio)
    diagonal = solution.diagonal
    left_out = found.z - solution.solve(found.z) / diagonal
    predicted = transform.moments(left_out, np.sqrt(found.amplitude / diagonal))[0]
    good = values >= np.median(values)
    return _Fit(found.log, (predicted[good] - values[good]) ** 2)
