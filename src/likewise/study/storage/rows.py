"""Rows as they come from a database, which anyone may have edited: what is wrong with one, in which field."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import sqlalchemy as sa

from likewise.study.storage.base import BadRow
from likewise.study.storage.corrections import corrections_fault
from likewise.study.storage.outcomes import outcomes_fault
from likewise.study.storage.trials import Row
from likewise.study.trial import State
from likewise.tables.nesting import strict_json

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
    if fields["state"] == State.TOLD and fields["value"] is None and fields["outcomes"] is None:
        yield "value", "but the trial is told"
    for name, states in (("value", (State.TOLD,)), ("outcomes", (State.TOLD, State.FAILED))):
        if fields["state"] not in states and fields[name] is not None:
            yield name, f"but the trial is {fields['state']}"


def _study_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _misfits(fields, STUDY)
    if is_number(fields["last"]) and fields["size"] <= fields["last"]:
        yield "size", f"but it has a trial {fields['last']}"
    if is_number(fields["newest"]) and fields["revision"] < fields["newest"]:
        yield "revision", f"but a trial has revision {fields['newest']}"


class Field(NamedTuple):
    """A field of a stored row: its type in the database, what is wrong with a content, and whether it may be none."""

    type: type[Any]
    misfit: Callable[[Any], str]
    optional: bool = False

    def fault(self, content: Any) -> str:
        """What is wrong with a content; nothing is an empty text."""
        return "" if self.optional and content is None else self.misfit(content)


def _misfits(fields: Mapping[str, Any], kinds: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    return ((name, why) for name, kind in kinds.items() if (why := kind.fault(fields[name])))


def _text(content: Any) -> str:
    try:
        return "" if isinstance(content, str) and content.encode() is not None else "which is no text"
    except UnicodeEncodeError:
        return "which is no text in UTF-8"


def _json(content: Any, kind: type[Any] = object) -> str:
    if why := _text(content):
        return why
    try:
        return "" if isinstance(strict_json(content), kind) else "which is no JSON object"
    except (ValueError, RecursionError):
        return "which is not JSON"


def _json_object(content: Any) -> str:
    return _json(content, dict)


def _count(content: Any) -> str:
    return "" if isinstance(content, int) and content >= 0 else "which is no whole number from 0 on"


def _state(content: Any) -> str:
    return "" if isinstance(content, str) and content in STATES else f"which is none of {', '.join(STATES)}"


def _number(content: Any) -> str:
    return "" if is_number(content) else "which is no finite number"


def _spread(content: Any) -> str:
    return _number(content) or ("" if content >= 0 else "which is negative")


TRIAL = {
    "id": Field(sa.Integer, _count),
    "key": Field(sa.Text, _text),
    "payload": Field(sa.Text, _json),
    "state": Field(sa.Text, _state),
    "value": Field(sa.Double, _number, optional=True),
    "std": Field(sa.Double, _spread, optional=True),
    "error": Field(sa.Text, _text, optional=True),
    "worker": Field(sa.Text, _text, optional=True),
    "created": Field(sa.Double, _number),
    "updated": Field(sa.Double, _number),
    "lease": Field(sa.Double, _number, optional=True),
    "summary": Field(sa.Text, _json_object),
    "revision": Field(sa.BigInteger, _count),
    "outcomes": Field(sa.Text, outcomes_fault, optional=True),
    "notes": Field(sa.Text, _json_object, optional=True),
    "corrections": Field(sa.Text, corrections_fault, optional=True),
}
STUDY = {
    "name": Field(sa.Text, _text),
    "settings": Field(sa.Text, _json_object),
    "size": Field(sa.Integer, _count),
    "revision": Field(sa.BigInteger, _count),
    "created": Field(sa.Double, _number),
    "updated": Field(sa.Double, _number),
}
