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
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from likewise.model.evidence import NOISE_PRIOR, Evidence, spectral_evidence
from likewise.model.solvers import Spectral
from likewise.model.transforms import Ranked, Standardised, Tamed, Transform, YeoJohnson
from likewise.similarity.base import Matrix, Vector

POWER_FROM, RANKS_FROM = 8, 20
# By how much the evidence must be larger for each bend: tails and a power are two.
NATS_FOR_POWER = 2.0
BENDS: dict[type[Transform], int] = {Standardised: 0, YeoJohnson: 1, Tamed: 2}
# By how many standard errors the squared errors must fall.
ERRORS_FOR_RANKS = 1.0
RATIOS = np.geomspace(1e-6, 1.0, 13)
LOG_PRIORS = -0.5 * ((np.log(RATIOS) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2
# Matrices of scores that depend on the values on the model's scale.
Views = Callable[[Vector], Sequence[Matrix]]


class _Scaled(NamedTuple):
    """The values on a scale of their own, and the logarithm of its Jacobian."""

    transform: Transform
    z: Vector
    log_jacobian: float

    @classmethod
    def of(cls, kind: type[Transform], values: Vector) -> _Scaled:
        transform = kind.of(values)
        slopes = np.maximum(transform.slope(values), 1e-300)
        return cls(transform, np.asarray(transform.forward(values), dtype=float), float(np.sum(np.log(slopes))))


class _View(NamedTuple):
    """The eigenvalues and eigenvectors of a matrix of scores, negative ones clipped."""

    levels: Vector
    basis: Matrix

    @classmethod
    def of(cls, scores: Matrix) -> _View:
        levels, basis = np.linalg.eigh(scores)
        return cls(np.maximum(levels, 0.0), basis)

    def evidence(self, scaled: _Scaled) -> tuple[Evidence, float]:
        """Evidence on the user's scale at the best noise, and that noise."""
        evidences = spectral_evidence(self.levels, scaled.z @ self.basis, RATIOS)
        best = int(np.argmax([evidence.log + prior for evidence, prior in zip(evidences, LOG_PRIORS, strict=True)]))
        return replace(evidences[best], log=evidences[best].log + scaled.log_jacobian), float(RATIOS[best])

    def squared_errors(self, scaled: _Scaled, values: Vector) -> Vector:
        """The leave-one-out errors of the better half at the best noise, on the user's scale."""
        evidence, ratio = self.evidence(scaled)
        solution = Spectral(self.basis, np.ones(len(self.levels)), self.levels + ratio)
        left_out = scaled.z - solution.solve(scaled.z) / solution.diagonal
        predicted = scaled.transform.moments(left_out, np.sqrt(evidence.amplitude / solution.diagonal))[0]
        good = values >= np.median(values)
        return np.asarray((predicted[good] - values[good]) ** 2)


def choose_transform(scores: Sequence[Matrix] | Views, values: Vector) -> type[Transform]:
    """The transform that suits these values best, under matrices of scores of the observed objects.

    The last matrix is the mean of the others. They may depend on the values on the model's scale.
    """
    if len(values) < POWER_FROM or np.ptp(values) == 0:
        return Standardised
    # Every transform begins with a scale of its own, so that the unit of the values says nothing of which is best.
    values = np.asarray(Standardised.of(values).forward(values))
    shared = [] if callable(scores) else list(map(_View.of, scores))

    def judge(kind: type[Transform]) -> tuple[_Scaled, list[_View]]:
        scaled = _Scaled.of(kind, values)
        return scaled, list(map(_View.of, scores(scaled.z))) if callable(scores) else shared

    judged = {kind: judge(kind) for kind in BENDS}
    logs = {kind: [view.evidence(scaled)[0].log for view in views] for kind, (scaled, views) in judged.items()}
    best = max(BENDS, key=lambda kind: np.logaddexp.reduce(logs[kind]) - NATS_FOR_POWER * BENDS[kind])
    if len(values) < RANKS_FROM:
        return best
    (ranked, by_rank), (plain, by_value) = judge(Ranked), judged[best]
    judges = {len(by_value) - 1, int(np.argmax(logs[best]))}
    errors = ((by_rank[i].squared_errors(ranked, values), by_value[i].squared_errors(plain, values)) for i in judges)
    return Ranked if all(_clearly_less(*pair) for pair in errors) else best


def _clearly_less(a: Vector, b: Vector) -> bool:
    """Whether the mean of `a` is below that of `b`, pair by pair, by more than the standard error of the difference."""
    fall = b - a
    return float(fall.mean()) > ERRORS_FOR_RANKS * float(fall.std(ddof=1)) / np.sqrt(len(fall))
