"""Names for what is hard to read: people see those of a column of names that stands beside one of structures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from likewise.campaign.objects import to_cells
from likewise.campaign.problem import Problem
from likewise.campaign.sheets.sheet import Sheet
from likewise.campaign.wording import shown

STRUCTURE = frozenset(("smiles", "smi", "smile", "inchi", "structure", "cxsmiles", "selfies"))
NAME = frozenset(("name", "names", "label"))
# Rows beyond which names are not looked for: a million would take longer than the suggestions.
MOST_ROWS = 100_000
OWN = frozenset(("compound", "molecule", "substance", "chemical"))


@dataclass(frozen=True)
class Names:
    """The columns of an object as people read them.

    headings: by column what stands above it: the name's column where there is one.
    known: by column the name of each cell.
    """

    headings: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def heading(self, column: str) -> str:
        """What stands above a column."""
        return self.headings.get(column, column)

    def of(self, column: str, value: Any) -> str:
        """A value of a column as people read it."""
        text = shown(value)
        return self.known.get(column, {}).get(text, text)

    def object(self, x: Any, column: str = "", width: int | None = None) -> str:
        """A whole object as people read it; `column` is that of an object which is no record."""
        if isinstance(x, Mapping):
            text = ", ".join(f"{self.heading(name)} {self.of(name, value)}" for name, value in x.items())
        else:
            named, own = self.of(column, x), shown(x)
            text = own if named == own else f"{named} ({own})"
        return text if width is None or len(text) <= width else f"{text[: width - 1]}…"


def names_of(sheet: Sheet | None) -> Names:
    """The names that a table has for its objects."""
    if sheet is None or len(sheet.table) > MOST_ROWS:
        return Names()
    roles = sheet.roles
    free = [c for c in sheet.table.columns if c not in roles.taken and c not in sheet.own]
    headings: dict[str, str] = {}
    known: dict[str, dict[str, str]] = {}
    for column in roles.objects:
        for other in (c for c in free if names(c, column)):
            if (pairs := _pairs(sheet, column, other)) is not None:
                headings[column], known[column] = other, pairs
                break
    return Names(headings, known)


def names(other: str, column: str) -> bool:
    """Whether one column has, by its title, the names of what is in another.

    >>> names("Ligand", "Ligand_SMILES"), names("name", "smiles"), names("Ligand", "Base_SMILES"), names("cost", "base")
    (True, True, False, False)
    """
    theirs, own = _words(other), _words(column)
    if theirs & STRUCTURE or not (own & STRUCTURE or theirs & NAME):
        return False
    bare = theirs - NAME
    return bare == own - STRUCTURE or (own <= STRUCTURE and bare <= OWN and bool(theirs))


def _words(title: str) -> frozenset[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", title)
    return frozenset(word.lower() for word in re.split(r"[\W_]+", apart) if word)


def _pairs(sheet: Sheet, column: str, other: str) -> dict[str, str] | None:
    """The name of each cell, where each has one and no two have the same."""
    cells = sheet.table.frame.select(column, other).drop_nulls().unique(maintain_order=True)
    found = {str(cell).strip(): str(name).strip() for cell, name in cells.iter_rows() if str(name).strip()}
    single = len(found) == len(cells) == len(set(found.values()))
    return found if found and single else None


def headings_of(names: Names, columns: Sequence[str]) -> list[str]:
    """What stands above the cells of `named_cells`."""
    return [names.heading(c) for c in columns] if len(columns) > 1 else [*names.headings.values(), *columns]


def named_cells(names: Names, columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """The cells as people read them: the fields of a record by their names, a single object with its name before it."""
    named = [names.of(column, cell) for column, cell in zip(columns, cells, strict=True)]
    return named if len(columns) > 1 or not names.headings else [*named, *cells]


def columns_of(problem: Problem, chosen: Sequence[str] = ()) -> list[str]:
    """The columns in which an object is written."""
    if problem.sheet is not None:
        return list(problem.sheet.roles.objects)
    return list(chosen) or list(problem.study.space.parts) or ["object"]


def cells_of(problem: Problem, x: Any, columns: Sequence[str]) -> list[str]:
    """The object as cells: those of its row where it is a row of the table."""
    sheet, place = problem.sheet, problem.place(x)
    if sheet is not None and place is not None and problem.pool is not None:
        return [sheet.cell(column, place) for column in columns]
    return to_cells(problem.study.space, x, columns, "." if sheet is None else sheet.decimal)
