"""Trials from a table into a study: told and failed ones, each once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from likewise.errors import SimilarityError, SpaceError, StudyError
from likewise.spaces.base import Space
from likewise.study.ledger import Ledger
from likewise.study.measurement import read_value
from likewise.study.storage.base import NewRow, OpenStudy
from likewise.study.trial import State
from likewise.study.trial_tables import Entry

SETTLED = (State.TOLD, State.FAILED)
Finding = tuple[str, State, float | None, float | None]


def read(
    store: OpenStudy,
    ledger: Ledger,
    space: Space,
    worker: str,
    path: str,
    entries: Sequence[Entry],
    check: Callable[[Sequence[Any]], None],
) -> int:
    """Record the told and failed trials of a table that the study does not have; how many there were.

    Objects that are being evaluated get their results first; the others are then added, all or none. `check` complains
    about objects that cannot be compared.
    """
    rows = [
        _row(space, entry, worker, f"{path}, data row {number}")
        for number, entry in enumerate(entries, 1)
        if entry.state in SETTLED
    ]
    fresh = _without(rows, _results(ledger, space))
    _check_all([space.from_json(json.loads(row.payload)) for row in fresh], check, path)
    open_ids = {space.key(t.object): t.id for t in reversed(ledger.within(State.ASKED))}
    added = []
    for row in fresh:
        id = open_ids.pop(row.key, None)
        if id is None:
            added.append(row)
        else:
            store.settle(id, state=row.state, value=row.value, std=row.std, error=row.error)
    store.add(added)
    return len(fresh)


def _check_all(objects: Sequence[Any], check: Callable[[Sequence[Any]], None], path: str) -> None:
    """All at once, and one by one only to find the one that is wrong."""
    try:
        check(objects)
    except SimilarityError:
        for x in objects:
            try:
                check([x])
            except SimilarityError as error:
                raise SimilarityError(f"{path}: {x!r} cannot be compared: {error}") from error
        raise


def _row(space: Space, entry: Entry, worker: str, where: str) -> NewRow:
    try:
        x = space.fit(space.from_json(json.loads(entry.payload)))
    except SpaceError as error:
        raise SpaceError(f"{where}: {error}") from error
    except Exception as error:
        raise SpaceError(f"{where}: {entry.payload} is not an object of {space!r}: {error}") from error
    if entry.state is State.TOLD:
        try:
            read_value(x, entry.value, entry.std)
        except StudyError as error:
            raise StudyError(f"{where}: {error}") from error
    payload = json.dumps(space.to_json(x))
    return NewRow(
        space.key(x), payload, entry.state, entry.value, entry.std, entry.error, worker=worker, replicate=True
    )


def _results(ledger: Ledger, space: Space) -> Counter[Finding]:
    return Counter((space.key(t.object), state, t.value, t.std) for state in SETTLED for t in ledger.within(state))


def _without(rows: Sequence[NewRow], known: Counter[Finding]) -> list[NewRow]:
    """The rows beyond those that are known: of three equal ones, two known, the third."""
    left, fresh = known.copy(), []
    for row in rows:
        result: Any = (row.key, row.state, row.value, row.std)
        if left[result] > 0:
            left[result] -= 1
        else:
            fresh.append(row)
    return fresh
