"""Ranges as text: `20..120/5 log`, from, to, in steps of, and on which scale."""

from __future__ import annotations

import re
from typing import NamedTuple

from likewise.errors import SpaceError

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"\s*({NUMBER}?)\s*\.\.\s*({NUMBER})\s*(?:/\s*({NUMBER}))?((?:\s+(?:log|int))*)\s*")


class Range(NamedTuple):
    """From `low` to `high`, in steps of `step` if any, on a logarithmic scale or not, whole numbers or not."""

    low: float
    high: float
    step: float | None = None
    log: bool = False
    integer: bool = False


def is_range(text: str) -> bool:
    """Whether the text is meant as a range.

    >>> is_range("20..120"), is_range("DMF|THF")
    (True, False)
    """
    return ".." in text


def read_range(text: str) -> Range:
    """The range that the text describes; a SpaceError where it is none.

    >>> read_range("20..120/5"), read_range("1e-3..1 log").log, read_range("1..8 int").integer
    (Range(low=20.0, high=120.0, step=5.0, log=False, integer=False), True, True)
    """
    found = RANGE.fullmatch(text)
    # Three points could be a range and a decimal point, on either side.
    if found is None or not found[1] or "..." in text:
        raise SpaceError(
            f"{text.strip()!r} is no range; write it as 20..120, 20..120/5 in steps of 5, 1..8 int, or 0.001..1 log"
        )
    words = found[4].split()
    step = None if found[3] is None else float(found[3])
    return Range(float(found[1]), float(found[2]), step, "log" in words, "int" in words)


def write_range(found: Range) -> str:
    """The text that `read_range` reads.

    >>> write_range(Range(20.0, 120.0, 5.0))
    '20..120/5'
    """
    step = "" if found.step is None or (found.integer and found.step == 1) else f"/{_short(found.step)}"
    words = f"{' int' if found.integer else ''}{' log' if found.log else ''}"
    return f"{_short(found.low)}..{_short(found.high)}{step}{words}"


def _short(number: float) -> str:
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))
