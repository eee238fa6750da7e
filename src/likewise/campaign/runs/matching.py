"""Which row of the table a row of results stands for: by its run, by its object, by its object as far as digits show.

A run's name is on the flask and in the file, and says most. Without it the object tells. A spreadsheet that shows 0.057
as 0.06 saves 0.06: then the numbers tell as far as they are written, if they fit a single row that has no result yet.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.wording import shown
from likewise.errors import TableError
from likewise.tables.cells import Decimal, empty, one_number
from likewise.tables.formatting import cell_text

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
        known = self.objects[place]
        return known is None or key(known) == key(results.objects[source]) or self._shows(results, source, place)

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
            found = [i for i in rows if i != besides and self._shows(results, source, i)] if self._numeric else []
            if len(found) > 1:
                raise TableError(self._ambiguous(results, source, found))
            if found:
                return Match((found[0],), "digits")
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
        known = self.fields(self.objects[place])
        told = self.fields(results.objects[source])
        for name, value in known.items():
            if self.table.kinds.get(name) == "numbers" and isinstance(value, float):
                if not shows(results.cell(name, source), value, results.sign):
                    return False
            elif key(value) != key(told.get(name)):
                return False
        return bool(known)

    def fields(self, x: Any) -> Mapping[str, Any]:
        """The object by the columns it consists of."""
        return x if self.table.roles.record and isinstance(x, Mapping) else {self.table.roles.objects[0]: x}

    def _unlike(self, known: Any, told: Any) -> tuple[str, ...]:
        given = self.fields(told)
        return tuple(name for name, value in self.fields(known).items() if key(value) != key(given.get(name)))

    def _ambiguous(self, results: Sheet, source: int, found: Sequence[int]) -> str:
        table = self.table.table
        which = " or ".join(f"row {table.number(i)} ({shown(self.table.objects[i])})" for i in found[:5])
        return (
            f"{results.table.name}, row {results.table.number(source)}: {shown(results.objects[source])} could be "
            f"{which} of {table.name}, as few digits are shown; nothing was written. Write more digits, or keep the "
            f"column {self.table.own.run!r}."
        )


def key(x: Any) -> Hashable:
    """What tells an object from others."""
    return x if isinstance(x, str | float) else json.dumps(x, sort_keys=True, default=str)


def is_same(one: float, other: float) -> bool:
    """Whether two numbers are one, but for rounding in their last digits."""
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=1e-300)


def shows(text: str, value: float, decimal: Decimal | None) -> bool:
    """Whether a number, written with as many digits as this text has, is this text.

    >>> shows("0.06", 0.057, "."), shows("0,06", 0.0573, ","), shows("0.06", 0.066, "."), shows("5.7E-02", 0.0573, ".")
    (True, True, False, True)
    """
    told = one_number(text, decimal)
    if told is None:
        return False
    return is_same(told, value) or abs(told - value) <= 0.5 * _last_digit(text, decimal) * (1 + NEAR)


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
