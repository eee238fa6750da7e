"""What answers about a table have in common, as JSON data, for one column of values or for each of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from likewise.campaign.columns import Aims, limits_text
from likewise.campaign.problem import Problem
from likewise.campaign.reasons import Reasons
from likewise.campaign.text import Listener, count
from likewise.cli.console import say
from likewise.errors import StudyError, UsageError
from likewise.study.goals import Goals
from likewise.study.trial import Analogue


def header_json(problem: Problem, listener: Listener, remarks: Sequence[str] = ()) -> dict[str, Any]:
    """What every answer about a table says first."""
    sheet = problem.sheet
    return {
        "file": None if sheet is None else sheet.table.name,
        "object_columns": [] if sheet is None else list(sheet.roles.objects),
        "value_column": None if sheet is None else sheet.roles.value,
        **_directions(problem),
        "measured": problem.measured,
        "candidates": 0 if sheet is None else len(sheet.candidates),
        "skipped_rows": [] if sheet is None else [sheet.table.number(bad.place) for bad in sheet.skipped],
        "notes": [*listener.notes, *remarks],
    }


def _directions(problem: Problem) -> dict[str, Any]:
    study = problem.study
    if not study.goals.named:
        return {"direction": study.direction}
    limits = {name: limit.describe() for name, limit in study.goals.constraints.items()}
    return {"direction": None, "objectives": dict(study.goals.objectives), "constraints": limits}


def directions_json(aims: Aims) -> dict[str, Any]:
    """What is wanted, as JSON data: a direction, or those of several objectives with limits."""
    if not aims.several:
        return {"direction": next(iter(aims.objectives.values()))}
    limits = {name: limit.describe() for name, limit in aims.limits.items()}
    return {"direction": None, "objectives": dict(aims.objectives), "constraints": limits}


def object_json(problem: Problem, x: Any) -> dict[str, Any]:
    """An object as JSON data, with the row that it has in the table."""
    return {"row": problem.row(x), "object": problem.study.space.to_json(x)}


def analogues_json(problem: Problem, analogues: Any, reasons: Reasons | None = None, outcome: str = "") -> Any:
    """Analogues as JSON data; those of several outcomes by their names.

    With reasons, each says whether it speaks for the object or against it.
    """
    if isinstance(analogues, Mapping):
        return {name: analogues_json(problem, part, reasons, name) for name, part in analogues.items()}
    return [
        {
            **object_json(problem, a.object),
            "value": a.value,
            **_limit(a),
            "influence": a.influence,
            **({} if reasons is None else {"speaks": reasons.side(a, outcome)}),
        }
        for a in analogues
    ]


def _limit(analogue: Analogue) -> dict[str, str]:
    return {} if analogue.limit is None else {"limit": analogue.limit}


def weights_json(problem: Problem, outcome: str | None = None) -> list[dict[str, Any]]:
    """The similarities and their weights as JSON data, of one outcome or of all together."""
    return [{"name": name, "weight": weight} for name, weight in problem.weights(outcome)]


# The same question about the one column of values, or about each of several in turn.

Answer = TypeVar("Answer")
# Answers by outcome; that of a table with one column of values stands under None.
PerOutcome = Mapping[str | None, Answer]


def ask_each(
    problem: Problem, least: int, what: str, ask: Callable[[str | None], Answer], listener: Listener
) -> PerOutcome[Answer]:
    """What `ask` says of each outcome. One that has fewer than `least` values is noted; if all have, it is an error."""
    problem.need(least, what)
    if not problem.study.goals.named:
        return {None: ask(None)}
    answers: dict[str | None, Answer] = {}
    lacking: list[str] = []
    for name in problem.study.goals.named_outcomes:
        values = problem.measured_of(name)
        try:
            if values < least:
                raise StudyError(f"{count(values, 'value')}, and {what} needs at least {least}")
            answers[name] = ask(name)
        except StudyError as error:
            lacking.append(f"{name}: {error}")
    if not answers:
        raise UsageError(f"{'; '.join(lacking)}.")
    for text in lacking:
        listener.note(text)
    return answers


def answers_json(answers: PerOutcome[Answer], data: Callable[[Answer], Mapping[str, Any]]) -> dict[str, Any]:
    """The answers as JSON data: that of one column as it is, those of several by name under `outcomes`."""
    if None in answers:
        return dict(data(answers[None]))
    return {"outcomes": {name: dict(data(answer)) for name, answer in answers.items()}}


def say_each(answers: PerOutcome[Answer], goals: Goals, tell: Callable[[str | None, Answer], None]) -> None:
    """Say the answers: that of one column as it is, those of several below headings, with a line between them."""
    for number, (name, answer) in enumerate(answers.items()):
        if name is not None:
            say(*([""] if number else []), heading(goals, name))
        tell(name, answer)


def heading(goals: Goals, name: str) -> str:
    """An outcome, and what is wanted of it.

    >>> from likewise.study.goals import AtMost
    >>> heading(Goals({"yield": "maximize"}, {"imp": AtMost(2.0)}), "imp")
    'imp (at most 2)'
    """
    wanted = [str(goals.objectives[name])] if name in goals.objectives else []
    wanted += [limits_text(goals.constraints[name])] if name in goals.constraints else []
    return f"{name} ({', '.join(wanted)})"
