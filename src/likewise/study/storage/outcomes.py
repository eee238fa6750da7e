"""The outcomes of a trial as they are stored: JSON of a value for each name, which may arrive one after the other.

    {"yield": {"value": 71.0, "std": 0.5, "told": 12}, "impurity": {"value": 0.1, "limit": "below", "told": 15}}

`std`, `limit` and `block` are there where they are known: a value with the limit "below" is an upper bound of what was
measured, with "above" a lower one; a block is the day or the plate that it was measured on. `told` is
the study's revision when the outcome was recorded; the storage sets it.
"""

from __future__ import annotations

import json
import math
from typing import Any

from likewise.errors import StudyError
from likewise.tables.nesting import strict_json

LIMITS = ("below", "above")
FIELDS = frozenset({"value", "std", "limit", "block", "told"})


def outcomes_fault(text: Any) -> str:
    """What is wrong with stored outcomes; nothing is an empty text.

    >>> outcomes_fault('{"yield": {"value": 71.0}}'), outcomes_fault('{"yield": {"value": "high"}}')
    ('', "whose outcome 'yield' has no finite value")
    """
    try:
        found = strict_json(text)
    except (TypeError, ValueError, RecursionError):
        return "which is not JSON"
    if not isinstance(found, dict) or not found:
        return "which is no JSON object with an outcome"
    return next((f"whose outcome {name!r} {why}" for name, one in found.items() if (why := _fault(one))), "")


def _fault(one: Any) -> str:
    if not isinstance(one, dict) or one.keys() - FIELDS:
        return "is no JSON object with a value"
    if not _is_number(one.get("value")):
        return "has no finite value"
    if "std" in one and not (_is_number(one["std"]) and one["std"] >= 0):
        return "has a std that is no number from 0 on"
    if "limit" in one and one["limit"] not in LIMITS:
        return f"has a limit that is none of {', '.join(LIMITS)}"
    if "block" in one and not isinstance(one["block"], str):
        return "has a block that is no text"
    if "told" in one and not isinstance(one["told"], int):
        return "has no revision"
    return ""


def _is_number(content: Any) -> bool:
    return isinstance(content, int | float) and not isinstance(content, bool) and math.isfinite(content)


def check_outcomes(text: str) -> str:
    """The outcomes as they are stored, refused where they could not be."""
    if why := outcomes_fault(text):
        raise StudyError(f"the outcomes {text} are something {why}; give each a finite value, or record a failure")
    return text


def stamp(text: str | None, revision: int) -> str | None:
    """The outcomes with the revision at which they are recorded."""
    if text is None:
        return None
    return json.dumps({name: {**one, "told": revision} for name, one in json.loads(text).items()})


def join(stored: str | None, more: str | None, revision: int) -> str | None:
    """Stored outcomes with those that have come since; None where one is told already, or there are none.

    >>> join('{"yield": {"value": 71.0, "told": 3}}', '{"cost": {"value": 2.5}}', 5)
    '{"yield": {"value": 71.0, "told": 3}, "cost": {"value": 2.5, "told": 5}}'
    >>> join('{"yield": {"value": 71.0, "told": 3}}', '{"yield": {"value": 70.0}}', 5) is None
    True
    """
    if stored is None or more is None:
        return None
    known, new = json.loads(stored), json.loads(stamp(more, revision) or "{}")
    return None if known.keys() & new.keys() else json.dumps({**known, **new})
