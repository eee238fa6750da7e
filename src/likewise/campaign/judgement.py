"""Whether the similarities explain the values, in the words of the study's own diagnosis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.campaign.problem import Problem
from likewise.model.diagnosis import CLEAR_CORRELATION, CLEAR_SHARE, ENOUGH, Diagnosis

FEWEST = 3


@dataclass(frozen=True)
class Judgement:
    """A plain sentence or two, whether they are good news, and what they come from."""

    verdict: str
    good: bool
    diagnosis: Diagnosis


def judge(problem: Problem) -> Judgement | None:
    """The verdict of the study; none while there is too little to judge by."""
    if problem.measured < FEWEST:
        return None
    found = problem.study.diagnose(each=False)
    text = "; ".join([found.verdict, *found.notes])
    return Judgement(f"{text[0].upper()}{text[1:]}.", _good(found), found)


def _good(found: Diagnosis) -> bool:
    fit = found.committee
    clear = fit.explained >= CLEAR_SHARE or fit.spearman >= CLEAR_CORRELATION
    return found.observations >= ENOUGH and clear and not math.isnan(fit.explained) and not found.notes
