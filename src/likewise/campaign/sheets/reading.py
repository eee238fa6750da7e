"""From a file to the problem that it poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.campaign.cautions import forgotten_factors
from likewise.campaign.listener import Listener
from likewise.campaign.objects import Objects, numeric, objects
from likewise.campaign.roles import Roles, roles
from likewise.campaign.runs.columns import RunColumns, run_columns
from likewise.campaign.sheets.bad_rows import leave_out_bad
from likewise.campaign.sheets.outcomes import Outcomes
from likewise.campaign.sheets.sheet import Choices, Sheet
from likewise.tables.cells import Decimal
from likewise.tables.reading import Table, read
from likewise.tables.signs import sign_of
from likewise.tables.understanding import understand

if TYPE_CHECKING:
    from likewise.spaces.base import Space


def sheet(
    path: str | Path, choices: Choices, listener: Listener, space: Space | None = None, *, may_be_empty: bool = False
) -> Sheet:
    """The problem that a file poses; rows that cannot be used are an error, unless they are to be skipped.

    With a space, or where it is said, a table without rows is one.
    """
    table = understand(read(path, skip_ragged=choices.skip_bad, may_be_empty=may_be_empty or space is not None))
    table = _with_empty(table, choices.absent)
    for note in table.notes:
        listener.note(note)
    named = choices.objects or _parts(table, space)
    own = choices.own or run_columns(table, (*named, *choices.measured))
    theirs = replace(table, frame=table.frame.drop([c for c in own if c in table.columns and c not in named]))
    chosen = _roles(theirs, choices, named)
    for column in choices.text:
        table.column(column)
    kinds = {**choices.kinds, **dict.fromkeys(choices.text, "text")}
    sign = choices.decimal or _sign(table, chosen, kinds, choices.sign, space)
    results = space is not None or choices.own is not None
    outcomes = Outcomes.read(table, chosen, own, sign, listener, results=results)
    found = objects(
        theirs,
        chosen,
        space=space,
        kinds=kinds,
        decimal=sign,
        exactly=choices.text,
        spelled=choices.spellings,
        measured=outcomes.measured,
    )
    for note in (*found.notes, *own.notes):
        listener.note(note if note.startswith(table.name) else f"{table.name}: {note}")
    made = _made(table, chosen, own, found, outcomes, sign)
    _remark(made, listener, results=bool(choices.kinds))
    return leave_out_bad(made, [*found.bad, *outcomes.bad(table, chosen)], choices.skip_bad, listener)


def _with_empty(table: Table, names: tuple[str, ...]) -> Table:
    """The table with columns that hold nothing, beside its own."""
    import polars

    gaps = [polars.Series(name, [None] * len(table), dtype=polars.String()) for name in names]
    return replace(table, frame=table.frame.with_columns(gaps)) if gaps else table


def _roles(table: Table, choices: Choices, named: tuple[str, ...]) -> Roles:
    others, decimal, block = choices.others, choices.decimal, choices.block
    found = roles(table, named, choices.value, choices.std, others=others, decimal=decimal, block=block)
    return replace(found, optimised=choices.optimised or found.values)


def _made(
    table: Table, chosen: Roles, own: RunColumns, found: Objects, outcomes: Outcomes, sign: Decimal | None
) -> Sheet:
    return Sheet(
        table,
        chosen,
        found.objects,
        outcomes.values[chosen.value].values,
        {name: each.values for name, each in outcomes.stds.items()},
        sign,
        found.kinds,
        spellings=found.spellings,
        states=outcomes.states,
        own=own,
        others={name: outcomes.values[name].values for name in chosen.others},
        given=outcomes.given,
        said=outcomes.said,
    )


def _parts(table: Table, space: Space | None) -> tuple[str, ...]:
    """The columns that are the parts of a space's records, where the table has them all."""
    parts = () if space is None else tuple(space.parts)
    return parts if all(name in table.columns for name in parts) else ()


def _remark(made: Sheet, listener: Listener, *, results: bool) -> None:
    """Say what was taken for what, and what may have been meant otherwise."""
    table, chosen = made.table, made.roles
    notes = [", ".join(chosen.chosen)] if chosen.chosen else []
    used = (*chosen.objects, *chosen.values, *chosen.stds.values(), chosen.block)
    notes += [f"column {column!r} {remark}" for column, remark in table.remarks.items() if column in used]
    computed = sorted(table.computed & {*chosen.objects})
    notes += [f"column {column!r} has formulas, with the results of when it was saved" for column in computed]
    if not results:
        notes += forgotten_factors(table, chosen, made.own, made.objects, made.values)
    for note in notes:
        listener.note(f"{table.name}: {note}")


def _sign(
    table: Table, chosen: Roles, kinds: Mapping[str, str], otherwise: Decimal | None, space: Space | None
) -> Decimal | None:
    """The decimal sign of the values, and of the objects that are numbers."""
    values = [*chosen.values, *chosen.stds.values()]
    read = [column for column in chosen.objects if kinds.get(column, "numbers") == "numbers"]
    return sign_of(table, values, [c for c in read if space is None or numeric(space, c)], otherwise=otherwise)
