"""What is still to be gained, in words."""

from __future__ import annotations

from likewise.campaign.display.numbers import rounded
from likewise.campaign.problem import Problem
from likewise.campaign.wording import percent
from likewise.study.gain import Gain

# Less than this, and one may as well stop.
SLIGHT = 0.05
NOTHING_LEFT = "Every candidate has a value or is under way: there is nothing left to suggest."
NOTHING_FITS = "No candidate fits what is asked of the batch, so nothing is suggested."
ORDER = (
    "Each is chosen in view of those above it, as the one that promises most beside them. So a later one may have the "
    "higher expectation."
)


def prospect(gain: Gain | None, value: str, *, minimize: bool = False) -> str:
    """What the next round promises, and whether that is little; an empty text while nothing can be said.

    >>> print(prospect(Gain(4.13, 0.45, 1), "yield"))
    Still to be gained: about 4.1 more yield on average by this one; chance of 45 % that it beats the best so far.
    """
    if gain is None or gain.expected is None or gain.n == 0:
        return ""
    these, one = ("this one", "it") if gain.n == 1 else (f"these {gain.n}", "one of them")
    about = (
        f"about {rounded(gain.expected, gain.expected)} {'less' if minimize else 'more'} {value} on average by {these}"
    )
    chance = "" if gain.chance is None else f"; chance of {percent(gain.chance)} that {one} beats the best so far"
    little = " That is little: it may be time to stop." if gain.chance is not None and gain.chance < SLIGHT else ""
    return f"Still to be gained: {about}{chance}.{little}"


def front_prospect(gain: Gain | None, *, entering: bool) -> str:
    """What the best of the suggestions promises where there are several outcomes.

    >>> front_prospect(Gain(0.03, 0.45, 4), entering=True)
    'Still to be gained: chance of 45 % that the most promising one enters the front.'
    """
    if gain is None or gain.chance is None or gain.n == 0:
        return ""
    what = "enters the front" if entering else "beats the best so far within the limits"
    little = " That is little: it may be time to stop." if gain.chance < SLIGHT else ""
    return f"Still to be gained: chance of {percent(gain.chance)} that the most promising one {what}.{little}"


def nothing_to_suggest(problem: Problem) -> str:
    """Why there is no suggestion: no candidate is left, or none keeps to what a batch has to."""
    sheet, key = problem.sheet, problem.study.space.key
    if sheet is None or problem.pool is None:
        return NOTHING_LEFT
    measured = {key(trial.object) for trial in problem.study.trials}
    free = any(key(sheet.objects[i]) not in measured for i in sheet.candidates)
    return NOTHING_FITS if free else NOTHING_LEFT
