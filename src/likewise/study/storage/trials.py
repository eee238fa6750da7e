"""A trial as it is stored, as it is added and as it ends; what cannot be stored as it is, is refused."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace

from likewise.errors import StudyError
from likewise.study.storage.corrections import AMENDED, WITHDRAWN, add_correction
from likewise.study.storage.outcomes import check_outcomes, join, stamp
from likewise.study.trial import State
from likewise.tables.nesting import strict_json

# What a trial says once it has ended.
RESULT = ("value", "std", "outcomes", "error")
# From which states a trial may come to another: a late result of an abandoned trial is kept, a second one is refused.
FOLLOWS: Mapping[State, frozenset[State]] = {
    State.QUEUED: frozenset(),
    State.ASKED: frozenset({State.QUEUED}),
    State.TOLD: frozenset({State.QUEUED, State.ASKED, State.ABANDONED}),
    State.FAILED: frozenset({State.QUEUED, State.ASKED, State.ABANDONED}),
    State.ABANDONED: frozenset({State.QUEUED, State.ASKED}),
}
NO_SECONDS = "give a number of seconds"


@dataclass(frozen=True)
class _Content:
    """A trial: its object as JSON text, what identifies the object, and what is known of it.

    A told trial has the `value` of the one objective, or `outcomes`, JSON of a value for each name, or both. A failed
    one may have the outcomes that were told before it failed. `notes` are the user's, a JSON object. `corrections` say
    what was amended or withdrawn, a JSON list (`corrections.py`).
    """

    key: str
    payload: str
    state: State = State.ASKED
    value: float | None = None
    std: float | None = None
    error: str | None = None
    worker: str | None = None
    lease: float | None = None
    summary: str = "{}"
    outcomes: str | None = None
    notes: str | None = None
    corrections: str | None = None


@dataclass(frozen=True)
class Row(_Content):
    """A trial as stored, with the revision of its last change.

    Times, also when the lease ends, are seconds since the epoch by the storage's clock.
    """

    _: KW_ONLY
    id: int
    created: float
    updated: float
    revision: int


@dataclass(frozen=True)
class NewRow(_Content):
    """A trial to add. A replicate may repeat an object that the study already has; a lease is a number of seconds."""

    replicate: bool = False

    @property
    def claims(self) -> bool:
        """Whether it needs its object for itself."""
        return self.state is not State.ABANDONED and not self.replicate


def row_at(new: NewRow, id: int, now: float, revision: int) -> Row:
    """The row of a trial that is added at this time."""
    fields = {name: getattr(new, name) for name in _Content.__dataclass_fields__}
    lease = None if new.lease is None else now + new.lease
    said = {"lease": lease, "outcomes": stamp(new.outcomes, revision)}
    return Row(id=id, created=now, updated=now, revision=revision, **fields | said)


@dataclass(frozen=True)
class End:
    """How a trial goes on: a queued one is asked; one ends as told, failed or abandoned.

    A told one may be told further outcomes, or with `rest` fail in those that it was not told: it keeps the others.
    With a worker, a summary or notes it has those from then on, and earlier notes beside them; `lease` is the seconds
    for which it is asked.

    With a `why`, which may be empty, a told trial is amended, or a told or failed one withdrawn, which is abandoned
    then. What it said before is kept with it.
    """

    id: int
    state: State
    value: float | None = None
    std: float | None = None
    error: str | None = None
    outcomes: str | None = None
    worker: str | None = None
    lease: float | None = None
    summary: str | None = None
    notes: str | None = None
    rest: bool = False
    why: str | None = None


def gone_on(row: Row, end: End, now: float, revision: int) -> Row | None:
    """A trial that had ended as it goes on: corrected, told further outcomes, failed in the rest; None: it cannot."""
    if end.why is not None:
        return corrected(row, end, now, revision)
    notes = join_notes(row.notes, end.notes)
    if end.rest and end.state is State.FAILED and row.state is State.TOLD and row.outcomes is not None:
        return replace(row, state=end.state, error=end.error, notes=notes)
    joined = join(row.outcomes, end.outcomes, revision) if row.state is end.state is State.TOLD else None
    return None if joined is None else replace(row, outcomes=joined, notes=notes)


def corrected(row: Row, end: End, now: float, revision: int) -> Row | None:
    """A trial with other values or, withdrawn, with none, and what it said before among its corrections."""
    amends = end.state is State.TOLD
    if row.state is not State.TOLD and (amends or row.state is not State.FAILED):
        return None
    told, outcomes = row.outcomes and json.loads(row.outcomes), stamp(end.outcomes, revision)
    before = {name: getattr(row, name) for name in RESULT} | {"outcomes": told}
    entry = {"did": AMENDED if amends else WITHDRAWN, "why": end.why, "by": end.worker, "at": now}
    if told and outcomes:
        outcomes = json.dumps({**told, **json.loads(outcomes)})
    after = replace(row, state=end.state, value=end.value, std=end.std, outcomes=outcomes, error=end.error, lease=None)
    return replace(after, corrections=add_correction(row.corrections, entry | before))


def join_notes(stored: str | None, more: str | None) -> str | None:
    """Stored notes with further ones, which replace those of the same name.

    >>> join_notes('{"by": "Ann", "vial": 3}', '{"vial": 4}')
    '{"by": "Ann", "vial": 4}'
    """
    if stored is None or more is None:
        return more or stored
    return json.dumps({**json.loads(stored), **json.loads(more)})


def check_row(row: NewRow) -> NewRow:
    """The row with plain floats and storable texts; a StudyError where it could not be stored as it is."""
    state = State(row.state)
    value, std = _check_measured(state, row.value, row.std, row.outcomes)
    lease = None if row.lease is None or state is not State.ASKED else finite("lease", row.lease, NO_SECONDS)
    for what, text in (("object", row.payload), ("summary", row.summary), ("notes", row.notes or "{}")):
        check_json(what, text)
    if row.key != plain(row.key):
        raise StudyError(f"key {row.key!r} holds characters that cannot be stored; write it as ASCII JSON")
    error, worker = (None if text is None else plain(text) for text in (row.error, row.worker))
    return replace(row, state=state, value=value, std=std, error=error, worker=worker, lease=lease)


def check_end(end: End) -> End:
    state = State(end.state)
    if not FOLLOWS[state]:
        raise StudyError(f"trial {end.id} cannot become {state.value!r}: a trial ends as told, failed or abandoned")
    value, std = _check_measured(state, end.value, end.std, end.outcomes)
    for what, text in (("summary", end.summary), ("notes", end.notes)):
        check_json(what, text or "{}")
    lease = None if end.lease is None or state is not State.ASKED else finite("lease", end.lease, NO_SECONDS)
    error, worker, why = (None if text is None else plain(text) for text in (end.error, end.worker, end.why))
    end = replace(end, id=int(end.id), state=state, value=value, std=std, lease=lease)
    return replace(end, error=error, worker=worker, why=why)


def _check_measured(
    state: State, value: float | None, std: float | None, outcomes: str | None
) -> tuple[float | None, float | None]:
    if state is State.FAILED and outcomes is not None and value is std is None:
        check_outcomes(outcomes)
        return None, None
    if state is not State.TOLD:
        if value is not None or std is not None or outcomes is not None:
            given = value if outcomes is None else outcomes
            raise StudyError(f"a trial that is {state.value} has no value, but {given!r} was given")
        return None, None
    if outcomes is not None:
        check_outcomes(outcomes)
        if value is None:
            return None, None
    if value is None:
        raise StudyError("a told trial needs a value; record a failure as failed instead")
    if std is not None and not finite("standard deviation", std) >= 0:
        raise StudyError(f"the standard deviation {std!r} is negative; give the measurement's std, or leave it out")
    return finite("value", value), None if std is None else float(std)


def finite(what: str, number: float, remedy: str = "record the trial as failed instead") -> float:
    if not math.isfinite(number):
        raise StudyError(f"{what} {number!r} is not a finite number; {remedy}")
    # Adding zero turns -0.0, which SQLite does not keep, into 0.0.
    return float(number) + 0.0


def plain(text: object) -> str:
    """As text without what databases refuse: NUL characters and lone surrogates are written as escapes."""
    return str(text).replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def check_json(what: str, text: str) -> None:
    # Most summaries and notes say nothing.
    if text == "{}":
        return
    try:
        strict_json(text)
        text.encode()
    except ValueError as error:
        raise StudyError(f"the {what} {reprlib.repr(text)} is not JSON that can be stored: {error}") from error
