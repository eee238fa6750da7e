"""`likewise compare`: which similarity suits the measured rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.campaign.console import Console, say, say_json
from likewise.cli.commands.options import (
    Debug,
    DecimalSign,
    File,
    Json,
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
    from likewise.model.compare import Comparison

# Comparing takes time in the cube of the rows; these many tell similarities apart.
MOST = 1000


def compare(
    file: File,
    object: Object = None,
    value: Value = None,
    std: Std = None,
    similarity: Similarities = None,
    seed: Seed = 0,
    text: Text = None,
    decimal: DecimalSign = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rank similarities by how well each predicts measured values it has not seen."""
    from likewise.campaign.answers import header_json
    from likewise.campaign.problem import answered
    from likewise.campaign.sheet import sheet
    from likewise.campaign.similarities import Request

    console = Console(quiet)
    table = sheet(file, choices(object, value, std, text, decimal, skip_bad), console)
    request = Request(tuple(similarity or ()), seed=seed, skip_bad=skip_bad)
    with console.working("comparing similarities"):
        problem, found = answered(table, request, lambda p: _compared(p, seed, console), console)
    if as_json:
        say_json("compare", {**found.to_json(), **header_json(problem, console, found.diagnosis.notes)})
    else:
        say(str(found))


def _compared(problem: Problem, seed: int, console: Console) -> Comparison:
    import numpy as np

    from likewise.campaign.problem import enough
    from likewise.model.compare import compare

    enough(problem, 3, "a comparison")
    sheet = problem.sheet
    assert sheet is not None
    places = sheet.measured
    if len(places) > MOST:
        console.note(f"compared on {MOST} of the {len(places)} measured rows, drawn at random")
        places = np.sort(np.random.default_rng(seed).choice(places, size=MOST, replace=False)).tolist()
    stds = None if sheet.stds is None else [sheet.std(i) or 0.0 for i in places]
    objects, values = [sheet.objects[i] for i in places], [sheet.values[i] for i in places]
    return compare(objects, values, problem.similarities, std=stds)
