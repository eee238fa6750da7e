"""`likewise diagnose`: is similarity any good here?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.campaign.console import Console, say, say_json
from likewise.cli.commands.options import (
    Debug,
    DecimalSign,
    File,
    Json,
    Minimize,
    Object,
    Quiet,
    Seed,
    Similarities,
    SkipBad,
    Std,
    Text,
    Value,
    choices,
)

if TYPE_CHECKING:
    from likewise.campaign.problem import Problem
    from likewise.model.diagnosis import Diagnosis


def diagnose(
    file: File,
    object: Object = None,
    value: Value = None,
    std: Std = None,
    minimize: Minimize = False,
    similarity: Similarities = None,
    seed: Seed = 0,
    text: Text = None,
    decimal: DecimalSign = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say whether the similarities explain the values: leave-one-out errors, calibration, outliers and a verdict."""
    from likewise.campaign.answers import header_json
    from likewise.campaign.problem import answered
    from likewise.campaign.sheet import sheet
    from likewise.campaign.similarities import Request

    console = Console(quiet)
    table = sheet(file, choices(object, value, std, text, decimal, skip_bad), console)
    request = Request(
        tuple(similarity or ()), direction="minimize" if minimize else "maximize", seed=seed, skip_bad=skip_bad
    )
    with console.working("leaving out each object in turn"):
        problem, found = answered(table, request, _diagnosed, console)
    if as_json:
        say_json("diagnose", {**found.to_json(), **header_json(problem, console, found.notes)})
    else:
        say(str(found))


def _diagnosed(problem: Problem) -> Diagnosis:
    from likewise.campaign.judgement import diagnosis
    from likewise.campaign.problem import enough

    enough(problem, 3, "a diagnosis")
    return diagnosis(problem)
