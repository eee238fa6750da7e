"""How well a model explains the values: the marginal likelihood, and the leave-one-out density where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import gammaln, logsumexp, ndtr

from likewise.errors import SimilarityError
from likewise.model.regression import Regression
from likewise.model.solvers import add_diagonal
from likewise.model.spectrum import Treatment
from likewise.similarity.base import LogNormal, Matrix, Vector

AMPLITUDE_STRENGTH = 4.0
NOISE_PRIOR = LogNormal(-4.0, 1.5)
# Warps are rather mild: one standard deviation is a factor of four in how local the similarity is.
WARP_SCALE = np.log(4.0)
# What is added to a diagonal until a matrix is positive, as shares of its mean.
JITTERS = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)


@dataclass(frozen=True)
class Evidence:
    """Log evidence and the most plausible amplitude."""

    log: float
    amplitude: float


def marginal_likelihood(quadratic: float, log_determinant: float, t: int) -> Evidence:
    """Log density of the values with the amplitude integrated out, from q = yᵀM⁻¹y and log|M|.

    >>> round(marginal_likelihood(quadratic=3.0, log_determinant=0.0, t=3).amplitude, 3)
    1.0
    """
    return Evidence(float(_log(quadratic, log_determinant, t)), float(_amplitude(quadratic, t)))


def _log(quadratic: Any, log_determinant: Any, t: int) -> Any:
    fit = 0.5 * (t + AMPLITUDE_STRENGTH) * np.log(AMPLITUDE_STRENGTH + quadratic)
    return _constant(t) - 0.5 * t * np.log(np.pi) - fit - 0.5 * log_determinant


def _amplitude(quadratic: Any, t: int) -> Any:
    return (AMPLITUDE_STRENGTH + quadratic) / (t + AMPLITUDE_STRENGTH)


@cache
def _constant(t: int) -> float:
    """What the density of t values is divided by to be one."""
    strength = AMPLITUDE_STRENGTH
    return float(gammaln(0.5 * (t + strength)) - gammaln(0.5 * strength) + 0.5 * strength * np.log(strength))


def spectral_evidence(levels: Vector, rotated: Vector, ratios: Sequence[float] | Vector) -> list[Evidence]:
    """Marginal likelihood at each noise from the eigenvalues of the treated S and the rotated values; O(t) a noise."""
    shifted = levels + np.asarray(ratios)[:, None]
    quadratics, determinants = (1.0 / shifted) @ rotated**2, np.log(shifted).sum(axis=1)
    return _evidences(quadratics, determinants, len(levels))


def absolute_evidence(scores: Matrix, values: Vector, ratios: Sequence[float]) -> list[Evidence]:
    """The same from an indefinite matrix of scores: |M| in the place of M, with eigenvalues that are not quite zero.

    >>> round(absolute_evidence(np.diag([1.0, -2.0]), np.array([1.0, 2.0]), (0.0,))[0].amplitude, 6)
    1.166667
    """
    levels, basis = np.linalg.eigh(scores)
    sizes = np.abs(levels + np.asarray(ratios)[:, None])
    sizes = np.maximum(sizes, JITTERS[0] * sizes.max(axis=1, keepdims=True))
    return _evidences((1.0 / sizes) @ (values @ basis) ** 2, np.log(sizes).sum(axis=1), len(values))


def tridiagonal_evidence(scores: Matrix, values: Vector, ratios: Sequence[float]) -> list[Evidence] | None:
    """The same from the matrix of scores and the values: a quarter of the work of eigenvectors.

    Reflections that make [[0, yᵀ], [y, S]] tridiagonal leave T of S and ‖y‖e₁ of y. With T + ρI = UᵀΔU, U unit lower
    triangular, log|M| = Σ log Δ_i and yᵀM⁻¹y = ‖y‖²/Δ₁. None where rounding leaves S + ρI indefinite.

    >>> one = tridiagonal_evidence(np.eye(2), np.ones(2), [0.5])
    >>> bool(np.isclose(one[0].log, spectral_evidence(np.ones(2), np.ones(2), [0.5])[0].log))
    True
    """
    t = len(values)
    bordered = np.zeros((t + 1, t + 1), order="F")
    bordered[1:, 0], bordered[1:, 1:] = values, scores
    _, diagonal, beside, _, _ = linalg.lapack.dsytrd(bordered, lower=1, overwrite_a=1)
    pivots = []
    for ratio in ratios:
        # From the last to the first, so that the first is left over.
        pivot, _, wrong = linalg.lapack.dpttrf(diagonal[:0:-1] + ratio, beside[:0:-1])
        if wrong:
            return None
        pivots.append(pivot)
    return _evidences(values @ values / np.array(pivots)[:, -1], np.log(pivots).sum(axis=1), t)


def _evidences(quadratics: Vector, log_determinants: Vector, t: int) -> list[Evidence]:
    return list(map(Evidence, _log(quadratics, log_determinants, t).tolist(), _amplitude(quadratics, t).tolist()))


def evidences(treatment: Treatment, ratios: Sequence[float], values: Vector, extra: Vector) -> list[Evidence]:
    """The marginal likelihood of a treated matrix at each noise; `extra` are known variances."""
    alone = treatment.definite and treatment.eigen is None and 1 in (len(ratios), len(values))
    if alone or extra.any():
        return [_factored_evidence(treatment, ratio, values, extra) for ratio in ratios]
    if not treatment.definite:
        return absolute_evidence(treatment.matrix, values, ratios)
    listed = tridiagonal_evidence(treatment.matrix, values, ratios) if treatment.eigen is None else None
    if listed is not None:
        return listed
    eigen = treatment.decomposed.eigen
    assert eigen is not None
    return spectral_evidence(eigen.levels, values @ eigen.basis, ratios)


def _factored_evidence(treatment: Treatment, ratio: float, values: Vector, extra: Vector) -> Evidence:
    """Marginal likelihood by a factor of M or |M|, for noises that differ between the observations.

    Known variances E are shares of an amplitude that is itself estimated; two rounds settle both. An observation says
    of the amplitude as much as is not its known variance: with M = S + ρI + E/a and α = M⁻¹y,

        â = (ν + yᵀα − αᵀ(E/a)α) / (ν + t − tr(M⁻¹E/a)).
    """
    evidence = Evidence(0.0, 1.0)
    for _ in range(2 if extra.any() else 1):
        noise = extra / evidence.amplitude
        matrix = add_diagonal(treatment.matrix, ratio + noise)
        if not treatment.definite:
            (evidence,) = absolute_evidence(matrix, values, (0.0,))
            continue
        factor = cholesky(matrix)
        half = linalg.solve_triangular(factor, values, lower=True, check_finite=False)
        log_determinant = 2.0 * float(np.sum(np.log(np.diag(factor))))
        evidence = marginal_likelihood(float(half @ half), log_determinant, len(values))
        if extra.any():
            evidence = replace(evidence, amplitude=_known_amplitude(factor, half, noise))
    return evidence


def _known_amplitude(factor: Matrix, half: Vector, known: Vector) -> float:
    """â of `_factored_evidence` from the factor L of M and L⁻¹y."""
    places = np.flatnonzero(known)
    columns = np.eye(len(known))[:, places]
    inverse = linalg.solve_triangular(factor, columns, lower=True, check_finite=False)
    alpha = linalg.solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
    share = float(known[places] @ np.sum(inverse**2, axis=0))
    fit, freedom = float(half @ half - alpha**2 @ known), len(known) - share
    return (AMPLITUDE_STRENGTH + fit) / (AMPLITUDE_STRENGTH + freedom)


def cholesky(matrix: Matrix) -> Matrix:
    """The Cholesky factor, with as little as it takes added to the diagonal where rounding made it indefinite."""
    size = float(np.trace(matrix)) / len(matrix)
    for jitter in (0.0, *JITTERS):
        try:
            shifted = add_diagonal(matrix, jitter * size) if jitter else matrix
            return linalg.cholesky(shifted, lower=True, check_finite=False)
        except linalg.LinAlgError:
            continue
    raise SimilarityError(
        "the scores of the observed objects are far from positive semi-definite, though the similarity says they are; "
        "make it without psd=True, so that its negative eigenvalues are treated"
    )


def regression_evidence(regression: Regression) -> float:
    """Log marginal likelihood of the values that a regression is conditioned on.

    >>> from likewise.model.posterior import condition
    >>> from likewise.similarity.kinds.vectors import RBF
    >>> one = condition(RBF(1.0), [[0.0]], [1.0], noise=0.1).regression
    >>> bool(np.isclose(regression_evidence(one), spectral_evidence(np.ones(1), np.ones(1), [0.1])[0].log))
    True
    """
    away = regression.values - regression.prior_mean
    solution = regression.solution
    return marginal_likelihood(float(away @ regression.solved), solution.log_determinant, len(away)).log


def leave_one_out_density(regression: Regression) -> float:
    """Σ_i log p(y_i | the others), the criterion when some member has no marginal likelihood.

    >>> from likewise.model.posterior import condition
    >>> from likewise.similarity.kinds.vectors import RBF
    >>> leave_one_out_density(condition(RBF(1.0), [[0.0], [0.1]], [1.0, 1.0]).regression) > -3.0
    True
    """
    mean, std = regression.leave_one_out()
    variance = std**2 + regression.noise
    return float(np.sum(-0.5 * np.log(2.0 * np.pi * variance) - 0.5 * (regression.values - mean) ** 2 / variance))


def misfit_share(noises: Any) -> Any:
    """The belief that what a member takes for noise, a share of the values' variance, is what it cannot explain.

    It is the prior probability that noise is less than that: the more there is of it, the less of it is noise.

    >>> misfit_share(np.exp(np.array([-7.0, -4.0, -0.7]))).round(2).tolist()
    [0.02, 0.5, 0.99]
    """
    return ndtr((np.log(np.maximum(noises, 1e-300)) - NOISE_PRIOR.location) / NOISE_PRIOR.scale)


@cache
def warp_priors(powers: tuple[float, ...]) -> tuple[float, ...]:
    """The log prior of each warp, of those that stand.

    >>> bool(np.isclose(sum(np.exp(warp_priors((0.5, 1.0, 2.0)))), 1.0))
    True
    """
    priors = -0.5 * (np.log(powers) / WARP_SCALE) ** 2
    return tuple((priors - logsumexp(priors)).tolist())
