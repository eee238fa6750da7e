"""Whether the similarities explain the values, in the words of the study's own diagnosis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likewise.model.verdict import CLEAR_CORRELATION, CLEAR_SHARE, ENOUGH

if TYPE_CHECKING:
    from likewise.campaign.problem import Problem
    from likewise.model.diagnosis import Diagnosis

FEWEST = 3


@dataclass(frozen=True)
class Judgement:
    """A plain sentence or two, whether they are good news, and what they come from."""

    verdict: str
    good: bool
    diagnosis: Diagnosis


def judged(problem: Problem) -> Judgement | None:
    """The verdict of the study; none while there is too little to judge by."""
    if problem.sheet is None or len(problem.sheet.measured) < FEWEST:
        return None
    found = diagnosis(problem)
    text = "; ".join([found.verdict, *found.notes])
    return Judgement(f"{text[0].upper()}{text[1:]}.", _good(found), found)


def diagnosis(problem: Problem) -> Diagnosis:
    """The study's diagnosis."""
    return problem.study.diagnose()


def _good(found: Diagnosis) -> bool:
    fit = found.committee
    clear = fit.explained >= CLEAR_SHARE or fit.spearman >= CLEAR_CORRELATION
    return found.observations >= ENOUGH and clear and not math.isnan(fit.explained) and not found.notes
