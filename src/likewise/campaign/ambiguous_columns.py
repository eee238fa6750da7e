"""Whether a column that was taken for the objects tells rows apart, or whether others belong to it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from likewise.campaign.merge import empty, key
from likewise.campaign.roles import PREFIX, aside
from likewise.campaign.sheet import Sheet


def overlooked_columns(table: Sheet, results: Sheet) -> list[str]:
    """The columns of both files in which rows differ that have the same object: candidates, or results."""
    roles = table.roles
    taken = {*roles.objects, roles.value, roles.std}
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
    first: dict[Hashable, Any] = {}
    for place in places:
        cell = cells[place].strip() if isinstance(cells[place], str) else cells[place]
        if not empty(cell) and first.setdefault(key(sheet.objects[place]), cell) != cell:
            return True
    return False
