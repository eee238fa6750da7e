"""When rows were made: numbers by size, dates by the calendar, other texts as people count, `round 9` before `10`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from itertools import pairwise
from typing import Any

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
        found = {text: read(text) for text in dict.fromkeys(present)}
        if all(value is not None for value in found.values()):
            return [found.get(text, -math.inf) for text in texts]
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
