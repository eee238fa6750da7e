"""Nested data, JSON above all, of a depth that any later step can walk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
        level = [each for outer in level for each in _inside(outer)]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _inside(data: Any) -> list[Any]:
    """What a list or a mapping holds that may hold something itself."""
    held = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return [each for each in held if isinstance(each, list | Mapping)]
