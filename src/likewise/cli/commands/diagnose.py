"""`likewise diagnose`: is similarity any good here?"""

from __future__ import annotations

from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheet import sheet
from likewise.campaign.similarities import Request
from likewise.cli.answers import header_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_json
from likewise.model.diagnosis import Diagnosis


def diagnose(
    file: options.File,
    object: options.Object = None,
    value: options.Value = None,
    std: options.Std = None,
    minimize: options.Minimize = False,
    similarity: options.Similarities = None,
    seed: options.Seed = 0,
    text: options.Text = None,
    decimal: options.DecimalSign = None,
    skip_bad: options.SkipBad = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Say whether the similarities explain the values: leave-one-out errors, calibration, outliers and a verdict."""
    console = Console(quiet)
    table = sheet(file, options.choices(object, value, std, text, decimal, skip_bad), console)
    request = Request(tuple(similarity or ()), None, options.direction(minimize), seed, skip_bad=skip_bad)
    with console.working("leaving out each object in turn"):
        problem, found = solve(table, request, _diagnose, console)
    if as_json:
        say_json("diagnose", {**found.to_json(), **header_json(problem, console, found.notes)})
    else:
        say(str(found))


def _diagnose(problem: Problem) -> Diagnosis:
    problem.need(3, "a diagnosis")
    return problem.study.diagnose()
