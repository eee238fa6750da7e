"""What `likewise explain` does: say what is expected of any object, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign.columns import limits_text
from likewise.campaign.objects import cell_of_kind
from likewise.campaign.problem import Problem, solve
from likewise.campaign.settings import find_project
from likewise.campaign.sheet import Sheet, beyond_seen, sheet
from likewise.campaign.text import expectation, percent, shown
from likewise.cli.answers import PerOutcome, analogues_json, answers_json, ask_each, header_json, say_each, weights_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.cli.work.session import Session
from likewise.errors import UsageError
from likewise.study.trial import Analogue, Measurement


def explain(words: list[str], most: int, columns: options.ColumnOptions, model: options.Aim, console: Console) -> Reply:
    """What is expected of the object that the words name, and why."""
    session, what = _session(words, console)
    columns, model = session.look(columns, model)
    table = sheet(session.table, columns.choices, console)
    x = table.respell(_object(table, what))
    for note in beyond_seen(x, table.in_play, table.roles.objects[0]):
        console.note(note)
    with console.working("comparing objects"):
        problem, predictions = solve(
            table, model.request(columns), lambda p: _explain(p, x, most, console), console, [x]
        )
    return Reply(
        lambda: header_json(problem, console) | _data(problem, x, predictions),
        lambda: _say_all(problem, x, predictions),
    )


def _explain(problem: Problem, x: Any, most: int, console: Console) -> PerOutcome[ObjectPrediction]:
    return ask_each(problem, 1, "a prediction", lambda name: _predict(problem, x, most, name), console)


def _session(words: list[str], console: Console) -> tuple[Session, list[str]]:
    """The table and the words for the object; without a settings file, the first word is the table."""
    here = find_project(None)
    if here is not None and not Path(words[0]).is_file():
        return Session(here.table, here, console), words
    if len(words) < 2:
        raise UsageError(f"Give the FILE and the OBJECT, not {words[0]!r} alone.")
    return Session.of(Path(words[0]), console), words[1:]


class ObjectPrediction(NamedTuple):
    """What is expected of an object, why, and in which rows it was measured."""

    object: Any
    mean: float
    std: float
    low: float
    high: float
    analogues: tuple[Analogue, ...]
    measured: Sequence[tuple[int, Measurement]]
    similarities: list[dict[str, Any]]


def _predict(problem: Problem, x: Any, most: int, outcome: str | None) -> ObjectPrediction:
    prediction = problem.study.predict([x], outcome=outcome)
    mean, std, low, high = (float(row[0]) for row in (*prediction, *prediction.interval()))
    because = problem.study.explain(x, most, outcome=outcome)
    shares = weights_json(problem, outcome)
    return ObjectPrediction(x, mean, std, low, high, because, _rows_of(problem, x, outcome), shares)


def _object(table: Sheet, what: list[str]) -> Any:
    """The object as the table's own cells would give it."""
    columns = table.roles.objects
    if not table.roles.record:
        if len(what) != 1:
            raise UsageError(f"give one OBJECT of column {columns[0]!r}, not {len(what)}; put it in quotation marks.")
        return cell_of_kind(what[0], table.kinds.get(columns[0], "text"), columns[0], table.sign)
    what = _parts(what, columns)
    cells = dict(part.split("=", 1) for part in what if "=" in part)
    if set(cells) != set(columns) or len(cells) != len(what):
        form = " ".join(f"{name}=…" for name in columns)
        raise UsageError(f"an object of {table.table.name} is a record; give it as {form}, not as {' '.join(what)!r}.")
    return {name: cell_of_kind(cells[name], table.kinds.get(name, "text"), name, table.sign) for name in columns}


def _parts(what: list[str], columns: Sequence[str]) -> list[str]:
    """The parts of a record, also where all of them stand in one pair of quotation marks.

    >>> _parts(["metal=Pd ligand=P(t-Bu)3, solvent=DMF water"], ["metal", "ligand", "solvent"])
    ['metal=Pd', 'ligand=P(t-Bu)3', 'solvent=DMF water']
    """
    if len(what) != 1:
        return what
    names = "|".join(map(re.escape, sorted(columns, key=len, reverse=True)))
    return re.split(rf"[\s,;]+(?=(?:{names})=)", what[0].strip())


def _rows_of(problem: Problem, x: Any, outcome: str | None) -> list[tuple[int, Measurement]]:
    """The rows in which the object was measured, and its values."""
    sheet = problem.sheet
    assert sheet is not None
    key = problem.study.space.key(x)
    same = [i for i in sheet.measured_in(outcome) if problem.study.space.key(sheet.objects[i]) == key]
    return [(sheet.table.number(i), sheet.measurement(i, outcome)) for i in same]


def _known(problem: Problem, x: Any) -> dict[str, float]:
    """What is known of an object without a measurement, by column: objectives that every row of the table has."""
    computed = problem.study.goals.computed if problem.place(x) is not None else {}
    return {name: float(goal.values([x])[0]) for name, goal in computed.items()}


def _feasible(problem: Problem, x: Any) -> float | None:
    """The chance to keep to the limits; None where there are none, or nothing is known of them."""
    limited = [name for name in problem.outcomes if name in problem.study.goals.constraints]
    return float(problem.study.chance_feasible([x])[0]) if limited else None


def _say_all(problem: Problem, x: Any, predictions: PerOutcome[ObjectPrediction]) -> None:
    if None in predictions:
        _say(problem, predictions[None], None, f"{shown(x)}: expected")
        return
    say(shown(x))
    if (chance := _feasible(problem, x)) is not None:
        say(f"Chance to keep {_limits(problem)}: {percent(chance)}.")
    say(*(f"{name} is known: {value:.6g}." for name, value in _known(problem, x).items()), "")
    say_each(predictions, problem.study.goals, lambda name, prediction: _say(problem, prediction, name, "Expected"))


def _limits(problem: Problem) -> str:
    """The limits of what was measured, in words."""
    limits = problem.study.goals.constraints
    return " and ".join(f"{name} {limits_text(limits[name])}" for name in problem.outcomes if name in limits)


def _say(problem: Problem, prediction: ObjectPrediction, outcome: str | None, begin: str) -> None:
    assert problem.sheet is not None
    roles = problem.sheet.roles
    value = roles.value if outcome is None else outcome
    say(f"{begin} {value} {expectation(prediction.mean, prediction.low, prediction.high)}, with a chance of 95 %")
    say(*(f"It was measured: {value} in row {row}." for row, value in prediction.measured), "")
    rows = [
        (f"{a.influence:+.3f}", _text(a), shown(a.object), str(problem.row(a.object))) for a in prediction.analogues
    ]
    say_table(("weight", value, ", ".join(roles.objects), "row"), rows, right=(0, 1, 3))


def _text(analogue: Analogue) -> str:
    return str(Measurement(analogue.value, limit=analogue.limit))


def _limit(measured: Measurement) -> dict[str, str]:
    return {} if measured.limit is None else {"limit": measured.limit}


def _data(problem: Problem, x: Any, predictions: PerOutcome[ObjectPrediction]) -> dict[str, Any]:
    several = {} if None in predictions else {"chance_feasible": _feasible(problem, x), "known": _known(problem, x)}
    outcomes = answers_json(predictions, lambda prediction: _prediction_json(problem, prediction))
    return {"object": problem.study.space.to_json(x), **several, **outcomes}


def _prediction_json(problem: Problem, prediction: ObjectPrediction) -> dict[str, Any]:
    return {
        "mean": prediction.mean,
        "std": prediction.std,
        "low": prediction.low,
        "high": prediction.high,
        "measurements": [
            {"row": row, "value": measurement.value, **_limit(measurement)} for row, measurement in prediction.measured
        ],
        "because": analogues_json(problem, prediction.analogues),
        "similarities": prediction.similarities,
    }
