"""Cells: numbers as people write them, and cells without content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from likewise.tables.formulas import SPACES

if TYPE_CHECKING:
    import polars

Decimal = Literal[".", ","]

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none")
# What is written like this is a code, not a number: 007 is not 7.
CODE = r"^[+-]?0\d+$"
# As many digits are always kept when a text becomes a number.
EXACT = 15


def empty(cell: Any) -> bool:
    """Whether a cell of any type holds nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def missing(text: str | None) -> bool:
    """Whether a cell stands for nothing: empty, NA, NaN, null."""
    return text is None or text.strip().lower() in MISSING


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers: NaN where a cell is missing, the places of cells that are no numbers, and how it is written.

    `unclear` is a cell that could be read in two ways, such as 1,234 where nothing tells what the comma means.
    """

    values: list[float]
    bad: list[int]
    decimal: Decimal = "."
    unclear: int | None = None

    @property
    def present(self) -> int:
        """How many cells hold a number."""
        return sum(value == value for value in self.values)


def numbers(cells: polars.Series, decimal: Decimal | None = None) -> Numbers:
    """The numbers of a column of any type; decimal commas and thousands separators are recognised by the whole column.

    >>> import polars
    >>> numbers(polars.Series(["1.234,5", "2,25", "n/a"])).values
    [1234.5, 2.25, nan]
    """
    import polars

    if cells.dtype.is_numeric():
        return _numbers(cells.cast(polars.Float64), cells.is_not_null())
    if cells.dtype != polars.String:
        return _numbers(polars.Series([None] * len(cells), dtype=polars.Float64), cells.is_not_null())
    text = cells.str.strip_chars()
    text = text.set(text.str.to_lowercase().is_in(MISSING), None)
    quick = text.cast(polars.Float64, strict=False)
    if decimal != "," and quick.null_count() == text.null_count():
        return _numbers(quick, text.is_not_null())
    text = text.str.replace("^\u2212", "-")
    sign, unclear = decimal, None
    if sign is None:
        style = style_of(text)
        sign, unclear = style.decimal or ".", style.unclear
    fits = text.str.contains(_PATTERNS[sign])
    plain = text.str.replace_all(f"[^0-9eE+{sign}-]", "").str.replace(sign, ".", literal=True)
    read = plain.set(~fits.fill_null(value=False), None).cast(polars.Float64, strict=False)
    return _numbers(read, text.is_not_null(), sign, unclear)


def _numbers(
    values: polars.Series, present: polars.Series, decimal: Decimal = ".", unclear: int | None = None
) -> Numbers:
    """Numbers, with what is present but no finite number among the bad ones."""
    finite = values.is_finite().fill_null(value=False)
    # NaN in a typed column is a gap, as it is in text.
    bad = (present & ~finite & ~values.is_nan().fill_null(value=False)).arg_true().to_list()
    return Numbers(values.set(~finite, float("nan")).fill_null(float("nan")).to_list(), bad, decimal, unclear)


def number(text: str, decimal: Decimal = ".") -> float | None:
    """The number that a text means when this is its decimal sign; None if it is none.

    >>> number("1'234.5"), number("1 234,5", ","), number("0x10"), number("1,23")
    (1234.5, 1234.5, None, None)
    """
    plain = _plain(text, decimal)
    return None if plain is None else float(plain)


def _plain(text: str, decimal: Decimal) -> str | None:
    """The number as Python writes it: no separators, a decimal point."""
    text = text.replace("\u2212", "-")
    if re.search(_PATTERNS[decimal], text) is None:
        return None
    return re.sub(f"[^0-9eE+{decimal}-]", "", text).replace(decimal, ".")


def too_long(texts: Iterable[str], decimal: Decimal = ".") -> str | None:
    """A text that is another number, or the same as a different text, once it is rounded to what a number can hold.

    >>> too_long(["12345678901234567"]), too_long(["0.30000000000000004", "12345678901234"])
    ('12345678901234567', None)
    """
    seen: dict[float, Fraction] = {}
    for text in texts:
        if len(text) <= EXACT or (plain := _plain(text, decimal)) is None or "e" in plain.lower():
            continue
        value, exact = float(plain), Fraction(plain)
        if ("." not in plain and exact != value) or seen.setdefault(value, exact) != exact:
            return text
    return None


def _pattern(decimal: Decimal) -> str:
    """What a number looks like; groups of three digits are separated by one and the same sign."""
    signs = [".", "'", "’", *SPACES] if decimal == "," else [",", "'", "’", *SPACES]
    grouped = "|".join(rf"[0-9]{{1,3}}(?:{re.escape(sign)}[0-9]{{3}})+" for sign in signs)
    point = re.escape(decimal)
    return rf"^[+\-]?(?:(?:{grouped}|[0-9]+)(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+\-]?[0-9]+)?$"


_PATTERNS: dict[Decimal, str] = {".": _pattern("."), ",": _pattern(",")}


@dataclass(frozen=True)
class Style:
    """What the cells of a column say about their decimal sign.

    `decimal` is None where no cell tells; `place` is the first that tells, or else one that could be read in two ways.
    `share` is that of numbers among the cells, whichever sign they have.
    """

    decimal: Decimal | None
    place: int | None
    share: float

    @property
    def unclear(self) -> int | None:
        """The place of a cell that could be read in two ways, where no other tells."""
        return self.place if self.decimal is None else None


def style_of(cells: polars.Series) -> Style:
    """The decimal sign of a column of text.

    A cell tells when it can be read with one of the signs alone: 1.234,5 and 0,25 have a decimal comma, 2.5 has not.

    >>> import polars
    >>> [style_of(polars.Series(cells)).decimal for cells in (["1,234", "0,5"], ["1,234", "2.5"], ["1,234"])]
    [',', '.', None]
    """
    text = cells.fill_null("").str.strip_chars().str.replace("^\u2212", "-")
    fits = {sign: text.str.contains(pattern) for sign, pattern in _PATTERNS.items()}
    signed = text.str.contains("[.,]")
    dot = signed & fits["."] & ~text.str.contains(r"^[+\-]?0,")
    comma = signed & fits[","] & ~text.str.contains(r"^[+\-]?0\.")
    share = max(int(each.sum()) for each in fits.values()) / max(int((text != "").sum()), 1)
    told: dict[Decimal, polars.Series] = {".": dot & ~comma, ",": comma & ~dot}
    if any(each.any() for each in told.values()):
        decimal: Decimal = "," if int(told[","].sum()) > int(told["."].sum()) else "."
        return Style(decimal, told[decimal].arg_true()[0], share)
    unclear = (dot & comma & text.str.contains(",", literal=True)).arg_true()
    return Style(None, unclear[0] if len(unclear) else None, share)


def could_mean(cell: str) -> str:
    """The two numbers that a cell could stand for.

    >>> could_mean("1,250")
    "'1,250' could mean 1250 or 1.250"
    """
    return f"{cell!r} could mean {cell.replace(',', '')} or {cell.replace(',', '.')}"


def one_number(text: str, decimal: Decimal | None = None) -> float | None:
    """The number that a single text means: with this decimal sign if it can be, else with the other.

    >>> one_number("1,5"), one_number("1.5"), one_number("1,250", ","), one_number("abc")
    (1.5, 1.5, 1.25, None)
    """
    first: Decimal = decimal or ("," if text.lstrip("+-").startswith("0,") else ".")
    found = number(text, first)
    return number(text, "." if first == "," else ",") if found is None else found
