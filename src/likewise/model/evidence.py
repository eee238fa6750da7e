"""How well a model explains the values: the marginal likelihood, and the leave-one-out density where there is none.

With M = S + ρI (ρ the noise as a share of the amplitude a) and y ~ N(0, aM), the amplitude has a conjugate prior worth
ν observations of size one, and integrates out in closed form:

    log p(y) = −(t + ν)/2 · log(ν + yᵀM⁻¹y) − ½ log|M| + const(t),      â = (ν + yᵀM⁻¹y)/(t + ν).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr

from likewise.model.regression import Regression
from likewise.similarity.base import LogNormal, Vector

AMPLITUDE_STRENGTH = 4.0
NOISE_PRIOR = LogNormal(-4.0, 1.5)
# Warps are rather mild: one standard deviation is a factor of four in how local the similarity is.
WARP_SCALE = np.log(4.0)


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
    t = len(levels)
    return list(map(Evidence, _log(quadratics, determinants, t).tolist(), _amplitude(quadratics, t).tolist()))


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
