"""Results into the table they belong to: gaps are filled, new objects appended, contradictions listed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars

from likewise.campaign.columns import (
    JOINT,
    WHOLE,
    Kind,
    RunState,
    is_open,
    read_state,
    split_status,
    updated_status,
    whole,
)
from likewise.campaign.journal import (
    TOLD,
    Base,
    Conflict,
    Match,
    Matcher,
    Merge,
    OnConflict,
    RunOutcome,
    ToldResult,
    first,
    key,
    shows,
)
from likewise.campaign.roles import PREFIX, aside, deviations
from likewise.campaign.sheet import Sheet
from likewise.campaign.text import shown
from likewise.errors import TableError
from likewise.tables.cells import Decimal, cell_text, empty, missing, number, number_text, numbers, one_number
from likewise.tables.typed import parse_as, with_cells

# The cells of a table while results are merged into it: what is changed and added, and in which type it is kept.


@dataclass(eq=False)
class TableChanges:
    """The changed cells of a table, by column and place; rows that are added have the places after the last.

    `changes` counts what comes from a person, not what likewise keeps of a run.
    """

    table: Sheet
    results: Sheet

    def __post_init__(self) -> None:
        reserved, table, results = self.table.own, self.table.table, self.results.table
        self.changes = 0
        self.rows = len(table)
        self.changed: dict[str, dict[int, Any]] = {}
        self.theirs = [c for c in results.columns if c not in reserved and not c.startswith(PREFIX)]
        self.extra = [c for c in self.theirs if c not in table.columns]
        # A table in which no number tells its sign has that of its first results.
        self.decimal = self.table.sign or self.results.decimal
        roles = self.table.roles
        self.first = {roles.value, roles.stds.get(roles.value)}
        # Columns of standard deviations of further outcomes, with what they belong to.
        self.spreads = {column: name for name, column in roles.stds.items() if name != roles.value}
        self.shared = [c for c in self.theirs if c not in roles.objects and c not in self.first]

    def differences(self, place: int, source: int) -> Iterator[tuple[str, Any, Any]]:
        """The columns in which a row of the results says something else than the table, with both cells."""
        for column in self.shared:
            cell, before = self.results.table.frame[column][source], self.current(place, column)
            if not empty(cell) and not is_same_cell(cell, before, self.results.sign, self.table.sign):
                yield column, before, cell

    def current(self, place: int, column: str) -> Any:
        """A cell as it is by now."""
        if place in self.changed.get(column, {}):
            return self.changed[column][place]
        present = column in self.table.table.columns and place < len(self.table.table)
        return self.table.table.frame[column][place] if present else None

    def put(self, place: int, column: str, cell: Any) -> None:
        """A cell is this from now on."""
        self.changed.setdefault(column, {})[place] = cell
        self.changes += 1

    def set(self, place: int, column: str, source: int) -> None:
        """A cell is that of a row of the results."""
        further = column in self.table.roles.others
        self.put(place, column, self._outcome(column, source) if further else self._cell(column, source))

    def set_outcome(self, place: int, source: int, state: RunState | None, *, replaced: bool) -> None:
        """A row has the value of a row of the results, and its standard deviation; that of an old value goes."""
        roles, columns = self.table.roles, self.results.table.columns
        value = self._value(source, state)
        if value is not None or replaced:
            self.put(place, roles.value, value)
        spread = [
            c
            for c in self.table.table.columns
            if c == roles.stds.get(roles.value) or (replaced and deviations(c) and c not in self.spreads)
        ]
        for column in spread:
            cell = self._cell(column, source) if column in columns else None
            if cell is not None or replaced:
                self.put(place, column, cell)

    def is_same(self, place: int, column: str, source: int) -> bool:
        """Whether a cell says what a row of the results says."""
        cell = self.results.table.frame[column][source] if column in self.theirs else None
        return is_same_cell(cell, self.current(place, column), self.results.sign, self.table.sign)

    def set_other(self, place: int, column: str, source: int, *, replaced: bool) -> None:
        """A row has a further outcome of a row of the results; the standard deviation of an old value goes."""
        self.set(place, column, source)
        spread = self.table.roles.stds.get(column)
        if spread is None or spread not in self.table.table.columns:
            return
        cell = self._cell(spread, source)
        if cell is not None or (replaced and not empty(self.current(place, spread))):
            self.put(place, spread, cell)

    def _value(self, source: int, state: RunState | None) -> Any:
        """The value of a row of the results; a state that people wrote there stays there, if the column holds texts."""
        column = self.table.roles.value
        if self.table.roles.others:
            return self._outcome(column, source)
        cell = self.results.table.frame[column][source]
        if state is None or one_number(cell_text(cell), self.results.sign) is not None:
            return self._cell(column, source)
        if empty(cell) or not self._holds_text(column):
            return None
        return self._limit_text(cell)

    def _outcome(self, column: str, source: int) -> Any:
        """One of several outcomes: a number, or the text that people wrote in its place.

        What no text can stand for in a column of numbers is refused, but for what the status says, too.
        """
        cell = self.results.table.frame[column][source]
        state = None if empty(cell) else read_state(cell_text(cell), self.results.sign)
        if state is None:
            return self._cell(column, source)
        if self._holds_text(column) or self.table.table.dialect.kind == "workbook":
            return self._limit_text(cell)
        return None if state.kind in WHOLE or is_open(state) else self._cell(column, source)

    def _limit_text(self, cell: Any) -> str:
        """A text in place of a value; a limit has the decimal sign of the table."""
        text = cell_text(cell)
        state = read_state(text, self.results.sign)
        if state is None or state.limit is None or self.decimal == self.results.decimal:
            return text
        return f"{'<' if state.kind is Kind.BELOW else '>'}{number_text(state.limit, self.decimal)}"

    def is_free(self, cell: Any) -> bool:
        """Whether a cell of the table waits for content: it is empty, or says that a result is still to come."""
        return empty(cell) or is_open(read_state(cell_text(cell)))

    def _holds_text(self, column: str) -> bool:
        return self.table.table.frame.schema[column] == polars.String

    def append(self, source: int) -> int:
        """A new row with the cells of a row of the results, but for its value."""
        place, self.rows = self.rows, self.rows + 1
        for column in self.theirs:
            if column not in self.first and not empty(self.results.table.frame[column][source]):
                self.set(place, column, source)
        self.changes += 1
        return place

    def append_object(self, place: int) -> int:
        """A new row with the object of another one."""
        new, self.rows = self.rows, self.rows + 1
        self.copy_object(place, new)
        return new

    def copy_object(self, place: int, to: int) -> None:
        """A row has the object of another one."""
        for column in self.table.roles.objects:
            self.put(to, column, self.current(place, column))

    def release(self, place: int) -> None:
        """A row is not that of a run any more."""
        for column in self.table.own:
            if self.current(place, column) is not None:
                self.put(place, column, None)

    @property
    def other_results(self) -> int:
        """How many results of further outcomes have come."""
        return sum(len(self.changed.get(name, {})) for name in self.table.roles.others)

    def lacks_results(self, place: int) -> bool:
        """Whether some of several outcomes of a row are still to come."""
        columns = [name for name in self.table.roles.values if name not in self.table.given]
        return len(columns) > 1 and any(self.is_free(self.current(place, name)) for name in columns)

    def mark(self, place: int, run: str, state: RunState | None, *, settled: bool) -> None:
        """Write down the run of a row, and where it stands; not in tables without runs and states."""
        reserved = self.table.own
        if run and empty(self.current(place, reserved.run)):
            self.changed.setdefault(reserved.run, {})[place] = run
        wanted = self._status(place, state, settled=settled)
        before = cell_text(self.current(place, reserved.status) or "").strip()
        if wanted is None or not (run or state or reserved.status in self.table.table.columns):
            return
        if (text := updated_status(before, wanted)) != before:
            self.changed.setdefault(reserved.status, {})[place] = text
            self.changes += not settled

    def _status(self, place: int, state: RunState | None, *, settled: bool) -> str | None:
        if state is None:
            return Kind.DONE.value if settled else None
        if state.kind is Kind.SUGGESTED:
            return None
        word, remarks = split_status(state.said) if state.said else ("", ())
        in_value = empty(self.current(place, self.table.roles.value))
        if state.limit is None or not in_value:
            word = state.kind.value if word or not remarks else ""
        return JOINT.join(text for text in (word, *remarks) if text)

    def count_rounds(self, touched: Mapping[int, int]) -> None:
        """The round of rows that came in without one: that of the other results, or the next one."""
        reserved = self.table.own
        if not (
            reserved.round in self.table.table.columns
            or reserved.run in self.changed
            or reserved.status in self.changed
        ):
            return
        numbers = [n for p in range(len(self.table.table)) if (n := whole(self.current(p, reserved.round))) is not None]
        mine = [n for place in touched if (n := whole(self.current(place, reserved.round))) is not None]
        number = max(mine) if mine else max(numbers, default=0) + 1
        names = (*self.table.roles.values, reserved.status)
        for place in sorted({p for name in names for p in self.changed.get(name, {})}):
            said = (self.current(place, name) for name in names)
            if empty(self.current(place, reserved.round)) and not all(map(empty, said)):
                self.changed.setdefault(reserved.round, {})[place] = number

    def frame(self) -> polars.DataFrame:
        """The table as it is by now."""
        old = self.table.table
        new = [c for c in (*self.extra, *self.table.own) if c not in old.columns and self.changed.get(c)]
        check_room(self.table, new)
        return polars.DataFrame([self._column(name) for name in (*old.columns, *new)])

    def _column(self, name: str) -> polars.Series:
        """A column with its changed cells, and below it those of new rows."""
        old, cells = self.table.table, self.changed.get(name, {})
        gaps = polars.Series(name, [None] * len(old), dtype=polars.String)
        series = old.frame[name] if name in old.columns else gaps
        cells = {place: self._typed(series, cell) for place, cell in cells.items()}
        inside = {place: cell for place, cell in cells.items() if place < len(old)}
        below = [cells.get(place) for place in range(len(old), self.rows)]
        try:
            if old.dialect.kind == "workbook" and series.dtype != polars.String and any(map(_is_text, cells.values())):
                # A column of a workbook holds both.
                return _mixed(series, inside, below)
            return with_cells(series, inside, below)
        except ValueError as error:
            raise TableError(self._refusal(name, series, cells, error)) from None

    def _typed(self, series: polars.Series, cell: Any) -> Any:
        """Numbers and texts of ours, as a column of the user's holds them."""
        if isinstance(cell, int) and series.dtype == polars.String:
            return str(cell)
        return cell

    def _refusal(self, name: str, series: polars.Series, cells: Mapping[int, Any], why: ValueError) -> str:
        source = next((p for p, cell in cells.items() if not _fits(series, cell)), next(iter(cells)))
        return (
            f"{cells[source]!r} of {self.results.table.name} does not go into column {name!r} of "
            f"{self.table.table.name}: {why}; nothing was written. Correct or empty the cell."
        )

    def _cell(self, name: str, source: int) -> Any:
        """The cell of the results, as the table writes such cells."""
        cell = self.results.table.frame[name][source] if name in self.results.table.columns else None
        if empty(cell):
            return None
        if name not in self.table.table.columns:
            return cell_text(cell)
        kind, numeric = self.table.table.frame.schema[name], self._numeric(name)
        if kind == polars.String:
            return self._as_text(cell, numeric)
        if kind == polars.Null and numeric:
            kind = polars.Float64()
        if not isinstance(cell, str):
            return int(cell) if kind.is_integer() and isinstance(cell, float) and cell.is_integer() else cell
        if kind.is_numeric() and missing(cell):
            return None
        try:
            return parse_as(cell, kind, self.results.decimal)
        except ValueError as error:
            where = self.results.table.where(source, name)
            raise TableError(
                f"{where}, {cell!r}: {error}, and column {name!r} of {self.table.table.name} holds {kind}; nothing was "
                "written. Correct or empty the cell."
            ) from None

    def _numeric(self, name: str) -> bool:
        """Whether the cells of a column of the table are numbers."""
        if name in self.table.roles.objects:
            return self.table.kinds.get(name) == "numbers"
        if name in (*self.table.roles.values, *self.table.roles.stds.values()):
            return True
        read = numbers(self.table.table.frame[name], self.table.decimal)
        return bool(read.present) and not read.bad

    def _as_text(self, cell: Any, numeric: bool) -> str:
        """The cell with the decimal sign of the table, if it is a number that has any."""
        if isinstance(cell, float):
            return number_text(cell, self.decimal)
        if not isinstance(cell, str):
            return cell_text(cell)
        same = self.decimal == self.results.decimal and "," not in cell
        if not numeric or not ("." in cell or "," in cell) or same:
            return cell
        value = number(cell.strip(), self.results.decimal)
        return cell if value is None else number_text(value, self.decimal)


def is_same_cell(cell: Any, other: Any, sign: Decimal | None, other_sign: Decimal | None) -> bool:
    """Whether a cell says what another does: the same text or limit, or the same number as far as its digits show."""
    if empty(cell) or empty(other):
        return empty(cell) and empty(other)
    text, other_text = cell_text(cell).strip(), cell_text(other).strip()
    if text == other_text:
        return True
    limits = read_state(text, sign), read_state(other_text, other_sign)
    if all(limit is not None and limit.limit is not None for limit in limits):
        first, other = ((state.kind, state.limit) for state in limits if state is not None)
        return first == other
    value = one_number(other_text, other_sign)
    return value is not None and shows(text, value, sign)


def check_room(table: Sheet, new: list[str]) -> None:
    """Refuse to add columns where a row has more cells than the header: they would come under the new names."""
    if new and table.table.overlong:
        row = table.table.number(next(iter(table.table.overlong)))
        raise TableError(
            f"{table.table.name}, row {row} has more cells than the header, and the columns {', '.join(new)} are to be "
            "added; correct the row first. Nothing was written."
        )


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str)


def _mixed(series: polars.Series, inside: Mapping[int, Any], below: list[Any]) -> polars.Series:
    """A column of numbers as texts, with some cells changed and others below it."""
    texts = {place: None if cell is None else cell_text(cell) for place, cell in inside.items()}
    return with_cells(series.cast(polars.String), texts, [None if cell is None else cell_text(cell) for cell in below])


def _fits(series: polars.Series, cell: Any) -> bool:
    try:
        with_cells(series, {}, [cell])
    except ValueError:
        return False
    return True


# Nothing that a person typed is dropped. A cell of the results goes into the table where that has a gap. Where both
# have something, the file as it was suggested tells which of them was changed since; if that does not settle it, it is
# a contradiction, and the user decides.


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
        self.cells = TableChanges(self.table, self.results)
        self.outcomes: dict[int, RunOutcome] = {}
        # The row of the results that a row has its result from, and rows that stand for a row of the results.
        self.sources: dict[int, int] = {}
        self.matched: set[int] = set()
        self.touched: dict[int, int] = {}
        # Further outcomes that a row of the results has brought, by column, and rows that were added for some.
        self.came: dict[int, dict[str, str]] = {}
        self.further: dict[int, int] = {}
        # Rows of runs in whose place something else was run.
        self.released: list[int] = []

    def outcome(self, place: int) -> RunOutcome:
        """What came of a row of the table, by now."""
        if place not in self.outcomes:
            self.outcomes[place] = _outcome(self.table, place)
        return self.outcomes[place]

    def take(self, source: int) -> None:
        """A row of the results: find its row, settle its result, and bring the other cells along."""
        result = _outcome(self.results, source)
        match = self._known_by_digits(source, result, self.matcher.find(self.results, source))
        self._say(source, result, match)
        before, other_results, matched = self.cells.changes, self.cells.other_results, self.merge.known
        place = self._settle(source, result, match) if result.settled else self._stay_open(source, match)
        if match.released is not None:
            self.released.append(match.released)
        self._bring(source, place, result)
        self._note_others(source, place)
        if self.cells.other_results > other_results and (not result.settled or self.merge.known > matched):
            # Of a run that was there, another outcome has come.
            self.merge.filled += 1
            self.merge.known = matched
        elif not result.settled:
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
            self.merge.told.append(ToldResult(run, place, RunOutcome(), others=came))

    def _known_by_digits(self, source: int, result: RunOutcome, match: Match) -> Match:
        """The match; where it is none, a run that has this very result, and this object as far as digits show."""
        if match.how != "new" or not result.settled:
            return match
        same = [place for place in self.matcher.shown(self.results, source) if self.outcome(place).same(result)]
        return Match(tuple(same), "digits") if same else match

    def _say(self, source: int, result: RunOutcome, match: Match) -> None:
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
        if result.state is not None and result.state.kind is Kind.FAILED:
            self.merge.notes.append(f"{where}: {result.state.said!r} taken as {result.state.taken}")

    def _settle(self, source: int, result: RunOutcome, match: Match) -> int:
        """The row that a result goes into: one that has it already, one with a gap, or a new one."""
        settled = [place for place in match.places if self.outcome(place).settled]
        adding = self.on_conflict == "add"
        same = [p for p in settled if self.outcome(p).same(result) and not (adding and p in self.matched)]
        gap = first(place for place in match.places if not self.outcome(place).settled)
        if same:
            self.merge.known += 1
            place = same[0]
        elif settled and not adding and self._was_told(source, result):
            # The table was corrected since.
            self.merge.known += 1
            place = settled[0]
        elif (
            settled
            and (now := first(place for place in settled if self._failed_since(source, result, place))) is not None
        ):
            self.merge.filled += 1
            place = self._enter(now, result, source)
        elif settled and not adding:
            place = self._contradict(source, result, settled)
        elif gap is not None:
            self.merge.filled += 1
            place = self._enter(gap, result, source)
        else:
            self.merge.added += 1
            place = self._append(source, result, match)
        self.matched.add(place)
        return place

    def _failed_since(self, source: int, result: RunOutcome, place: int) -> bool:
        """Whether a run of several outcomes has failed as a whole after its first one was told, which stays."""
        failed = result.state is not None and result.state.kind in WHOLE
        before = self.outcome(place).state
        measured = before is None or before.kind not in WHOLE
        return (
            failed
            and measured
            and bool(self.table.roles.others)
            and self.cells.is_same(place, self.table.roles.value, source)
        )

    def _was_told(self, source: int, result: RunOutcome) -> bool:
        """Whether a result was told before under the same run."""
        run = self.results.cell(self.table.own.run, source)
        return self.base.get(run, {}).get("") == result.text

    def _contradict(self, source: int, result: RunOutcome, settled: list[int]) -> int:
        place = settled[0]
        conflict = self._conflict(source, place, self.outcome(place).said, result.said)
        self.merge.conflicts.append(conflict)
        if self.on_conflict == "replace" and len(settled) > 1:
            self.merge.unsettled.append(conflict)
        elif self.on_conflict == "keep":
            run = self.results.cell(self.table.own.run, source)
            self.merge.told.append(ToldResult(run, place, result, kept_out=True))
        elif self.on_conflict == "replace":
            self.merge.replaced += 1
            self._enter(place, result, source, replaced=True)
        return place

    def _conflict(self, source: int, place: int, before: float | str, after: float | str, column: str = "") -> Conflict:
        """A contradiction, with the row of either side; what an earlier row of the results brought stands there."""
        table, results = self.table.table, self.results.table
        row = self.sources.get(place) if not column or place >= len(table) else None
        rows = (table.number(place), None) if row is None else (None, results.number(row))
        x = self.results.objects[source]
        return Conflict(x, before, rows[0], after, results.number(source), column, rows[1])

    def _enter(self, place: int, result: RunOutcome, source: int, *, replaced: bool = False) -> int:
        """A row has the result of a row of the results."""
        self.outcomes[place], self.sources[place] = result, source
        self.cells.set_outcome(place, source, result.state, replaced=replaced)
        run = self.results.cell(self.table.own.run, source) or str(self.cells.current(place, self.table.own.run) or "")
        self.merge.told.append(ToldResult(run, place, result))
        return place

    def _append(self, source: int, result: RunOutcome, match: Match) -> int:
        """A new row; its object is that of the row it was taken for, where the results have it in another form."""
        place, x = self.cells.append(source), self.results.objects[source]
        if match.how in ("edited", "digits") or self.results.roles.objects == (self.table.own.run,):
            x = self.matcher.objects[match.places[0]]
            self.cells.copy_object(match.places[0], place)
        self.matcher.add(x, self.results.cell(self.table.own.run, source))
        if result.settled:
            self._enter(place, result, source)
        else:
            self.outcomes[place], self.sources[place] = result, source
        return place

    def _stay_open(self, source: int, match: Match) -> int:
        """Returns the table's row for a row without a result; an object that is not in the table gets a new row."""
        gap = first(place for place in match.places if not self.outcome(place).settled)
        place = gap if gap is not None else first(match.places)
        return self._append(source, RunOutcome(), match) if place is None else place

    def _bring(self, source: int, place: int, result: RunOutcome) -> None:
        """The other cells of a row of the results, and what likewise keeps of the row itself."""
        run = self.results.cell(self.table.own.run, source)
        asked, before = self.base.get(run, {}), self.cells.changes
        for column, before_cell, cell in list(self.cells.differences(place, source)):
            self._bring_cell(source, place, column, before_cell, cell, asked)
        self.touched[place] = source
        if self.table.roles.others and (result.state is None or result.state.kind not in WHOLE):
            noted = result.settled or self.cells.changes > before
            self._mark_outcomes(place, run, self.results.states.get(source), begun=noted)
            return
        state = result.state
        if not result.settled and self.cells.changes > before and self._is_out(place, source):
            state = state if state is not None and state.kind is Kind.RUNNING else RunState(Kind.RUNNING)
            self._say_note(source)
        self.cells.mark(place, run, state, settled=result.settled)

    def _mark_outcomes(self, place: int, run: str, said: RunState | None, *, begun: bool) -> None:
        """Sets the state of a row of several outcomes: it runs until all are measured; states that were noted stay."""
        lacking = self.cells.lacks_results(place)
        noted = said is not None and said.kind is Kind.RUNNING
        out = lacking and (begun or noted) and (bool(run) or place in self.table.states)
        state = (said if noted else RunState(Kind.RUNNING)) if out else None
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
        self, source: int, place: int, column: str, before: Any, cell: Any, asked: Mapping[str, str]
    ) -> None:
        """A cell that both files have, and not alike: whichever was changed since it was suggested counts."""
        outcome = column in self.table.roles.others
        if empty(before) or (outcome and self.cells.is_free(before)):
            self._set(place, column, source)
        elif column in asked and is_same_cell(cell, asked[column], self.results.sign, self.table.sign):
            return
        elif outcome:
            self._bring_outcome(source, place, column, before, cell, asked)
        elif (of := self.cells.spreads.get(column)) is not None and not self.cells.is_same(place, of, source):
            # It goes with its value.
            return
        elif f"{JOINT}{cell}{JOINT}" in f"{JOINT}{before}{JOINT}":
            # It was joined to another note before.
            return
        elif column in asked and is_same_cell(before, asked[column], self.table.sign, self.table.sign):
            self.cells.set(place, column, source)
        else:
            self.merge.conflicts.append(self._conflict(source, place, str(before), str(cell), column))
            if self.on_conflict == "replace":
                self.cells.set(place, column, source)
            elif self.on_conflict == "add" and column not in self.cells.spreads:
                self.cells.put(place, column, f"{before}{JOINT}{cell}")

    def _bring_outcome(
        self, source: int, place: int, column: str, before: Any, cell: Any, asked: Mapping[str, str]
    ) -> None:
        """A further outcome that has another value in the table: told before, in another row, or a contradiction."""
        rows = self.matcher.places.get(key(self.matcher.objects[place]), ())
        last = asked.get(f"{TOLD}{column}")
        if last is not None and is_same_cell(cell, last, self.results.sign, self.results.sign):
            # The table was corrected since.
            return
        if any(is_same_cell(cell, self.cells.current(p, column), self.results.sign, self.table.sign) for p in rows):
            return
        self.merge.conflicts.append(self._conflict(source, place, str(before), str(cell), column))
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
            self.outcomes[new], self.sources[new] = RunOutcome(), source
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
        outcome = self.outcome(place)
        failed = outcome.state is not None and outcome.state.kind in WHOLE
        return not failed and (not outcome.settled or self.cells.lacks_results(place))


def _outcome(sheet: Sheet, place: int) -> RunOutcome:
    """What came of a row, as far as its first column of values tells; a run that failed did so as a whole."""
    value, state = sheet.values[place], sheet.states.get(place)
    cell = sheet.said.get(sheet.roles.value, {}).get(place)
    if state is not None and state.kind in WHOLE:
        return RunOutcome(value, state)
    if cell is not None and not is_open(cell):
        return RunOutcome(value, cell)
    # Of a run with a value, other outcomes may be open; the value counts.
    return RunOutcome(value, None if is_open(state) and not math.isnan(value) else state)


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
    previous: dict[Hashable, Any] = {}
    for place in places:
        cell = cells[place].strip() if isinstance(cells[place], str) else cells[place]
        if not empty(cell) and previous.setdefault(key(sheet.objects[place]), cell) != cell:
            return True
    return False
