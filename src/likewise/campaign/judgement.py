"""Whether the similarities explain the values, in the words of the study's own diagnosis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.campaign.problem import Problem
from likewise.campaign.wording import count
from likewise.model.assessment.diagnosis import Diagnosis
from likewise.model.assessment.verdict import CLEAR_CORRELATION, CLEAR_SHARE, ENOUGH
from likewise.study.methods.committee import INITIAL

FEWEST = 3


@dataclass(frozen=True)
class Judgement:
    """A plain sentence or two, whether they are good news, and what they come from, if that is enough to judge by."""

    verdict: str
    good: bool
    diagnosis: Diagnosis | None


def judge(problem: Problem) -> Judgement | None:
    """The verdict of the study, or that its suggestions explore; none while nothing is measured."""
    if problem.study.goals.named:
        return _each_outcome(problem)
    found = problem.study.diagnose(each=False) if problem.known >= FEWEST else None
    if problem.measured < INITIAL or problem.level:
        return _exploring(problem, found) if problem.measured else None
    if found is None:
        return Judgement(
            f"{count(problem.known, 'value')} beside limits cannot tell how good predictions are.", False, None
        )
    text = "; ".join([found.verdict, *found.notes])
    return Judgement(f"{text[0].upper()}{text[1:]}.", _good(found), found)


def _each_outcome(problem: Problem) -> Judgement | None:
    """The verdicts of several outcomes, one after the other; the diagnosis is that of the first."""
    if not problem.measured:
        return None
    # The model chooses once one of the objectives has values enough.
    if (most := max(map(problem.measured_of, problem.study.goals.measured))) < INITIAL:
        return _explored(most, " of an objective")
    names = problem.study.goals.named_outcomes
    enough = [name for name in names if problem.known_of(name) >= FEWEST]
    found = {name: problem.study.diagnose(each=False, outcome=name) for name in enough}
    texts = [f"{name}: {_verdict(problem, name, found.get(name))}." for name in names]
    good = len(found) == len(names) and all(map(_good, found.values()))
    return Judgement(" ".join(texts), good, next(iter(found.values()), None))


def _verdict(problem: Problem, name: str, found: Diagnosis | None) -> str:
    if found is not None:
        return "; ".join([found.verdict, *found.notes])
    known, limits = problem.known_of(name), problem.measured_of(name) - problem.known_of(name)
    beside = " beside limits" if limits else ""
    return f"{count(known, 'value')}{beside} cannot tell how good predictions are"


def _exploring(problem: Problem, found: Diagnosis | None) -> Judgement:
    """That no model speaks for the suggestions yet, and from when on one will."""
    if problem.level and problem.measured > 1:
        text = (
            f"All {problem.measured} values are the same, so nothing tells good candidates from bad ones yet: the "
            "suggestions explore."
        )
        return Judgement(text, False, found)
    return _explored(problem.measured, found=found)


def _explored(values: int, of: str = "", found: Diagnosis | None = None) -> Judgement:
    text = (
        f"With {count(values, 'measured value')}{of} the suggestions explore: they are unlike the measured "
        f"objects and unlike each other. From {INITIAL} values on, the model chooses."
    )
    return Judgement(text, False, found)


def _good(found: Diagnosis) -> bool:
    fit = found.committee
    clear = fit.explained >= CLEAR_SHARE or fit.spearman >= CLEAR_CORRELATION
    return found.observations >= ENOUGH and clear and not math.isnan(fit.explained) and not found.notes
