"""Rounds of suggestions in the table itself: which runs are out, which are taken back, and the names of new ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars

from likewise.campaign.columns import Kind, is_open, run_name, updated_status, whole
from likewise.campaign.journal import Base, told_results
from likewise.campaign.merge import check_room, is_same_cell
from likewise.campaign.objects import to_cells
from likewise.campaign.problem import Problem
from likewise.campaign.roles import PREFIX
from likewise.campaign.sheet import Sheet
from likewise.study.trial import Suggestion
from likewise.tables.cells import empty
from likewise.tables.typed import parse_as, with_cells


@dataclass(frozen=True)
class Round:
    """A round of suggestions: its number, the names of its runs, and the table with them.

    `places` are the rows of the new runs in the frame, `before` those of runs that were out already.
    """

    number: int
    runs: tuple[str, ...]
    frame: polars.DataFrame
    places: tuple[int, ...]
    before: tuple[int, ...]
    dropped: tuple[int, ...] = ()

    @property
    def table(self) -> polars.DataFrame:
        """The table without rows that were made for runs which are taken back."""
        gone = set(self.dropped)
        return self.frame[[i for i in range(self.frame.height) if i not in gone]] if gone else self.frame


def untouched_round(sheet: Sheet, base: Base) -> list[int]:
    """The rows of the last round, if nothing was done with any of them: then asking again may answer anew."""
    numbers = _rounds(sheet)
    runs = set(sheet.runs.values())
    last = max((number for place, number in numbers.items() if place in runs), default=None)
    rows = [place for place, number in numbers.items() if number == last and place in runs]
    return rows if rows and all(_untouched(sheet, place, base) for place in rows) else []


def lost_results(sheet: Sheet, base: Base) -> dict[str, str]:
    """Returns the runs that have results but no row in the table, with these results as they were written."""
    lost: dict[str, str] = {}
    columns = sheet.roles.objects
    objects = {tuple(sheet.cell(name, i) for name in columns) for i in (*sheet.measured, *sheet.closed)}
    for run, cells in base.items():
        place, results = sheet.runs.get(run), told_results(cells)
        if results and (
            tuple(cells.get(name, "") for name in columns) not in objects if place is None else _is_open(sheet, place)
        ):
            lost[run] = results
    return lost


def _is_open(sheet: Sheet, place: int) -> bool:
    """Whether a row of a run has no result, and nothing says that it gets none."""
    state = sheet.states.get(place)
    return sheet.objects[place] is not None and not sheet.results(place) and (state is None or is_open(state))


def _untouched(sheet: Sheet, place: int, base: Base) -> bool:
    state, asked = sheet.states.get(place), base.get(sheet.cell(sheet.own.run, place), {})
    if state is None or state.kind is not Kind.SUGGESTED or told_results(asked):
        return False
    return all(
        is_same_cell(sheet.cell(column, place), asked.get(column, ""), sheet.sign, sheet.sign)
        for column in sheet.table.columns
        if column not in sheet.own and (column in asked or asked)
    )


def _rounds(sheet: Sheet) -> dict[int, int]:
    if sheet.own.round not in sheet.table.columns:
        return {}
    cells = enumerate(sheet.table.column(sheet.own.round).to_list())
    return {place: number for place, cell in cells if not empty(cell) and (number := whole(cell)) is not None}


def new_round(problem: Problem, suggestions: Sequence[Suggestion], withdrawn: Sequence[int]) -> Round:
    """The table with a round of suggestions in it; runs that are taken back leave it."""
    sheet, space = problem.sheet, problem.study.space
    assert sheet is not None
    numbers = [number for place, number in _rounds(sheet).items() if place not in set(withdrawn)]
    number = max(numbers, default=0) + 1
    runs = tuple(run_name(number, rank, space.key(s.object)) for rank, s in enumerate(suggestions, 1))
    # In a space, the rows of runs that are taken back were made for them, and are free for others.
    free = [] if problem.pool is not None else list(withdrawn)
    columns = _status_cells(sheet, withdrawn)
    places = _places(problem, sheet, suggestions, free, columns)
    for place, run in zip(places, runs, strict=True):
        for name, cell in zip(sheet.own, (run, Kind.SUGGESTED.value, str(number)), strict=True):
            columns[name][place] = cell
    if sheet.table.dialect.kind == "workbook":
        # Rows of a workbook are emptied: those below stay where they are, with all that belongs to them.
        for place, name in product(free, sheet.roles.objects):
            columns.setdefault(name, {})[place] = None
        free = []
    frame = _frame(sheet, columns, sum(place >= len(sheet.table) for place in places))
    before = tuple(place for place in sheet.under_way if place not in set(withdrawn))
    return Round(number, runs, frame, tuple(places), before, tuple(free))


def _places(
    problem: Problem,
    sheet: Sheet,
    suggestions: Sequence[Suggestion],
    free: list[int],
    columns: dict[str, dict[int, Any]],
) -> list[int]:
    """Returns the rows of the suggestions: the rows of their objects, or new ones, also for repeats.

    The cells of new rows are added to the columns, and those of `free` ones are used first.
    """
    places: list[int] = []
    below = len(sheet.table)
    taken = {*sheet.measured, *sheet.in_state(Kind.FAILED)}
    for suggestion in suggestions:
        place = problem.place(suggestion.object)
        if place is None or place in taken:
            place, below = (free.pop(0), below) if free else (below, below + 1)
            for name, cell in _new_cells(problem, sheet, suggestion).items():
                columns.setdefault(name, {})[place] = cell
        places.append(place)
    return places


def _status_cells(sheet: Sheet, withdrawn: Collection[int]) -> dict[str, dict[int, Any]]:
    """What likewise keeps of the rows that were there: brought up to date, and empty where a run is taken back."""
    columns: dict[str, dict[int, Any]] = {name: {} for name in sheet.own}
    for place in {*sheet.runs.values(), *sheet.states}:
        before, wanted = sheet.cell(sheet.own.status, place), sheet.status(place)
        if wanted is not None and (text := updated_status(before, wanted)) != before:
            columns[sheet.own.status][place] = text
    for place in withdrawn:
        for name in sheet.own:
            columns[name][place] = None
    return columns


def _new_cells(problem: Problem, sheet: Sheet, suggestion: Suggestion) -> Mapping[str, Any]:
    """The cells of a new row: those of the object, or of its row if it is measured once more."""
    names, decimal, frame = sheet.roles.objects, sheet.decimal, sheet.table.frame
    place = problem.place(suggestion.object)
    if place is not None:
        measured = {*sheet.roles.values, *sheet.roles.stds.values()}
        theirs = [c for c in frame.columns if c not in sheet.own and c not in measured and not c.startswith(PREFIX)]
        return {name: frame[name][place] for name in theirs}
    texts = zip(names, to_cells(problem.study.space, suggestion.object, names, decimal), strict=True)
    kinds = frame.schema
    return {n: text if kinds[n] == polars.String else parse_as(text, kinds[n], decimal) for n, text in texts}


def _frame(sheet: Sheet, columns: Mapping[str, Mapping[int, Any]], more: int) -> polars.DataFrame:
    old = sheet.table
    new = [name for name in sheet.own if name not in old.columns]
    check_room(sheet, new)
    series_list = []
    for name in (*old.columns, *new):
        series = old.frame[name] if name in old.columns else polars.Series(name, [None] * len(old), dtype=polars.String)
        cells = {place: _typed(series, cell) for place, cell in columns.get(name, {}).items()}
        inside = {place: cell for place, cell in cells.items() if place < len(old)}
        series_list.append(with_cells(series, inside, [cells.get(len(old) + k) for k in range(more)]))
    return polars.DataFrame(series_list)


def _typed(series: polars.Series, cell: Any) -> Any:
    return int(cell) if series.dtype.is_numeric() and isinstance(cell, str) else cell
