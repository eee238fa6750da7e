"""What is still to be gained: by how much the next suggestions may beat the best observation, and how likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.acquisition.joint_draws import draw_values
from likewise.model.committee import Committee
from likewise.study.suggestion import Suggestion

DRAWS = 2000


@dataclass(frozen=True)
class Gain:
    """What is expected of the next suggestions together, over the best observation so far.

    expected: E[max(0, best of them − best so far)], the mean improvement, in the units of the values; true values are
        meant, without the noise of a measurement. None while suggestions explore, as too little is measured.
    chance: the probability that at least one of them beats the best observation; None while they explore, and where
        all values are the same.
    n: how many suggestions that is.

    With several objectives or constraints `expected` and `chance` are those of the best single suggestion (its growth
    of the front, its chance to enter it), which the others can only add to.
    """

    expected: float | None
    chance: float | None
    n: int


def single_gain(found: Sequence[Suggestion]) -> Gain:
    """What the best of the suggestions promises alone: the least that all promise together."""
    if not found:
        return Gain(0.0, 0.0, 0)
    gains = [s.improvement for s in found if s.improvement is not None]
    chances = [s.chance for s in found if s.chance is not None]
    return Gain(max(gains, default=None), max(chances, default=None), len(found))


def joint_gain(found: Sequence[Suggestion], committee: Committee, best: float, seed: int) -> Gain:
    """What the suggestions promise together, by joint draws of the committee; `best` and its values are signed.

    The mean of the maximum lies between the largest of the suggestions' own and their sum, and so does the chance.
    Those are exact, so that draws decide only what lies between.
    """
    alone = single_gain(found)
    assert alone.expected is not None
    draws = draw_values(committee, [s.object for s in found], DRAWS, np.random.default_rng([seed, len(found)]))
    above = np.max(draws, axis=1) - best
    gains, chances = [s.improvement or 0.0 for s in found], [s.chance or 0.0 for s in found]
    expected = float(np.clip(np.mean(np.maximum(above, 0.0)), alone.expected, sum(gains)))
    if alone.chance is None:
        return Gain(expected, None, len(found))
    return Gain(expected, float(np.clip(np.mean(above > 0), alone.chance, min(1.0, sum(chances)))), len(found))
