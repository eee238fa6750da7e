"""What is there after the kills, beside what was acknowledged: a new process opens the study and looks."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa

import likewise as lw
from benchmarks.reliability.cases import Case
from benchmarks.reliability.clients import key_of, open_study, rows_of, tell
from benchmarks.reliability.processes import lines

# No worker tells it.
AFTERWARDS = -1.0


@dataclass
class Promises:
    """What the logs of a case say was acknowledged, and what went wrong."""

    asked: dict[int, str] = field(default_factory=dict)
    told: dict[float, str] = field(default_factory=dict)
    whole: list[list[float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    away: int = 0

    def read(self, folder: Path) -> None:
        for path in folder.glob("*.log"):
            for kind, *what in lines(path):
                self._take(kind, what)

    def _take(self, kind: str, what: list[Any]) -> None:
        match kind:
            case "asked":
                self.asked[what[0]] = what[1]
            case "told":
                self.told[what[1]] = what[0]
            case "whole":
                self.whole.append(what[0])
            case "error":
                self.errors.append(what[0])
            case "away":
                self.away += 1


@dataclass
class Verdict:
    """Counts of a case after one wave. All but the first two and `given_back` should be zero.

    `acknowledged`: tells that returned. `asks`: trials that were handed out. `lost`: tells that are not there.
    `duplicated`: tells that are there more than once. `changed`: tells with another object. `asks_lost`: trials handed
    out that are not there. `twice`: objects held by two trials at a time. `torn`: rows added together of which some are
    missing. `gaps`: ids that no trial has. `unsound`: complaints of the database about itself. `given_back`: trials
    that nobody will finish, free again. `stuck`: such trials that did not come free, or a study that did not go on.
    """

    acknowledged: int = 0
    asks: int = 0
    lost: int = 0
    duplicated: int = 0
    changed: int = 0
    asks_lost: int = 0
    twice: int = 0
    torn: int = 0
    gaps: int = 0
    unsound: int = 0
    given_back: int = 0
    stuck: int = 0


FAULTS = tuple(f.name for f in fields(Verdict) if f.name not in ("acknowledged", "asks", "given_back"))


def judge(case: Case, url: str, folders: Sequence[Path], last: bool, out: Path) -> None:
    """Write the verdict on the waves so far to `out`."""
    promises = Promises()
    # First the logs, then the study: a worker that is still running cannot be ahead of it.
    for folder in folders:
        promises.read(folder)
    study = open_study(case, url)
    verdict = compare(promises, rows_of(study), exclusive=case.lease is None)
    verdict.unsound = _unsound(url)
    if last:
        verdict.given_back, verdict.stuck = give_back(case, study)
    out.write_text(json.dumps(asdict(verdict)))


def compare(promises: Promises, rows: Sequence[Any], exclusive: bool) -> Verdict:
    """What the rows keep of the promises. Without `exclusive` an object may have come back and been asked again."""
    there = {row.id: key_of(row) for row in rows}
    told = {row.value: key_of(row) for row in rows if row.state is lw.State.TOLD}
    times = Counter(row.value for row in rows if row.state is lw.State.TOLD)
    found = [sum(value in told for value in values) for values in promises.whole]
    return Verdict(
        acknowledged=len(promises.told),
        asks=len(promises.asked),
        lost=sum(value not in told for value in promises.told),
        duplicated=sum(number > 1 for number in times.values()),
        changed=sum(told.get(value, key) != key for value, key in promises.told.items()),
        asks_lost=sum(there.get(id) != key for id, key in promises.asked.items()),
        twice=_twice(promises, rows) if exclusive else 0,
        torn=sum(some not in (0, len(values)) for some, values in zip(found, promises.whole, strict=True)),
        gaps=len(set(range(max(there, default=-1) + 1)) - set(there)),
    )


def _twice(promises: Promises, rows: Sequence[Any]) -> int:
    """Objects handed out to two at a time: they are known to have been asked, or still are."""
    held = [key_of(row) for row in rows if row.state is lw.State.ASKED or row.id in promises.asked]
    return len(held) - len(set(held))


def give_back(case: Case, study: Any) -> tuple[int, int]:
    """Free what the dead were evaluating, by the lease or by hand; how many came free, and how many did not.

    The study then has to go on: it is asked and told once more.
    """
    open_ids = [row.id for row in rows_of(study) if row.state is lw.State.ASKED]
    if case.lease is not None:
        time.sleep(case.lease + 0.1)
    elif isinstance(study, lw.Study):
        for id in open_ids:
            study.abandon(id=id)
    else:
        with study.change("abandon") as draft:
            for id in open_ids:
                draft.change(id, state=lw.State.ABANDONED)
    went_on = _goes_on(study)
    states = {row.id: row.state for row in rows_of(study)}
    free = sum(states[id] is lw.State.ABANDONED for id in open_ids)
    return free, len(open_ids) - free + (not went_on)


def _goes_on(study: Any) -> bool:
    """Whether it can be asked, where there is something to ask, and told."""
    if isinstance(study, lw.Study):
        for suggestion in study.ask():
            study.abandon(suggestion)
        study.tell(0, AFTERWARDS)
    else:
        tell(study, [(None, 0, AFTERWARDS)])
    return AFTERWARDS in [row.value for row in rows_of(study)]


def _unsound(url: str) -> int:
    """How much SQLite finds wrong with its file. PostgreSQL looks after itself when it recovers."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return 0
    with closing(sqlite3.connect(str(parsed.database))) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
    return 0 if found == [("ok",)] else len(found)
