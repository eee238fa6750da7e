"""Which observations are better explained as bad measurements than as values: a slipped decimal, a swapped sample.

A value far from all others, which no other measurement of its object speaks for, is looked at. Evidence decides, on the
scale that suits the values best:

    log p(y)      against      log p(y without B) + Σ_{i ∈ B} log(π c(y_i)),

B the farthest values, π the share of measurements that are bad, and c a density with very heavy tails for what a bad
one may read. Values that a power makes ordinary, or that neighbours speak for, stay. Those in B are left out of the
model, and named; nothing else happens to them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.model.gram import Gram, Groups, same_objects
from likewise.model.targets.choose_transform import log_evidence
from likewise.model.targets.transforms import NORMAL
from likewise.similarity.base import Matrix, Vector

Index = NDArray[np.intp]

# Of fewer values nobody can say which is the odd one.
FEWEST = 8
# In standard deviations by the median; what is nearer is left to the model.
FAR = 8.0
# And so many ranges of the other values beyond these.
RANGES = 2.0
# Bad measurements are few: of more values than this share the distribution has a tail.
MOST_SHARE = 0.1
LOG_PRIOR = float(np.log(0.01))
# Half of the bad measurements are within so many standard deviations.
WIDTH = 10.0


@dataclass(frozen=True)
class Suspect:
    """An observation that is taken for a bad measurement, with its value on the user's scale and its place."""

    object: Any
    value: float
    place: int


def far_values(values: Vector, extra_noise: Vector | None = None) -> Index:
    """The places of the values that are far from all others, the farthest first; none where they are too many.

    `extra_noise` are known variances: a value that is said to be uncertain is no surprise.

    >>> far_values(np.array([50.0, 61.0, 8971.0, 40.0, 55.0, 62.0, 47.0, 58.0])).tolist()
    [2]
    """
    none = np.zeros(0, dtype=np.intp)
    centre, spread = _middle(values)
    if len(values) < FEWEST or not 0.0 < spread < np.inf:
        return none
    # Shares of the spread, as squares of very large or small values are no numbers.
    noise = 0.0 if extra_noise is None else np.sqrt(extra_noise) / spread
    away = np.abs(values - centre) / spread / np.sqrt(1.0 + noise**2)
    far = np.flatnonzero(away > FAR)
    if not len(far):
        return far
    # A search crowds around the best values, and what it tried before lies far from the crowd, but not out of range.
    rest = np.delete(values, far)
    beyond = np.maximum(values[far] - np.max(rest), np.min(rest) - values[far])
    far = far[beyond > RANGES * np.ptp(rest)]
    return far[np.argsort(-away[far], kind="stable")] if len(far) <= max(1.0, MOST_SHARE * len(values)) else none


def surely_near(ordered: Sequence[float]) -> bool:
    """Whether none of these values, in their order, can be far from the others: what is sure at a glance.

    Fewer than half of the values lie strictly between two that are half of them apart. So the median distance from the
    median is no less than the distance to the nearer one of these two. What is near by that is near, and what is within
    range of it is not far.

    >>> surely_near([40.0, 47.0, 50.0, 55.0, 58.0, 61.0, 62.0, 90.0])
    True
    """
    half, low = len(ordered) // 2, len(ordered) // 4
    if len(ordered) < FEWEST:
        return True
    centre = 0.5 * (ordered[half] + ordered[-1 - half])
    reach = FAR * NORMAL * min(centre - ordered[low], ordered[low + half] - centre)
    least = ordered[bisect_left(ordered, centre - reach)]
    most = ordered[bisect_right(ordered, centre + reach) - 1]
    return max(ordered[-1] - most, least - ordered[0]) <= RANGES * (most - least)


def suspects(grams: Sequence[Gram], values: Vector, extra_noise: Vector | None = None, offset: float = 1.0) -> Index:
    """The places of the observations that are better explained as bad measurements, in order.

    `offset` is what all objects have in common, as members of the committee have it.
    """
    far = _unconfirmed(far_values(values, extra_noise), values, same_objects(grams[0].objects))
    if not far:
        return np.zeros(0, dtype=np.intp)
    centre, spread = _middle(values)
    z, rough = (values - centre) / spread, _rough(grams) + offset
    best, found = log_evidence(rough, z), 0
    for k in range(1, len(far) + 1):
        others = np.delete(np.arange(len(z)), far[:k])
        log = log_evidence(rough[np.ix_(others, others)], z[others]) + _log_density(z[far[:k]])
        if log > best:
            best, found = log, k
    return np.sort(np.array(far[:found], dtype=np.intp))


def describe(x: Any, value: float) -> str:
    """What is said of a suspect.

    >>> describe("CCO", 8971.0)
    "8971 for 'CCO' is far from the other values and may be a bad measurement, so predictions leave it out"
    """
    return (
        f"{value:.6g} for {x!r} is far from the other values and may be a bad measurement, so predictions leave it out"
    )


def _middle(values: Vector) -> tuple[float, float]:
    """The median, and the standard deviation by the median distance from it."""
    if not len(values):
        return 0.0, 0.0
    centre = _median(values)
    return centre, NORMAL * _median(np.abs(values - centre))


def _median(values: Vector) -> float:
    """The median of a few numbers; that of NumPy takes its time to begin."""
    half, odd = divmod(len(values), 2)
    ordered = np.sort(values)
    return float(ordered[half]) if odd else float(0.5 * (ordered[half - 1] + ordered[half]))


def _unconfirmed(far: Index, values: Vector, groups: Groups) -> list[int]:
    """Those that no other measurement of their object is nearer to than to the middle of all values."""
    centre, _ = _middle(values)
    group_of = {i: group for group in groups for i in group.tolist()}

    def confirmed(i: int) -> bool:
        again = np.array([values[j] for j in group_of[i].tolist() if j != i])
        return bool(np.any(np.abs(again - values[i]) < np.abs(again - centre)))

    return [i for i in far.tolist() if not confirmed(i)]


def _rough(grams: Sequence[Gram]) -> Matrix:
    """The mean of all similarities, each with a mean score of one of an object with itself."""
    sizes = [float(np.mean(np.diag(gram.scores))) for gram in grams]
    shares = [gram.scores / (size if size > 0 else 1.0) for gram, size in zip(grams, sizes, strict=True)]
    return np.asarray(np.mean(shares, axis=0))


def _log_density(bad: Vector) -> float:
    """Log prior and log density of bad measurements, in standard deviations from the middle.

    asinh(z/w) has Cauchy's density: a decimal slips by one place or by two, so that decades are alike.
    """
    decades = np.arcsinh(bad / WIDTH)
    return float(np.sum(LOG_PRIOR - np.log(np.pi * (1.0 + decades**2)) - 0.5 * np.log(WIDTH**2 + bad**2)))
