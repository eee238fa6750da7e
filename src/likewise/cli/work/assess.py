"""What `likewise compare` and `likewise diagnose` do: leave out measured rows, and predict them from the others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheet import sheet
from likewise.cli.answers import PerOutcome, answers_json, ask_each, header_json, say_each
from likewise.cli.commands import options
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.cli.work.session import Session
from likewise.model.diagnosis import Comparison, Diagnosis
from likewise.model.diagnosis import compare as compare_similarities

# Comparing takes time in the cube of the rows; these many tell similarities apart.
MOST = 1000
FEWEST = 3


def compare(file: Path | None, columns: options.ColumnOptions, model: options.Aim, console: Console) -> Reply:
    """The similarities in their order, for each outcome."""
    session = Session.of(file, console)
    columns, model = session.look(columns, model)
    table = sheet(session.table, columns.choices, console)
    request = model.request(columns)

    def work(problem: Problem) -> PerOutcome[Comparison]:
        return ask_each(
            problem, FEWEST, "a comparison", lambda name: _compare(problem, name, request.seed, console), console
        )

    with console.working("comparing similarities"):
        problem, comparisons = solve(table, request, work, console)
    return Reply(
        lambda: _comparisons_json(problem, comparisons, console), lambda: _say_comparisons(problem, comparisons)
    )


def _compare(problem: Problem, outcome: str | None, seed: int, console: Console) -> Comparison:
    sheet = problem.sheet
    assert sheet is not None
    places = sheet.measured_in(outcome)
    if len(places) > MOST:
        of = "" if outcome is None else f"{outcome}: "
        console.note(f"{of}Compared on {MOST} of the {len(places)} measured rows, drawn at random")
        places = np.sort(np.random.default_rng(seed).choice(places, size=MOST, replace=False)).tolist()
    measurements = [sheet.measurement(i, outcome) for i in places]
    return compare_similarities(
        [sheet.objects[i] for i in places],
        [m.value for m in measurements],
        problem.similarities,
        std=[m.std or 0.0 for m in measurements] if sheet.has_stds(outcome) else None,
        limits=[m.limit for m in measurements],
    )


def _comparisons_json(problem: Problem, comparisons: PerOutcome[Comparison], console: Console) -> dict[str, Any]:
    data = answers_json(comparisons, Comparison.to_json)
    head = header_json(problem, console, _notes({name: c.diagnosis for name, c in comparisons.items()}))
    return data | head if None in comparisons else head | {"same_ranking": _rank(comparisons)[0]} | data


def _say_comparisons(problem: Problem, comparisons: PerOutcome[Comparison]) -> None:
    say_each(comparisons, problem.study.goals, lambda _, comparison: say(str(comparison)))
    if len(comparisons) > 1 and (text := _rank(comparisons)[1]):
        say("", text)


def _rank(comparisons: PerOutcome[Comparison]) -> tuple[bool, str]:
    """Returns whether the order of similarities is the same for all outcomes, and a sentence on it."""
    orders = {name: [row.name for row in comparison.rows] for name, comparison in comparisons.items()}
    first, *rest = orders.values()
    best: dict[str, list[str]] = {}
    for name, order in orders.items():
        best.setdefault(order[0], []).append(str(name))
    if all(order == first for order in rest):
        return True, f"The order is the same for all outcomes: {', '.join(first)}." if len(first) > 1 else ""
    if len(best) == 1:
        return False, f"{first[0]} predicts best for all outcomes; the order of the others differs."
    winners = "; ".join(f"{' and '.join(names)} by {similarity}" for similarity, names in best.items())
    return False, f"The order differs between outcomes. Predicted best are {winners}."


def _notes(diagnoses: Mapping[str | None, Diagnosis]) -> list[str]:
    """What the diagnoses note, each with its outcome."""
    return [
        note if name is None else f"{name}: {note}" for name, diagnosis in diagnoses.items() for note in diagnosis.notes
    ]


def diagnose(file: Path | None, columns: options.ColumnOptions, model: options.Aim, console: Console) -> Reply:
    """How good the similarities are, for each outcome."""
    session = Session.of(file, console)
    columns, model = session.look(columns, model)
    table = sheet(session.table, columns.choices, console)

    def work(problem: Problem) -> PerOutcome[Diagnosis]:
        return ask_each(problem, FEWEST, "a diagnosis", lambda name: problem.study.diagnose(outcome=name), console)

    with console.working("leaving out each object in turn"):
        problem, diagnoses = solve(table, model.request(columns), work, console)
    return Reply(
        lambda: _diagnoses_json(problem, diagnoses, console),
        lambda: say_each(diagnoses, problem.study.goals, lambda _, diagnosis: say(str(diagnosis))),
    )


def _diagnoses_json(problem: Problem, diagnoses: PerOutcome[Diagnosis], console: Console) -> dict[str, Any]:
    data, head = answers_json(diagnoses, Diagnosis.to_json), header_json(problem, console, _notes(diagnoses))
    return data | head if None in diagnoses else head | data
