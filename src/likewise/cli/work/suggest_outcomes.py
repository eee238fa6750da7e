"""What `likewise suggest` says where there are several outcomes: each with its uncertainty, the front, the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from likewise.campaign.display.naming import cells_of, headings_of, named_cells
from likewise.campaign.display.numbers import plus_minus
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.problem import Problem
from likewise.campaign.sheets.bad_rows import rows_named
from likewise.campaign.wording import percent
from likewise.cli.answers import object_json
from likewise.cli.console import answer_width
from likewise.cli.layout import Line, lay_out
from likewise.study.suggestion import Suggestion
from likewise.study.trial import SIGNS, Trial

# Objects of a front that are listed; the others are counted.
LISTED = 6


def lay_out_outcomes(
    problem: Problem, runs: Sequence[str], found: Sequence[Suggestion], reasons: Reasons, columns: Sequence[str]
) -> list[str]:
    """The suggestions, a column for each factor and one for each outcome, and why."""
    goals, names = problem.study.goals, reasons.names
    limited = found[0].chance_feasible is not None
    chance = "enters the front" if goals.objective is None else "beats best"
    headings = [
        *headings_of(names, columns),
        *goals.objectives,
        *(n for n in goals.constraints if n not in goals.objectives),
    ]
    more = [chance, *(["keeps limits"] if limited else [])]
    rows = []
    for run, s in zip(runs, found, strict=True):
        texts = named_cells(names, columns, cells_of(problem, s.object, columns))
        chances = [percent(s.chance), *([percent(s.chance_feasible)] if limited else [])]
        sides = [(name, zip(("because", "against"), reasons.texts(s, name), strict=True)) for name in s.outcomes]
        below = [(f"{name} {label}", text) for name, texts in sides for label, text in texts if text]
        rows.append(Line([run, *texts, *_expected(problem, s), *chances], below))
    right = [len(headings) + 1 + k for k in range(len(more))]
    return lay_out(["", *headings, *more], rows, answer_width(), right)


def _expected(problem: Problem, s: Suggestion) -> list[str]:
    """What is expected of each outcome; one that is known is said as it is."""
    goals, found = problem.study.goals, []
    for name in dict.fromkeys((*goals.objectives, *goals.constraints)):
        if name in goals.computed:
            found.append(f"{goals.computed[name].values([s.object])[0]:.6g}")
        else:
            each = s.outcomes.get(name)
            found.append("" if each is None else plus_minus(each.mean, each.std))
    return found


def front_lines(problem: Problem, reasons: Reasons) -> list[str]:
    """The front so far, in a few lines."""
    front, goals = problem.front, problem.study.goals
    if not front:
        limits = " and keeps to the limits" if goals.constraints else ""
        return [f"No measured object has every objective{limits} yet."]
    title = (
        "Best so far"
        if goals.objective is not None
        else f"The front so far, {len(front)} of {problem.measured} measured"
    )
    chosen = (
        front if len(front) <= LISTED else [front[round(k * (len(front) - 1) / (LISTED - 1))] for k in range(LISTED)]
    )
    left = len(front) - len(chosen)
    lines = [f"{title}:", *(f"  {_one(problem, trial, reasons)}" for trial in chosen)]
    return lines + ([f"  and {left} more between them"] if left else [])


def _one(problem: Problem, trial: Trial, reasons: Reasons) -> str:
    study = problem.study
    found = {**study.objectives_of(trial), **{n: v for n, v in trial.values.items() if n in study.goals.constraints}}
    values = ", ".join(f"{name} {SIGNS[trial.outcomes[name].limit]}{value:.6g}" for name, value in found.items())
    places = problem.measured_rows(trial.object)
    where = f" ({rows_named(problem.sheet.table, places)})" if problem.sheet is not None and places else ""
    return f"{values}{where}: {reasons.names.object(trial.object, reasons.column)}"


def rows_of(problem: Problem, x: Any) -> list[int]:
    """The numbers of the rows in which an object was measured."""
    sheet = problem.sheet
    return [] if sheet is None else [sheet.table.number(place) for place in problem.measured_rows(x)]


def front_json(problem: Problem) -> dict[str, Any]:
    """The front and its hypervolume as JSON data."""
    study = problem.study
    front = [
        {
            **object_json(problem, t.object),
            "values": {**t.values, **study.objectives_of(t)},
            "rows": rows_of(problem, t.object),
        }
        for t in problem.front
    ]
    return {"front": front, "hypervolume": study.hypervolume}


def outcomes_json(s: Suggestion) -> dict[str, Any]:
    """What is expected of several outcomes as JSON data; nothing where there is one without a name."""
    if not s.outcomes:
        return {}
    return {"outcomes": {n: asdict(each) for n, each in s.outcomes.items()}, "chance_feasible": s.chance_feasible}
