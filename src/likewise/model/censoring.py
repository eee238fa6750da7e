"""Values of which only a limit is known: below 0.1, above 99. A limit is a likelihood, not a number.

On the model's scale measured values are y ~ N(0, M), M = a(S + ρI) + known variances. That y_i lies below a limit l is
the indicator 1[y_i < l]. Expectation propagation puts a normal site N(y_i; z_i, v_i) in its place. With the normal
distribution N(m, s) of y_i by everything else (its cavity), u = (l − m)/√s, r = φ(u)/Φ(u) and β = r(u + r), the values
below l have

    mean  m − √s r      and      variance  s(1 − β),

and the site that turns the cavity into a normal distribution with these moments is

    z = m − √s r/β      and      v = s(1 − β)/β.

Above a limit everything is mirrored. That a run succeeds is a limit, too: the reading f + ε with noise ρ is above 0;
with the site N(y_i; z_i, v_i) of the reading, that of f_i is N(f_i; z_i, v_i + ρ). Sites and cavities settle in some
rounds, all sites at once, so that their order does not matter. A site is then a value z_i with a known variance v_i,
for every model alike. A limit that says nothing new (u large) has a site without weight: v is very large.

The sites are those of one model, first a rough one and then the one with the most votes, and all members share them:
the evidence leaves out how well each of them foresaw the limits themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import log_ndtr

from likewise.model.evidence import NOISE_PRIOR, cholesky, spectral_evidence
from likewise.similarity.base import Matrix, Vector

# What is known of a value: that it lies below a limit, above one, or the value itself.
BELOW, EXACT, ABOVE = -1.0, 0.0, 1.0
SIDES = {"below": BELOW, None: EXACT, "above": ABOVE}
ROUNDS = 200
SETTLED = 1e-6
# Of a new site so much is taken in one round: where limits depend on one another, whole steps would swing.
STEP = 0.7
# A site of less weight than this, as a share of what the cavity knows, has no weight.
LEAST = 1e-9
# So many standard deviations on the wrong side the digits of r + u are lost.
FARTHEST = 1e4
RATIOS = np.geomspace(1e-6, 1.0, 13)

Mask = NDArray[np.bool_]


def exact(values: Vector, limits: Vector | None) -> Mask:
    """Which values are measured, and no limits."""
    return np.ones(len(values), dtype=bool) if limits is None else limits == EXACT


def anchors(values: Vector, limits: Vector | None) -> Mask:
    """Which values say on what scale all of them lie: measured ones, and limits that take the others farther out.

    A limit inside their range, or beyond it on the side where it says nothing, is no value.

    >>> anchors(np.array([5.0, 9.0, 0.1, 1e6]), np.array([0.0, 0.0, -1.0, -1.0])).tolist()
    [True, True, True, False]
    """
    is_exact = exact(values, limits)
    if limits is None or not is_exact.any():
        return np.ones(len(values), dtype=bool)
    low, high = float(values[is_exact].min()), float(values[is_exact].max())
    return np.asarray(is_exact | ((limits == BELOW) & (values < low)) | ((limits == ABOVE) & (values > high)))


def says_nothing(values: Vector, limits: Vector | None) -> Mask:
    """Which limits lie beyond all measured values by more than their range, on the side where they say nothing.

    >>> says_nothing(np.array([5.0, 9.0, 0.1, 1e6]), np.array([0.0, 0.0, -1.0, -1.0])).tolist()
    [False, False, False, True]
    """
    is_exact = exact(values, limits)
    if limits is None or is_exact.sum() < 2:
        return np.zeros(len(values), dtype=bool)
    low, high = float(values[is_exact].min()), float(values[is_exact].max())
    beyond = high - low
    return np.asarray(((limits == BELOW) & (values > high + beyond)) | ((limits == ABOVE) & (values < low - beyond)))


class Sites(NamedTuple):
    """Values and variances in the place of limits, and the log probability of the limits given measured values."""

    values: Vector
    variances: Vector
    log_evidence: float


def sites(covariance: Matrix, values: Vector, limits: Vector) -> Sites:
    """The sites of limits; measured values stay, with the variance 0.

    covariance: M, of measured values before anything is known, noise included.
    values: measured values and limits on the model's scale, where the mean is 0.
    limits: of each whether it is BELOW, EXACT or ABOVE.

    >>> z, v, log_evidence = sites(np.eye(2), np.array([0.3, 0.0]), np.array([0.0, -1.0]))
    >>> z.round(3).tolist(), v.round(3).tolist(), round(float(np.exp(log_evidence)), 3)
    ([0.3, -1.253], [0.0, 0.571], 0.5)
    """
    open_, ends, sides = np.flatnonzero(limits != EXACT), values[limits != EXACT], limits[limits != EXACT]
    mean, prior = _given(covariance, values, limits == EXACT)
    weight, shift = np.zeros(len(open_)), np.zeros(len(open_))
    for _ in range(ROUNDS):
        target, spread = _site(*_cavities(mean, prior, weight, shift), ends, sides)
        change = STEP * (1.0 / spread - weight)
        weight, shift = weight + change, shift + STEP * (target / spread - shift)
        if np.all(np.abs(change) < SETTLED * (weight + 1.0 / np.diag(prior))):
            break
    z, v = values.copy(), np.zeros(len(values))
    z[open_], v[open_] = shift / weight, 1.0 / weight
    return Sites(z, v, _log_evidence(mean, prior, weight, shift, ends, sides))


def _log_evidence(mean: Vector, prior: Matrix, weight: Vector, shift: Vector, ends: Vector, sides: Vector) -> float:
    """Equation 3.65 of Rasmussen & Williams (2006), with the sites' large variances taken out of the matrix."""
    middle, width = _cavities(mean, prior, weight, shift)
    z, total = shift / weight, width + 1.0 / weight
    root, factor = _factor(prior, weight)
    solved = linalg.solve_triangular(factor, root * (z - mean), lower=True, check_finite=False)
    normal = -np.sum(np.log(np.diag(factor))) - 0.5 * solved @ solved
    normalised = 0.5 * np.sum(np.log(total * weight) + (middle - z) ** 2 / total)
    return float(normal + normalised + np.sum(log_ndtr(sides * (middle - ends) / np.sqrt(width))))


def _site(mean: Vector, variance: Vector, limits: Vector, sides: Vector) -> tuple[Vector, Vector]:
    """The site of each limit, from its cavity."""
    away = np.sqrt(variance)
    u = sides * (mean - limits) / away
    near = np.maximum(u, -FARTHEST)
    ratio = np.exp(-0.5 * near**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(near))
    # Far on the wrong side r + u is next to 1/|u|.
    rest = np.where(u > -FARTHEST, near + ratio, -1.0 / np.minimum(u, -1.0))
    share = np.clip(ratio * rest, LEAST, 1.0 - 1.0 / FARTHEST**2)
    return mean + sides * away / np.maximum(rest, LEAST), variance * (1.0 - share) / share


def _given(covariance: Matrix, values: Vector, known: Mask) -> tuple[Vector, Matrix]:
    """Mean and covariance of the values behind limits, given the measured ones."""
    prior = covariance[np.ix_(~known, ~known)]
    if not known.any():
        return np.zeros(len(prior)), prior
    half = linalg.solve_triangular(
        cholesky(covariance[np.ix_(known, known)]),
        np.column_stack([values[known], covariance[np.ix_(known, ~known)]]),
        lower=True,
        check_finite=False,
    )
    left = prior - half[:, 1:].T @ half[:, 1:]
    # Rounding must leave some variance.
    return half[:, 1:].T @ half[:, 0], left + np.diag(np.maximum(LEAST * np.diag(prior) - np.diag(left), 0.0))


def _cavities(mean: Vector, prior: Matrix, weight: Vector, shift: Vector) -> tuple[Vector, Vector]:
    """Mean and variance of each value behind a limit by everything but its own site.

    With the weights W of the sites the covariance by all of them is C − C W½ (I + W½ C W½)⁻¹ W½ C.
    """
    root, factor = _factor(prior, weight)
    half = linalg.solve_triangular(factor, root[:, None] * prior, lower=True, check_finite=False)
    moved = shift - weight * mean
    centre = mean + prior @ moved - half.T @ (half @ moved)
    variance = np.maximum(np.diag(prior) - np.einsum("ij,ij->j", half, half), LEAST * np.diag(prior))
    width = 1.0 / np.maximum(1.0 / variance - weight, LEAST / np.diag(prior))
    return width * (centre / variance - shift), width


def _factor(prior: Matrix, weight: Vector) -> tuple[Vector, Matrix]:
    """W½, and the Cholesky factor of I + W½ C W½."""
    root = np.sqrt(weight)
    return root, cholesky(np.eye(len(prior)) + root[:, None] * prior * root)


def prior_covariance(scores: Matrix, amplitude: float, ratio: float, extra: Vector) -> Matrix:
    """M of a model: a(S + ρI) and the known variances; negative eigenvalues of S are left out."""
    levels, basis = np.linalg.eigh(scores)
    positive = (basis * np.maximum(levels, 0.0)) @ basis.T
    return np.asarray(amplitude * positive + np.diag(amplitude * ratio + extra))


def rough_covariance(scores: Matrix, values: Vector, extra: Vector, anchored: Mask) -> Matrix:
    """M of a rough model, before anything is learnt: noise and amplitude by evidence, from values that are anchors."""
    levels, basis = np.linalg.eigh(scores[np.ix_(anchored, anchored)])
    levels, rotated = np.maximum(levels, 0.0), values[anchored] @ basis
    evidences = spectral_evidence(levels, rotated, RATIOS)
    priors = -0.5 * ((np.log(RATIOS) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2
    best = int(np.argmax([evidence.log + prior for evidence, prior in zip(evidences, priors, strict=True)]))
    return prior_covariance(scores, evidences[best].amplitude, float(RATIOS[best]), extra)
