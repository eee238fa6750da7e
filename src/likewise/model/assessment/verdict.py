"""What leaving out says in words: whether the similarities are of use, and whether intervals hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEVELS = (0.5, 0.8, 0.95)
# So many different objects are needed before leaving out says anything.
ENOUGH = 8
# A rank correlation past this many of its standard errors, 1/√(n − 1), is not chance.
ERRORS = 2.0
CLEAR_SHARE, CLEAR_CORRELATION = 0.25, 0.5
# A share of values inside their intervals this many standard errors from what it should be is worth a warning.
CALIBRATION_ERRORS = 3.0


def verdict(spearman: float, explained: float, similarities: int, objects: int) -> str:
    """Whether the similarities are of use, from the committee's leave-one-out correlation and the share explained.

    That share is the largest in the table: a verdict never denies what a row shows.

    >>> verdict(0.81, 0.6, 1, 40)
    'this similarity explains the values: leave-one-out correlation 0.81 over 40 observations'
    """
    these = "this similarity" if similarities == 1 else "these similarities"
    s = "s" if similarities == 1 else ""
    if objects < ENOUGH:
        return f"{objects} observations are too few to say whether {these} explain{s} the values; tell {ENOUGH} or more"
    if np.isnan(explained):
        return "all values are equal, so that there is nothing to explain"
    found = f"leave-one-out correlation {spearman:.2f} over {objects} observations"
    chance = not spearman > ERRORS / np.sqrt(objects - 1)
    # With an outlier among the values the order may be right where the sum of squares is not.
    if explained <= 0 and (chance or spearman < CLEAR_CORRELATION):
        none = (
            "this similarity predicts no better" if similarities == 1 else "none of these similarities predicts better"
        )
        return f"{none} than the mean; what is suggested rests on little, so measure more, or compare by something else"
    if chance:
        order = "unknown" if np.isnan(spearman) else f"{spearman:.2f}"
        return (
            f"{these} may explain{s} some of the values: {explained:.0%} of the variance, but the rank correlation is "
            f"{order} over {objects} observations, which may be chance".replace("%", " %", 1)
        )
    if explained < CLEAR_SHARE and spearman < CLEAR_CORRELATION:
        return f"{these} explain{s} a little of the values: {found}"
    return f"{these} explain{s} the values: {found}"


def warnings(inside: Sequence[float], objects: int) -> tuple[str, ...]:
    """What is wrong with the intervals, if anything is.

    >>> warnings((0.5, 0.8, 0.6), 40)
    ('intervals are too narrow: 60 % of the values lie within their 95 % intervals',)
    """
    if objects < ENOUGH:
        return ()
    for level, share in zip(LEVELS[::-1], inside[::-1], strict=True):
        error = CALIBRATION_ERRORS * np.sqrt(level * (1.0 - level) / objects)
        if abs(share - level) > error:
            which = "narrow" if share < level else "wide"
            found = f"{share:.0%} of the values lie within their {level:.0%} intervals".replace("%", " %")
            return (f"intervals are too {which}: {found}",)
    return ()
