"""Rows as they come from a database, which anyone may have edited: what is wrong with one, in which field."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from likewise.study.storage.base import BadRow
from likewise.study.storage.trials import Row
from likewise.study.trial import State

STATES = {state.value: state for state in State}


def digest(key: str) -> str:
    """What stands for a key in an index."""
    return blake2b(key.encode(), digest_size=16).hexdigest()


def row_of(fields: Mapping[str, Any]) -> Row:
    """The row of fields without fault."""
    return Row(**{name: fields[name] for name in Row.__dataclass_fields__} | {"state": STATES[fields["state"]]})


def trial_fault(study: str, fields: Mapping[str, Any]) -> BadRow | None:
    """The first fault of a stored trial, None if it has none."""
    return _first(study, fields["id"], fields, _trial_faults(fields))


def study_fault(fields: Mapping[str, Any]) -> BadRow | None:
    """The first fault of a stored study's own row, for which `last` and `newest` are what its trials have."""
    return _first(fields["name"], None, fields, _study_faults(fields))


def is_number(content: Any) -> bool:
    """Whether it is a finite number."""
    return isinstance(content, int | float) and math.isfinite(content)


def _first(study: Any, id: Any, fields: Mapping[str, Any], faults: Iterator[tuple[str, str]]) -> BadRow | None:
    for name, why in faults:
        return BadRow(str(study), id, name, f"is {reprlib.repr(fields[name])}, {why}")
    return None


def _trial_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _misfits(fields, TRIAL)
    if fields["digest"] != digest(fields["key"]):
        yield "key", "which is not the key that the trial was added with"
    if fields["state"] == State.TOLD and fields["value"] is None:
        yield "value", "but the trial is told"
    if fields["state"] != State.TOLD and fields["value"] is not None:
        yield "value", f"but the trial is {fields['state']}"


def _study_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _misfits(fields, STUDY)
    if is_number(fields["last"]) and fields["size"] <= fields["last"]:
        yield "size", f"but it has a trial {fields['last']}"
    if is_number(fields["newest"]) and fields["revision"] < fields["newest"]:
        yield "revision", f"but a trial has revision {fields['newest']}"


def _misfits(fields: Mapping[str, Any], kinds: Mapping[str, Callable[[Any], str]]) -> Iterator[tuple[str, str]]:
    return ((name, why) for name, kind in kinds.items() if (why := kind(fields[name])))


def _text(content: Any) -> str:
    try:
        return "" if isinstance(content, str) and content.encode() is not None else "which is no text"
    except UnicodeEncodeError:
        return "which is no text in UTF-8"


def _json(content: Any) -> str:
    return _text(content) or ("" if _parse(content) is not None else "which is not JSON")


def _json_object(content: Any) -> str:
    return _json(content) or ("" if isinstance((_parse(content) or [None])[0], dict) else "which is no JSON object")


def _parse(text: str) -> list[Any] | None:
    """The value in a list, as it may be null; None if there is none."""
    try:
        return [json.loads(text, parse_constant=_refuse)]
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _count(content: Any) -> str:
    return "" if isinstance(content, int) and content >= 0 else "which is no whole number from 0 on"


def _state(content: Any) -> str:
    return "" if isinstance(content, str) and content in STATES else f"which is none of {', '.join(STATES)}"


def _number(content: Any) -> str:
    return "" if is_number(content) else "which is no finite number"


def _spread(content: Any) -> str:
    return _number(content) or ("" if content >= 0 else "which is negative")


def _perhaps(kind: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda content: "" if content is None else kind(content)


TRIAL: Mapping[str, Callable[[Any], str]] = {
    "id": _count,
    "key": _text,
    "payload": _json,
    "state": _state,
    "value": _perhaps(_number),
    "std": _perhaps(_spread),
    "error": _perhaps(_text),
    "worker": _perhaps(_text),
    "created": _number,
    "updated": _number,
    "lease": _perhaps(_number),
    "summary": _json_object,
    "revision": _count,
}
STUDY: Mapping[str, Callable[[Any], str]] = {
    "name": _text,
    "settings": _json_object,
    "size": _count,
    "revision": _count,
    "created": _number,
    "updated": _number,
}
