"""A round of suggestions, written down: in the journal, in the table, and in the file that is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.campaign.display.reasons import Reasons
from likewise.campaign.listener import Listener
from likewise.campaign.problem import Problem
from likewise.campaign.runs.backups import backup_line
from likewise.campaign.runs.columns import RunColumns
from likewise.campaign.runs.journal import Journal
from likewise.campaign.runs.provenance import add_round, round_lines, row_cells
from likewise.campaign.runs.results import replace_table, waiting
from likewise.campaign.runs.rounds import Round, new_round
from likewise.campaign.runs.suggestions_file import said_of, write_first_table, write_suggestions
from likewise.campaign.sheets.sheet import Choices, Sheet
from likewise.study.suggestion import Suggestion
from likewise.tables.reading import read


@dataclass(frozen=True)
class Asked:
    """What a round is for: the columns, the rows that are taken back, the file as it was read, and the settings."""

    chosen: Choices
    withdrawn: tuple[int, ...] = ()
    before: tuple[int, ...] | None = None
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Committed:
    """A round that is written down: its number, its runs, the runs that were out already, and the table before."""

    number: int
    runs: tuple[str, ...]
    out_already: tuple[str, ...] = ()
    backup: Path | None = None


def commit_round(
    problem: Problem, found: Sequence[Suggestion], target: Path, asked: Asked, listener: Listener
) -> Committed:
    """Write a round to the journal, to the table and to the file of suggestions, in this order.

    If it ends in between, what is written says less, and nothing wrong: the same command makes the same round again.
    """
    sheet = problem.sheet
    assert sheet is not None
    round = new_round(problem, found, asked.withdrawn)
    journal, backup = Journal.of(sheet.table.path), None
    with waiting(sheet.table.path, listener):
        if not round.table.equals(sheet.table.frame) or round.table.columns != sheet.table.columns:
            first = sheet.own.run not in sheet.table.columns
            backup = replace_table(sheet.table, round.table, asked.before, backup=first)
            if backup is not None:
                listener.note(
                    f"{sheet.table.name} has columns {', '.join(sheet.own)} from now on, which say what was suggested "
                    f"and what became of it. The table as it was is kept as {backup}"
                )
        if backup is not None:
            journal.add([backup_line(backup)])
        if round.runs:
            cells = row_cells(round.frame, round.places, list(sheet.own))
            add_round(journal, round_lines(problem, found, round.runs, cells, asked.settings or {}))
    out = [_run(round, sheet, place) for place in round.before]
    reasons = Reasons.of(problem)
    said = [*(_said(journal, run) for run in out), *(said_of(s, reasons) for s in found)]
    write_suggestions(target, sheet, round, said)
    return Committed(round.number, round.runs, tuple(out), backup)


def _run(round: Round, sheet: Sheet, place: int) -> str:
    return str(round.frame[sheet.own.run][place] or "")


def _said(journal: Journal, run: str) -> Mapping[str, Any]:
    """What the model said of a run when it was suggested; its reasons are in the journal."""
    return {name: value for name, value in journal.suggestions.get(run, {}).items() if name != "because"}


def commit_first_table(problem: Problem, found: Sequence[Suggestion], target: Path, asked: Asked) -> Committed:
    """Write the first round to a table of its own, and to the journal."""
    runs = write_first_table(target, problem.study.space, found, asked.chosen)
    frame = read(target, may_be_empty=True).frame
    cells = row_cells(frame, range(len(runs)), list(RunColumns()))
    if runs:
        add_round(Journal.of(target), round_lines(problem, found, runs, cells, asked.settings or {}))
    return Committed(1, tuple(runs))
