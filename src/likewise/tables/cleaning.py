"""What the cells of a table mean where people write more than a program needs: decimals, units, dates, averages."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from likewise.errors import TableError
from likewise.tables.cells import MISSING, Decimal, could_mean, empty, numbers, one_number, style_of
from likewise.tables.reading import Table

if TYPE_CHECKING:
    import polars

# The decimal sign of a table: one for all its numbers, told by the columns that leave no doubt.

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

    places: dict[Decimal, tuple[str, int]] = {}
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
            places.setdefault(style.decimal, (name, style.place))
    if len(places) > 1:
        raise TableError(_contradiction(table, places), settings={"text": "COLUMN"})
    if unclear is not None and not places and otherwise is None:
        name, place = unclear
        raise TableError(
            f"{table.where(place, name)}: {could_mean(table.column(name)[place].strip())}, and no other cell tells.",
            settings={"decimal": "", "text": name} if name in objects else {"decimal": ""},
        )
    if unclear is not None and not places and table.dialect.delimiter == ";":
        return ","
    return next(iter(places), otherwise)


def _contradiction(table: Table, places: dict[Decimal, tuple[str, int]]) -> str:
    (sign, (column, place)), (other, (another, further)) = places.items()
    return (
        f"{table.where(place, column)}: {table.column(column)[place]!r} has a {CALLED[sign]}, but "
        f"{table.column(another)[further]!r} in row {table.number(further)}, column {another!r}, a {CALLED[other]}; "
        "write all numbers of a table with one sign."
    )


# Numbers that are written with their unit, `80 °C` or `85%`: the number counts, as long as all have one unit.

_SIMPLE = (
    "%|‰|°|°C|ºC|oC|degC|deg C|C|°F|F|K|h|hr|hrs|hour|hours|min|mins|minutes|s|sec|ms|d|day|days|g|mg|kg|µg|μg|ug|ng|t|"
    "L|mL|µL|μL|uL|dL|m|cm|mm|µm|μm|um|nm|Å|mol|mmol|µmol|μmol|umol|nmol|mol%|mol %|wt%|wt %|vol%|vol %|w%|M|mM|µM|μM|"
    "uM|nM|N|eq|eq.|equiv|equiv.|bar|mbar|atm|psi|Pa|kPa|MPa|torr|rpm|V|mV|A|mA|W|kW|J|kJ|cal|kcal|eV|meV|Hz|kHz|MHz|"
    "ppm|ppb|a.u.|pH|€|$|EUR|USD|ee|% ee|-fold|x"
)
_KNOWN = {unit.casefold().replace(" ", "") for unit in _SIMPLE.split("|")}
# Other ways to write a unit.
_SAME = {"ºc": "°c", "oc": "°c", "degc": "°c", "c": "°c", "hr": "h", "hrs": "h", "hour": "h", "hours": "h"}
_SAME |= {"mins": "min", "minutes": "min", "sec": "s", "eq": "equiv", "eq.": "equiv", "equiv.": "equiv"}
_BRACKETS = re.compile(r"^[(\[{]\s*(.*?)\s*[)\]}]$")
_PARTS = re.compile(r"[/·*]|\^?[-−]?[0-9⁻¹²³]+")
# A number in any of the usual forms, and what follows it.
_WITH_UNIT = r"^([+\-−]?[0-9][0-9.,'’  ]*(?:[eE][+\-]?[0-9]+)?)\s*([^0-9.,'’\s].{0,11})$"
SAMPLED = 50
HALF = 0.5


def is_unit(text: str) -> bool:
    """Whether a text is a unit, alone or in brackets, or made of several.

    >>> [is_unit(text) for text in ("°C", "[mol %]", "mg/mL", "XPhos", "")]
    [True, True, True, False, False]
    """
    plain = _BRACKETS.sub(r"\1", text.strip()).casefold().replace(" ", "")
    parts = [part for part in _PARTS.split(plain) if part]
    return bool(parts) and (plain in _KNOWN or all(part in _KNOWN for part in parts))


def plain_unit(text: str) -> str:
    """One spelling of a unit that has several.

    >>> plain_unit("ºC") == plain_unit(" deg C")
    True
    """
    plain = text.casefold().replace(" ", "").replace("μ", "µ")
    return _SAME.get(plain, plain)


def without_units(cells: polars.Series) -> tuple[polars.Series, str] | str | None:
    """The cells as bare numbers, and a remark; a remark alone where the units differ; None where there are none.

    >>> import polars
    >>> without_units(polars.Series(["80 °C", "100 °C", "20"]))[0].to_list()
    ['80', '100', '20']
    """
    import polars

    if cells.dtype != polars.String or not _seem_to_have_units(cells):
        return None
    parts = cells.str.strip_chars().str.extract_groups(_WITH_UNIT)
    number, unit = parts.struct.field("1").str.strip_chars(), parts.struct.field("2")
    written = [text for text in unit.drop_nulls().unique(maintain_order=True).to_list() if is_unit(text)]
    kinds: dict[str, str] = {}
    for text in written:
        kinds.setdefault(plain_unit(text), text)
    if not kinds:
        return None
    if len(kinds) > 1:
        listed = " and ".join(f"{text.strip()!r} (row {{{_first(unit, text)}}})" for text in list(kinds.values())[:2])
        return f"has numbers with the units {listed}; write all of them in one unit"
    has = unit.is_in(written).fill_null(value=False)
    bare = cells.zip_with(~has, number)
    unitless = int((~has & cells.is_not_null()).sum())
    also = f", and {unitless} without a unit, taken in the same" if unitless else ""
    return bare, f"has numbers in {next(iter(kinds.values())).strip()}{also}"


def _first(units: polars.Series, unit: str) -> int:
    return int((units == unit).fill_null(value=False).arg_true()[0])


def _seem_to_have_units(cells: polars.Series) -> bool:
    """Whether half of the first cells are numbers, and some of these have a unit."""
    sample = [
        text.strip() for text in cells.drop_nulls().head(SAMPLED).to_list() if text.strip().lower() not in MISSING
    ]
    matches = [re.match(_WITH_UNIT, text) for text in sample]
    units = sum(match is not None and is_unit(match[2]) for match in matches)
    bare = sum(re.match(r"^[+\-−]?[0-9][0-9.,]*$", text) is not None for text in sample)
    return units > 0 and units + bare >= HALF * len(sample)


# The table itself stays as it is: it is what results are written into. `Table.column` gives the cells as understood.

_WORDS = (
    "average|mean|avg|avg.|median|total|totals|sum|subtotal|grand total|std|sd|stdev|std dev|standard deviation|"
    "mittelwert|durchschnitt|summe|gesamt|standardabweichung|moyenne|somme|écart-type|media|promedio"
)
SUMMARIES = [
    f(word) + end
    for word in _WORDS.split("|")
    for f in (str, str.capitalize, str.upper, str.title)
    for end in ("", ":")
]
# Where more rows than this say so, the word is a name of something.
FEW = 0.2
LOOKED_AT = 200


def understand(table: Table) -> Table:
    """The table with rows set aside that are no experiments, and with numbers freed from their units."""
    aside = _rows_aside(table)
    meant: dict[str, polars.Series] = {}
    remarks: dict[str, str] = {}
    for column in table.frame:
        cells = _without_rows(column, aside)
        parted = without_units(cells)
        if isinstance(parted, tuple):
            cells, remarks[column.name] = parted
        elif parted is not None:
            remarks[column.name] = _with_rows(table, parted)
        if cells is not column:
            meant[column.name] = cells
    notes = [f"{table.name}: row {table.number(place)} is left out, as it {why}" for place, why in aside.items()]
    return replace(table, aside=aside, meant=meant, remarks=remarks, notes=(*table.notes, *notes))


def _with_rows(table: Table, remark: str) -> str:
    """A remark with numbers of rows in place of places."""
    return re.sub(r"\{(\d+)\}", lambda match: str(table.number(int(match[1]))), remark)


def _without_rows(column: polars.Series, aside: dict[int, str]) -> polars.Series:
    import polars

    if not aside:
        return column
    gone = polars.Series([place in aside for place in range(len(column))], dtype=polars.Boolean)
    return (
        column.set(gone, None)
        if column.dtype == polars.String
        else column.zip_with(~gone, polars.Series([None] * len(column), dtype=column.dtype))
    )


def _rows_aside(table: Table) -> dict[int, str]:
    """The rows that are no experiments, by their places, and what they are."""
    remarks = {}
    if len(table) > 1 and (units := _units_row(table)):
        remarks[0] = f"holds units ({', '.join(units)})"
    return {**remarks, **_summaries(table)}


def _units_row(table: Table) -> list[str]:
    """The units in the first row, if it holds units where the other rows hold numbers; else none."""
    import polars

    first = table.frame.row(0)
    units: list[str] = []
    for column, cell in zip(table.frame, first, strict=True):
        if column.dtype != polars.String or cell is None or not cell.strip():
            if column.dtype.is_numeric() and cell is not None:
                return []
            continue
        rest = numbers(column[1 : LOOKED_AT + 1])
        if not rest.present or rest.bad:
            continue
        if not is_unit(cell):
            return []
        units.append(cell.strip())
    return units


def _summaries(table: Table) -> dict[int, str]:
    """Rows that sum others up: they say so, hold a number, and leave cells empty that others fill, or stand last."""
    import polars

    said: dict[int, str] = {}
    for column in table.frame:
        if column.dtype == polars.String:
            places = column.is_in(SUMMARIES).fill_null(value=False).arg_true().to_list()
            if len(places) <= max(1, FEW * len(column)):
                said |= {place: f"says {column[place]!r} in column {column.name!r}" for place in places}
    if not said or len(said) == len(table):
        return {}
    usual = [column for column in table.frame if column.null_count() <= len(said)]
    end = _last_experiment(table, said)
    return {
        place: said[place]
        for place in sorted(said)
        if (place > end or any(empty(column[place]) for column in usual))
        and any(_is_number(column[place]) for column in table.frame)
    }


def _last_experiment(table: Table, said: dict[int, str]) -> int:
    """The last row with content that does not say that it sums up others."""
    filled = (k for k in range(len(table) - 1, -1, -1) if not all(map(empty, table.frame.row(k))))
    return next((k for k in filled if k not in said), -1)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return one_number(cell.strip()) is not None
    return isinstance(cell, int | float)


# When rows were made: numbers by size, dates by the calendar, other texts as people count, `round 9` before `10`.

# With the day first before those with the month first: which it is, the other cells tell, or the order of the rows.
FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y"),
    *("%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")


def order_keys(cells: Sequence[Any]) -> list[Any]:
    """What to sort rows by; gaps come first.

    >>> cells = ["10", "9", None]
    >>> sorted(cells, key=dict(zip(cells, order_keys(cells))).get)
    [None, '9', '10']
    >>> cells = ["2.3.2026", "11.2.2026"]
    >>> sorted(cells, key=dict(zip(cells, order_keys(cells))).get)
    ['11.2.2026', '2.3.2026']
    """
    texts = ["" if cell is None else _text(cell) for cell in cells]
    present = [text for text in texts if text]
    for read in (_number, *_dates(present)):
        values = {text: read(text) for text in dict.fromkeys(present)}
        if all(value is not None for value in values.values()):
            return [values.get(text, -math.inf) for text in texts]
    return [_natural(text) for text in texts]


def _text(cell: Any) -> str:
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell).strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _dates(texts: Sequence[str]) -> list[Any]:
    """Readers of the dates that all of these texts are, the one first by which they are in order as they stand."""
    if not texts or not any(letter.isdigit() for letter in texts[0]):
        return []
    readers = []
    for form in (f"{day}{clock}" for day in FORMATS for clock in TIMES):
        read = _reader(form)
        if all(read(text) is not None for text in texts):
            readers.append(read)
    return sorted(readers, key=lambda read: any(read(a) > read(b) for a, b in pairwise(texts)))


def _reader(form: str) -> Any:
    def read(text: str) -> float | None:
        try:
            return (datetime.strptime(text, form) - datetime(1, 1, 1)).total_seconds()
        except ValueError:
            return None

    return read


def _natural(text: str) -> list[tuple[int, float, str]]:
    """The parts of a text, numbers by size."""
    parts = re.split(r"(\d+)", text.casefold())
    return [(0, float(part), "") if part.isdigit() else (1, 0.0, part) for part in parts if part]
