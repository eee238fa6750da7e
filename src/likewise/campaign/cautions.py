"""What a table may have been meant otherwise: a factor that was not named, a value far from all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from typing import Any

from likewise.campaign.roles import PREFIX, Roles, aside
from likewise.campaign.runs.columns import RunColumns
from likewise.model.targets.far_values import describe
from likewise.similarity.pairs import object_key
from likewise.tables.cells import empty
from likewise.tables.reading import Table

# Pairs of rows that are enough to tell, and so many of a table that are looked at.
FEWEST, LOOKED_AT = 2, 2_000
# A factor that counts moves values by more than this share of their range, and more than repeats differ.
SHARE, TIMES = 0.1, 2.0


def far_value(x: Any, value: float) -> str:
    """A note on a value of an object that is far from all others.

    >>> far_value("CCO", 8971.0)
    "8971 for 'CCO' is far from all other values: a hit, or a slip. Correct a slip in its cell, or write withdrawn in \
    the column 'status'; measure a hit once more, as another row"
    """
    return (
        f"{describe(x, value)}. Correct a slip in its cell, or write withdrawn in the column 'status'; measure a hit "
        "once more, as another row"
    )


def forgotten_factors(
    table: Table, roles: Roles, own: RunColumns, objects: Sequence[Any], values: Sequence[float]
) -> list[str]:
    """Notes on columns in which rows differ that have the same object, where their values differ with them."""
    measured = [i for i, x in enumerate(objects) if x is not None and values[i] == values[i]][:LOOKED_AT]
    pairs = _same_objects(measured, objects)
    known = [values[i] for i in measured]
    if len(pairs) < FEWEST or min(known) == max(known):
        return []
    taken = {*roles.taken, *own}
    free = [c for c in table.columns if c not in taken and not c.startswith(PREFIX) and not aside(c)]
    least = SHARE * (max(known) - min(known))
    return [note for column in free if (note := _judge(table, column, pairs, values, least, roles))]


def _same_objects(measured: Sequence[int], objects: Sequence[Any]) -> list[tuple[int, int]]:
    groups: dict[Any, list[int]] = {}
    for i in measured:
        groups.setdefault(object_key(objects[i]), []).append(i)
    return list(islice((pair for rows in groups.values() for pair in combinations(rows, 2)), LOOKED_AT))


def _judge(
    table: Table, column: str, pairs: Sequence[tuple[int, int]], values: Sequence[float], least: float, roles: Roles
) -> str:
    cells = [cell.strip() if isinstance(cell, str) else cell for cell in table.column(column).to_list()]
    apart = [(i, j) for i, j in pairs if cells[i] != cells[j] and not (empty(cells[i]) or empty(cells[j]))]
    together = [pair for pair in pairs if cells[pair[0]] == cells[pair[1]]]
    if len(apart) < FEWEST or _difference(apart, values) < max(least, TIMES * _difference(together, values)):
        return ""
    i, j = max(apart, key=lambda pair: abs(values[pair[0]] - values[pair[1]]))
    named = ", ".join(map(repr, roles.objects))
    return (
        f"rows {table.number(i)} and {table.number(j)} are the same in {named}, but have {cells[i]!r} and {cells[j]!r} "
        f"in column {column!r}, and {values[i]:.4g} and {values[j]:.4g} in {roles.value!r}. If you set {column!r}, "
        "name it as a column of the objects, too"
    )


def _difference(pairs: Sequence[tuple[int, int]], values: Sequence[float]) -> float:
    return sum(abs(values[i] - values[j]) for i, j in pairs) / len(pairs) if pairs else 0.0


def beyond_seen(x: Any, objects: Sequence[Any], column: str) -> list[str]:
    """Notes on the numbers of an object that lie outside what the table has seen."""
    if isinstance(x, Mapping):
        # Of objects of several branches, only those of its own have what it has.
        fields = {name: [y[name] for y in objects if isinstance(y, Mapping) and name in y] for name in x}
        return [note for name, seen in fields.items() for note in beyond_seen(x[name], seen, name)]
    return _beyond(x, objects, column)


def _beyond(value: Any, seen: Sequence[Any], column: str) -> list[str]:
    known = [y for y in seen if isinstance(y, int | float) and not isinstance(y, bool)]
    if isinstance(value, bool) or not isinstance(value, int | float) or not known or min(known) <= value <= max(known):
        return []
    seen_range = f"{min(known):g} to {max(known):g}"
    return [
        f"{column!r} is {value:g}, outside of what the table has seen, {seen_range}: the prediction is a guess there"
    ]
