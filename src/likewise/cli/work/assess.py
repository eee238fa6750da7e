"""What `likewise compare` and `likewise diagnose` do: leave out measured rows, and predict them from the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheets.reading import sheet
from likewise.cli.answers import header_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.cli.work.session import Session, one_value
from likewise.model.assessment.compare import Comparison
from likewise.model.assessment.compare import compare as compare_similarities
from likewise.model.assessment.diagnosis import Diagnosis

# Comparing takes time in the cube of the rows; these many tell similarities apart.
MOST = 1000


def compare(file: Path | None, columns: options.Columns, model: options.Aim, console: Console) -> Reply:
    """The similarities in their order."""
    session = Session.of(file, console)
    columns, model = one_value(session, columns, "compare"), session.fill(model)
    table = sheet(session.table, columns.choices, console)
    request = model.request(columns)
    with console.working("comparing similarities"):
        problem, found = solve(table, request, lambda p: _compare(p, request.seed, console), console)
    return Reply(
        lambda: found.to_json() | header_json(problem, console, found.diagnosis.notes), lambda: say(str(found))
    )


def _compare(problem: Problem, seed: int, console: Console) -> Comparison:
    problem.need(3, "a comparison")
    sheet = problem.sheet
    assert sheet is not None
    places = sheet.measured
    if len(places) > MOST:
        console.note(f"Compared on {MOST} of the {len(places)} measured rows, drawn at random")
        places = np.sort(np.random.default_rng(seed).choice(places, size=MOST, replace=False)).tolist()
    stds = None if sheet.stds is None else [sheet.std(i) or 0.0 for i in places]
    objects, values = [sheet.objects[i] for i in places], [sheet.values[i] for i in places]
    limits = [sheet.measurement(i).limit for i in places]
    return compare_similarities(objects, values, problem.similarities, std=stds, limits=limits)


def diagnose(file: Path | None, columns: options.Columns, model: options.Aim, console: Console) -> Reply:
    """How good the similarities are."""
    session = Session.of(file, console)
    columns, model = one_value(session, columns, "diagnose"), session.fill(model)
    table = sheet(session.table, columns.choices, console)
    with console.working("leaving out each object in turn"):
        problem, found = solve(table, model.request(columns), _diagnose, console)
    return Reply(lambda: found.to_json() | header_json(problem, console, found.notes), lambda: say(str(found)))


def _diagnose(problem: Problem) -> Diagnosis:
    problem.need(3, "a diagnosis")
    return problem.study.diagnose()
