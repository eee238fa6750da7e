"""Values far from all others: a hit, or a slipped decimal. They are named, and stay in the model.

On a scale that is straight near the middle and logarithmic far from it,

    z = asinh((y − median) / spread),   spread by the median distance from the median,

a value is far if no other is as near to it as the farthest two of the others are to one another. Heavy tails have
others on the way to their end, and a search that crowds around the best has its early tries. Nothing but values is
looked at, so that it costs little and says the same to everybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.model.targets.transforms import NORMAL
from likewise.similarity.base import Vector

Index = NDArray[np.intp]

# Of fewer values nobody can say which is the odd one.
FEWEST = 8
# Slips are few: of more values than this share the distribution has a tail.
MOST_SHARE = 0.1


def far_values(values: Vector, stated: NDArray[np.bool_] | None = None) -> Index:
    """The places of the values that are far from all others, in order.

    `stated` says which values were told with their standard deviation: whoever knows how wrong a value may be has
    looked at it, and it is not named.

    >>> far_values(np.array([50.0, 61.0, 8971.0, 40.0, 55.0, 62.0, 47.0, 58.0])).tolist()
    [2]
    """
    none = np.zeros(0, dtype=np.intp)
    if len(values) < FEWEST:
        return none
    centre = np.median(values)
    spread = NORMAL * float(np.median(np.abs(values - centre)))
    if not 0.0 < spread < np.inf:
        return none
    z = np.arcsinh(values / spread - centre / spread)
    order = np.argsort(z, kind="stable")
    steps = np.concatenate([[np.inf], np.diff(z[order]), [np.inf]])
    nearest = np.empty(len(z))
    nearest[order] = np.minimum(steps[:-1], steps[1:])
    # Those that prove to have company count among the others.
    far, before = np.argsort(-np.abs(z), kind="stable")[: max(1, int(MOST_SHARE * len(z)))], -1
    while len(far) != before:
        before, far = len(far), far[nearest[far] > np.ptp(np.delete(z, far))]
    return np.sort(far if stated is None else far[~stated[far]])


def describe(x: Any, value: float) -> str:
    """What is said of a value that is far from all others.

    >>> describe("CCO", 8971.0)
    "8971 for 'CCO' is far from all other values: a hit, or a slip"
    """
    return f"{value:.6g} for {x!r} is far from all other values: a hit, or a slip"
