"""Yes or no as the sign of a latent value: which objects succeed, learnt like any other value.

An outcome is yₖ = sign(f(xₖ) + ε), where the latent f has the scores S for covariances and ε has the variance ρ. The
posterior of f is not normal; expectation propagation finds the normal one with the same moments, outcome by outcome
(Minka 2001; Rasmussen & Williams, section 3.6). It is that of a regression on *sites*: values μ̃ₖ of variances σ̃ₖ².

All sites are updated together, half of the way, until none moves. A committee for outcomes is elected as one for
values is, by the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import log_ndtr, ndtri

from likewise.model.committee import Committee
from likewise.model.evidence import Evidence
from likewise.model.fit import Settings, Targets, elect, mixes
from likewise.model.gram import Gram
from likewise.model.regression import Regression, regress
from likewise.model.spectrum import Treatment, treat
from likewise.model.targets.transforms import Standardised
from likewise.model.treatments import mix_scores
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.combine.mix import Mix

# Where objects fail is often a coarser matter than what they are worth: wider warps than for values.
WARPS = (1 / 16, 1 / 4, 1.0, 4.0)
# Failures with a clear border, and such as no similarity explains.
RATIOS = (1e-3, 3e-2, 1.0)
SETTINGS = Settings(warps=WARPS, ratios=RATIOS, mixes=False, learn=False)

ROUNDS, DAMPING, SETTLED = 60, 0.5, 1e-3
LOG_ROOT_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))
# A site says no less than this precision, so that its variance is a number.
LEAST = 1e-10


class Sites(NamedTuple):
    """A value and a variance for each outcome, and the log evidence of all outcomes."""

    values: Vector
    variances: Vector
    log_evidence: float


def classify(scores: Matrix, signs: Vector, ratio: float, prior_mean: float = 0.0) -> Sites:
    """The sites of outcomes ±1 at objects with these PSD scores; `ratio` is the variance ρ.

    `prior_mean` is that of the latent value.

    >>> near = np.array([[1.0, 0.9], [0.9, 1.0]])
    >>> agree, differ = (classify(near, np.array([1.0, y]), 0.1).log_evidence for y in (1.0, -1.0))
    >>> bool(agree > np.log(0.25) > differ)
    True
    """
    precision, shift = np.full(len(signs), LEAST), np.zeros(len(signs))
    for _ in range(ROUNDS):
        mean, variance = _posterior(scores, precision, shift)
        cavity = 1.0 / variance - precision
        cavity_shift = mean / variance - shift
        width = 1.0 / np.maximum(cavity, LEAST)
        spread = np.sqrt(ratio + width)
        z = signs * (prior_mean + width * cavity_shift) / spread
        hazard = np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - log_ndtr(z))
        there = width * cavity_shift + signs * width * hazard / spread
        narrowed = np.maximum(width - (width / spread) ** 2 * hazard * (z + hazard), 1e-12)
        wanted = np.maximum(1.0 / narrowed - cavity, LEAST)
        step = wanted - precision
        shift = shift + DAMPING * (there / narrowed - cavity_shift - shift)
        precision = precision + DAMPING * step
        if np.all(np.abs(step) <= SETTLED * (wanted + 1.0)):
            break
    found = _log_evidence(scores, signs, ratio, prior_mean, precision, shift)
    return Sites(prior_mean + shift / precision, 1.0 / precision, found)


def _posterior(scores: Matrix, precision: Vector, shift: Vector) -> tuple[Vector, Vector]:
    """Means and variances of the latent values, given the sites."""
    root = np.sqrt(precision)
    factor = linalg.cholesky(np.eye(len(root)) + np.outer(root, root) * scores, lower=True, check_finite=False)
    half = linalg.solve_triangular(factor, root[:, None] * scores, lower=True, check_finite=False)
    mean = scores @ shift - half.T @ (half @ shift)
    return mean, np.maximum(np.diagonal(scores) - np.einsum("ij,ij->j", half, half), 1e-12)


def _log_evidence(
    scores: Matrix, signs: Vector, ratio: float, prior_mean: float, precision: Vector, shift: Vector
) -> float:
    """Equation 3.65 of Rasmussen & Williams."""
    mean, variance = _posterior(scores, precision, shift)
    cavity = np.maximum(1.0 / variance - precision, LEAST)
    middle, width = (mean / variance - shift) / cavity, 1.0 / cavity
    values, noise = shift / precision, 1.0 / precision
    # With the variances of the sites taken out of the matrix, for they may be very large.
    root = np.sqrt(precision)
    factor = linalg.cholesky(np.eye(len(root)) + np.outer(root, root) * scores, lower=True, check_finite=False)
    solved = linalg.solve_triangular(factor, root * values, lower=True, check_finite=False)
    normal = -np.sum(np.log(np.diagonal(factor))) - 0.5 * solved @ solved
    outcomes = np.sum(log_ndtr(signs * (prior_mean + middle) / np.sqrt(ratio + width)))
    total = width + noise
    sites = 0.5 * np.sum(np.log(total * precision)) + 0.5 * np.sum((middle - values) ** 2 / total)
    return float(normal + outcomes + sites)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A candidate for membership in a committee for outcomes."""

    mix: Mix
    psd: bool
    treatment: Treatment
    ratio: float
    log_prior: float
    prior_mean: float
    sites: Sites

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.sites.log_evidence, 1.0)

    def regression(self, data: Targets, many: int) -> Regression:
        """That of its sites, which stand for the data."""
        return regress(self.treatment, self.sites.values, self.sites.variances, 1.0, self.prior_mean, psd=self.psd)


def fit_outcomes(grams: Sequence[Gram], signs: Vector) -> Committee:
    """The committee of these similarities for outcomes of ±1, on the scale of the latent value.

    Where nothing is known, the chance of +1 is its share, with one more outcome of each kind.
    """
    data = Targets(signs, np.zeros(len(signs)))
    members = elect(list(_candidates(grams, data)), data)
    return Committee(tuple(grams), members, Standardised(0.0, 1.0), signs)


def _candidates(grams: Sequence[Gram], data: Targets) -> Iterator[_Candidate]:
    usual = float(ndtri((np.sum(data.values > 0) + 1.0) / (len(data.values) + 2.0)))
    for mix, ratios, log_prior in mixes(grams, {}, data, SETTINGS):
        psd = mix.psd([gram.similarity for gram in grams])
        treatment = treat(mix_scores(grams, mix), psd=psd)
        for ratio in ratios:
            prior_mean = usual * float(np.sqrt(np.mean(np.diagonal(treatment.matrix)) + ratio))
            sites = classify(treatment.matrix, data.values, ratio, prior_mean)
            yield _Candidate(mix, psd, treatment, ratio, log_prior, prior_mean, sites)
