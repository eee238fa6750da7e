"""Which columns hold the objects and the values, when nobody has said: only where it is unmistakable.

Names decide first (a column called `smiles` or `yield`), then content: the one column of numbers with gaps is the
value, the one column that is left is the object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from likewise.errors import UsageError
from likewise.tables.cells import Decimal, numbers
from likewise.tables.reading import Table

# What `suggest` adds to the columns of its input; never an object or a value.
PREFIX = "likewise_"
VALUES = (
    "value",
    "y",
    "yield",
    "score",
    "target",
    "objective",
    "activity",
    "response",
    "result",
    "measured",
    "fitness",
)
OBJECTS = ("object", "smiles", "molecule", "compound", "sequence", "seq", "peptide", "dna", "rna", "protein", "formula")
STDS = ("std", "sd", "stdev")
_COUNTERS = (
    "id|index|entry|run|run no|run number|no|nr|number|#|exp|experiment|trial|row|lfd nr|position|sample|sample id"
)
COUNTERS = tuple(_COUNTERS.split("|"))
ASIDE = (*STDS, *COUNTERS, "name", "error", "uncertainty", "date", "comment", "comments")
ASIDE_TOO = ("note", "notes", "remark", "remarks", "batch", "round", "plate", "well", "status", "operator", "")


@dataclass(frozen=True)
class Roles:
    """The columns of the objects (one, or the fields of a record), of the values and of their standard deviations."""

    objects: tuple[str, ...]
    value: str
    # By the column of values, that of their standard deviations.
    stds: Mapping[str, str] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    # Further columns of values, where there are several outcomes; `value` is the first of all.
    others: tuple[str, ...] = ()
    # What values were measured together in: a day, a plate.
    block: str | None = None
    # Those of the values that are optimised, where there are several; the others have to keep to limits.
    optimised: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """All columns of values."""
        return (self.value, *self.others)

    @property
    def taken(self) -> set[str | None]:
        """The columns that mean something: objects, values, standard deviations and blocks."""
        return {*self.objects, *self.values, *self.stds.values(), self.block}

    @property
    def record(self) -> bool:
        """Whether an object is a record of several columns."""
        return len(self.objects) > 1


def roles(
    table: Table,
    objects: Sequence[str] = (),
    value: str | None = None,
    std: Sequence[str] = (),
    *,
    others: Sequence[str] = (),
    decimal: Decimal | None = None,
    block: str | None = None,
) -> Roles:
    """The columns as given, and those not given where they are unmistakable; `chosen` says what was taken.

    `std` are columns of standard deviations: `sd` of the one column of values, `yield=sd` of one of several.
    """
    named = list(dict.fromkeys(objects))
    for name in (*named, *(c for c in (value, *others, block) if c is not None)):
        table.column(name)
    spreads = [spread_of(text, [name for name in (value, *others) if name is not None]) for text in std]
    aside = {column for _, column in spreads}
    for name in aside:
        table.column(name)
    _check_distinct(
        table, {"objects": named, "values": [value, *others], "standard deviations": aside, "blocks": [block]}
    )
    chosen = []
    if value is None:
        value = _value(table, {*named, *others, *aside, block}, decimal)
        chosen.append(f"values from column {value!r}")
    if not named:
        named = [_object(table, {value, *others, *aside, block})]
        chosen.insert(0, f"objects from column {named[0]!r}")
    return Roles(tuple(named), value, _stds(spreads, value), tuple(chosen), tuple(others), block)


def spread_of(text: str, values: Sequence[str]) -> tuple[str | None, str]:
    """The column of values that is named, if one is, and that of its standard deviations.

    >>> spread_of("yield=sd", ["yield", "cost"]), spread_of("sd", ["yield"])
    (('yield', 'sd'), (None, 'sd'))
    """
    owners = [name for name in values if text.startswith(f"{name}=")]
    owner = max(owners, key=len, default=None)
    if owner is None and len(values) > 1:
        raise UsageError(
            f"Whose standard deviations are {text!r}? There are several columns of values: "
            f"{', '.join(map(repr, values))}.",
            settings={"std": f"{values[0]}={text.rpartition('=')[2]}"},
        )
    return owner, text if owner is None else text[len(owner) + 1 :].strip()


def _stds(spreads: Sequence[tuple[str | None, str]], value: str) -> dict[str, str]:
    """The columns of standard deviations by those of the values, each once; where none is named, it is the one."""
    by_value: dict[str, str] = {}
    for owner, column in spreads:
        of = owner or value
        if by_value.setdefault(of, column) != column:
            raise UsageError(
                f"Are the standard deviations of {of!r} in column {by_value[of]!r} or in {column!r}? Name one of them."
            )
    return by_value


def _check_distinct(table: Table, columns: Mapping[str, Iterable[str | None]]) -> None:
    named = [(name, what) for what, names in columns.items() for name in names]
    first: dict[str, str] = {}
    for name, what in named:
        if name is not None and first.setdefault(name, what) != what:
            raise UsageError(
                f"Column {name!r} of {table.name} cannot hold both {first[name]} and {what}; name another."
            )


def _value(table: Table, taken: set[str | None], decimal: Decimal | None) -> str:
    free = [name for name in _own(table) if name not in taken]
    named = [name for name in free if _plain(name) in VALUES]
    if len(named) == 1:
        return named[0]
    numeric = [name for name in named or free if not aside(name) and _numeric(table, name, decimal)]
    gaps = [name for name in numeric if numbers(table.column(name), decimal).present < len(table)]
    # Before anything is measured, the values are the one column that is empty.
    empty = [] if numeric else [name for name in free if not aside(name) and _empty(table, name)]
    for candidates in (gaps, numeric, empty):
        if len(candidates) == 1:
            return candidates[0]
    which = f"columns {', '.join(map(repr, numeric))} all hold numbers" if numeric else "no column holds numbers"
    columns = ", ".join(map(repr, table.columns))
    raise UsageError(
        f"Which column of {table.name} holds the values? {which[0].upper()}{which[1:]}. The columns are {columns}.",
        settings={"value": ""},
    )


def _empty(table: Table, name: str) -> bool:
    cells = numbers(table.column(name))
    return not cells.present and not cells.bad


def _numeric(table: Table, name: str, decimal: Decimal | None) -> bool:
    """Whether most cells are numbers: one text among them is a mistake, and no reason to take another column."""
    cells = numbers(table.column(name), decimal)
    return cells.present > len(cells.bad)


def _object(table: Table, taken: set[str | None]) -> str:
    free = [name for name in _own(table) if name not in taken]
    named = [name for name in free if _plain(name) in OBJECTS]
    likely = [name for name in free if not aside(name)]
    free = [name for name in free if not counter(name)]
    for candidates in (named, free, likely):
        if len(candidates) == 1:
            return candidates[0]
    if not free:
        raise UsageError(f"{table.name} has no column for the objects beside {taken - {None}}; add one.")
    names = ", ".join(map(repr, free))
    raise UsageError(f"Which columns of {table.name} hold the objects? It could be {names}.", settings={"objects": ""})


def _own(table: Table) -> list[str]:
    return [name for name in table.columns if not name.startswith(PREFIX)]


def _plain(name: str) -> str:
    """The name without its unit: `Yield (%)` is `yield`, and `No.` is `no`."""
    return re.sub(r"[\s_]*[(\[{%].*", "", name.strip().lower()).rstrip(".:")


def aside(name: str) -> bool:
    """Whether a column by its name says something about a row rather than about its object."""
    plain = _plain(name)
    return plain in ASIDE or plain in ASIDE_TOO or plain.endswith(("_id", "_std", " id"))


def counter(name: str) -> bool:
    """Whether a column by its name counts the rows.

    >>> counter("Entry"), counter("No."), counter("ligand")
    (True, True, False)
    """
    return _plain(name) in COUNTERS


def deviations(name: str) -> bool:
    """Whether a column by its name holds standard deviations."""
    return _plain(name) in STDS or _plain(name).endswith("_std")
