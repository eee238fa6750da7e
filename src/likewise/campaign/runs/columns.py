"""The columns that likewise keeps in a table: the name of a run, its status and its round.

They are called `run`, `status` and `round`. A column of such a name that means something else is the user's, and is
never written; then ours is called `likewise_run`, and so on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from likewise.campaign.roles import PREFIX
from likewise.campaign.states import read_state
from likewise.tables.cells import empty
from likewise.tables.formatting import cell_text
from likewise.tables.reading import Table

RUN = re.compile(r"R(\d+)-(\d+)[a-z]{2}")
LETTERS = "bcdfghjkmnpqrstvwxz"


@dataclass(frozen=True)
class RunColumns:
    """The names of the columns for the run, its status and its round, and what was in the way of a plain name."""

    run: str = "run"
    status: str = "status"
    round: str = "round"
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter((self.run, self.status, self.round))

    def __contains__(self, name: object) -> bool:
        return name in (self.run, self.status, self.round)


def run_columns(table: Table, taken: Collection[str | None] = ()) -> RunColumns:
    """The columns of a table that likewise keeps, be they there or not; `taken` ones hold objects or values."""
    runs, note = _name(table, "run", taken, lambda place, text: is_run(text))
    marked = _marked(table, runs)
    status, second = _name(
        table, "status", taken, lambda place, text: place in marked or read_state(text, None) is not None
    )
    rounds, third = _name(table, "round", taken, lambda place, text: whole(text) is not None)
    return RunColumns(runs, status, rounds, tuple(text for text in (note, second, third) if text))


def _name(table: Table, plain: str, taken: Collection[str | None], fits: Callable[[int, str], bool]) -> tuple[str, str]:
    """The name of a column of ours, and a note where the plain name means something else."""
    named = next((name for name in table.columns if name.strip().lower() == plain and name not in taken), None)
    if named is None:
        return (plain if plain not in taken else f"{PREFIX}{plain}"), ""
    for place, cell in enumerate(table.column(named).to_list()):
        if not empty(cell) and not fits(place, cell_text(cell).strip()):
            said = f"{table.name}: column {named!r} holds something else ({cell_text(cell)[:60]!r} in row "
            return f"{PREFIX}{plain}", f"{said}{table.number(place)}), so likewise keeps its own in {PREFIX + plain!r}"
    return named, ""


def _marked(table: Table, runs: str) -> set[int]:
    """The rows that have a run: whatever their status says was written for us."""
    if runs not in table.columns:
        return set()
    return {place for place, cell in enumerate(table.column(runs).to_list()) if not empty(cell)}


def is_run(text: str) -> bool:
    """Whether a text is the name of a run.

    >>> is_run("R3-2fk"), is_run("3")
    (True, False)
    """
    return RUN.fullmatch(text.strip()) is not None


def run_name(round: int, number: int, key: str) -> str:
    """The name of a run: its round, its number there, and two letters that belong to its object.

    A spreadsheet takes it for no number and no date, and the letters tell apart runs of two copies of a table.

    >>> run_name(3, 2, '"CCO"')
    'R3-2qn'
    """
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    return f"R{round}-{number}{LETTERS[digest[0] % len(LETTERS)]}{LETTERS[digest[1] % len(LETTERS)]}"


def whole(cell: object) -> int | None:
    """The whole number in a cell, if that is what it holds.

    >>> whole("3"), whole(3.0), whole("3rd"), whole(None)
    (3, 3, None, None)
    """
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return int(value) if value.is_integer() and value >= 0 else None
