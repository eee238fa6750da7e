"""`likewise explain`: what is expected of any object, and why."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from likewise.campaign.objects import cell_of_kind
from likewise.campaign.problem import Problem, solve
from likewise.campaign.sheet import Sheet, sheet
from likewise.campaign.similarities import Request
from likewise.campaign.wording import expectation, shown
from likewise.cli.answers import analogues_json, header_json, weights_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say, say_json, say_table
from likewise.errors import UsageError
from likewise.study.suggestion import Analogue


class Numbers(NamedTuple):
    """What is expected of an object: mean, standard deviation, and the ends of the 95 % interval."""

    mean: float
    std: float
    low: float
    high: float


def explain(
    file: options.File,
    what: Annotated[
        list[str],
        typer.Argument(metavar="OBJECT", help="The object; for records COLUMN=CELL for each column of the object."),
    ],
    most: Annotated[int, typer.Option("-n", "--number", min=1, help="How many analogues.")] = 8,
    object: options.Object = None,
    value: options.Value = None,
    std: options.Std = None,
    minimize: options.Minimize = False,
    similarity: options.Similarities = None,
    bounds: options.BoundsText = None,
    seed: options.Seed = 0,
    text: options.Text = None,
    decimal: options.DecimalSign = None,
    skip_bad: options.SkipBad = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict any object, measured or not, in FILE or not, and show the measured objects that speak for it."""
    console = Console(quiet)
    table = sheet(file, options.choices(object, value, std, text, decimal, skip_bad), console)
    x = _object(table, what)
    request = Request(
        tuple(similarity or ()),
        None,
        options.direction(minimize),
        seed,
        skip_bad=skip_bad,
        bounds=options.bounds(bounds),
    )

    def work(problem: Problem) -> tuple[Numbers, tuple[Analogue, ...]]:
        problem.need(1, "a prediction")
        return _predict(problem, x), problem.study.explain(x, most)

    with console.working("comparing objects"):
        problem, (numbers, analogues) = solve(table, request, work, console, extra=[x])
    if as_json:
        _json(problem, x, numbers, analogues, console)
    else:
        _text(problem, x, numbers, analogues)


def _predict(problem: Problem, x: Any) -> Numbers:
    found = problem.study.predict([x])
    low, high = found.interval()
    return Numbers(*(float(row[0]) for row in (*found, low, high)))


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


def _rows_of(problem: Problem, x: Any) -> list[tuple[int, float]]:
    """The rows in which the object was measured, and its values."""
    sheet = problem.sheet
    assert sheet is not None
    key = problem.study.space.key(x)
    same = [i for i in sheet.measured if problem.study.space.key(sheet.objects[i]) == key]
    return [(sheet.table.number(i), sheet.values[i]) for i in same]


def _text(problem: Problem, x: Any, numbers: Numbers, analogues: tuple[Analogue, ...]) -> None:
    assert problem.sheet is not None
    value = problem.sheet.roles.value
    expected = expectation(numbers.mean, numbers.low, numbers.high)
    say(f"{shown(x)}: expected {value} {expected}, with a chance of 95 %")
    for row, measured in _rows_of(problem, x):
        say(f"It was measured: {measured:.6g} in row {row}.")
    say("")
    rows = [(f"{a.influence:+.3f}", f"{a.value:.6g}", shown(a.object), str(problem.row(a.object))) for a in analogues]
    say_table(("weight", value, ", ".join(problem.sheet.roles.objects), "row"), rows, right=(0, 1, 3))


def _json(problem: Problem, x: Any, numbers: Numbers, analogues: tuple[Analogue, ...], console: Console) -> None:
    say_json(
        "explain",
        {
            **header_json(problem, console),
            "object": problem.study.space.to_json(x),
            **numbers._asdict(),
            "measurements": [{"row": row, "value": value} for row, value in _rows_of(problem, x)],
            "because": analogues_json(problem, analogues),
            "similarities": weights_json(problem),
        },
    )
