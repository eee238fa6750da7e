"""Rows that cannot be used: they are named, and left out if they are to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from likewise.campaign.listener import Listener
from likewise.campaign.objects import Bad
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.wording import count
from likewise.errors import TableError
from likewise.tables.reading import Table

LISTED = 10
# Characters of a bad cell that a message repeats.
BRIEF = 200


def leave_out_bad(made: Sheet, bad: Sequence[Bad], skip: bool, listener: Listener) -> Sheet:
    """The sheet without rows that cannot be used: an error that names them, or a note if they are to be skipped."""
    bad = _first_of_each_row(bad)
    ragged = [Bad(place, "", "", "it has more cells than the header") for place in made.table.ragged]
    bad = [*bad, *(each for each in ragged if each not in made.skipped)]
    if not bad:
        return made
    table, first = made.table, bad[0]
    if not skip:
        others = f" {len(bad)} rows are like this: {row_numbers(table, bad)}." if len(bad) > 1 else ""
        settings = {**first.settings, "skip_bad": ""}
        raise TableError(f"{cell_of(table, first)}: {first.reason}.{others}", settings=settings)
    listener.note(
        f"{table.name}: left out {count(len(bad), 'row')}, {row_numbers(table, bad)}. The first one has {_why(first)}"
    )
    return made.without(bad)


def cell_of(table: Table, bad: Bad) -> str:
    """A bad cell, with its place and content."""
    return f"{table.where(bad.place, bad.column)}, {_brief(bad.cell if bad.cell is not None else '')}"


def _brief(cell: Any) -> str:
    """A cell as Python writes it, the beginning of a long one."""
    return repr(cell) if not isinstance(cell, str) or len(cell) <= BRIEF else f"{cell[:BRIEF]!r}…"


def _why(bad: Bad) -> str:
    return f"{_brief(bad.cell)} in column {bad.column!r}: {bad.reason}" if bad.column else bad.reason


def rows_named(table: Table, places: Sequence[int]) -> str:
    """Rows by their numbers: row 7, or rows 2, 5."""
    return f"{'row' if len(places) == 1 else 'rows'} {_listed(table, places)}"


def row_numbers(table: Table, bad: Collection[Bad]) -> str:
    """The numbers of rows, the first few of them."""
    return _listed(table, [each.place for each in bad])


def _listed(table: Table, places: Sequence[int]) -> str:
    rows = [str(table.number(place)) for place in places]
    return ", ".join(rows[:LISTED]) + (f" and {len(rows) - LISTED} more" if len(rows) > LISTED else "")


def _first_of_each_row(bad: Sequence[Bad]) -> list[Bad]:
    rows: dict[int, Bad] = {}
    for each in bad:
        rows.setdefault(each.place, each)
    return [rows[place] for place in sorted(rows)]
