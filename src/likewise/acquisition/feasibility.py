"""The chance that an object can be measured at all, from what failed and what did not.

Outcomes are 1 (told) and 0 (failed). A committee of the study's own similarities is conditioned on them as on any
values, with the overall success rate as its prior mean, and

    c(x) = P[outcome(x) > ½] = Φ((μ(x) − ½)/√V(x)),      averaged over the members.

Far from all failures this is close to the success rate, the same everywhere, and changes nothing; it falls near a
failure, further near several, and successes nearby raise it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.acquisition.improvement import ProbabilityOfImprovement
from likewise.acquisition.scorer import Scorer
from likewise.model.committee import Committee
from likewise.model.fit import Settings, fit
from likewise.model.gram_cache import GramCache
from likewise.model.schedule import Data, choose
from likewise.model.transforms import Standardised

# Where objects fail is often a coarser matter than what they are worth: wider warps than for values.
WARPS = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
# Objects alike may fail and succeed: what tells them apart is never all that is known of them.
RATIOS = (1e-3, 1e-2, 1e-1, 5e-1)
# Of each outcome; the estimate is asked for at every object that is scored, so it has to be cheap.
MOST = 100
SETTINGS = Settings(warps=WARPS, ratios=RATIOS, mixes=False, learn=False)


def chance(committee: Committee, grams: GramCache, told: Data, failed: Sequence[Any]) -> Scorer:
    """A scorer of log c(x) after these observations and failures.

    Similarities are as the committee of the values has tuned them.

    >>> import likewise as lw
    >>> from likewise.model.schedule import Model
    >>> model = Model((lw.RBF(0.2),))
    >>> told = Data([[x] for x in (0.1, 0.2, 0.3, 0.4, 0.5)], np.array([1.0, 2.0, 3.0, 4.0, 5.0]), None)
    >>> found = chance(model.committee(told)[0], model.grams, told, [[0.8]])
    >>> near, far = np.exp(found.score([[0.79], [0.35]]))
    >>> bool(near < 0.3 and far > 0.8)
    True
    """
    successes = told.part(choose(told, MOST)).objects
    # The latest half stays, for that is where the search is, and the others are drawn.
    failures = [failed[i] for i in choose(Data(failed, np.arange(float(len(failed))), None), MOST).tolist()]
    outcomes = np.concatenate([np.ones(len(successes)), np.zeros(len(failures))])
    rate = (len(told.values) + 1.0) / (len(told.values) + len(failed) + 2.0)
    transform = Standardised(rate, float(np.sqrt(rate * (1.0 - rate))))
    compared = zip(grams.of([*successes, *failures]), committee.similarities, strict=True)
    tuned = [gram.retune(similarity) for gram, similarity in compared]
    fitted = fit(tuned, outcomes, settings=SETTINGS, transform=transform)
    half = np.full(len(fitted.members), float(transform.forward(0.5)))
    return Scorer(fitted, ProbabilityOfImprovement(), half, novel=False)
