"""Anything in a few words: what is shown of an object that may be long."""

from __future__ import annotations

from typing import Any

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
