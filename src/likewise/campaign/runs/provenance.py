"""Where a suggestion comes from: seed, version, data, settings and what the model said, as lines of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars

from likewise import __version__
from likewise.campaign.display.reasons import Reasons
from likewise.campaign.problem import Problem
from likewise.campaign.roles import PREFIX
from likewise.campaign.runs.journal import Journal, data_hash, now
from likewise.study.suggestion import Suggestion
from likewise.tables.cells import empty
from likewise.tables.formatting import cell_text

NUMBERS = ("mean", "std", "low", "high", "chance", "improvement")


def round_lines(
    problem: Problem,
    found: Sequence[Suggestion],
    runs: Sequence[str],
    cells: Sequence[Mapping[str, str]],
    asked: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """A line for the round, and one for each of its suggestions; `asked` is what the command was asked for."""
    number = int(runs[0][1:].partition("-")[0]) if runs else 0
    head = {
        "kind": "round",
        "round": number,
        "time": now(),
        "likewise": __version__,
        "seed": problem.study.seed,
        "data": data_hash(problem.sheet),
        "measured": problem.measured,
        **_goals(problem),
        "similarities": [{"name": name, "weight": round(weight, 6)} for name, weight in problem.weights()],
        "runs": list(runs),
        **asked,
    }
    ranked, reasons = enumerate(zip(found, runs, cells, strict=True), 1), Reasons.of(problem)
    return [head, *(_suggestion(problem, reasons, rank, number, s, run, row) for rank, (s, run, row) in ranked)]


def _goals(problem: Problem) -> dict[str, Any]:
    """What was wanted, and the best of it that there was."""
    study, space = problem.study, problem.study.space
    if study.goals.named:
        front = [{"object": space.to_json(t.object), "values": study.objectives_of(t)} for t in problem.front]
        return {**study.goals.describe(), "front": front}
    best = study.best if problem.measured else None
    found = None
    if best is not None:
        found = {"object": space.to_json(best.object), "value": best.value, "limit": best.limit}
    return {"direction": study.direction, "best": found}


def _suggestion(
    problem: Problem, reasons: Reasons, rank: int, number: int, s: Suggestion, run: str, cells: Mapping[str, str]
) -> dict[str, Any]:
    space = problem.study.space
    said = {name: getattr(s, name) for name in NUMBERS}
    if s.outcomes:
        said["outcomes"] = {name: vars(expected) for name, expected in s.outcomes.items()}
    if s.chance_feasible is not None:
        said["feasible"] = s.chance_feasible
    return {
        "kind": "suggestion",
        "run": run,
        "round": number,
        "rank": rank,
        "object": space.to_json(s.object),
        "cells": dict(cells),
        **said,
        "notes": dict(s.notes),
        "because": _because(problem, reasons, s.analogues),
    }


def _because(problem: Problem, reasons: Reasons, analogues: Any, outcome: str = "") -> Any:
    """Analogues as JSON data, with what each speaks for; those of several outcomes by their names."""
    if isinstance(analogues, Mapping):
        return {name: _because(problem, reasons, each, name) for name, each in analogues.items()}
    space = problem.study.space
    return [
        {
            "object": space.to_json(a.object),
            "value": a.value,
            "limit": a.limit,
            "influence": a.influence,
            "speaks": reasons.side(a, outcome),
            "row": problem.row(a.object),
        }
        for a in analogues
    ]


def add_round(journal: Journal, lines: Sequence[Mapping[str, Any]]) -> None:
    """Add a round to the journal, unless the last one is the same: asking twice is one round."""
    last, head = journal.last_round, lines[0]
    if last is None or any(last.get(name) != value for name, value in head.items() if name != "time"):
        journal.add(lines)


def row_cells(frame: polars.DataFrame, places: Sequence[int], own: Sequence[str]) -> list[dict[str, str]]:
    """The cells of rows that belong to the user, as texts."""
    names = [name for name in frame.columns if name not in own and not name.startswith(PREFIX)]
    rows = frame.select(names)[list(places)].rows(named=True)
    return [{name: cell_text(cell).strip() for name, cell in row.items() if not empty(cell)} for row in rows]
