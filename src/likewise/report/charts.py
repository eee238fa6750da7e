"""The pictures of the report, each with a sentence on what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from likewise.campaign.judgement import FEWEST, Judgement
from likewise.campaign.problem import Problem
from likewise.campaign.wording import count, percent, shown
from likewise.figures import figures
from likewise.model.assessment.leave_one_out import LeftOut
from likewise.report.plot_data import course, expectations, object_map
from likewise.report.svg import inline
from likewise.study.suggestion import Suggestion


class Chart(NamedTuple):
    """A picture and what it shows, or why there is none."""

    key: str
    heading: str
    text: str
    picture: Markup | None = None


def charts(problem: Problem, found: Sequence[Suggestion], judgement: Judgement | None, name: str) -> list[Chart]:
    """All pictures of the report."""
    left_out = None if judgement is None or judgement.diagnosis is None else judgement.diagnosis.left_out
    return [
        _progress(problem, found, name),
        _map(problem, found, name),
        _predictions(left_out, problem, name),
        _calibration(left_out, problem),
        _committee(problem),
    ]


def _missing(key: str, heading: str, problem: Problem, least: int = FEWEST) -> Chart:
    verb = "is" if problem.measured == 1 else "are"
    return Chart(
        key,
        heading,
        f"This picture needs at least {count(least, 'measured object')}; there {verb} {problem.measured}.",
    )


def _progress(problem: Problem, found: Sequence[Suggestion], name: str) -> Chart:
    if not problem.measured:
        return _missing("progress", "Progress", problem, 1)
    order = None if problem.sheet is None else problem.sheet.order
    when = f"column {order}" if order else "the table"
    text = f"Measured values in the order of {when}, the best so far, and what is expected of the suggestions."
    figure = figures.progress(course(problem.study), expectations(found), name)
    return Chart("progress", "Progress", text, inline(figure, "progress", text))


def _map(problem: Problem, found: Sequence[Suggestion], name: str) -> Chart:
    mapped = object_map(problem.study, found, similarities=None if problem.measured else problem.similarities)
    labels = [
        shown(x, 80) + ("" if np.isnan(value) else f": {value:.4g}")
        for x, value in zip(mapped.objects, mapped.values.tolist(), strict=True)
    ]
    titles = {group: [labels[i] for i in places] for group, places in mapped.groups().items()}
    text = (
        "Objects that are alike lie close together; the axes have no other meaning, and two dimensions show "
        f"{percent(mapped.share)} of the similarity. Point at an object to read its name."
    )
    figure = figures.object_map(mapped, name)
    return Chart("map", "Map of the objects", text, inline(figure, "map", text, titles))


def _predictions(left_out: LeftOut | None, problem: Problem, name: str) -> Chart:
    if left_out is None:
        return _missing("predictions", "Predicted and measured", problem)
    text = (
        f"Each measured object, predicted from all the others. Typical error {left_out.error:.3g}; "
        f"predicting the mean of all would give {float(np.std(left_out.values)):.3g}."
    )
    figure = figures.predictions(left_out, name)
    return Chart("predictions", "Predicted and measured", text, inline(figure, "predictions", text))


def _calibration(left_out: LeftOut | None, problem: Problem) -> Chart:
    if left_out is None:
        return _missing("calibration", "Calibration", problem)
    inside = 100 * float(np.mean(left_out.inside()))
    text = (
        f"Of honest 95 % intervals, 95 % hold their value; here {inside:.0f} % do. A line below the band means that "
        "predictions are too sure of themselves, above it that they are too careful."
    )
    return Chart("calibration", "Calibration", text, inline(figures.calibration(left_out), "calibration", text))


def _committee(problem: Problem) -> Chart:
    shares = problem.weights()
    if not shares:
        names = ", ".join(similarity.name for similarity in problem.similarities)
        return Chart("committee", "Committee", f"Similarities: {names}. Their weights follow from the values.")
    text = "How much each similarity counts: those that explain the values better have more weight."
    figure = figures.weights([name for name, _ in shares], [share for _, share in shares])
    return Chart("committee", "Committee", text, inline(figure, "committee", text))
