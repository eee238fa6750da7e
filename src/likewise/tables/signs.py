"""The decimal sign of a table: one for all its numbers, told by the columns that leave no doubt."""

from __future__ import annotations

from collections.abc import Collection

from likewise.errors import TableError
from likewise.tables.cells import Decimal, could_mean, style_of
from likewise.tables.reading import Table

# A column is one of numbers when more than half of its cells are; in a column of names, hardly any is.
MOST = 0.5
CALLED: dict[Decimal, str] = {".": "decimal point", ",": "decimal comma"}


def sign_of(
    table: Table, values: Collection[str], objects: Collection[str] = (), *, otherwise: Decimal | None = None
) -> Decimal | None:
    """The decimal sign of these columns; those of objects count where they hold numbers.

    `otherwise` is the sign where no cell tells: that of the table which these are results of, unless semicolons between
    the cells say that they come from a program with decimal commas. Without it a cell that could be read in two ways is
    an error, and None says that there is none.
    """
    import polars

    told: dict[Decimal, tuple[str, int]] = {}
    unclear: tuple[str, int] | None = None
    for name in (*values, *objects):
        if table.column(name).dtype != polars.String:
            continue
        style = style_of(table.column(name))
        if style.place is None or (name in objects and style.share <= MOST):
            continue
        if style.decimal is None:
            unclear = unclear or (name, style.place)
        else:
            told.setdefault(style.decimal, (name, style.place))
    if len(told) > 1:
        raise TableError(_contradiction(table, told), settings={"text": "COLUMN"})
    if unclear is not None and not told and otherwise is None:
        name, place = unclear
        raise TableError(
            f"{table.where(place, name)}: {could_mean(table.column(name)[place].strip())}, and no other cell tells.",
            settings={"decimal": "", "text": name} if name in objects else {"decimal": ""},
        )
    if unclear is not None and not told and table.dialect.delimiter == ";":
        return ","
    return next(iter(told), otherwise)


def _contradiction(table: Table, told: dict[Decimal, tuple[str, int]]) -> str:
    (sign, (column, place)), (other, (another, further)) = told.items()
    return (
        f"{table.where(place, column)}: {table.column(column)[place]!r} has a {CALLED[sign]}, but "
        f"{table.column(another)[further]!r} in row {table.number(further)}, column {another!r}, a {CALLED[other]}; "
        "write all numbers of a table with one sign."
    )
