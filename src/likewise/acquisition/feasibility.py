"""The chance that an object can be measured at all, learnt from which objects failed and which did not.

Success is the sign of a latent value, which a committee of the study's own similarities predicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri

from likewise.acquisition.acquisitions import Acquisition, Slopes
from likewise.acquisition.scorer import Scorer
from likewise.model.censoring import Sites, sites
from likewise.model.committee import Committee
from likewise.model.evidence import Evidence
from likewise.model.fit import FitSettings, Targets, elect, mixes
from likewise.model.model import Data, choose
from likewise.model.regression import Regression, regress
from likewise.model.scores import Gram, GramCache, mix_scores
from likewise.model.solvers import add_diagonal
from likewise.model.spectrum import Treatment, treat
from likewise.model.transforms import Standardised
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Vector

# Yes or no as the sign of a latent value: which objects succeed, learnt like any other value.
#
# An outcome is yₖ = sign(f(xₖ) + ε), where the latent f has the scores S for covariances and ε has the variance ρ: all
# that is known of the reading f(xₖ) + ε is that it lies above 0, or below. Sites stand for such limits (see
# `likewise.model.censoring`). A committee for outcomes is elected as one for values is, by the evidence.

# Where objects fail is often a coarser matter than what they are worth: wider warps than for values.
WARPS = (1 / 16, 1 / 4, 1.0, 4.0)
# Failures with a clear border, and such as no similarity explains.
RATIOS = (1e-3, 3e-2, 1.0)
SETTINGS = FitSettings(warps=WARPS, ratios=RATIOS, mixes=False, learn=False)


@dataclass(frozen=True, eq=False)
class _ClassifierCandidate:
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
        values, variances = self.prior_mean + self.sites.values, self.ratio + self.sites.variances
        return regress(self.treatment, values, variances, 1.0, self.prior_mean, psd=self.psd)


def fit_outcomes(grams: Sequence[Gram], signs: Vector) -> Committee:
    """The committee of these similarities for outcomes of ±1, on the scale of the latent value.

    Where nothing is known, the chance of +1 is its share, with one more outcome of each kind.
    """
    data = Targets(signs, np.zeros(len(signs)))
    members = elect(list(_candidates(grams, data)), data)
    return Committee(tuple(grams), members, Standardised(0.0, 1.0), signs)


def _candidates(grams: Sequence[Gram], data: Targets) -> Iterator[_ClassifierCandidate]:
    usual = float(ndtri((np.sum(data.values > 0) + 1.0) / (len(data.values) + 2.0)))
    for mix, ratios, log_prior in mixes(grams, {}, data, SETTINGS):
        psd = mix.psd([gram.similarity for gram in grams])
        treatment = treat(mix_scores(grams, mix), psd=psd)
        for ratio in ratios:
            prior_mean = usual * float(np.sqrt(np.mean(np.diagonal(treatment.matrix)) + ratio))
            # A success is a reading above 0, whose prior mean is that of the latent value.
            ends = np.full(len(data.values), -prior_mean)
            outcomes = sites(add_diagonal(treatment.matrix, ratio), ends, data.values)
            yield _ClassifierCandidate(mix, psd, treatment, ratio, log_prior, prior_mean, outcomes)


# The chance that an object can be measured at all, from what failed and what did not.
#
# A committee of the study's own similarities is conditioned on the outcomes as signs of a latent value (see
# `likewise.acquisition.feasibility`). Members say
#
#     c(x) = P[f(x) + ε > 0] = Φ(μ(x)/√(V(x) + ρ)),      averaged by their votes.
#
# Between the last success and the first failure c falls as slowly as the place of the border is uncertain. Where
# nothing was tried it is close to the success rate; it falls near a failure, further near several, and successes raise
# it again.

# Of each outcome; the estimate is asked for at every object that is scored, so it has to be cheap.
MOST = 64
# The least chance that is taken as long as there are such objects, as a share of the usual chance of a success.
CAUTION = 0.75
# By so much outcomes have to be foreseen better than by their rate, in log evidence.
MARGIN = 2.0
LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Success(Acquisition):
    """log P[f(x) + ε > 0] = log Φ(μ/√(σ² + ρ)); in place of a best value it is given each member's ρ.

    >>> round(float(np.exp(Success().score(0.0, 1.0, 0.1))), 4)
    0.5
    """

    logarithmic = True

    def score(self, mean: Any, std: Any, best: Any) -> Any:
        return log_ndtr(mean / np.sqrt(std**2 + best))

    def slopes(self, mean: Any, std: Any, best: Any) -> Slopes:
        spread = np.sqrt(std**2 + best)
        z = mean / spread
        log = log_ndtr(z)
        ratio = np.exp(-0.5 * z**2 - LOG_ROOT_2PI - log) / spread
        return Slopes(log, ratio, -z * ratio * std / spread)


def chance(committee: Committee, grams: GramCache, told: Data, failed: Sequence[Any]) -> Scorer:
    """A scorer of log c(x) after these observations and failures.

    Similarities are as the committee of the values has tuned them.

    >>> import likewise as lw
    >>> from likewise.model.model import Model
    >>> model = Model((lw.RBF(0.2),))
    >>> told = Data([[x] for x in (0.1, 0.2, 0.3, 0.4, 0.5)], np.array([1.0, 2.0, 3.0, 4.0, 5.0]), None)
    >>> found = chance(model.committee(told)[0], model.grams, told, [[0.8]])
    >>> near, far = np.exp(found.score([[0.79], [0.35]]))
    >>> bool(near < 0.4 and far > 0.8)
    True
    """
    successes = told.part(choose(told, MOST)).objects
    # The latest half stays, for that is where the search is, and the others are drawn.
    failures = [failed[i] for i in choose(Data(failed, np.arange(float(len(failed))), None), MOST).tolist()]
    signs = np.concatenate([np.ones(len(successes)), -np.ones(len(failures))])
    compared = zip(grams.of([*successes, *failures]), committee.similarities, strict=True)
    fitted = fit_outcomes([gram.retune(similarity) for gram, similarity in compared], signs)
    ratios = np.array([member.ratio for member in fitted.members])
    scorer = Scorer(fitted, Success(), ratios, novel=False)
    if not foresees(fitted):
        return scorer
    usual = float(np.median(scorer.score(successes)))
    return replace(scorer, least=usual + float(np.log(CAUTION)))


def foresees(committee: Committee) -> bool:
    """Whether outcomes left out are foreseen better than by the share of successes among the others.

    Failures that come at random say nothing about the next object.
    """
    signs, n = committee.values, len(committee.values)
    logs = [_left_out(member.regression, member.ratio, signs) for member in committee.members]
    foreseen = Success().average(np.array(logs), committee.weights)[0]
    same = np.where(signs > 0, np.sum(signs > 0), np.sum(signs < 0))
    return float(np.sum(foreseen)) > float(np.sum(np.log(same / (n + 1.0)))) + MARGIN


def _left_out(regression: Regression, ratio: float, signs: Vector) -> Vector:
    """The log chance of each outcome without its own site."""
    mean, std = regression.leave_one_out()
    return np.asarray(log_ndtr(signs * mean / np.sqrt(std**2 + ratio)))
