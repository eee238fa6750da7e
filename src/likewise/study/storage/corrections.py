"""What was amended or withdrawn of a trial, as it is stored: a JSON list with what the trial said before.

    [{"did": "amended", "why": "typo", "by": "lab-1", "at": 1.7e9, "value": 8971.0, "std": 0.5}]

`did` is "amended" or "withdrawn", `by` the worker, `at` the storage's time; `value`, `std`, `outcomes` and `error` are
there where the trial had them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from likewise.study.storage.outcomes import outcomes_fault
from likewise.tables.nesting import strict_json

AMENDED, WITHDRAWN = "amended", "withdrawn"


def add_correction(stored: str | None, entry: Mapping[str, Any]) -> str:
    """Stored corrections and one more; what is None is left out."""
    fields = {name: content for name, content in entry.items() if content is not None}
    return json.dumps([*json.loads(stored or "[]"), fields])


def corrections_fault(text: Any) -> str:
    """What is wrong with stored corrections; nothing is an empty text.

    >>> corrections_fault('[{"did": "withdrawn", "why": "", "at": 1.0, "value": 2.5}]'), corrections_fault("{}")
    ('', 'which is no JSON list')
    """
    try:
        entries = strict_json(text)
    except (TypeError, ValueError, RecursionError):
        return "which is not JSON"
    if not isinstance(entries, list):
        return "which is no JSON list"
    return next((f"whose entry {place} {why}" for place, entry in enumerate(entries) if (why := _fault(entry))), "")


def _fault(entry: Any) -> str:
    if not isinstance(entry, dict) or entry.get("did") not in (AMENDED, WITHDRAWN):
        return "was neither amended nor withdrawn"
    if "why" not in entry or "at" not in entry:
        return "has no reason or no time"
    if not all(isinstance(entry.get(name, ""), str) for name in ("why", "by", "error")):
        return "has a reason, a worker or an error that is no text"
    if not all(isinstance(entry.get(name, 0.0), int | float) for name in ("at", "value", "std")):
        return "has a time, a value or a std that is no number"
    return outcomes_fault(json.dumps(entry["outcomes"])) if "outcomes" in entry else ""
