"""Objects in the cells of a table: numbers, JSON, and items that are written as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any

from likewise.errors import SpaceError
from likewise.tables.cells import Decimal, number, one_number
from likewise.tables.formatting import number_text
from likewise.tables.nesting import read_json

# Short enough that no digit is lost.
WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


def read_cell(text: str, decimal: Decimal | None, from_json: Callable[[Any], Any]) -> Any:
    """A number, a list in JSON, or what `from_json` makes of an object in JSON; a SpaceError for other text.

    >>> read_cell("1,5", ",", dict), read_cell("8", ",", dict), read_cell("[1, 2]", None, dict)
    (1.5, 8, [1, 2])
    """
    if text[0] not in "[{":
        value = read_number(text, decimal)
        return int(value) if WHOLE.fullmatch(text) else value
    try:
        data = read_json(text)
    except ValueError:
        raise SpaceError(f"{text!r} is not JSON") from None
    return data if isinstance(data, list) else from_json(data)


def read_number(text: str, decimal: Decimal | None) -> float:
    """The number that the text means with this decimal sign, or with whichever fits."""
    value = _number(text.strip(), decimal)
    if value is None:
        sign = "" if decimal is None else f" with decimal sign {decimal!r}"
        raise SpaceError(f"{text!r} is no number{sign}")
    return value


def read_item(text: str, items: Collection[Any], decimal: Decimal | None) -> Any:
    """The item that is written like this, or is this number; the text itself where there is none.

    >>> read_item("8,0", [8, 16], ","), read_item("red", ["red"], None)
    (8, 'red')
    """
    same = [item for item in items if text in (str(item), write_cell(item, decimal or "."))]
    as_number = _number(text, decimal)
    equal = [item for item in items if isinstance(item, int | float) and item == as_number]
    return (same or equal or [text])[0]


def read_items(text: str, items: Collection[Any]) -> list[Any]:
    """Several items: a list in JSON, or what stands between spaces, commas, semicolons or arrows.

    >>> read_items("2 > 0 > 1", range(3))
    [2, 0, 1]
    """
    if text.startswith("["):
        found: list[Any] = read_cell(text, None, list)
        return found
    return [read_item(item, items, None) for item in re.split(r"[\s,;>]+", text) if item]


def listed_text(text: str) -> list[str]:
    """The items between commas.

    >>> listed_text("red, green,")
    ['red', 'green']
    """
    return [item.strip() for item in text.split(",") if item.strip()]


def _number(text: str, decimal: Decimal | None) -> float | None:
    return one_number(text) if decimal is None else number(text, decimal)


def write_cell(data: Any, decimal: Decimal) -> str:
    """JSON data as a cell: text as it is, numbers in the table's own way, the rest as JSON.

    >>> write_cell([1.5], ","), write_cell([1, "a"], ".")
    ('1,5', '[1, "a"]')
    """
    if isinstance(data, str):
        return data
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], int | float):
        data = data[0]
    if isinstance(data, int | float) and not isinstance(data, bool):
        return number_text(data, decimal)
    return json.dumps(data, ensure_ascii=False)
