"""Results into the table they belong to: gaps are filled, new objects appended, contradictions listed.

Nothing that a person typed is dropped. A cell of the results goes into the table where that has a gap. Where both have
something, the file as it was suggested tells which of them was changed since; if that does not settle it, it is a
contradiction, and the user decides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from likewise.campaign.roles import PREFIX, aside
from likewise.campaign.runs.cells import Cells, is_same_cell
from likewise.campaign.runs.matching import Match, Matcher, first, key
from likewise.campaign.runs.merged import TOLD, Base, Conflict, Merge, OnConflict, Outcome, Told
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.states import JOINT, WHOLE, Kind, State, is_open
from likewise.campaign.wording import shown
from likewise.tables.cells import empty


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
        # Further outcomes that a row of the results has brought, by column, and rows that were added for some.
        self.came: dict[int, dict[str, str]] = {}
        self.further: dict[int, int] = {}
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
        self._note_others(source, place)
        if self.cells.other_results > others and (not told.settled or self.merge.known > known):
            # Of a run that was there, another outcome has come.
            self.merge.filled += 1
            self.merge.known = known
        elif not told.settled:
            fresh = self.cells.changes > before
            self.merge.noted += fresh
            self.merge.blank += not fresh

    def _note_others(self, source: int, place: int) -> None:
        """Keep which further outcomes a row of the results has brought, for the journal."""
        run, came = self.results.cell(self.table.own.run, source), self.came.pop(source, {})
        if not came:
            return
        if self.merge.told and (last := self.merge.told[-1]).place == place and last.run == run:
            self.merge.told[-1] = replace(last, others=came)
        else:
            self.merge.told.append(Told(run, place, Outcome(), others=came))

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
        elif (
            settled
            and (now := first(place for place in settled if self._failed_since(source, told, place))) is not None
        ):
            self.merge.filled += 1
            place = self._enter(now, told, source)
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

    def _failed_since(self, source: int, told: Outcome, place: int) -> bool:
        """Whether a run of several outcomes has failed as a whole after its first one was told, which stays."""
        whole = told.state is not None and told.state.kind in WHOLE
        before = self.outcome(place).state
        kept = before is None or before.kind not in WHOLE
        return (
            whole
            and kept
            and bool(self.table.roles.others)
            and self.cells.is_same(place, self.table.roles.value, source)
        )

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
        if self.table.roles.others and (told.state is None or told.state.kind not in WHOLE):
            noted = told.settled or self.cells.changes > before
            self._mark_outcomes(place, run, self.results.states.get(source), begun=noted)
            return
        state = told.state
        if not told.settled and self.cells.changes > before and self._is_out(place, source):
            state = state if state is not None and state.kind is Kind.RUNNING else State(Kind.RUNNING)
            self._say_note(source)
        self.cells.mark(place, run, state, settled=told.settled)

    def _mark_outcomes(self, place: int, run: str, said: State | None, *, begun: bool) -> None:
        """Where a row of several outcomes stands: it runs as long as some of them are to come; what is noted stays."""
        lacking = self.cells.lacks_results(place)
        noted = said is not None and said.kind is Kind.RUNNING
        out = lacking and (begun or noted) and (bool(run) or place in self.table.states)
        state = (said if noted else State(Kind.RUNNING)) if out else None
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
        outcome = column in self.table.roles.others
        if empty(known) or (outcome and self.cells.is_free(known)):
            self._set(place, column, source)
        elif column in asked and is_same_cell(cell, asked[column], self.results.sign, self.table.sign):
            return
        elif outcome:
            self._bring_outcome(source, place, column, known, cell, asked)
        elif (of := self.cells.spreads.get(column)) is not None and not self.cells.is_same(place, of, source):
            # It goes with its value.
            return
        elif f"{JOINT}{cell}{JOINT}" in f"{JOINT}{known}{JOINT}":
            # It was joined to another note before.
            return
        elif column in asked and is_same_cell(known, asked[column], self.table.sign, self.table.sign):
            self.cells.set(place, column, source)
        else:
            self.merge.conflicts.append(self._conflict(source, place, str(known), str(cell), column))
            if self.on_conflict == "replace":
                self.cells.set(place, column, source)
            elif self.on_conflict == "add" and column not in self.cells.spreads:
                self.cells.put(place, column, f"{known}{JOINT}{cell}")

    def _bring_outcome(
        self, source: int, place: int, column: str, known: Any, cell: Any, asked: Mapping[str, str]
    ) -> None:
        """A further outcome that has another value in the table: told before, in another row, or a contradiction."""
        rows = self.matcher.places.get(key(self.matcher.objects[place]), ())
        told = asked.get(f"{TOLD}{column}")
        if told is not None and is_same_cell(cell, told, self.results.sign, self.results.sign):
            # The table was corrected since.
            return
        if any(is_same_cell(cell, self.cells.current(p, column), self.results.sign, self.table.sign) for p in rows):
            return
        self.merge.conflicts.append(self._conflict(source, place, str(known), str(cell), column))
        if self.on_conflict == "replace":
            self._set(place, column, source, replaced=True)
        elif self.on_conflict == "add":
            self._set(self._further_row(source, place), column, source)

    def _set(self, place: int, column: str, source: int, *, replaced: bool = False) -> None:
        """A cell is that of a row of the results, and the standard deviation that belongs to it, too."""
        if column in self.table.roles.others:
            self.cells.set_other(place, column, source, replaced=replaced)
            self.came.setdefault(source, {})[column] = self.results.cell(column, source)
        else:
            self.cells.set(place, column, source)

    def _further_row(self, source: int, place: int) -> int:
        """A row for further measurements of an object, one for each row of the results."""
        if source not in self.further:
            self.further[source] = new = self.cells.append_object(place)
            self.matcher.add(self.matcher.objects[place], "")
            self.outcomes[new], self.sources[new] = Outcome(), source
            self.merge.added += 1
        return self.further[source]

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
        whole = found.state is not None and found.state.kind in WHOLE
        return not whole and (not found.settled or self.cells.lacks_results(place))


def _outcome(sheet: Sheet, place: int) -> Outcome:
    """What came of a row, as far as its first column of values tells; a run that failed did so as a whole."""
    value, state = sheet.values[place], sheet.states.get(place)
    cell = sheet.said.get(sheet.roles.value, {}).get(place)
    if state is not None and state.kind in WHOLE:
        return Outcome(value, state)
    if cell is not None and not is_open(cell):
        return Outcome(value, cell)
    # Of a run with a value, other outcomes may be open; the value counts.
    return Outcome(value, None if is_open(state) and not math.isnan(value) else state)


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
