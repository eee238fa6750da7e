"""`likewise diagnose`: is similarity any good here?"""

from __future__ import annotations

from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheet import sheet
from likewise.cli.answers import header_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.model.diagnosis import Diagnosis


def diagnose(file: options.File, columns: options.Columns, model: options.Aim, console: Console) -> Reply:
    """Say whether the similarities explain the values: leave-one-out errors, calibration, outliers and a verdict."""
    table = sheet(file, columns.choices, console)
    with console.working("leaving out each object in turn"):
        problem, found = solve(table, model.request(columns), _diagnose, console)
    return Reply(lambda: found.to_json() | header_json(problem, console, found.notes), lambda: say(str(found)))


def _diagnose(problem: Problem) -> Diagnosis:
    problem.need(3, "a diagnosis")
    return problem.study.diagnose()
