"""The journal of a table: what was suggested, on which grounds, and what came of it, in a file beside the table.

With it: which row of the table a row of results stands for.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars

from likewise.campaign.columns import CLOSED, Kind, RunState
from likewise.campaign.sheet import Sheet
from likewise.campaign.text import shown
from likewise.errors import TableError
from likewise.tables.cells import Decimal, cell_text, empty, one_number

# Which row of the table a row of results stands for: by its run, by its object, by its object as far as digits show.
#
# A run's name is on the flask and in the file, and says most. Without it the object tells. A spreadsheet that shows
# 0.057 as 0.06 saves 0.06: then the numbers tell as far as they are written, if they fit a single row that has no
# result yet.

How = Literal["run", "edited", "object", "digits", "new"]
# Two numbers are one if they differ by no more than rounding in the last of their sixteen digits.
NEAR = 1e-9


@dataclass(frozen=True)
class Match:
    """The rows that a row of results may stand for, the likeliest first, and how they were found.

    `released` is the row of the run, where the results say that something else was run in its place, and in which
    columns.
    """

    places: tuple[int, ...]
    how: How
    released: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(eq=False)
class Matcher:
    """Finds the rows of a table; rows that are appended meanwhile are found, too."""

    table: Sheet
    # The cells of each run as they were suggested.
    asked: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    places: dict[Hashable, list[int]] = field(init=False)
    # A run that was measured once more has several rows.
    runs: dict[str, list[int]] = field(init=False)
    objects: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.places, self.runs, self.objects = {}, {}, list(self.table.objects)
        for place, x in enumerate(self.objects):
            if x is not None:
                self.places.setdefault(key(x), []).append(place)
        if self.table.own.run in self.table.table.columns:
            for place, cell in enumerate(self.table.table.column(self.table.own.run).to_list()):
                if not empty(cell):
                    self.runs.setdefault(cell_text(cell).strip(), []).append(place)

    def add(self, x: Any, run: str) -> None:
        """A row is appended, with this object and perhaps a run."""
        place = len(self.objects)
        self.objects.append(x)
        self.places.setdefault(key(x), []).append(place)
        if run:
            self.runs.setdefault(run, []).append(place)

    def find(self, results: Sheet, source: int) -> Match:
        """The rows that a row of the results may stand for."""
        run = results.cell(self.table.own.run, source)
        named = self.runs.get(run, []) if run else []
        if results.roles.objects == (self.table.own.run,):
            return self._by_run_alone(results, source, run, named)
        x = results.objects[source]
        if not named:
            return self._by_object(results, source, x)
        same = [place for place in named if self._is(results, source, place)]
        if same:
            return Match(tuple(same), "run")
        if self._is_as_asked(results, source, run):
            # What was run was written into the table, not into the results.
            return Match(tuple(named), "edited")
        other = self._by_object(results, source, x, besides=named[0])
        if named[0] >= len(self.table.objects):
            return other
        return Match(other.places, other.how, named[0], self._unlike(self.objects[named[0]], x))

    def _is(self, results: Sheet, source: int, place: int) -> bool:
        """Whether a row of a run has the object of the results, be it that its cells cannot be read."""
        x = self.objects[place]
        return x is None or key(x) == key(results.objects[source]) or self._shows(results, source, place)

    def _is_as_asked(self, results: Sheet, source: int, run: str) -> bool:
        """Whether the results have the object of a run as it was suggested."""
        asked = self.asked.get(run, {})
        return all(
            column in asked and _says(results.cell(column, source), asked[column], results.sign, self.table.sign)
            for column in self.table.roles.objects
        )

    def _by_run_alone(self, results: Sheet, source: int, run: str, named: Sequence[int]) -> Match:
        if not named:
            raise TableError(
                f"{results.table.where(source, self.table.own.run)}: {self.table.table.name} has no run {run!r}, and "
                "the results do not say what was measured; correct it, or add the columns of the object."
            )
        return Match(tuple(named), "run")

    def _by_object(self, results: Sheet, source: int, x: Any, besides: int | None = None) -> Match:
        same = [place for place in self.places.get(key(x), ()) if place != besides]
        if same:
            out = {place: rank for rank, place in enumerate(self.table.under_way)}
            return Match(tuple(sorted(same, key=lambda place: place not in out)), "object")
        for rows in (self.table.under_way, self.table.candidates):
            shown_at = [i for i in rows if i != besides and self._shows(results, source, i)] if self._numeric else []
            if len(shown_at) > 1:
                raise TableError(self._ambiguous(results, source, shown_at))
            if shown_at:
                return Match((shown_at[0],), "digits")
        return Match((), "new")

    def shown(self, results: Sheet, source: int) -> list[int]:
        """The rows of runs whose object is that of a row of the results, as far as its digits show."""
        runs = [place for places in self.runs.values() for place in places if self.objects[place] is not None]
        return [place for place in runs if self._shows(results, source, place)] if self._numeric else []

    @cached_property
    def _numeric(self) -> bool:
        return "numbers" in self.table.kinds.values()

    def _shows(self, results: Sheet, source: int, place: int) -> bool:
        """Whether the object of a row of the results is that of the table, as far as its digits show."""
        fields = self.fields(self.objects[place])
        result = self.fields(results.objects[source])
        for name, value in fields.items():
            if self.table.kinds.get(name) == "numbers" and isinstance(value, float):
                if not shows(results.cell(name, source), value, results.sign):
                    return False
            elif key(value) != key(result.get(name)):
                return False
        return bool(fields)

    def fields(self, x: Any) -> Mapping[str, Any]:
        """The object by the columns it consists of."""
        return x if self.table.roles.record and isinstance(x, Mapping) else {self.table.roles.objects[0]: x}

    def _unlike(self, x: Any, result: Any) -> tuple[str, ...]:
        fields = self.fields(result)
        return tuple(name for name, value in self.fields(x).items() if key(value) != key(fields.get(name)))

    def _ambiguous(self, results: Sheet, source: int, places: Sequence[int]) -> str:
        table = self.table.table
        which = " or ".join(f"row {table.number(i)} ({shown(self.table.objects[i])})" for i in places[:5])
        return (
            f"{results.table.name}, row {results.table.number(source)}: {shown(results.objects[source])} could be "
            f"{which} of {table.name}, as few digits are shown; nothing was written. Write more digits, or keep the "
            f"column {self.table.own.run!r}."
        )


def key(x: Any) -> Hashable:
    """What tells an object from others."""
    return x if isinstance(x, str | float) else json.dumps(x, sort_keys=True, default=str)


def is_same(number: float, other: float) -> bool:
    """Whether two numbers are one, but for rounding in their last digits."""
    return math.isclose(number, other, rel_tol=NEAR, abs_tol=1e-300)


def shows(text: str, value: float, decimal: Decimal | None) -> bool:
    """Whether a number, written with as many digits as this text has, is this text.

    >>> shows("0.06", 0.057, "."), shows("0,06", 0.0573, ","), shows("0.06", 0.066, "."), shows("5.7E-02", 0.0573, ".")
    (True, True, False, True)
    """
    number = one_number(text, decimal)
    if number is None:
        return False
    return is_same(number, value) or abs(number - value) <= 0.5 * _last_digit(text, decimal) * (1 + NEAR)


def _says(text: str, asked: str, sign: Decimal | None, other: Decimal | None) -> bool:
    """Whether a cell is as it was suggested: the same text, or the same number as far as its digits show."""
    value = one_number(asked, other)
    return text.strip() == asked.strip() or (value is not None and shows(text, value, sign))


def _last_digit(text: str, decimal: Decimal | None) -> float:
    """What the last digit of a number stands for: 0.01 for 0.06, 1 for 80."""
    digits, _, power = text.strip().lower().partition("e")
    sign = decimal or ("," if "," in digits and "." not in digits else ".")
    decimals = len(re.sub(r"\D", "", digits.partition(sign)[2]))
    try:
        return float(10.0 ** (int(power or 0) - decimals))
    except (ValueError, OverflowError):
        return 0.0


def first(rows: Iterable[int]) -> int | None:
    """The first of some rows, if there is any."""
    return next(iter(rows), None)


# What a merge gives: results that were told, contradictions, and the table with all of it.

OnConflict = Literal["stop", "keep", "replace", "add"]
# The cells of a run as they were suggested, by the names of the run and of the column; under "", the result told last.
Base = Mapping[str, Mapping[str, str]]
# Before the name of a column, what was told of a further outcome last.
TOLD = "\0"


def told_results(cells: Mapping[str, str]) -> str:
    """Returns the last results of a run as text; empty if there are none.

    >>> told_results({"word": "ABBA", "": "7.5", "\\0cost": "3"})
    '7.5, cost 3'
    """
    further = [f"{name.removeprefix(TOLD)} {text}" for name, text in cells.items() if name.startswith(TOLD)]
    return ", ".join([*([cells[""]] if "" in cells else []), *further])


@dataclass(frozen=True)
class RunOutcome:
    """What came of an experiment: a number, or a state that says there is none; neither while it is open."""

    value: float = math.nan
    state: RunState | None = None

    @property
    def settled(self) -> bool:
        """Whether anything came of it."""
        return not math.isnan(self.value) or (self.state is not None and self.state.kind in (Kind.FAILED, *CLOSED))

    def same(self, other: RunOutcome) -> bool:
        """Whether both say the same."""
        kinds = [None if outcome.state is None else outcome.state.kind for outcome in (self, other)]
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
        before, after = (f"{x:.10g}" if isinstance(x, float) else repr(x) for x in (self.known, self.told))
        what = f"{shown(self.object)}, column {self.column!r}" if self.column else shown(self.object)
        return f"{what}: {before} in {where}, {after} in row {self.told_row} of the results"


@dataclass(frozen=True)
class ToldResult:
    """A result that was told: its run, if any, the row it belongs to, and its outcome.

    `kept_out` says that the table kept another one. `others` are further outcomes, by column, as they were written.
    """

    run: str
    place: int
    outcome: RunOutcome
    kept_out: bool = False
    others: Mapping[str, str] = field(default_factory=dict)


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
    told: list[ToldResult] = field(default_factory=list)
    open: int = 0

    @property
    def changes(self) -> int:
        """How many rows of the results the table has not, or not so."""
        return self.filled + self.replaced + self.added + self.noted + len(self.conflicts)


# `table.csv` has `table.csv.likewise.jsonl`: a line of JSON for each round, each suggestion and each result. Lines are
# only ever added. A line that was cut short, as a process was killed while it wrote, is passed over.

SUFFIX = ".likewise.jsonl"


@dataclass(frozen=True)
class Journal:
    """The journal of a table; each line is a mapping whose `kind` is round, suggestion or result."""

    path: Path

    @classmethod
    def of(cls, table: Path) -> Journal:
        """The journal beside a table."""
        return cls(table.with_name(table.name + SUFFIX))

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """Every line that can be read, the oldest first."""
        try:
            texts = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TableError(f"{self.path} cannot be read: {error.strerror or error}; check its permissions.") from None
        lines = (_line(text) for text in texts)
        return [line for line in lines if line is not None]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind, the oldest first."""
        return [line for line in self.lines if line.get("kind") == kind]

    @property
    def last_round(self) -> dict[str, Any] | None:
        """What was asked for in the last round."""
        return next(iter(reversed(self.of_kind("round"))), None)

    @cached_property
    def suggestions(self) -> dict[str, dict[str, Any]]:
        """The last line of each run that was suggested."""
        return {str(line.get("run")): line for line in self.of_kind("suggestion")}

    @property
    def base(self) -> Base:
        """The cells of each run as they were suggested, and the results that were told last."""
        cells = {run: dict(line.get("cells", {})) for run, line in self.suggestions.items()}
        for line in self.of_kind("result"):
            results = cells.setdefault(str(line.get("run")), {})
            if "value" in line:
                results[""] = line.get("said") or repr(line["value"])
            results |= {f"{TOLD}{name}": text for name, text in line.get("outcomes", {}).items()}
        return cells

    def time_told(self, results: Path) -> str | None:
        """When a file was last told as it is; None if it was not, or was changed since."""
        lines = [line for line in self.of_kind("told") if line.get("file") == results.name]
        return str(lines[-1].get("time")) if lines and lines[-1].get("hash") == file_hash(results) else None

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines, which are on the disk when this returns."""
        texts = [json.dumps(line, ensure_ascii=False, default=str).encode("utf-8", "replace") for line in lines]
        if not texts:
            return
        try:
            with self.path.open("ab+") as file:
                # After a line that was cut short, the next one begins on a line of its own.
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - 1))
                torn = end > 0 and file.read(1) != b"\n"
                file.write((b"\n" if torn else b"") + b"".join(text + b"\n" for text in texts))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise TableError(
                f"{self.path} cannot be written: {error.strerror or error}; it keeps why each run was suggested. "
                "Check the folder."
            ) from error
        self.__dict__.pop("lines", None)
        self.__dict__.pop("suggestions", None)


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def file_hash(path: Path) -> str:
    """What stands for the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def told_line(results: Path) -> dict[str, Any]:
    """The line that says that a file was told."""
    return {"kind": "told", "time": now(), "file": results.name, "hash": file_hash(results)}


def now() -> str:
    """The time of a line, with its time zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def data_hash(sheet: Sheet | None) -> str:
    """What stands for the observations that an answer rests on: the same for the same rows in any order."""
    rows = [] if sheet is None else [_facts(sheet, place) for place in (*sheet.measured, *sheet.states)]
    digest = hashlib.sha256("\n".join(sorted(rows)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _facts(sheet: Sheet, place: int) -> str:
    state = sheet.states.get(place)
    kind = None if state is None else state.kind.value
    value = repr(sheet.values[place])
    facts = [sheet.objects[place], value, sheet.std(place), kind]
    stds = {name: sheet.std(place, name) for name in sheet.others if sheet.has_stds(name)}
    return json.dumps(facts + ([sheet.results(place), stds] if sheet.others else []), sort_keys=True, default=str)


def history(journal: Journal, run: str) -> Sequence[dict[str, Any]]:
    """All lines about a run, the oldest first."""
    return [line for line in journal.lines if line.get("run") == run]
