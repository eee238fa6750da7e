"""What `suggest` says: a table for people, or JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.campaign.console import Console, say, say_json, say_table
from likewise.campaign.objects import shown
from likewise.campaign.suggestions_file import because, next_command

if TYPE_CHECKING:
    from likewise.campaign.problem import Problem
    from likewise.campaign.sheet import Choices
    from likewise.study.suggestion import Analogue, Suggestion

NAME = 60


def plain(problem: Problem, x: Any) -> Any:
    """The object as JSON data."""
    return problem.study.space.to_json(x)


def weights(problem: Problem) -> list[tuple[str, float]]:
    """The similarities by name, with their share of the votes, the largest first; none while nothing is measured."""
    if problem.sheet is None or not problem.sheet.measured:
        return []
    committee = problem.study.committee()
    shares = committee.similarity_weights()
    pairs = [(similarity.name, float(share)) for similarity, share in zip(committee.similarities, shares, strict=True)]
    return sorted(pairs, key=lambda pair: -pair[1])


def analogue_json(problem: Problem, analogue: Analogue) -> dict[str, Any]:
    """An analogue as JSON data."""
    return {
        "row": problem.row(analogue.object),
        "object": plain(problem, analogue.object),
        "value": analogue.value,
        "influence": analogue.influence,
    }


def header_json(problem: Problem, console: Console, remarks: Sequence[str] = ()) -> dict[str, Any]:
    """What every answer about a table says first."""
    sheet = problem.sheet
    return {
        "file": None if sheet is None else sheet.table.name,
        "object_columns": [] if sheet is None else list(sheet.roles.objects),
        "value_column": None if sheet is None else sheet.roles.value,
        "direction": problem.study.direction,
        "measured": 0 if sheet is None else len(sheet.measured),
        "candidates": 0 if sheet is None else len(sheet.candidates),
        "skipped_rows": [] if sheet is None else [sheet.table.number(bad.place) for bad in sheet.skipped],
        "notes": [*console.notes, *remarks],
    }


def best_json(problem: Problem) -> dict[str, Any] | None:
    """The best measured object."""
    if problem.sheet is None or not problem.sheet.measured:
        return None
    best = problem.study.best
    return {"row": problem.row(best.object), "object": plain(problem, best.object), "value": best.value}


def answer_json(
    problem: Problem,
    found: Sequence[Suggestion],
    verdict: str | None,
    console: Console,
    out: Path | None,
    report: Path | None,
    chosen: Choices,
) -> None:
    """The answer of `suggest` for programs."""
    suggestions = [
        {
            "rank": rank,
            "row": problem.row(s.object),
            "object": plain(problem, s.object),
            "mean": s.mean,
            "std": s.std,
            "chance": s.chance,
            "improvement": s.improvement,
            "because": [analogue_json(problem, analogue) for analogue in s.analogues],
        }
        for rank, s in enumerate(found, 1)
    ]
    say_json(
        "suggest",
        {
            **header_json(problem, console),
            "best": best_json(problem),
            "suggestions": suggestions,
            "similarities": [{"name": name, "weight": weight} for name, weight in weights(problem)],
            "verdict": verdict,
            "out": None if out is None else str(out),
            "report": None if report is None else str(report),
        },
    )


def answer_text(
    problem: Problem,
    found: Sequence[Suggestion],
    verdict: str | None,
    console: Console,
    out: Path | None,
    report: Path | None,
    chosen: Choices,
) -> None:
    """The answer of `suggest` for people; `chosen` is what the command to go on with says too."""
    sheet = problem.sheet
    name = "object" if sheet is None else ", ".join(sheet.roles.objects)
    value = (chosen.value or "value") if sheet is None else sheet.roles.value
    if not found:
        say("Every candidate has a value: there is nothing left to suggest.")
    elif found[0].mean is None:
        say_table(("", name), [(str(rank), shown(s.object)) for rank, s in enumerate(found, 1)], right=(0,))
    else:
        rows = [
            (str(rank), shown(s.object), f"{s.mean:.4g} ± {s.std:.2g}", percent(s.chance), because(s, "\n"))
            for rank, s in enumerate(found, 1)
        ]
        columns = ("", name, f"expected {value}", "beats best", f"because of ({value}, weight)")
        say_table(columns, rows, right=(0, 3))
    if (best := best_json(problem)) is not None:
        where = "" if best["row"] is None else f" (row {best['row']})"
        say("", f"Best so far: {shown(problem.study.best.object)}, {value} {best['value']:.6g}{where}.")
    if shares := weights(problem):
        listed = [f"{_short(name)} {percent(share)}" for name, share in shares if share >= 0.005]
        say(f"Similarities: {', '.join(listed)}.")
    if verdict:
        say(f"Verdict: {verdict}")
    if out is not None and found:
        follow = next_command(None if sheet is None else sheet.table.path, out, chosen)
        say(f"Fill in column {value!r} of {out}, then: {follow}")
    if report is not None:
        say(f"Report: {report}")


def _short(name: str) -> str:
    """The name of a similarity; those of records with many fields are long."""
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "measured row"), counted(0, "row")
    ('1 measured row', '0 rows')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    """A share in percent; small ones are not called nothing.

    >>> percent(0.345), percent(0.0004), percent(None)
    ('34 %', '< 0.1 %', '')
    """
    if share is None:
        return ""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.01 else f"{100 * share:.0f} %"
