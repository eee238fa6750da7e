"""`likewise why`: on what grounds a run was suggested, and what came of it, from the journal beside the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.campaign.runs.journal import Journal, history
from likewise.campaign.wording import expectation, percent, shown
from likewise.cli.commands.session import Session, words
from likewise.cli.console import Console, say, say_table
from likewise.cli.parameters import Reply
from likewise.errors import UsageError

LISTED = 8


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The name of the run, such as R3-2fk.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The table. Default: that of likewise.toml.")
    ] = None,
    *,
    console: Console,
) -> Reply:
    """Say why a run was suggested: what the model expected, because of which results, with which settings and data."""
    table = Session.of(file, console).table
    journal = Journal.of(table)
    suggestion = journal.suggestions.get(run)
    if suggestion is None:
        raise UsageError(_unknown(run, table, journal))
    lines = history(journal, run)
    rounds = [line for line in journal.of_kind("round") if run in line.get("runs", [])]
    made = rounds[-1] if rounds else {}
    results = [line for line in lines if line.get("kind") == "result"]
    return Reply(
        lambda: {"file": str(table), "suggestion": suggestion, "round": made, "results": results},
        lambda: _say(run, suggestion, made, results),
    )


def _unknown(run: str, table: Path, journal: Journal) -> str:
    if not journal.suggestions:
        return f"There is no journal {journal.path}, so nothing is known of run {run!r}. `suggest --out` begins one."
    known = list(journal.suggestions)
    others = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"{table} has no run {run!r}; its runs are {', '.join(known[-LISTED:])}{others}."


def _say(run: str, suggestion: dict[str, Any], made: dict[str, Any], results: Sequence[dict[str, Any]]) -> None:
    say(f"{run}, number {suggestion['rank']} of round {suggestion['round']}: {shown(suggestion['object'])}")
    if suggestion.get("mean") is None:
        say("It was chosen to be unlike what was tried before: too little was measured to predict anything.")
    else:
        expected = expectation(suggestion["mean"], suggestion["low"], suggestion["high"])
        say(f"Expected {expected}, with a chance of {percent(suggestion['chance'])} to beat the best, because of:")
        because = suggestion["because"]
        rows = [
            (f"{a['influence']:+.2f}", f"{a['value']:.6g}", shown(a["object"]), str(a["row"] or "")) for a in because
        ]
        say_table(("weight", "value", "object", "row then"), rows, right=(0, 1, 3))
    best = made.get("best")
    if best is not None:
        say(f"The best of {made['measured']} measured rows was {shown(best['object'])} with {best['value']:.6g}.")
    shares = [f"{each['name']} {percent(each['weight'])}" for each in made.get("similarities", [])]
    if shares:
        say(f"Similarities: {', '.join(shares)}.")
    if made.get("verdict"):
        say(f"Verdict then: {made['verdict']}")
    if made:
        asked = " ".join(words(made.get("options", {})))
        say(
            f"Made on {made['time']} by likewise {made['likewise']}, seed {made['seed']}, data {made['data']}, looking "
            f"for the {'smallest' if made['direction'] == 'minimize' else 'largest'}. Options: {asked or 'none'}."
        )
    for line in results:
        came = line.get("said") or f"{line['value']:.6g}"
        say(f"Told on {line['time']}: {came}.")
    if not results:
        say("No result was told yet.")
