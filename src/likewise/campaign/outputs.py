"""What a command writes: a round in table, journal and file, plate maps, and checks that nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from likewise import __version__
from likewise.campaign.columns import Kind, RunColumns, run_name
from likewise.campaign.journal import Base, Journal, data_hash, now
from likewise.campaign.merge import merge_results
from likewise.campaign.objects import to_cells
from likewise.campaign.problem import Problem
from likewise.campaign.reasons import Reasons
from likewise.campaign.results import as_results, backup_line, replace_table, unusable, waiting
from likewise.campaign.roles import PREFIX
from likewise.campaign.rounds import Round, new_round
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.text import Listener, rounded
from likewise.errors import LikewiseError, TableError, UsageError
from likewise.spaces.base import Space
from likewise.study.trial import Suggestion
from likewise.tables.cells import Decimal, cell_text, empty, number_text
from likewise.tables.dialect import Dialect
from likewise.tables.reading import read
from likewise.tables.writing import dialect_for, write

# The files that a command writes, checked before any work: nothing is lost, and nothing is done in vain.


def check_targets(targets: Mapping[str, Path | None], sources: Mapping[str, Path | None]) -> None:
    """Refuse files that cannot be written, that the command reads, or that are one; each is called by its option."""
    named = [(what, path) for what, path in sources.items() if path is not None]
    for option, target in targets.items():
        if target is None:
            continue
        _check_place(option, target)
        for what, path in named:
            if _same(target, path):
                raise UsageError(f"{option} {target} is {what}; give another name.")
        named.append((f"that of {option} too", target))


def _check_place(option: str, target: Path) -> None:
    # A link stays, and what it points to is written.
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise UsageError(f"{option} {target}: there is no folder {folder}; make it, or give another name.")
    if target.exists() and not target.is_file():
        raise UsageError(f"{option} {target} is a folder or a device, not a file; give another name.")
    if not os.access(folder, os.W_OK):
        raise TableError(f"{option} {target}: the folder {folder} cannot be written; change its rights, or the name.")


def _same(path: Path, other: Path) -> bool:
    """Whether two names are one file, be it there or not."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


# A plate map: in which well which run is, with replicates and controls, in an order that is drawn by lots.

# Rows and columns of plates by their number of wells.
PLATES = {6: (2, 3), 12: (3, 4), 24: (4, 6), 48: (6, 8), 96: (8, 12), 384: (16, 24), 1536: (32, 48)}
CONTROL = "control"


class Well(NamedTuple):
    """A well of a plate, when it is run, and the run in it with the number of its replicate; None for a control."""

    plate: int
    well: str
    order: int
    run: int | None
    replicate: int


def wells(count: int) -> list[str]:
    """The names of the wells of a plate, row by row.

    >>> wells(6)
    ['A1', 'A2', 'A3', 'B1', 'B2', 'B3']
    """
    if count not in PLATES:
        raise UsageError(f"A plate has {', '.join(map(str, PLATES))} wells, not {count}; give one of these.")
    rows, columns = PLATES[count]
    letters = [chr(65 + i) if i < 26 else f"A{chr(65 + i - 26)}" for i in range(rows)]
    return [f"{letter}{column}" for letter in letters for column in range(1, columns + 1)]


def plate_map(runs: int, size: int = 96, controls: int = 0, replicates: int = 1, seed: int = 0) -> list[Well]:
    """Each run in `replicates` wells and `controls` on each plate, in random order, on as many plates as it takes.

    The wells are filled row by row in the order of the runs, so that neither place nor time goes with the rank. The
    replicates of a run are spread over the whole.
    """
    names = wells(size)
    if not 0 <= controls < size:
        raise UsageError(f"{controls} controls leave no room on a plate of {size} wells; give fewer.")
    rng, room = np.random.default_rng(seed), size - controls
    # Each round of replicates is drawn by itself, so that all runs come once before any comes twice.
    order = [(int(run), turn) for turn in range(1, replicates + 1) for run in rng.permutation(runs)]
    filled_wells: list[Well] = []
    for plate, start in enumerate(range(0, len(order), room), 1):
        filled: list[tuple[int | None, int]] = [*order[start : start + room]]
        for turn in range(1, controls + 1):
            filled.insert(int(rng.integers(len(filled) + 1)), (None, turn))
        first = len(filled_wells) + 1
        filled_wells += [Well(plate, names[k], first + k, run, turn) for k, (run, turn) in enumerate(filled)]
    return filled_wells


def write_plate(
    target: Path, wells: Sequence[Well], runs: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[str]]
) -> None:
    """Write a plate map as a table: where, when, which run and which replicate, and the settings of the run."""
    rows = [
        {
            "plate": str(well.plate),
            "well": well.well,
            "order": str(well.order),
            "run": CONTROL if well.run is None else runs[well.run],
            "replicate": str(well.replicate),
            **{name: None if well.run is None else cells[well.run][k] for k, name in enumerate(columns)},
        }
        for well in wells
    ]
    names = ["plate", "well", "order", "run", "replicate", *columns]
    frame = polars.DataFrame(rows, schema=dict.fromkeys(names, polars.String()))
    write(frame, target, dialect_for(target, Dialect()))


# Where a suggestion comes from: seed, version, data, settings and what the model said, as lines of the journal.

NUMBERS = ("mean", "std", "low", "high", "chance", "improvement")


def round_lines(
    problem: Problem,
    suggestions: Sequence[Suggestion],
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
    ranked, reasons = enumerate(zip(suggestions, runs, cells, strict=True), 1), Reasons.of(problem)
    return [head, *(_suggestion(problem, reasons, rank, number, s, run, row) for rank, (s, run, row) in ranked)]


def _goals(problem: Problem) -> dict[str, Any]:
    """What was wanted, and the best of it that there was."""
    study, space = problem.study, problem.study.space
    if study.goals.named:
        front = [{"object": space.to_json(t.object), "values": study.objectives_of(t)} for t in problem.front]
        return {**study.goals.describe(), "front": front}
    best = study.best if problem.measured else None
    summary = None
    if best is not None:
        summary = {"object": space.to_json(best.object), "value": best.value, "limit": best.limit}
    return {"direction": study.direction, "best": summary}


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
        return {name: _because(problem, reasons, part, name) for name, part in analogues.items()}
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


def row_cells(frame: polars.DataFrame, places: Sequence[int], reserved: Sequence[str]) -> list[dict[str, str]]:
    """The cells of rows that belong to the user, as texts."""
    names = [name for name in frame.columns if name not in reserved and not name.startswith(PREFIX)]
    rows = frame.select(names)[list(places)].rows(named=True)
    return [{name: cell_text(cell).strip() for name, cell in row.items() if not empty(cell)} for row in rows]


# The file of suggestions: the columns of the input and what is predicted, ready to be filled in and merged back.

PREDICTIONS = ("mean", "std", "low", "high", "chance")
CHANCES = ("chance", "feasible")
DIGITS, CHANCE_DIGITS = 6, 3
# What is said of a suggestion, by the name of its column.
Said = Mapping[str, Any]


def is_suggestions_file(target: Path) -> bool:
    """Whether likewise has written a file, by its columns."""
    try:
        columns = read(target, skip_ragged=True, may_be_empty=True).columns
    except LikewiseError:
        return False
    return any(name.startswith(PREFIX) for name in columns)


@dataclass(frozen=True)
class Unmerged:
    """What a file of suggestions says that the table does not: rows, contradictions, and rows that cannot be used."""

    rows: int = 0
    conflicts: int = 0
    bad: tuple[int, ...] = ()


def find_unmerged(target: Path, table: Sheet | None, base: Base | None = None) -> Unmerged | None:
    """What a file of suggestions says that the table does not; None where it is no such file."""
    if not is_suggestions_file(target):
        return None
    chosen = Choices(skip_bad=True)
    try:
        results = sheet(
            target, chosen if table is None else as_results(table, target, chosen), Listener(), may_be_empty=True
        )
        bad = unusable(results)
        if table is None:
            return Unmerged(len(results.measured), bad=bad)
        merge = merge_results(table, results, "keep", base)
        return Unmerged(merge.changes - len(merge.conflicts), len(merge.conflicts), bad)
    except LikewiseError:
        # Whatever is in the way of reading it, a person wrote it.
        return Unmerged(1)


def write_suggestions(target: Path, source: Sheet, round: Round, said: Sequence[Said]) -> None:
    """Write the runs that are out and the new ones, in the dialect of the table; `said` is in the same order."""
    dialect = dialect_for(target, source.table.dialect)
    # The columns in the order of the table, so that rows can be pasted below it.
    names = [c for c in round.frame.columns if c in source.own or not c.startswith(PREFIX)]
    frame = round.frame.select(names)[[*round.before, *round.places]]
    write(_with_predictions(frame, said, dialect, source.decimal), target, dialect)


def write_first_table(target: Path, space: Space, suggestions: Sequence[Suggestion], chosen: Choices) -> list[str]:
    """A table where there was none, which is the table from then on; the names of its runs."""
    reserved, dialect = RunColumns(), dialect_for(target, Dialect())
    runs = [run_name(1, rank, space.key(s.object)) for rank, s in enumerate(suggestions, 1)]
    names = list(chosen.objects) or list(space.parts) or ["object"]
    cells = [to_cells(space, s.object, names) for s in suggestions]
    columns: dict[str, list[Any]] = {name: [row[number] for row in cells] for number, name in enumerate(names)}
    columns |= {name: [None] * len(suggestions) for name in chosen.measured}
    n = len(suggestions)
    run_cells = dict(zip(reserved, (runs, [Kind.SUGGESTED.value] * n, ["1"] * n), strict=True))
    frame = polars.DataFrame({**columns, **run_cells}, schema=dict.fromkeys((*columns, *run_cells), polars.String()))
    write(_with_predictions(frame, [said_of(s) for s in suggestions], dialect, "."), target, dialect)
    return runs


def said_of(suggestion: Suggestion, reasons: Reasons | None = None) -> dict[str, Any]:
    """What the model said of a suggestion, by the name of its column."""
    because = None if reasons is None else reasons.text(suggestion) or None
    numbers = {name: getattr(suggestion, name) for name in PREDICTIONS}
    outcomes = {name: vars(expected) for name, expected in suggestion.outcomes.items()}
    return {**numbers, "outcomes": outcomes, "feasible": suggestion.chance_feasible, "because": because}


def _flat(said: Said) -> tuple[dict[str, Any], dict[str, float | None]]:
    """What was said, a column for each number, and the uncertainty of each; of several outcomes each has its own."""
    outcomes = said.get("outcomes") or {}
    if not outcomes:
        return {name: said.get(name) for name in PREDICTIONS}, dict.fromkeys(PREDICTIONS, said.get("std"))
    ends = ("mean", "std", "low", "high")
    predicted = {f"{name} {end}": numbers.get(end) for name, numbers in outcomes.items() for end in ends}
    stds = {f"{name} {end}": numbers.get("std") for name, numbers in outcomes.items() for end in ends}
    chances = {"chance": said.get("chance")} | (
        {"feasible": said["feasible"]} if said.get("feasible") is not None else {}
    )
    return {**predicted, **chances}, stds


def _with_predictions(
    frame: polars.DataFrame, said: Sequence[Said], dialect: Dialect, decimal: Decimal
) -> polars.DataFrame:
    extra: list[polars.Series] = []
    flat = [_flat(prediction) for prediction in said]
    named = dict.fromkeys(name for prediction, _ in flat for name in prediction)
    columns = [n for n in named if n not in CHANCES] + [n for n in named if n in CHANCES]
    if any(prediction.get("outcomes") for prediction in said):
        # Runs of a first round have no predictions, and need no columns for them.
        columns = [name for name in columns if name not in PREDICTIONS or name in CHANCES]
    for name in columns:
        values = [prediction.get(name) for prediction, _ in flat]
        if dialect.kind != "csv":
            extra.append(polars.Series(f"{PREFIX}{name}", values, dtype=polars.Float64()))
        else:
            texts = [_text(name, value, stds.get(name), decimal) for value, (_, stds) in zip(values, flat, strict=True)]
            extra.append(polars.Series(f"{PREFIX}{name}", texts, dtype=polars.String()))
    reasons = [prediction.get("because") for prediction in said]
    return frame.with_columns([*extra, polars.Series(f"{PREFIX}because", reasons, dtype=polars.String())])


def _text(name: str, value: float | None, std: float | None, decimal: Decimal) -> str | None:
    """A number of a prediction as a cell, with the digits that its uncertainty leaves it."""
    if value is None:
        return None
    if name in CHANCES or not std:
        return number_text(value, decimal, CHANCE_DIGITS if name in CHANCES else DIGITS)
    return rounded(value, std).replace(".", decimal)


# A round of suggestions, written down: in the journal, in the table, and in the file that is filled in.


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
    problem: Problem, suggestions: Sequence[Suggestion], target: Path, asked: Asked, listener: Listener
) -> Committed:
    """Write a round to the journal, to the table and to the file of suggestions, in this order.

    If it ends in between, what is written says less, and nothing wrong: the same command makes the same round again.
    """
    sheet = problem.sheet
    assert sheet is not None
    round = new_round(problem, suggestions, asked.withdrawn)
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
            add_round(journal, round_lines(problem, suggestions, round.runs, cells, asked.settings or {}))
    out = [_run(round, sheet, place) for place in round.before]
    reasons = Reasons.of(problem)
    said = [*(_said(journal, run) for run in out), *(said_of(s, reasons) for s in suggestions)]
    write_suggestions(target, sheet, round, said)
    return Committed(round.number, round.runs, tuple(out), backup)


def _run(round: Round, sheet: Sheet, place: int) -> str:
    return str(round.frame[sheet.own.run][place] or "")


def _said(journal: Journal, run: str) -> Mapping[str, Any]:
    """What the model said of a run when it was suggested; its reasons are in the journal."""
    return {name: value for name, value in journal.suggestions.get(run, {}).items() if name != "because"}


def commit_first_table(problem: Problem, suggestions: Sequence[Suggestion], target: Path, asked: Asked) -> Committed:
    """Write the first round to a table of its own, and to the journal."""
    runs = write_first_table(target, problem.study.space, suggestions, asked.chosen)
    frame = read(target, may_be_empty=True).frame
    cells = row_cells(frame, range(len(runs)), list(RunColumns()))
    if runs:
        add_round(Journal.of(target), round_lines(problem, suggestions, runs, cells, asked.settings or {}))
    return Committed(1, tuple(runs))
