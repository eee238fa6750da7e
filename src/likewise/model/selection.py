"""Which observations the model is built on, so that an ask stays quick however long the study is.

Fitting costs O(t³). Every observation counts until there are `CONDITIONED_ON`; of more, the best half of that number
stays, for that is where the optimum is, and the rest is drawn from all others at random, for the lie of the land. What
is learnt (parameters, noises, votes) is learnt from `LEARNT_FROM` of them, chosen in the same way.

The choice depends on nothing but the values in their order, so that a resumed study makes the same one; and it changes
only when the committee is fitted anew, so that Gram matrices grow in between. Of what is left out once, nothing comes
back, so that they never need a score again that was computed before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Vector

CONDITIONED_ON = 1000
LEARNT_FROM = 300
EVERY_TELL_UNTIL = 50
GROWTH, LONGEST_WAIT = 1.1, 100

Index = NDArray[np.intp]


class Selection(NamedTuple):
    """Observations by their place: those that the model is conditioned on, and those it learns from."""

    conditioned: Index
    learnt: Index


def select(values: Vector) -> Selection:
    """The observations that count, of all values in the order they were told; larger values are better.

    >>> [len(part) for part in select(np.arange(20.0))], [len(part) for part in select(np.arange(5000.0))]
    ([20, 20], [1048, 300])
    """
    t = len(values)
    fitted = last_fit(t)
    fresh = np.arange(fitted, t)
    return Selection(
        np.concatenate([choose(values[:fitted], CONDITIONED_ON), fresh]), choose(values[:fitted], LEARNT_FROM)
    )


def last_fit(t: int) -> int:
    """When the committee was last fitted: at every tell at first, then whenever the data have grown by a tenth.

    >>> [last_fit(t) for t in (7, 50, 54, 55, 60, 12_345)]
    [7, 50, 50, 55, 55, 12252]
    """
    if t <= EVERY_TELL_UNTIL:
        return t
    at = EVERY_TELL_UNTIL
    while (following := at + min(int(np.ceil((GROWTH - 1.0) * at - 1e-9)), LONGEST_WAIT)) <= t:
        at = following
    return at


def choose(values: Vector, most: int) -> Index:
    """The places of the best half of `most`, and of as many drawn from the others, in order.

    >>> choose(np.array([5.0, 1.0, 4.0, 3.0, 2.0]), 10).tolist()
    [0, 1, 2, 3, 4]
    """
    t = len(values)
    if t <= most:
        return np.arange(t)
    best = np.argsort(-values, kind="stable")[: most // 2]
    # A lot for each place, the same in every process: who has drawn a long one is not drawn later either.
    lots = np.random.default_rng(0).random(t)
    lots[best] = -1.0
    return np.sort(np.argsort(lots, kind="stable")[:most])
