"""Studies kept in a database: SQLite, one file and no server, or PostgreSQL, for many machines.

Every change first raises the study's revision, which locks the study for the rest of the transaction: changes to one
study follow one another, ids are consecutive, and a reader that has seen a revision has seen every earlier one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from likewise.errors import StorageError
from likewise.study.storage.aside import bad_rows, heads, set_aside
from likewise.study.storage.base import CHECK, BadRow, OpenStudy, Storage, StudyInfo, Taken, aim, best_value, no_study
from likewise.study.storage.clock import clock, now
from likewise.study.storage.database import Database, in_memory, parse
from likewise.study.storage.memory import Memory
from likewise.study.storage.outcomes import stamp
from likewise.study.storage.rows import STUDY, digest, is_number, row_of, study_fault, trial_fault
from likewise.study.storage.schema import asked, held, known_version, notes, prepare, stored_version, studies, trials
from likewise.study.storage.trials import FOLLOWS, RESULT, End, NewRow, Row, gone_on, join_notes, row_at
from likewise.study.trial import State

# What changes of a trial that had ended.
REPLACED = (*RESULT, "state", "lease", "notes", "corrections")
# Databases bound the number of parameters of one statement.
AT_ONCE = 500
KEPT = "restore a copy of it; its trials are kept, and `likewise export URL NAME` writes them to a table"

_study = studies.c.id == sa.bindparam("its_study")
_of_study = trials.c.study == sa.bindparam("its_study")
_fields = [*(trials.c[name] for name in Row.__dataclass_fields__), trials.c.digest]
_raise_revision = (
    sa.update(studies)
    .where(_study)
    .values(
        revision=studies.c.revision + 1,
        size=studies.c.size + sa.bindparam("adding"),
        updated=clock(),
    )
    # What is returned is computed once the study is locked, however long that took.
    .returning(
        studies.c.revision, studies.c.size, clock().label("now"), stored_version.scalar_subquery().label("version")
    )
)
_rows_since = (
    sa.select(*_fields)
    .where(_of_study, trials.c.revision > sa.bindparam("after"))
    .order_by(trials.c.revision, trials.c.id)
)
_row_of = sa.select(*_fields).where(_of_study, trials.c.id == sa.bindparam("its_id"))
_taken = sa.select(trials.c.digest).where(_of_study, trials.c.digest.in_(sa.bindparam("digests", expanding=True)), held)
_end = (
    sa.update(trials)
    .where(
        _of_study,
        trials.c.id == sa.bindparam("its_id"),
        trials.c.state.in_(sa.bindparam("before", expanding=True)),
    )
    .values(
        state=sa.bindparam("state"),
        value=sa.bindparam("value"),
        std=sa.bindparam("std"),
        error=sa.bindparam("error"),
        outcomes=sa.bindparam("outcomes"),
        updated=sa.bindparam("now"),
        revision=sa.bindparam("revision"),
        lease=sa.bindparam("lease"),
        worker=sa.func.coalesce(sa.bindparam("worker", type_=sa.Text), trials.c.worker),
        summary=sa.func.coalesce(sa.bindparam("summary", type_=sa.Text), trials.c.summary),
        notes=sa.func.coalesce(sa.bindparam("notes", type_=sa.Text), trials.c.notes),
        # The object of an abandoned trial may have been asked again: its late result is then a replicate.
        replicate=sa.or_(trials.c.replicate, trials.c.state == State.ABANDONED.value),
    )
)
_replace = (
    sa.update(trials)
    .where(_of_study, trials.c.id == sa.bindparam("its_id"))
    .values(
        {name: sa.bindparam(name) for name in (*REPLACED, "revision")} | {"updated": sa.bindparam("now")},
    )
)
_any_late = sa.select(trials.c.id).where(_of_study, asked, trials.c.lease < now).limit(1)
_abandon_late = (
    sa.update(trials)
    .where(_of_study, asked, trials.c.lease < sa.bindparam("now"))
    .values(
        state=State.ABANDONED.value,
        lease=sa.null(),
        updated=sa.bindparam("now"),
        revision=sa.bindparam("revision"),
    )
    .returning(trials.c.id)
)
_extend = (
    sa.update(trials)
    .where(_of_study, asked, trials.c.id.in_(sa.bindparam("ids", expanding=True)))
    .values(lease=sa.bindparam("until"), updated=sa.bindparam("now"), revision=sa.bindparam("revision"))
)
# Neither texts, which SQLite keeps among numbers and takes for larger than any, nor what is not finite.
_finite = sa.case((trials.c.value.between(-sys.float_info.max, sys.float_info.max), trials.c.value))
_tallies = sa.select(
    trials.c.study,
    trials.c.state,
    sa.func.count().label("number"),
    sa.func.min(_finite).label("lowest"),
    sa.func.max(_finite).label("highest"),
).group_by(trials.c.study, trials.c.state)


def open_sql(url: str, create: bool = True) -> Storage:
    """The storage at a database's URL; a StorageError says what is wrong with the URL, the file or the server.

    Without `create` a file or tables that are not there are an error, and are not made.
    """
    parsed = parse(url)
    return Memory() if in_memory(parsed) else Sql(Database(parsed, create), create)


@final
class Sql(Storage):
    """Studies in a database, its tables created or brought up to date."""

    def __init__(self, database: Database, create: bool = True) -> None:
        self._database = database
        try:
            prepare(database, create)
        except BaseException:
            database.close()
            raise

    def _open(self, name: str, settings: dict[str, Any]) -> OpenStudy:
        with self._database.reading() as connection:
            found = _find(connection, name)
        if found is None:
            with self._database.writing() as connection:
                self._database.lock(connection)
                found = _find(connection, name) or _create(connection, name, settings)
        bad = study_fault(found)
        if bad is not None and bad.field not in ("created", "updated"):
            remedy = KEPT if bad.field == "settings" else "`likewise check URL --set-aside` puts it right"
            raise StorageError(f"{bad}; {remedy}")
        return _SqlStudy(self._database, found["id"], name, json.loads(found["settings"]))

    def rows(self, name: str) -> list[Row]:
        with self._database.reading() as connection:
            found = _find(connection, name)
        if found is None:
            raise no_study(name, [info.name for info in self.studies()])
        return _SqlStudy(self._database, found["id"], name, {}).since(0)[0]

    def studies(self) -> list[StudyInfo]:
        with self._database.reading() as connection:
            found = connection.execute(sa.select(studies).order_by(studies.c.name)).all()
            tallies = connection.execute(_tallies).all()
        infos = [_info(head, [tally for tally in tallies if tally.study == head.id]) for head in found]
        return sorted(infos, key=lambda info: info.name)

    def check(self) -> list[BadRow]:
        with self._database.reading() as connection:
            return bad_rows(connection)

    def set_aside(self) -> list[BadRow]:
        with self._database.writing() as connection:
            self._database.lock(connection)
            return set_aside(connection)

    def delete(self, name: str) -> None:
        with self._database.writing() as connection:
            if connection.execute(sa.delete(studies).where(studies.c.name == name)).rowcount:
                return
            names = connection.execute(sa.select(studies.c.name).order_by(studies.c.name)).scalars().all()
        raise no_study(name, names)

    def close(self) -> None:
        self._database.close()


@final
class _SqlStudy(OpenStudy):
    def __init__(self, database: Database, number: int, name: str, settings: dict[str, Any]) -> None:
        super().__init__(name, settings)
        self._database = database
        self._number = number

    def since(self, revision: int) -> tuple[list[Row], int]:
        with self._database.reading() as connection:
            found = connection.execute(_rows_since, {"its_study": self._number, "after": revision}).mappings().all()
        rows = [row for fields in found if (row := self._row(dict(fields))) is not None]
        return rows, rows[-1].revision if rows else revision

    def _row(self, fields: dict[str, Any]) -> Row | None:
        bad = trial_fault(self.name, fields)
        if bad is None:
            return row_of(fields)
        self.pass_over(bad)
        return None

    def expire(self) -> list[int]:
        with self._database.reading() as connection:
            if connection.execute(_any_late, {"its_study": self._number}).one_or_none() is None:
                return []
        with self._changing() as (connection, change):
            return sorted(connection.execute(_abandon_late, change).scalars())

    def notes(self) -> list[str]:
        query = sa.select(notes.c.text).where(notes.c.study == self._number).order_by(notes.c.id)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def _note(self, text: str) -> None:
        with self._changing() as (connection, change):
            row = {"study": self._number, "created": change["now"], "text": text}
            connection.execute(notes.insert(), row)

    def _beat(self, ids: Sequence[int], lease: float) -> None:
        with self._changing() as (connection, change):
            for start in range(0, len(ids), AT_ONCE):
                some = {"until": change["now"] + lease, "ids": ids[start : start + AT_ONCE]}
                connection.execute(_extend, change | some)

    def _record(self, rows: Sequence[NewRow], ends: Sequence[End]) -> list[int]:
        digests = [digest(row.key) for row in rows]
        with self._changing(len(rows)) as (connection, change):
            ended = [self._end(connection, change, end, len(rows)) for end in ends]
            claimed = [each for row, each in zip(rows, digests, strict=True) if row.claims]
            if taken := self._which_taken(connection, claimed):
                keys = [row.key for row, each in zip(rows, digests, strict=True) if row.claims and each in taken]
                raise Taken(self.name, keys)
            ids = list(range(change["size"] - len(rows), change["size"]))
            if rows:
                new = [self._fields(*each, change) for each in zip(ids, rows, digests, strict=True)]
                connection.execute(trials.insert(), new)
            elif not any(ended):
                # Nothing has changed, nor has the revision.
                connection.rollback()
            return ids

    def _end(self, connection: Connection, change: dict[str, Any], end: End, adding: int) -> bool:
        """Whether the trial has changed; a StudyError if it cannot."""
        before = [allowed.value for allowed in FOLLOWS[end.state]]
        fields = {"state": end.state.value, "value": end.value, "std": end.std, "error": end.error}
        fields |= {"worker": end.worker, "summary": end.summary, "notes": self._all_notes(connection, end)}
        fields["lease"] = None if end.lease is None else change["now"] + end.lease
        fields["outcomes"] = stamp(end.outcomes, change["revision"])
        ending = change | fields | {"its_id": end.id, "before": before}
        if end.why is None and connection.execute(_end, ending).rowcount == 1:
            return True
        found = connection.execute(_row_of, {"its_study": self._number, "its_id": end.id}).mappings().one_or_none()
        if found is not None and (bad := trial_fault(self.name, dict(found))):
            raise StorageError(f"{bad}; {CHECK}")
        row = None if found is None else row_of(dict(found))
        after = None if row is None else gone_on(row, end, change["now"], change["revision"])
        if after is not None:
            fields = {name: getattr(after, name) for name in REPLACED} | {"state": after.state.value}
            connection.execute(_replace, change | fields | {"its_id": end.id})
            return True
        if refusal := self._refusal(end, row, change["size"] - adding):
            raise refusal
        return False

    def _all_notes(self, connection: Connection, end: End) -> str | None:
        """The notes of a trial with those that it gets; None where it gets none."""
        if end.notes is None:
            return None
        found = connection.execute(_row_of, {"its_study": self._number, "its_id": end.id}).mappings().one_or_none()
        bad = found is None or trial_fault(self.name, dict(found)) is not None
        return end.notes if found is None or bad else join_notes(found["notes"], end.notes)

    def _which_taken(self, connection: Connection, digests: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for start in range(0, len(digests), AT_ONCE):
            some = {"its_study": self._number, "digests": digests[start : start + AT_ONCE]}
            found.update(connection.execute(_taken, some).scalars())
        return found

    @contextmanager
    def _changing(self, adding: int = 0) -> Iterator[tuple[Connection, dict[str, Any]]]:
        """A transaction that has the study to itself, and the new revision, size and time."""
        with self._database.writing() as connection:
            # A likewise that is newer may have changed the tables since the study was opened.
            self._database.lock(connection, shared=True)
            raised = {"its_study": self._number, "adding": adding}
            found = connection.execute(_raise_revision, raised).one_or_none()
            if found is None:
                raise self._gone()
            known_version(found.version, self._database.where)
            yield connection, {"its_study": self._number, **found._mapping}

    def _fields(self, id: int, new: NewRow, its_digest: str, change: dict[str, Any]) -> dict[str, Any]:
        row = row_at(new, id, change["now"], change["revision"])
        ours = {"study": self._number, "digest": its_digest, "replicate": new.replicate}
        return {**vars(row), **ours, "state": row.state.value}


def _find(connection: Connection, name: str) -> Any:
    return connection.execute(heads.where(studies.c.name == name)).mappings().one_or_none()


def _create(connection: Connection, name: str, settings: dict[str, Any]) -> Any:
    text = json.dumps(settings, sort_keys=True)
    row = {"name": name, "settings": text, "size": 0, "revision": 0, "created": now, "updated": now}
    connection.execute(studies.insert().values(row))
    return _find(connection, name)


def _info(head: Any, tallies: Sequence[Any]) -> StudyInfo:
    """The study at a glance, as far as its row and those of its trials can be read."""
    bad = STUDY["settings"].fault(head.settings)
    direction = "unknown" if bad else aim(json.loads(head.settings))
    counts = {state: sum(tally.number for tally in tallies if tally.state == state.value) for state in State}
    values = [value for tally in tallies for value in (tally.lowest, tally.highest) if value is not None]
    created, updated = (moment if is_number(moment) else 0.0 for moment in (head.created, head.updated))
    return StudyInfo(str(head.name), direction, counts, best_value(direction, values), created, updated)
