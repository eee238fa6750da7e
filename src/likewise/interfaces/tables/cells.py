"""Cells: numbers as people write them, cells without content, and text that a spreadsheet must not run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars

Decimal = Literal[".", ","]

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none")
SPACES = "\u00a0\u2007\u202f\u2009 "
# Cells that begin like this are run by spreadsheets; alone, the character does nothing.
RUNS = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)
HARMLESS = re.compile(rf"[+\-]?[\d.,][\d.,'{SPACES}]*([eE][+\-]?\d+)?%?\Z")


def guarded(text: str) -> str:
    """The text as it is written, so that no spreadsheet takes it for a formula; numbers stay as they are.

    >>> guarded("=1+1"), guarded("-1.5e-3"), guarded("@home"), guarded("-")
    ("'=1+1", '-1.5e-3', "'@home", '-')
    """
    return f"'{text}" if RUNS.match(text) and not HARMLESS.match(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` wrote.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and RUNS.match(text) else text


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
        return _finite(cells.cast(polars.Float64).fill_null(float("nan")).to_list(), [])
    if cells.dtype != polars.String:
        present = cells.is_not_null().to_list()
        return Numbers([float("nan")] * len(cells), [i for i, there in enumerate(present) if there])
    text = cells.str.strip_chars()
    text = text.set(text.str.to_lowercase().is_in(MISSING), None)
    quick = text.cast(polars.Float64, strict=False)
    if decimal != "," and int(quick.null_count()) == int(text.null_count()):
        return _finite(quick.fill_null(float("nan")).to_list(), [])
    return _read(text.to_list(), decimal)


def _finite(values: list[float], bad: list[int]) -> Numbers:
    infinite = [i for i, value in enumerate(values) if value in (float("inf"), float("-inf"))]
    for i in infinite:
        values[i] = float("nan")
    return Numbers(values, sorted({*bad, *infinite}))


def _read(cells: Sequence[str | None], decimal: Decimal | None) -> Numbers:
    plain = [None if cell is None else _plain(cell) for cell in cells]
    style, unclear = (decimal, None) if decimal is not None else style_of(plain)
    parsed = [None if cell is None else number(cell, style) for cell in plain]
    bad = [i for i, (cell, value) in enumerate(zip(plain, parsed, strict=True)) if cell is not None and value is None]
    found = _finite([float("nan") if value is None else value for value in parsed], bad)
    return Numbers(found.values, found.bad, style, unclear)


def _plain(text: str) -> str:
    return unguarded(text).strip().replace("\u2212", "-")


def number(text: str, decimal: Decimal = ".") -> float | None:
    """The number that a text means when this is its decimal sign; None if it is none.

    >>> number("1'234.5"), number("1 234,5", ","), number("0x10"), number("1,23")
    (1234.5, 1234.5, None, None)
    """
    match = _PATTERNS[decimal].fullmatch(text)
    if match is None:
        return None
    whole = re.sub(r"\D", "", match["whole"])
    return float(f"{match['sign']}{whole}.{match['part'] or '0'}{match['power'] or ''}")


def _pattern(decimal: Decimal) -> re.Pattern[str]:
    grouping = f"[{'.' if decimal == ',' else ','}'’{SPACES}]"
    return re.compile(
        rf"(?P<sign>[+\-]?)(?P<whole>\d{{1,3}}(?:(?P<by>{grouping})\d{{3}}(?:(?P=by)\d{{3}})*)|\d+|(?={re.escape(decimal)}\d))"
        rf"(?:{re.escape(decimal)}(?P<part>\d*))?(?P<power>[eE][+\-]?\d+)?"
    )


_PATTERNS: dict[Decimal, re.Pattern[str]] = {".": _pattern("."), ",": _pattern(",")}


def style_of(cells: Iterable[str | None]) -> tuple[Decimal, int | None]:
    """The decimal sign of a column, and the place of a cell that leaves it unclear, if nothing else tells.

    A cell tells when it can be read with one of the signs alone: 1.234,5 and 0,25 have a decimal comma, 2.5 has not.

    >>> style_of(["1,234", "0,5"]), style_of(["1,234", "2.5"]), style_of(["1,234"])
    ((',', None), ('.', None), ('.', 0))
    """
    votes = {".": 0, ",": 0}
    unclear: int | None = None
    for i, cell in enumerate(cells):
        if cell is None or not ("," in cell or "." in cell):
            continue
        dot, comma = number(cell, "."), number(cell, ",")
        if cell.lstrip("+-").startswith("0,"):
            dot = None
        if cell.lstrip("+-").startswith("0."):
            comma = None
        if (dot is None) != (comma is None):
            votes["." if comma is None else ","] += 1
        elif dot != comma and "," in cell and unclear is None:
            unclear = i
    if votes["."] or votes[","]:
        return ("," if votes[","] > votes["."] else "."), None
    return ".", unclear
