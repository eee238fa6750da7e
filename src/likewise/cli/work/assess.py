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
        problem, found = solve(table, request, work, console)
    return Reply(lambda: _comparisons_json(problem, found, console), lambda: _say_comparisons(problem, found))


def _compare(problem: Problem, outcome: str | None, seed: int, console: Console) -> Comparison:
    sheet = problem.sheet
    assert sheet is not None
    places = sheet.measured_in(outcome)
    if len(places) > MOST:
        of = "" if outcome is None else f"{outcome}: "
        console.note(f"{of}Compared on {MOST} of the {len(places)} measured rows, drawn at random")
        places = np.sort(np.random.default_rng(seed).choice(places, size=MOST, replace=False)).tolist()
    told = [sheet.measurement(i, outcome) for i in places]
    return compare_similarities(
        [sheet.objects[i] for i in places],
        [one.value for one in told],
        problem.similarities,
        std=[one.std or 0.0 for one in told] if sheet.has_stds(outcome) else None,
        limits=[one.limit for one in told],
    )


def _comparisons_json(problem: Problem, found: PerOutcome[Comparison], console: Console) -> dict[str, Any]:
    data = answers_json(found, Comparison.to_json)
    head = header_json(problem, console, _notes({name: each.diagnosis for name, each in found.items()}))
    return data | head if None in found else head | {"same_ranking": _rank(found)[0]} | data


def _say_comparisons(problem: Problem, found: PerOutcome[Comparison]) -> None:
    say_each(found, problem.study.goals, lambda _, each: say(str(each)))
    if len(found) > 1 and (text := _rank(found)[1]):
        say("", text)


def _rank(found: PerOutcome[Comparison]) -> tuple[bool, str]:
    """Whether the similarities come in one order for all outcomes, and what is to be said of that."""
    orders = {name: [row.name for row in each.rows] for name, each in found.items()}
    first, *others = orders.values()
    best: dict[str, list[str]] = {}
    for name, order in orders.items():
        best.setdefault(order[0], []).append(str(name))
    if all(order == first for order in others):
        return True, f"The order is the same for all outcomes: {', '.join(first)}." if len(first) > 1 else ""
    if len(best) == 1:
        return False, f"{first[0]} predicts best for all outcomes; the order of the others differs."
    each = "; ".join(f"{' and '.join(names)} by {similarity}" for similarity, names in best.items())
    return False, f"The order differs between outcomes. Predicted best are {each}."


def _notes(found: Mapping[str | None, Diagnosis]) -> list[str]:
    """What the diagnoses note, each with its outcome."""
    return [note if name is None else f"{name}: {note}" for name, each in found.items() for note in each.notes]


def diagnose(file: Path | None, columns: options.ColumnOptions, model: options.Aim, console: Console) -> Reply:
    """How good the similarities are, for each outcome."""
    session = Session.of(file, console)
    columns, model = session.look(columns, model)
    table = sheet(session.table, columns.choices, console)

    def work(problem: Problem) -> PerOutcome[Diagnosis]:
        return ask_each(problem, FEWEST, "a diagnosis", lambda name: problem.study.diagnose(outcome=name), console)

    with console.working("leaving out each object in turn"):
        problem, found = solve(table, model.request(columns), work, console)
    return Reply(
        lambda: _diagnoses_json(problem, found, console),
        lambda: say_each(found, problem.study.goals, lambda _, each: say(str(each))),
    )


def _diagnoses_json(problem: Problem, found: PerOutcome[Diagnosis], console: Console) -> dict[str, Any]:
    data, head = answers_json(found, Diagnosis.to_json), header_json(problem, console, _notes(found))
    return data | head if None in found else head | data
