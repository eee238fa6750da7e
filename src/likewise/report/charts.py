"""The pictures of the report, each with a sentence on what it shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from likewise.campaign.display.naming import Names
from likewise.campaign.judgement import FEWEST
from likewise.campaign.problem import Problem
from likewise.campaign.wording import count, percent
from likewise.figures import figures
from likewise.figures.data import Expectations
from likewise.model.assessment.leave_one_out import LeftOut
from likewise.report.factors import Effect
from likewise.report.plot_data import course, expectations, object_map
from likewise.report.rounds import round_starts
from likewise.report.svg import inline
from likewise.study.suggestion import Suggestion


class Chart(NamedTuple):
    """A picture and what it shows, or why there is none."""

    key: str
    heading: str
    text: str
    picture: Markup | None = None


def missing(key: str, heading: str, problem: Problem, least: int = FEWEST) -> Chart:
    verb = "is" if problem.measured == 1 else "are"
    return Chart(
        key,
        heading,
        f"This picture needs at least {count(least, 'measured object')}; there {verb} {problem.measured}.",
    )


def progress(problem: Problem, found: Sequence[Suggestion], name: str) -> Chart:
    """The values in their order, round by round."""
    if not problem.measured:
        return missing("progress", "How has it gone so far?", problem, 1)
    order = None if problem.sheet is None else problem.sheet.order
    when = f"column {order}" if order else "the table"
    starts = round_starts(problem)
    text = f"Measured values in the order of {when}, the best so far, and what is expected of the suggestions."
    text += " Broken lines part the rounds." if len(starts) > 1 else ""
    figure = figures.progress(course(problem.study, starts), expectations(found), name)
    return Chart("progress", "How has it gone so far?", text, inline(figure, "progress", text))


def alike(problem: Problem, found: Sequence[Suggestion], name: str, names: Names) -> Chart:
    """The map."""
    column = "" if problem.sheet is None else problem.sheet.roles.objects[0]
    mapped = object_map(problem.study, found, similarities=None if problem.measured else problem.similarities)
    labels = [
        names.object(x, column, 120) + ("" if np.isnan(value) else f": {value:.4g}")
        for x, value in zip(mapped.objects, mapped.values.tolist(), strict=True)
    ]
    titles = {group: [labels[i] for i in places] for group, places in mapped.groups().items()}
    text = (
        "Objects that are alike lie close together; the axes have no other meaning, and two dimensions show "
        f"{percent(mapped.share)} of the similarity. Point at an object to read its name."
    )
    figure = figures.object_map(mapped, name, minimize=problem.study.direction == "minimize")
    return Chart("map", "Which objects are alike?", text, inline(figure, "map", text, titles))


def predictions(left_out: LeftOut | None, problem: Problem, name: str) -> Chart:
    """Each measured value and what the others predict for it."""
    if left_out is None:
        return missing("predictions", "How well are known runs predicted?", problem)
    text = (
        f"Each measured object, predicted from all the others. Typical error {left_out.error:.3g}; "
        f"predicting the mean of all would give {float(np.std(left_out.values)):.3g}."
    )
    figure = figures.predictions(left_out, name)
    return Chart("predictions", "How well are known runs predicted?", text, inline(figure, "predictions", text))


def calibration(left_out: LeftOut | None, problem: Problem) -> Chart:
    """Whether intervals hold as many values as they should."""
    if left_out is None:
        return missing("calibration", "Are the intervals honest?", problem)
    inside = 100 * float(np.mean(left_out.inside()))
    text = (
        f"Of honest 95 % intervals, 95 % hold their value; here {inside:.0f} % do. A line below the band means that "
        "predictions are too sure of themselves, above it that they are too careful."
    )
    return Chart(
        "calibration", "Are the intervals honest?", text, inline(figures.calibration(left_out), "calibration", text)
    )


def factors(effects: Sequence[Effect], name: str, prefix: str = "factor-") -> list[Chart]:
    """What is expected of each level of each factor, on one scale, so that factors can be compared.

    `prefix` begins the ids in the pictures, which are to be those of one outcome.
    """
    if not effects:
        return []
    low, high = min(float(e.low.min()) for e in effects), max(float(e.high.max()) for e in effects)
    slack = 0.04 * (high - low)
    return [_factor(effect, name, (low - slack, high + slack), prefix) for effect in effects]


def _factor(effect: Effect, name: str, limits: tuple[float, float], prefix: str) -> Chart:
    expected, key = Expectations(effect.mean, effect.low, effect.high), prefix + re.sub(r"\W", "-", effect.column)
    text = f"{effect.heading} alone accounts for {percent(effect.share)} of the predicted differences in {name}."
    if effect.numeric:
        figure = figures.curve(effect.levels, expected, effect.heading, name, limits)
    else:
        figure = figures.levels(effect.labels, expected, name, limits)
    return Chart(key, effect.heading, text, inline(figure, key, text))
