"""Cells: numbers as people write them, cells without content, formulas, nested data, and objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars

# Nested data, JSON above all, of a depth that any later step can walk.

# Far more than any object has, and far less than what Python's recursion bears.
DEEPEST = 200
TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"


def read_json(text: str | bytes, *, constants: bool = True) -> Any:
    """The data of a JSON text; a ValueError where it is none, or nested too deep.

    `constants` are NaN and Infinity, which Python writes and JSON does not have.

    >>> read_json("[[1]]")
    [[1]]
    """
    try:
        data = json.loads(text) if constants else strict_json(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if isinstance(data, list | dict) and _brackets(text) > DEEPEST:
        check_depth(data)
    return data


def strict_json(text: str | bytes) -> Any:
    """The data of a JSON text of any depth; a ValueError where it is none, or holds NaN or Infinity."""
    return _STRICT.decode(text) if isinstance(text, str) else json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"it contains {constant}")


# Made once: a decoder takes longer to make than a short text to read.
_STRICT = json.JSONDecoder(parse_constant=_refuse)


def _brackets(text: str | bytes) -> int:
    """No data is nested deeper than this; counting is quicker than walking."""
    return text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")


def check_depth(data: Any) -> None:
    """A ValueError where lists and mappings are nested deeper than DEEPEST; walked level by level, at any depth."""
    level = [data]
    for _ in range(DEEPEST):
        level = [part for outer in level for part in _inside(outer)]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _inside(data: Any) -> list[Any]:
    """What a list or a mapping holds that may hold something itself."""
    held = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return [item for item in held if isinstance(item, list | Mapping)]


# Anything in a few words: what is shown of an object that may be long.

# Two lines of a terminal.
LONGEST = 160


def brief(x: Any, most: int = LONGEST) -> str:
    """The representation of an object in one line, its middle left out where it is longer than `most` characters.

    >>> brief("CCO"), brief("C" * 500, 12)
    ("'CCO'", "'CCCCC…CCCC'")
    """
    return shorten(repr(x) if isinstance(x, str) else " ".join(repr(x).split()), most)


def shorten(text: str, most: int = LONGEST) -> str:
    """A text with its middle left out where it is longer than `most` characters."""
    first = most // 2
    return text if len(text) <= most else f"{text[:first]}…{text[len(text) - (most - first - 1) :]}"


# Objects as people hold them: a list, an array, a column, or a data frame of pandas or polars, whose rows are records.
#
# Nothing is imported for it: a frame is known by what it can do.


def is_frame(data: Any) -> bool:
    """Whether this is a data frame of pandas or polars: named columns, and rows and columns in its shape.

    >>> import polars
    >>> is_frame(polars.DataFrame({"T": [20, 80]})), is_frame([[20], [80]])
    (True, False)
    """
    return hasattr(data, "columns") and len(getattr(data, "shape", ())) == 2


def as_objects(objects: Iterable[Any]) -> list[Any]:
    """The objects of a list, an array, a series or a frame; of a frame with several columns, one record a row.

    >>> import polars
    >>> as_objects(polars.DataFrame({"T": [20, 80], "base": ["KOAc", "KOPiv"]}))
    [{'T': 20, 'base': 'KOAc'}, {'T': 80, 'base': 'KOPiv'}]
    >>> as_objects(polars.Series("smiles", ["CCO", "CCN"]))
    ['CCO', 'CCN']
    """
    if is_frame(objects):
        columns = [str(name) for name in objects.columns]  # type: ignore[attr-defined]
        cells = [_cells(objects[name]) for name in objects.columns]  # type: ignore[index, attr-defined]
        if len(columns) == 1:
            return cells[0]
        return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]
    if getattr(objects, "ndim", 1) == 2 or not (hasattr(objects, "to_list") or hasattr(objects, "tolist")):
        return list(objects)
    return _cells(objects)


def _cells(column: Any) -> list[Any]:
    """The cells of a series or of an array of one dimension as Python's own values."""
    read = getattr(column, "to_list", None) or column.tolist
    cells: Sequence[Any] = read()
    return list(cells)


# Cells that a spreadsheet would run as formulas: an apostrophe before them on writing, taken away on reading.

# Cells that begin like this are run by spreadsheets; alone, the character does nothing.
RUNS = re.compile(r"'*[=+\-@\t\r\n].", re.DOTALL)
GUARDED = r"(?s)^'('*[=+\-@\t\r\n].)"
# Thousands may be set apart by these.
SPACES = "\u00a0\u2007\u202f\u2009 "
HARMLESS = re.compile(rf"[+\-]?[\d.,][\d.,'{SPACES}]*([eE][+\-]?\d+)?%?\Z")


def guard(text: str) -> str:
    """The text as it is written, so that no spreadsheet takes it for a formula; numbers stay as they are.

    >>> guard("=1+1"), guard("-1.5e-3"), guard("@home"), guard("-")
    ("'=1+1", '-1.5e-3', "'@home", '-')
    """
    return f"'{text}" if RUNS.match(text) and not HARMLESS.match(text) else text


def unguard(text: str) -> str:
    """The text that `guard` wrote.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and RUNS.match(text) else text


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
    """Returns numbers; cells that are neither empty nor a finite number are among the bad ones."""
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
    share = max(int(fit.sum()) for fit in fits.values()) / max(int((text != "").sum()), 1)
    signs: dict[Decimal, polars.Series] = {".": dot & ~comma, ",": comma & ~dot}
    if any(fit.any() for fit in signs.values()):
        decimal: Decimal = "," if int(signs[","].sum()) > int(signs["."].sum()) else "."
        return Style(decimal, signs[decimal].arg_true()[0], share)
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
    value = number(text, first)
    return number(text, "." if first == "," else ",") if value is None else value


# Cells and numbers as text.


def cell_text(cell: Any) -> str:
    """A cell of any type as text.

    >>> import datetime
    >>> cell_text(12345678901234567), cell_text([0.5, 1]), cell_text(datetime.date(2026, 1, 31)), cell_text(True)
    ('12345678901234567', '[0.5, 1]', '2026-01-31', 'true')
    """
    if isinstance(cell, bool | list | dict):
        return json.dumps(cell, default=str)
    return number_text(cell) if isinstance(cell, float) else str(cell)


def number_text(value: float, decimal: Decimal = ".", digits: int = 17) -> str:
    """A number as text, with as many digits as it takes, or as are asked for.

    >>> number_text(0.1), number_text(1234.5678, ",", 6), number_text(3.0)
    ('0.1', '1234,57', '3')
    """
    if isinstance(value, int):
        return str(value)
    text = repr(float(value)) if digits >= 17 else f"{value:.{digits}g}"
    return text.removesuffix(".0").replace(".", decimal)
