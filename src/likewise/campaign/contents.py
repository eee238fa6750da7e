"""What a column of objects holds: text, numbers or JSON; most cells decide, and the others are mistakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

from likewise.tables.cells import CODE, Decimal, numbers, one_number, style_of, too_long
from likewise.tables.formatting import cell_text
from likewise.tables.nesting import read_json
from likewise.tables.signs import MOST

# Comparing texts takes time and memory in their length: a dozen this long take seconds, and longer ones are mistakes.
LONGEST_TEXT = 100_000
OR_AS_TEXT = "or compare the column as text"
AS_TEXT = f"correct it, {OR_AS_TEXT}"
# A column is one of JSON when almost all cells are; the others are mistakes.
ALMOST_ALL = 0.9
ROOM = ("rt", "r.t.", "r.t", "room temp", "room temp.", "room temperature", "ambient", "raumtemperatur")
NOTHING = "it stands for nothing, and the other cells of the column are numbers; write 0 where nothing was added"


@dataclass(frozen=True, eq=False)
class Content:
    """A column's kind, a value for each row (None where it is missing), and why cells do not fit, by their places."""

    kind: str
    values: list[Any]
    wrong: dict[int, str] = field(default_factory=dict)
    note: str = ""


def content(cells: polars.Series, kind: str | None, decimal: Decimal) -> Content:
    """What a column holds; its kind is found out unless it is known."""
    if cells.dtype != polars.String:
        return _of_typed(cells, kind)
    # "None" and "NA" are gaps among numbers, but fine names for what a recipe leaves out.
    texts = [cell.strip() or None if cell is not None else None for cell in cells.to_list()]
    present = [text for text in texts if text is not None]
    kind, note = (kind, "") if kind is not None else _kind(cells, present, decimal)
    if kind == "JSON":
        return _json(texts)
    if kind == "numbers":
        return _numbers(cells, texts, decimal)
    return Content("text", list(texts), _too_long_texts(texts), note)


def _too_long_texts(texts: Sequence[str | None]) -> dict[int, str]:
    return {
        place: f"it has {len(text)} characters, and at most {LONGEST_TEXT} can be compared; shorten it"
        for place, text in enumerate(texts)
        if text is not None and len(text) > LONGEST_TEXT
    }


def _kind(cells: polars.Series, present: Sequence[str], decimal: Decimal) -> tuple[str, str]:
    """The kind of a column, and why numbers are taken for text."""
    if not present:
        return "text", ""
    if present[0][0] in "[{" and len(_json(present).wrong) <= (1 - ALMOST_ALL) * len(present):
        return "JSON", ""
    if style_of(cells).share <= MOST:
        return "text", ""
    code = next((text for text in present if _code(text)), None)
    if code is not None:
        return "text", f"is compared as text: {code!r} begins with 0, like a code"
    long = too_long(present, decimal)
    return ("numbers", "") if long is None else ("text", _too_long(long))


def _code(text: str) -> bool:
    return re.match(CODE, text) is not None


def _too_long(cell: Any) -> str:
    return f"is compared as text: {cell} has more digits than a number keeps"


def _numbers(cells: polars.Series, texts: Sequence[str | None], decimal: Decimal) -> Content:
    read = numbers(cells, decimal)
    wrong: dict[int, str] = {}
    for place in read.bad:
        sign = "" if one_number(texts[place] or "") is None else f" with decimal sign {decimal!r}"
        room = " (20 or 25 °C for room temperature)" if (texts[place] or "").lower() in ROOM else ""
        wrong[place] = f"it is not a number{sign}{room}, unlike the other cells of the column; {AS_TEXT}"
    for place, text in enumerate(texts):
        if text is not None and place not in wrong and read.values[place] != read.values[place]:
            wrong[place] = f"{NOTHING}, {OR_AS_TEXT}"
        elif text is not None and (_code(text) or too_long([text], decimal)):
            wrong[place] = f"it is a code, and the other cells of the column are numbers; {AS_TEXT}"
    return Content("numbers", [None if value != value else value for value in read.values], wrong)


def _of_typed(cells: polars.Series, kind: str | None) -> Content:
    if cells.dtype in (polars.Categorical, polars.Enum):
        return content(cells.cast(polars.String), kind or "text", ".")
    plain = cells.dtype in (polars.Date, polars.Datetime, polars.Time, polars.Boolean)
    if kind == "text" or (kind is None and plain):
        return _as_text(cells)
    if cells.dtype.is_numeric():
        long = _beyond(cells) if kind is None else None
        if long is not None:
            return _as_text(cells, _too_long(long))
        read = numbers(cells)
        values = [None if value != value else value for value in read.values]
        return Content("numbers", values, dict.fromkeys(read.bad, "it is not finite; correct it, or leave the row out"))
    if kind == "numbers":
        places = cells.is_not_null().arg_true().to_list()
        return Content(kind, [None] * len(cells), dict.fromkeys(places, f"it is not a number; {AS_TEXT}"))
    return Content("JSON", cells.to_list())


def _as_text(cells: polars.Series, note: str = "") -> Content:
    return Content("text", [None if cell is None else cell_text(cell) for cell in cells.to_list()], note=note)


def _beyond(cells: polars.Series) -> int | None:
    """A whole number that is another one when it is kept in floating point."""
    if not cells.dtype.is_integer():
        return None
    return next((cell for cell in cells.to_list() if cell is not None and int(float(cell)) != cell), None)


def _json(texts: Sequence[str | None]) -> Content:
    found = Content("JSON", [])
    for place, text in enumerate(texts):
        try:
            found.values.append(None if text is None else read_json(text))
        except ValueError as error:
            found.values.append(None)
            found.wrong[place] = f"it is not JSON ({error}), unlike the other cells of the column; correct it"
    return found
