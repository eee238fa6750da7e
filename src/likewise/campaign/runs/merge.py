"""Results into the table they belong to: gaps are filled, new objects appended, contradictions listed.

Nothing that a person typed is dropped. A cell of the results goes into the table where that has a gap. Where both have
something, the file as it was suggested tells which of them was changed since; if that does not settle it, it is a
contradiction, and the user decides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars

from likewise.campaign.roles import PREFIX, aside
from likewise.campaign.runs.cells import Cells, is_same_cell
from likewise.campaign.runs.matching import Match, Matcher, first, is_same, key
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.states import CLOSED, OPEN, Kind, State
from likewise.campaign.wording import shown
from likewise.tables.cells import empty

OnConflict = Literal["stop", "keep", "replace", "add"]
# The cells of a run as they were suggested, by the names of the run and of the column; under "", the result told last.
Base = Mapping[str, Mapping[str, str]]
# Between two notes on one run.
JOINT = "; "


@dataclass(frozen=True)
class Outcome:
    """What came of an experiment: a number, or a state that says there is none; neither while it is open."""

    value: float = math.nan
    state: State | None = None

    @property
    def settled(self) -> bool:
        """Whether anything came of it."""
        return not math.isnan(self.value) or (self.state is not None and self.state.kind in (Kind.FAILED, *CLOSED))

    def same(self, other: Outcome) -> bool:
        """Whether both say the same."""
        kinds = [None if each.state is None else each.state.kind for each in (self, other)]
        return (
            kinds[0] == kinds[1]
            and (math.isnan(self.value) == math.isnan(other.value))
            and (math.isnan(self.value) or is_same(self.value, other.value))
        )

    @property
    def text(self) -> str:
        """The same as text, to be compared with what was told before."""
        return repr(self.value) if self.state is None else self.state.said

    @property
    def said(self) -> float | str:
        """The number, or what a person wrote."""
        return self.value if self.state is None else self.state.said


@dataclass(frozen=True)
class Conflict:
    """Two cells for one thing: where each stands. `known_row` is None where it stands in the results, too."""

    object: Any
    known: float | str
    known_row: int | None
    told: float | str
    told_row: int
    column: str = ""
    known_source: int | None = None

    def __str__(self) -> str:
        where = (
            f"row {self.known_row} of the table"
            if self.known_row is not None
            else f"row {self.known_source} of the results"
        )
        known, told = (f"{each:.10g}" if isinstance(each, float) else repr(each) for each in (self.known, self.told))
        what = f"{shown(self.object)}, column {self.column!r}" if self.column else shown(self.object)
        return f"{what}: {known} in {where}, {told} in row {self.told_row} of the results"


@dataclass(frozen=True)
class Told:
    """A result that was told: of which run, if it has one, where it belongs, and what it was.

    `kept_out` says that the table kept another one.
    """

    run: str
    place: int
    outcome: Outcome
    kept_out: bool = False


@dataclass(eq=False)
class Merge:
    """What became of the results: the new table, and how many rows were filled, replaced, added, or known before.

    `noted` are rows without a result that say something else. `unsettled` are contradictions that `replace` cannot
    settle, as the object has several values in the table. `notes` say what was taken for what.
    """

    frame: polars.DataFrame
    filled: int = 0
    replaced: int = 0
    added: int = 0
    known: int = 0
    blank: int = 0
    noted: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    unsettled: list[Conflict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    open: int = 0

    @property
    def changes(self) -> int:
        """How many rows of the results the table has not, or not so."""
        return self.filled + self.replaced + self.added + self.noted + len(self.conflicts)


def merge_results(table: Sheet, results: Sheet, on_conflict: OnConflict = "stop", base: Base | None = None) -> Merge:
    """The table with the results in it.

    A result that the table has already is known. Where further measurements are added, as many rows of the results are
    known as the table has rows with that value: telling the same file again changes nothing, and replicates count.
    """
    merging = _Merging(table, results, on_conflict, base or {})
    for source in range(len(results.table)):
        if results.objects[source] is not None:
            merging.take(source)
    return merging.end()


@dataclass(eq=False)
class _Merging:
    """One merge: the rows of the table as they become, and where each has its result from."""

    table: Sheet
    results: Sheet
    on_conflict: OnConflict
    base: Base

    def __post_init__(self) -> None:
        self.merge = Merge(self.table.table.frame)
        self.matcher = Matcher(self.table, self.base)
        self.cells = Cells(self.table, self.results)
        self.outcomes: dict[int, Outcome] = {}
        # The row of the results that a row has its result from, and rows that stand for a row of the results.
        self.sources: dict[int, int] = {}
        self.matched: set[int] = set()
        self.touched: dict[int, int] = {}
        # Rows of runs in whose place something else was run.
        self.released: list[int] = []

    def outcome(self, place: int) -> Outcome:
        """What came of a row of the table, by now."""
        if place not in self.outcomes:
            self.outcomes[place] = _outcome(self.table, place)
        return self.outcomes[place]

    def take(self, source: int) -> None:
        """A row of the results: find its row, settle its result, and bring the other cells along."""
        told = _outcome(self.results, source)
        match = self._known_by_digits(source, told, self.matcher.find(self.results, source))
        self._say(source, told, match)
        before, others, known = self.cells.changes, self.cells.other_results, self.merge.known
        place = self._settle(source, told, match) if told.settled else self._stay_open(source, match)
        if match.released is not None:
            self.released.append(match.released)
        self._bring(source, place, told)
        if self.cells.other_results > others and (not told.settled or self.merge.known > known):
            # Of a run that was there, another outcome has come.
            self.merge.filled += 1
            self.merge.known = known
        elif not told.settled:
            fresh = self.cells.changes > before
            self.merge.noted += fresh
            self.merge.blank += not fresh

    def _known_by_digits(self, source: int, told: Outcome, match: Match) -> Match:
        """The match; where it is none, a run that has this very result, and this object as far as digits show."""
        if match.how != "new" or not told.settled:
            return match
        same = [place for place in self.matcher.shown(self.results, source) if self.outcome(place).same(told)]
        return Match(tuple(same), "digits") if same else match

    def _say(self, source: int, told: Outcome, match: Match) -> None:
        results, table = self.results.table, self.table.table
        where = f"{results.name}, row {results.number(source)}"
        if match.how == "digits":
            place = match.places[0]
            self.merge.notes.append(
                f"{where}: {shown(self.results.objects[source])} taken for {shown(self.table.objects[place])} in row "
                f"{table.number(place)} of {table.name}, which is the same as far as digits are shown"
            )
        if match.how == "edited":
            place, run = match.places[0], self.results.cell(self.table.own.run, source)
            self.merge.notes.append(
                f"{where}: run {run} was changed in row {table.number(place)} of {table.name} since it was suggested; "
                f"taken as a run of {shown(self.table.objects[place])}"
            )
        if match.released is not None:
            run, columns = self.results.cell(self.table.own.run, source), ", ".join(map(repr, match.columns))
            self.merge.notes.append(
                f"{where}: run {run} was suggested with {shown(self.table.objects[match.released])}, and {columns} was "
                f"changed; taken as a run of {shown(self.results.objects[source])}"
            )
        if told.state is not None and told.state.kind is Kind.FAILED:
            self.merge.notes.append(f"{where}: {told.state.said!r} taken as {told.state.taken}")

    def _settle(self, source: int, told: Outcome, match: Match) -> int:
        """The row that a result goes into: one that has it already, one with a gap, or a new one."""
        settled = [place for place in match.places if self.outcome(place).settled]
        adding = self.on_conflict == "add"
        same = [p for p in settled if self.outcome(p).same(told) and not (adding and p in self.matched)]
        gap = first(place for place in match.places if not self.outcome(place).settled)
        if same:
            self.merge.known += 1
            place = same[0]
        elif settled and not adding and self._was_told(source, told):
            # The table was corrected since.
            self.merge.known += 1
            place = settled[0]
        elif settled and not adding:
            place = self._contradict(source, told, settled)
        elif gap is not None:
            self.merge.filled += 1
            place = self._enter(gap, told, source)
        else:
            self.merge.added += 1
            place = self._append(source, told, match)
        self.matched.add(place)
        return place

    def _was_told(self, source: int, told: Outcome) -> bool:
        """Whether a result was told before under the same run."""
        run = self.results.cell(self.table.own.run, source)
        return self.base.get(run, {}).get("") == told.text

    def _contradict(self, source: int, told: Outcome, settled: list[int]) -> int:
        place = settled[0]
        conflict = self._conflict(source, place, self.outcome(place).said, told.said)
        self.merge.conflicts.append(conflict)
        if self.on_conflict == "replace" and len(settled) > 1:
            self.merge.unsettled.append(conflict)
        elif self.on_conflict == "keep":
            run = self.results.cell(self.table.own.run, source)
            self.merge.told.append(Told(run, place, told, kept_out=True))
        elif self.on_conflict == "replace":
            self.merge.replaced += 1
            self._enter(place, told, source, replaced=True)
        return place

    def _conflict(self, source: int, place: int, known: float | str, told: float | str, column: str = "") -> Conflict:
        """A contradiction, with the row of either side; what an earlier row of the results brought stands there."""
        table, results = self.table.table, self.results.table
        row = self.sources.get(place) if not column or place >= len(table) else None
        rows = (table.number(place), None) if row is None else (None, results.number(row))
        x = self.results.objects[source]
        return Conflict(x, known, rows[0], told, results.number(source), column, rows[1])

    def _enter(self, place: int, told: Outcome, source: int, *, replaced: bool = False) -> int:
        """A row has the result of a row of the results."""
        self.outcomes[place], self.sources[place] = told, source
        self.cells.set_outcome(place, source, told.state, replaced=replaced)
        run = self.results.cell(self.table.own.run, source) or str(self.cells.current(place, self.table.own.run) or "")
        self.merge.told.append(Told(run, place, told))
        return place

    def _append(self, source: int, told: Outcome, match: Match) -> int:
        """A new row; its object is that of the row it was taken for, where the results have it in another form."""
        place, x = self.cells.append(source), self.results.objects[source]
        if match.how in ("edited", "digits") or self.results.roles.objects == (self.table.own.run,):
            x = self.matcher.objects[match.places[0]]
            self.cells.copy_object(match.places[0], place)
        self.matcher.add(x, self.results.cell(self.table.own.run, source))
        if told.settled:
            self._enter(place, told, source)
        else:
            self.outcomes[place], self.sources[place] = told, source
        return place

    def _stay_open(self, source: int, match: Match) -> int:
        """The row that a row without a result stands for; what is not in the table becomes a row of it."""
        gap = first(place for place in match.places if not self.outcome(place).settled)
        place = gap if gap is not None else first(match.places)
        return self._append(source, Outcome(), match) if place is None else place

    def _bring(self, source: int, place: int, told: Outcome) -> None:
        """The other cells of a row of the results, and what likewise keeps of the row itself."""
        run = self.results.cell(self.table.own.run, source)
        asked, before = self.base.get(run, {}), self.cells.changes
        for column, known, cell in list(self.cells.differences(place, source)):
            self._bring_cell(source, place, column, known, cell, asked)
        self.touched[place] = source
        if self.table.roles.others and (told.state is None or told.state.kind in OPEN):
            self._mark_outcomes(place, run, begun=told.settled or self.cells.changes > before)
            return
        state = told.state
        if not told.settled and self.cells.changes > before and self._is_out(place, source):
            state = state if state is not None and state.kind is Kind.RUNNING else State(Kind.RUNNING)
            self._say_note(source)
        self.cells.mark(place, run, state, settled=told.settled)

    def _mark_outcomes(self, place: int, run: str, *, begun: bool) -> None:
        """Where a row of several outcomes stands: it runs as long as some of them are to come."""
        lacking = self.cells.lacks_results(place)
        state = State(Kind.RUNNING) if lacking and begun and (run or place in self.table.states) else None
        self.cells.mark(place, run, state, settled=not lacking)

    def _is_out(self, place: int, source: int) -> bool:
        """Whether a run without a result was suggested, so that a note on it says that somebody began."""
        state = self.table.states.get(place)
        return state is not None and state.kind is Kind.SUGGESTED

    def _say_note(self, source: int) -> None:
        results = self.results.table
        self.merge.notes.append(
            f"{results.name}, row {results.number(source)}: something was noted and there is no value; taken as "
            f"running. Write failed in column {self.table.own.status!r} if it failed"
        )

    def _bring_cell(
        self, source: int, place: int, column: str, known: Any, cell: Any, asked: Mapping[str, str]
    ) -> None:
        """A cell that both files have, and not alike: whichever was changed since it was suggested counts."""
        if empty(known):
            self.cells.set(place, column, source)
        elif column in asked and is_same_cell(cell, asked[column], self.results.sign, self.table.sign):
            return
        elif f"{JOINT}{cell}{JOINT}" in f"{JOINT}{known}{JOINT}":
            # It was joined to another note before.
            return
        elif column in asked and is_same_cell(known, asked[column], self.table.sign, self.table.sign):
            self.cells.set(place, column, source)
        else:
            self.merge.conflicts.append(self._conflict(source, place, str(known), str(cell), column))
            if self.on_conflict == "replace":
                self.cells.replace_other(place, column, source)
            elif self.on_conflict == "add":
                self.cells.put(place, column, f"{known}{JOINT}{cell}")

    def end(self) -> Merge:
        """The merge with its table."""
        freed = {p for p in self.released if p not in self.touched and not self.outcome(p).settled}
        for place in freed:
            self.cells.release(place)
        self.cells.count_rounds(self.touched)
        self.merge.frame = self.cells.frame()
        out = [place for place in self.table.under_way if place not in freed]
        self.merge.open = sum(self._is_open(place) for place in out)
        return self.merge

    def _is_open(self, place: int) -> bool:
        """Whether results of a row are still to come; one that failed gets none."""
        found = self.outcome(place)
        return not found.settled or (not math.isnan(found.value) and self.cells.lacks_results(place))


def _outcome(sheet: Sheet, place: int) -> Outcome:
    value, state = sheet.values[place], sheet.states.get(place)
    # Of a run with a value, other outcomes may be open; the value counts.
    return Outcome(value, None if state is not None and state.kind in OPEN and not math.isnan(value) else state)


def overlooked_columns(table: Sheet, results: Sheet) -> list[str]:
    """The columns of both files in which rows differ that have the same object: candidates, or results."""
    roles = table.roles
    taken = {*roles.taken, *table.own}
    shared = [c for c in table.table.columns if c in results.table.columns and c not in taken]
    rows = ((table, table.candidates), (results, [*results.measured, *results.candidates]))
    return [
        column
        for column in shared
        if not (column.startswith(PREFIX) or aside(column))
        and any(_differ(sheet, places, column) for sheet, places in rows)
    ]


def _differ(sheet: Sheet, places: list[int], column: str) -> bool:
    cells = sheet.table.column(column).to_list()
    found: dict[Hashable, Any] = {}
    for place in places:
        cell = cells[place].strip() if isinstance(cells[place], str) else cells[place]
        if not empty(cell) and found.setdefault(key(sheet.objects[place]), cell) != cell:
            return True
    return False
