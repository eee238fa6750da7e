"""What a table has that a study does not: told and failed trials, each once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from likewise.errors import SpaceError, StudyError
from likewise.spaces.base import Space
from likewise.study.goals import VALUE, Goals
from likewise.study.log import Ledger
from likewise.study.record.findings import Finding, read_notes, told
from likewise.study.record.trial_tables import Entry
from likewise.study.trial import State, Trial

SETTLED = (State.TOLD, State.FAILED)


def new_findings(path: str, entries: Sequence[Entry], space: Space, ledger: Ledger, goals: Goals) -> list[Finding]:
    """The told and failed trials of a table beyond those that are known: of three equal ones, two known, the third."""
    known = Counter(_identity(space, t.object, result) for t in ledger.trials for result in _results(t))
    found = []
    for number, entry in enumerate(entries, 1):
        if entry.state in SETTLED:
            finding = _finding(space, entry, f"{path}, data row {number}", goals)
            identity = _identity(space, finding.what, finding)
            if known[identity] > 0:
                known[identity] -= 1
            else:
                found.append(finding)
    return found


def _results(trial: Trial) -> Iterator[Trial | Finding]:
    """What a trial says, and what it said before it was corrected: an older table has that."""
    if trial.state in SETTLED:
        yield trial
    for before in trial.corrections:
        yield Finding(trial, State.FAILED if before.error else State.TOLD, before.outcomes)


def _identity(space: Space, x: Any, result: Trial | Finding) -> tuple[Any, ...]:
    outcomes = tuple(
        sorted(
            (name, one.value, one.std or 0.0, one.limit or "", one.block or "") for name, one in result.outcomes.items()
        )
    )
    return space.key(x), result.state, outcomes


def _finding(space: Space, entry: Entry, where: str, goals: Goals) -> Finding:
    try:
        x = space.fit(space.from_json(json.loads(entry.payload)))
    except SpaceError as error:
        raise SpaceError(f"{where}: {error}") from error
    except Exception as error:
        raise SpaceError(f"{where}: {entry.payload} is not an object of {space!r}: {error}") from error
    if entry.state is State.TOLD:
        try:
            value = entry.outcomes if goals.named else entry.outcomes[VALUE]
            return replace(told(goals, x, value), notes=read_notes(entry.notes))
        except StudyError as error:
            raise StudyError(f"{where}: {error}") from error
    # What was told before it failed.
    known = told(goals, x, entry.outcomes).outcomes if entry.outcomes else {}
    return Finding(x, entry.state, known, entry.error, notes=read_notes(entry.notes))
