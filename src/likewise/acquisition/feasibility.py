"""The chance that an object can be measured at all, from what failed and what did not.

A committee of the study's own similarities is conditioned on the outcomes as signs of a latent value (see
`likewise.model.classification`). Members say

    c(x) = P[f(x) + ε > 0] = Φ(μ(x)/√(V(x) + ρ)),      averaged by their votes.

Between the last success and the first failure c falls as slowly as the place of the border is uncertain. Where nothing
was tried it is close to the success rate; it falls near a failure, further near several, and successes raise it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from likewise.acquisition.base import Acquisition, Slopes
from likewise.acquisition.scorer import Scorer
from likewise.model.classification import fit_outcomes
from likewise.model.committee import Committee
from likewise.model.gram_cache import GramCache
from likewise.model.regression import Regression
from likewise.model.schedule import Data, choose
from likewise.similarity.base import Vector

# Of each outcome; the estimate is asked for at every object that is scored, so it has to be cheap.
MOST = 64
# The least chance that is taken as long as there are such objects, as a share of the usual chance of a success.
CAUTION = 0.75
# By so much outcomes have to be foreseen better than by their rate, in log evidence.
MARGIN = 2.0
LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)


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
        ratio = np.exp(-0.5 * z**2 - LOG_ROOT_TWO_PI - log) / spread
        return Slopes(log, ratio, -z * ratio * std / spread)


def chance(committee: Committee, grams: GramCache, told: Data, failed: Sequence[Any]) -> Scorer:
    """A scorer of log c(x) after these observations and failures.

    Similarities are as the committee of the values has tuned them.

    >>> import likewise as lw
    >>> from likewise.model.schedule import Model
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
    found = Scorer(fitted, Success(), ratios, novel=False)
    if not foresees(fitted):
        return found
    usual = float(np.median(found.score(successes)))
    return replace(found, least=usual + float(np.log(CAUTION)))


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
