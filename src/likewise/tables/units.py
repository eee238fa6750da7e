"""Numbers that are written with their unit, `80 °C` or `85%`: the number counts, as long as all have one unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from likewise.tables.cells import MISSING

if TYPE_CHECKING:
    import polars

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
    found = text.casefold().replace(" ", "").replace("μ", "µ")
    return _SAME.get(found, found)


def without_units(cells: polars.Series) -> tuple[polars.Series, str] | str | None:
    """The cells as bare numbers, and a remark; a remark alone where the units differ; None where there are none.

    >>> import polars
    >>> without_units(polars.Series(["80 °C", "100 °C", "20"]))[0].to_list()
    ['80', '100', '20']
    """
    import polars

    if cells.dtype != polars.String or not _seem_to_have_units(cells):
        return None
    found = cells.str.strip_chars().str.extract_groups(_WITH_UNIT)
    number, unit = found.struct.field("1").str.strip_chars(), found.struct.field("2")
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
    others = int((~has & cells.is_not_null()).sum())
    also = f", and {others} without a unit, taken in the same" if others else ""
    return bare, f"has numbers in {next(iter(kinds.values())).strip()}{also}"


def _first(units: polars.Series, unit: str) -> int:
    return int((units == unit).fill_null(value=False).arg_true()[0])


def _seem_to_have_units(cells: polars.Series) -> bool:
    """Whether half of the first cells are numbers, and some of these have a unit."""
    some = [text.strip() for text in cells.drop_nulls().head(SAMPLED).to_list() if text.strip().lower() not in MISSING]
    matches = [re.match(_WITH_UNIT, text) for text in some]
    units = sum(match is not None and is_unit(match[2]) for match in matches)
    bare = sum(re.match(r"^[+\-−]?[0-9][0-9.,]*$", text) is not None for text in some)
    return units > 0 and units + bare >= HALF * len(some)
