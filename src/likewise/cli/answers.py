"""What answers about a table have in common, as JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from likewise.campaign.aims import Aims
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem
from likewise.study.suggestion import Analogue


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
    limits = {name: each.describe() for name, each in study.goals.constraints.items()}
    return {"direction": None, "objectives": dict(study.goals.objectives), "constraints": limits}


def directions_json(aims: Aims) -> dict[str, Any]:
    """What is wanted, as JSON data: a direction, or those of several objectives with limits."""
    if not aims.several:
        return {"direction": next(iter(aims.objectives.values()))}
    limits = {name: each.describe() for name, each in aims.limits.items()}
    return {"direction": None, "objectives": dict(aims.objectives), "constraints": limits}


def object_json(problem: Problem, x: Any) -> dict[str, Any]:
    """An object as JSON data, with the row that it has in the table."""
    return {"row": problem.row(x), "object": problem.study.space.to_json(x)}


def analogues_json(problem: Problem, analogues: Any, reasons: Reasons | None = None, outcome: str = "") -> Any:
    """Analogues as JSON data; those of several outcomes by their names.

    With reasons, each says whether it speaks for the object or against it.
    """
    if isinstance(analogues, Mapping):
        return {name: analogues_json(problem, each, reasons, name) for name, each in analogues.items()}
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
