"""The cells of a table while results are merged into it: what is changed and added, and in which type it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars

from likewise.campaign.roles import PREFIX, deviations
from likewise.campaign.runs.columns import whole
from likewise.campaign.runs.matching import shows
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.states import JOINT, WHOLE, Kind, State, is_open, read_state, split_status, updated_status
from likewise.errors import TableError
from likewise.tables.cells import Decimal, empty, missing, number, numbers, one_number
from likewise.tables.formatting import cell_text, number_text
from likewise.tables.typed import parse_as, with_cells


@dataclass(eq=False)
class Cells:
    """The changed cells of a table, by column and place; rows that are added have the places after the last.

    `changes` counts what comes from a person, not what likewise keeps of a run.
    """

    table: Sheet
    results: Sheet

    def __post_init__(self) -> None:
        own, table, results = self.table.own, self.table.table, self.results.table
        self.changes = 0
        self.rows = len(table)
        self.changed: dict[str, dict[int, Any]] = {}
        self.theirs = [c for c in results.columns if c not in own and not c.startswith(PREFIX)]
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
            cell, known = self.results.table.frame[column][source], self.current(place, column)
            if not empty(cell) and not is_same_cell(cell, known, self.results.sign, self.table.sign):
                yield column, known, cell

    def current(self, place: int, column: str) -> Any:
        """A cell as it is by now."""
        if place in self.changed.get(column, {}):
            return self.changed[column][place]
        known = column in self.table.table.columns and place < len(self.table.table)
        return self.table.table.frame[column][place] if known else None

    def put(self, place: int, column: str, cell: Any) -> None:
        """A cell is this from now on."""
        self.changed.setdefault(column, {})[place] = cell
        self.changes += 1

    def set(self, place: int, column: str, source: int) -> None:
        """A cell is that of a row of the results."""
        further = column in self.table.roles.others
        self.put(place, column, self._outcome(column, source) if further else self._cell(column, source))

    def set_outcome(self, place: int, source: int, state: State | None, *, replaced: bool) -> None:
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
            told = self._cell(column, source) if column in columns else None
            if told is not None or replaced:
                self.put(place, column, told)

    def is_same(self, place: int, column: str, source: int) -> bool:
        """Whether a cell says what a row of the results says."""
        told = self.results.table.frame[column][source] if column in self.theirs else None
        return is_same_cell(told, self.current(place, column), self.results.sign, self.table.sign)

    def set_other(self, place: int, column: str, source: int, *, replaced: bool) -> None:
        """A row has a further outcome of a row of the results; the standard deviation of an old value goes."""
        self.set(place, column, source)
        spread = self.table.roles.stds.get(column)
        if spread is None or spread not in self.table.table.columns:
            return
        told = self._cell(spread, source)
        if told is not None or (replaced and not empty(self.current(place, spread))):
            self.put(place, spread, told)

    def _value(self, source: int, state: State | None) -> Any:
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

    def mark(self, place: int, run: str, state: State | None, *, settled: bool) -> None:
        """Write down the run of a row, and where it stands; not in tables without runs and states."""
        own = self.table.own
        if run and empty(self.current(place, own.run)):
            self.changed.setdefault(own.run, {})[place] = run
        wanted = self._status(place, state, settled=settled)
        known = cell_text(self.current(place, own.status) or "").strip()
        if wanted is None or not (run or state or own.status in self.table.table.columns):
            return
        if (text := updated_status(known, wanted)) != known:
            self.changed.setdefault(own.status, {})[place] = text
            self.changes += not settled

    def _status(self, place: int, state: State | None, *, settled: bool) -> str | None:
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
        own = self.table.own
        if not (own.round in self.table.table.columns or own.run in self.changed or own.status in self.changed):
            return
        known = [n for p in range(len(self.table.table)) if (n := whole(self.current(p, own.round))) is not None]
        mine = [n for place in touched if (n := whole(self.current(place, own.round))) is not None]
        number = max(mine) if mine else max(known, default=0) + 1
        names = (*self.table.roles.values, own.status)
        for place in sorted({p for name in names for p in self.changed.get(name, {})}):
            said = (self.current(place, name) for name in names)
            if empty(self.current(place, own.round)) and not all(map(empty, said)):
                self.changed.setdefault(own.round, {})[place] = number

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
        own = old.frame[name] if name in old.columns else gaps
        cells = {place: self._typed(own, cell) for place, cell in cells.items()}
        inside = {place: cell for place, cell in cells.items() if place < len(old)}
        below = [cells.get(place) for place in range(len(old), self.rows)]
        try:
            if old.dialect.kind == "workbook" and own.dtype != polars.String and any(map(_is_text, cells.values())):
                # A column of a workbook holds both.
                return _mixed(own, inside, below)
            return with_cells(own, inside, below)
        except ValueError as error:
            raise TableError(self._refusal(name, own, cells, error)) from None

    def _typed(self, own: polars.Series, cell: Any) -> Any:
        """Numbers and texts of ours, as a column of the user's holds them."""
        if isinstance(cell, int) and own.dtype == polars.String:
            return str(cell)
        return cell

    def _refusal(self, name: str, own: polars.Series, cells: Mapping[int, Any], why: ValueError) -> str:
        source = next((p for p, cell in cells.items() if not _fits(own, cell)), next(iter(cells)))
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
    text, known = cell_text(cell).strip(), cell_text(other).strip()
    if text == known:
        return True
    limits = read_state(text, sign), read_state(known, other_sign)
    if all(limit is not None and limit.limit is not None for limit in limits):
        one, other = ((state.kind, state.limit) for state in limits if state is not None)
        return one == other
    value = one_number(known, other_sign)
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


def _mixed(own: polars.Series, inside: Mapping[int, Any], below: list[Any]) -> polars.Series:
    """A column of numbers as texts, with some cells changed and others below it."""
    texts = {place: None if cell is None else cell_text(cell) for place, cell in inside.items()}
    return with_cells(own.cast(polars.String), texts, [None if cell is None else cell_text(cell) for cell in below])


def _fits(own: polars.Series, cell: Any) -> bool:
    try:
        with_cells(own, {}, [cell])
    except ValueError:
        return False
    return True
