"""Studies kept in memory: gone with the process, shared by its threads."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

from likewise.forks import ForkLock
from likewise.study.storage.base import OpenStudy, Storage, StudyInfo, Taken, aim, best_value, no_study
from likewise.study.storage.outcomes import stamp
from likewise.study.storage.trials import FOLLOWS, End, NewRow, Row, gone_on, join_notes, row_at
from likewise.study.trial import State


@final
class Memory(Storage):
    """Studies in memory.

    >>> study = Memory().open("demo", {"direction": "maximize"})
    >>> study.add([NewRow(key='"CCO"', payload='"CCO"'), NewRow(key='"CCN"', payload='"CCN"')])
    [0, 1]
    >>> study.settle(1, state=State.TOLD, value=0.31)
    >>> [(row.id, row.state.value, row.value) for row in study.since(0)[0]]
    [(0, 'asked', None), (1, 'told', 0.31)]
    """

    def __init__(self) -> None:
        self._studies: dict[str, _MemoryStudy] = {}
        self._lock = ForkLock()

    def _open(self, name: str, settings: dict[str, Any]) -> OpenStudy:
        with self._lock:
            if name not in self._studies:
                self._studies[name] = _MemoryStudy(name, settings)
            return self._studies[name]

    def studies(self) -> list[StudyInfo]:
        with self._lock:
            return [study.info() for _, study in sorted(self._studies.items())]

    def rows(self, name: str) -> list[Row]:
        with self._lock:
            return self._known(name).since(0)[0]

    def delete(self, name: str) -> None:
        with self._lock:
            self._known(name).erase()
            del self._studies[name]

    def _known(self, name: str) -> _MemoryStudy:
        if name not in self._studies:
            raise no_study(name, sorted(self._studies))
        return self._studies[name]


@final
class _MemoryStudy(OpenStudy):
    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        super().__init__(name, settings)
        self._lock = ForkLock()
        # In order of their last change, so that `since` reads from the end.
        self._rows: dict[int, Row] = {}
        self._holders: Counter[str] = Counter()
        self._revision = 0
        self._notes: list[str] = []
        self._created = self._updated = time.time()
        self._erased = False

    def since(self, revision: int) -> tuple[list[Row], int]:
        with self._lock:
            fresh: list[Row] = []
            for row in reversed(self._rows.values()):
                if row.revision <= revision:
                    break
                fresh.append(row)
            return fresh[::-1], max(self._revision, revision)

    def _beat(self, ids: Sequence[int], lease: float) -> None:
        with self._lock:
            rows = [self._rows[id] for id in ids if id in self._rows]
            until = time.time() + lease
            self._put([replace(row, lease=until) for row in rows if row.state is State.ASKED])

    def expire(self) -> list[int]:
        with self._lock:
            now = time.time()
            late = [row for row in self._rows.values() if row.lease is not None and row.lease < now]
            late.sort(key=lambda row: row.id)
            self._put([replace(row, state=State.ABANDONED, lease=None) for row in late])
            return [row.id for row in late]

    def _note(self, text: str) -> None:
        with self._lock:
            self._notes.append(text)

    def notes(self) -> list[str]:
        return list(self._notes)

    def info(self) -> StudyInfo:
        """The study at a glance."""
        with self._lock:
            rows = list(self._rows.values())
            direction = aim(self.settings)
            best = best_value(direction, [row.value for row in rows if row.value is not None])
            counts = Counter(row.state for row in rows)
            tally = {state: counts[state] for state in State}
            return StudyInfo(self.name, direction, tally, best, self._created, self._updated)

    def erase(self) -> None:
        """Forget everything and refuse to be changed."""
        with self._lock:
            self._rows, self._notes, self._erased = {}, [], True

    def _record(self, rows: Sequence[NewRow], ends: Sequence[End]) -> list[int]:
        with self._lock:
            now = time.time()
            ended = self._end_rows(ends, now)
            changes: Counter[str] = Counter()
            for row in ended:
                changes[row.key] += _holds(row) - _holds(self._rows[row.id])
            if taken := [new.key for new in rows if new.claims and self._holders[new.key] + changes[new.key] > 0]:
                raise Taken(self.name, taken)
            first = len(self._rows)
            added = [row_at(new, first + place, now, self._revision + 1) for place, new in enumerate(rows)]
            self._put([*ended, *added], now)
            return [row.id for row in added]

    def _end_rows(self, ends: Sequence[End], now: float) -> list[Row]:
        """The rows of trials that end, as they will be; a StudyError if one of them cannot."""
        ended: dict[int, Row] = {}
        for end in ends:
            row = ended.get(end.id, self._rows.get(end.id))
            if row is not None and end.why is None and row.state in FOLLOWS[end.state]:
                ended[end.id] = self._go_on(row, end)
            elif row is not None and (after := gone_on(row, end, now, self._revision + 1)) is not None:
                ended[end.id] = after
            elif refusal := self._refusal(end, row, len(self._rows)):
                raise refusal
        return list(ended.values())

    def _go_on(self, row: Row, end: End) -> Row:
        said = {name: getattr(end, name) for name in ("state", "value", "std", "error")}
        kept = {name: getattr(end, name) or getattr(row, name) for name in ("worker", "summary")}
        lease = None if end.lease is None else time.time() + end.lease
        outcomes = stamp(end.outcomes, self._revision + 1)
        return replace(row, **said, **kept, lease=lease, outcomes=outcomes, notes=join_notes(row.notes, end.notes))

    def _put(self, rows: Sequence[Row], now: float | None = None) -> None:
        if self._erased:
            raise self._gone()
        if not rows:
            return
        self._revision += 1
        self._updated = time.time() if now is None else now
        for row in rows:
            before = self._rows.pop(row.id, None)
            self._holders[row.key] += _holds(row) - (before is not None and _holds(before))
            stamped = row.revision == self._revision and row.updated == self._updated
            self._rows[row.id] = row if stamped else replace(row, revision=self._revision, updated=self._updated)


def _holds(row: Row) -> bool:
    return row.state is not State.ABANDONED
