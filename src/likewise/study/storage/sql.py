"""Studies kept in a database: SQLite, one file and no server, or PostgreSQL, for many machines.

Every change first raises the study's revision, which locks the study for the rest of the transaction: changes to one
study follow one another, ids are consecutive, and a reader that has seen a revision has seen every earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from likewise.study.storage.base import FOLLOWS, NewRow, OpenStudy, Row, Storage, StudyInfo, Taken, best_value, no_study
from likewise.study.storage.clock import clock, now
from likewise.study.storage.database import Database, in_memory, parse
from likewise.study.storage.memory import Memory
from likewise.study.storage.schema import asked, held, notes, prepare, studies, trials
from likewise.study.trial import State

# Databases bound the number of parameters of one statement.
AT_ONCE = 500
STATES = {state.value: state for state in State}

_study = studies.c.id == sa.bindparam("its_study")
_of_study = trials.c.study == sa.bindparam("its_study")
_fields = [trials.c[name] for name in Row.__dataclass_fields__]
_raise_revision = (
    sa.update(studies)
    .where(_study)
    .values(
        revision=studies.c.revision + 1,
        size=studies.c.size + sa.bindparam("adding"),
        updated=clock(),
    )
    # What is returned is computed once the study is locked, however long that took.
    .returning(studies.c.revision, studies.c.size, clock().label("now"))
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
        updated=sa.bindparam("now"),
        revision=sa.bindparam("revision"),
        lease=sa.null(),
        # The object of an abandoned trial may have been asked again: its late result is then a replicate.
        replicate=sa.or_(trials.c.replicate, trials.c.state == State.ABANDONED.value),
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
_tallies = sa.select(
    trials.c.study, trials.c.state, sa.func.count(), sa.func.min(trials.c.value), sa.func.max(trials.c.value)
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
        number, stored = found
        return _SqlStudy(self._database, number, name, json.loads(stored))

    def studies(self) -> list[StudyInfo]:
        with self._database.reading() as connection:
            heads = connection.execute(sa.select(studies).order_by(studies.c.name)).all()
            tallies = connection.execute(_tallies).all()
        return sorted((_info(head, tallies) for head in heads), key=lambda info: info.name)

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
            found = connection.execute(_rows_since, {"its_study": self._number, "after": revision}).all()
        rows = [_row(fields) for fields in found]
        return rows, rows[-1].revision if rows else revision

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

    def _add(self, rows: Sequence[NewRow]) -> list[int]:
        digests = [_digest(row.key) for row in rows]
        with self._changing(len(rows)) as (connection, change):
            claimed = [digest for row, digest in zip(rows, digests, strict=True) if row.claims]
            if taken := self._which_taken(connection, claimed):
                keys = [row.key for row, digest in zip(rows, digests, strict=True) if row.claims and digest in taken]
                raise Taken(self.name, keys)
            ids = list(range(change["size"] - len(rows), change["size"]))
            new = [self._fields(*each, change) for each in zip(ids, rows, digests, strict=True)]
            connection.execute(trials.insert(), new)
            return ids

    def _which_taken(self, connection: Connection, digests: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for start in range(0, len(digests), AT_ONCE):
            some = {"its_study": self._number, "digests": digests[start : start + AT_ONCE]}
            found.update(connection.execute(_taken, some).scalars())
        return found

    def _settle(self, id: int, state: State, value: float | None, std: float | None, error: str | None) -> None:
        before = [allowed.value for allowed in FOLLOWS[state]]
        with self._changing() as (connection, change):
            end = {"its_id": id, "before": before, "state": state.value, "value": value, "std": std, "error": error}
            if connection.execute(_end, change | end).rowcount == 1:
                return
            found = connection.execute(_row_of, {"its_study": self._number, "its_id": id}).one_or_none()
            connection.rollback()
            row = None if found is None else _row(found)
            if refusal := self._unsettled(id, row, change["size"], state):
                raise refusal

    @contextmanager
    def _changing(self, adding: int = 0) -> Iterator[tuple[Connection, dict[str, Any]]]:
        """A transaction that has the study to itself, and the new revision, size and time."""
        with self._database.writing() as connection:
            raised = {"its_study": self._number, "adding": adding}
            found = connection.execute(_raise_revision, raised).one_or_none()
            if found is None:
                raise self._gone()
            yield connection, {"its_study": self._number, **found._mapping}

    def _fields(self, id: int, row: NewRow, digest: str, change: dict[str, Any]) -> dict[str, Any]:
        return {
            "study": self._number,
            "id": id,
            "key": row.key,
            "payload": row.payload,
            "state": row.state.value,
            "value": row.value,
            "std": row.std,
            "error": row.error,
            "worker": row.worker,
            "created": change["now"],
            "updated": change["now"],
            "lease": None if row.lease is None else change["now"] + row.lease,
            "summary": row.summary,
            "revision": change["revision"],
            "digest": digest,
            "replicate": row.replicate,
        }


def _find(connection: Connection, name: str) -> tuple[int, str] | None:
    found = connection.execute(sa.select(studies.c.id, studies.c.settings).where(studies.c.name == name)).one_or_none()
    return None if found is None else (found.id, found.settings)


def _create(connection: Connection, name: str, settings: dict[str, Any]) -> tuple[int, str]:
    text = json.dumps(settings, sort_keys=True)
    row = {"name": name, "settings": text, "size": 0, "revision": 0, "created": now, "updated": now}
    return connection.execute(studies.insert().values(row).returning(studies.c.id)).scalar_one(), text


def _info(head: Any, tallies: Sequence[Any]) -> StudyInfo:
    direction = str(json.loads(head.settings).get("direction", "maximize"))
    counts = dict.fromkeys(State, 0)
    extremes: list[float] = []
    for study, state, count, lowest, highest in tallies:
        if study == head.id:
            counts[STATES[state]] = count
            extremes += [value for value in (lowest, highest) if value is not None]
    return StudyInfo(head.name, direction, counts, best_value(direction, extremes), head.created, head.updated)


def _row(fields: Any) -> Row:
    id, key, payload, state, *rest = fields
    return Row(id, key, payload, STATES[state], *rest)


def _digest(key: str) -> str:
    return blake2b(key.encode(), digest_size=16).hexdigest()
