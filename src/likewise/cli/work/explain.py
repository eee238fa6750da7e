"""What `likewise explain` does: say what is expected of any object, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign.cautions import beyond_seen
from likewise.campaign.display.numbers import expectation
from likewise.campaign.objects import cell_of_kind
from likewise.campaign.problem import Problem, solve
from likewise.campaign.project import find_project
from likewise.campaign.sheets.reading import sheet
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.wording import shown
from likewise.cli.answers import analogues_json, header_json, weights_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.cli.work.session import Session, one_value
from likewise.errors import UsageError
from likewise.study.measurement import Measurement
from likewise.study.suggestion import Analogue


def explain(words: list[str], most: int, columns: options.Columns, model: options.Aim, console: Console) -> Reply:
    """What is expected of the object that the words name, and why."""
    session, what = _session(words, console)
    columns, model = one_value(session, columns, "explain"), session.fill(model)
    table = sheet(session.table, columns.choices, console)
    x = table.respell(_object(table, what))
    for note in beyond_seen(x, table.in_play, table.roles.objects[0]):
        console.note(note)
    with console.working("comparing objects"):
        problem, found = solve(table, model.request(columns), lambda p: _predict(p, x, most), console, extra=[x])
    rows = _rows_of(problem, x)
    return Reply(
        lambda: header_json(problem, console) | _data(problem, found, rows), lambda: _say(problem, found, rows)
    )


def _session(words: list[str], console: Console) -> tuple[Session, list[str]]:
    """The table and the words for the object; without a settings file, the first word is the table."""
    here = find_project(None)
    if here is not None and not Path(words[0]).is_file():
        return Session(here.table, here, console), words
    if len(words) < 2:
        raise UsageError(f"Give the FILE and the OBJECT, not {words[0]!r} alone.")
    return Session.of(Path(words[0]), console), words[1:]


class Prediction(NamedTuple):
    """What is expected of an object, and why."""

    object: Any
    mean: float
    std: float
    low: float
    high: float
    analogues: tuple[Analogue, ...]


def _predict(problem: Problem, x: Any, most: int) -> Prediction:
    problem.need(1, "a prediction")
    found = problem.study.predict([x])
    mean, std, low, high = (float(row[0]) for row in (*found, *found.interval()))
    return Prediction(x, mean, std, low, high, problem.study.explain(x, most))


def _object(table: Sheet, what: list[str]) -> Any:
    """The object as the table's own cells would give it."""
    columns = table.roles.objects
    if not table.roles.record:
        if len(what) != 1:
            raise UsageError(f"give one OBJECT of column {columns[0]!r}, not {len(what)}; put it in quotation marks.")
        return cell_of_kind(what[0], table.kinds.get(columns[0], "text"), columns[0], table.sign)
    cells = dict(part.split("=", 1) for part in what if "=" in part)
    if set(cells) != set(columns) or len(cells) != len(what):
        form = " ".join(f"{name}=…" for name in columns)
        raise UsageError(f"an object of {table.table.name} is a record; give it as {form}, not as {' '.join(what)!r}.")
    return {name: cell_of_kind(cells[name], table.kinds.get(name, "text"), name, table.sign) for name in columns}


def _rows_of(problem: Problem, x: Any) -> list[tuple[int, Measurement]]:
    """The rows in which the object was measured, and its values."""
    sheet = problem.sheet
    assert sheet is not None
    key = problem.study.space.key(x)
    same = [i for i in sheet.measured if problem.study.space.key(sheet.objects[i]) == key]
    return [(sheet.table.number(i), sheet.measurement(i)) for i in same]


def _say(problem: Problem, found: Prediction, measured: Sequence[tuple[int, Measurement]]) -> None:
    assert problem.sheet is not None
    roles = problem.sheet.roles
    expected = expectation(found.mean, found.low, found.high)
    say(f"{shown(found.object)}: expected {roles.value} {expected}, with a chance of 95 %")
    say(*(f"It was measured: {value} in row {row}." for row, value in measured), "")
    rows = [(f"{a.influence:+.3f}", _text(a), shown(a.object), str(problem.row(a.object))) for a in found.analogues]
    say_table(("weight", roles.value, ", ".join(roles.objects), "row"), rows, right=(0, 1, 3))


def _text(analogue: Analogue) -> str:
    return str(Measurement(analogue.value, limit=analogue.limit))


def _limit(measured: Measurement) -> dict[str, str]:
    return {} if measured.limit is None else {"limit": measured.limit}


def _data(problem: Problem, found: Prediction, measured: Sequence[tuple[int, Measurement]]) -> dict[str, Any]:
    return {
        "object": problem.study.space.to_json(found.object),
        "mean": found.mean,
        "std": found.std,
        "low": found.low,
        "high": found.high,
        "measurements": [{"row": row, "value": one.value, **_limit(one)} for row, one in measured],
        "because": analogues_json(problem, found.analogues),
        "similarities": weights_json(problem),
    }
