"""Studies kept in a database: SQLite, one file and no server, or PostgreSQL, for many machines.

Three tables: the studies by name, the events of each, and the leases of trials. A transaction first locks its study
(in SQLite the file), so that its events are numbered without gaps and appear in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from likewise.errors import StorageError
from likewise.study.storage.base import NotStored, Storage, Stored, Transaction, deleted
from likewise.study.storage.database import Database, in_memory, parse
from likewise.study.storage.memory import Memory

VERSION = "3"
# Databases bound the number of parameters of one statement.
AT_ONCE = 500


class clock(FunctionElement[float]):
    """The database's clock in seconds since the epoch, when it is evaluated: workers' clocks differ, it has one."""

    type = sa.Double()
    inherit_cache = True


@compiles(clock, "sqlite")
def _sqlite(element: clock, compiler: Any, **options: Any) -> str:
    # To a millisecond. SQLite before 3.42 has no fractions of seconds since the epoch.
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(clock, "postgresql")
def _postgresql(element: clock, compiler: Any, **options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


metadata = sa.MetaData()
meta = sa.Table(
    "likewise_meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
studies = sa.Table(
    "likewise_studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    # The number of a deleted study is never given to another, lest a worker that has it open writes there.
    sqlite_autoincrement=True,
)
events = sa.Table(
    "likewise_events",
    metadata,
    sa.Column("study", sa.ForeignKey(studies.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
leases = sa.Table(
    "likewise_leases",
    metadata,
    sa.Column("study", sa.ForeignKey(studies.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("until", sa.Double, nullable=False),
)

_since = (
    sa.select(*(events.c[name] for name in Stored._fields))
    .where(events.c.study == sa.bindparam("its_study"), events.c.revision > sa.bindparam("after"))
    .order_by(events.c.revision)
)
_stored_version = sa.select(meta.c.value).where(meta.c.name == "schema")
# The version as well: a newer likewise may have changed the tables since the study was opened.
_locked = sa.select(studies.c.id, _stored_version.scalar_subquery().label("version")).where(
    studies.c.id == sa.bindparam("its_study")
)
_late = sa.select(leases.c.trial).where(leases.c.study == sa.bindparam("its_study"), leases.c.until < clock())
_of_trials = sa.and_(
    leases.c.study == sa.bindparam("its_study"), leases.c.trial.in_(sa.bindparam("trials", expanding=True))
)


def open_sql(url: str, create: bool = True) -> Storage:
    """The storage at a database's URL; a StorageError says what is wrong with the URL, the file or the server.

    Without `create` a file or tables that are not there are an error, and are not made.
    """
    parsed = parse(url)
    return Memory() if in_memory(parsed) else Sql(Database(parsed, create), create)


@final
class _Change(Transaction):
    def __init__(self, connection: Connection, study: int, now: float) -> None:
        self.now = now
        self._connection = connection
        self._study = study

    def since(self, revision: int) -> list[Stored]:
        return _read(self._connection, self._study, revision)

    def append(self, event: Stored) -> None:
        self._connection.execute(events.insert(), {"study": self._study, **event._asdict()})

    def lease(self, trials: Sequence[int], seconds: float | None) -> None:
        for start in range(0, len(trials), AT_ONCE):
            some = {"its_study": self._study, "trials": trials[start : start + AT_ONCE]}
            self._connection.execute(sa.delete(leases).where(_of_trials), some)
        if seconds is not None and trials:
            until = self.now + seconds
            new = [{"study": self._study, "trial": trial, "until": until} for trial in trials]
            self._connection.execute(leases.insert(), new)

    def late(self) -> list[int]:
        return sorted(self._connection.execute(_late, {"its_study": self._study}).scalars())


@final
class Sql(Storage):
    """Studies in a database, whose tables are made if they are not there."""

    def __init__(self, database: Database, create: bool = True) -> None:
        self._database = database
        try:
            _prepare(database, create)
        except BaseException:
            database.close()
            raise

    def __repr__(self) -> str:
        return f"Sql({self._database.where})"

    def find(self, name: str) -> int | None:
        with self._database.reading() as connection:
            return _find(connection, name)

    def create(self, name: str, first: tuple[str, str, str]) -> int:
        if (number := self.find(name)) is not None:
            return number
        with self._changing() as connection:
            number = _find(connection, name)
            if number is None:
                number = _add(connection, name)
                who, kind, body = first
                row = {"study": number, "revision": 1, "at": clock(), "who": who, "kind": kind, "body": body}
                connection.execute(events.insert().values(**row))
            return number

    def names(self) -> list[str]:
        with self._database.reading() as connection:
            return sorted(connection.execute(sa.select(studies.c.name)).scalars())

    def since(self, study: int, revision: int) -> list[Stored]:
        with self._database.reading() as connection:
            return _read(connection, study, revision)

    @contextmanager
    def transaction(self, study: int) -> Iterator[Transaction]:
        with self._database.writing() as connection:
            self._database.lock(connection, shared=True)
            locked = connection.execute(_locked.with_for_update(of=studies), {"its_study": study}).one_or_none()
            if locked is None:
                raise deleted()
            _check_version(locked.version, self._database.where)
            # After the lock was got: the statement that waits for it may have read the clock before.
            now = connection.execute(sa.select(clock())).scalar_one()
            yield _Change(connection, study, now)

    def beat(self, study: int, trials: Sequence[int], seconds: float) -> None:
        with self._database.writing() as connection:
            for start in range(0, len(trials), AT_ONCE):
                some = {"its_study": study, "trials": trials[start : start + AT_ONCE]}
                connection.execute(sa.update(leases).where(_of_trials).values(until=clock() + seconds), some)

    def any_late(self, study: int) -> bool:
        with self._database.reading() as connection:
            return connection.execute(_late.limit(1), {"its_study": study}).first() is not None

    def rename(self, name: str, new: str) -> None:
        with self._changing() as connection:
            number = _number(connection, name, new)
            connection.execute(sa.update(studies).where(studies.c.id == number).values(name=new))

    def copy(self, name: str, new: str) -> None:
        with self._changing() as connection:
            number, copied = _number(connection, name, new), _add(connection, new)
            for table in (events, leases):
                columns = [sa.literal(copied) if column.name == "study" else column for column in table.c]
                of_study = sa.select(*columns).where(table.c.study == number)
                connection.execute(table.insert().from_select([column.name for column in table.c], of_study))

    def delete(self, name: str) -> None:
        with self._changing() as connection:
            connection.execute(sa.delete(studies).where(studies.c.id == _number(connection, name)))

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A transaction that has the whole storage to itself."""
        with self._database.writing() as connection:
            self._database.lock(connection)
            yield connection


def _read(connection: Connection, study: int, revision: int) -> list[Stored]:
    rows = connection.execute(_since, {"its_study": study, "after": revision})
    return [Stored(*row) for row in rows]


def _find(connection: Connection, name: str) -> int | None:
    return connection.execute(sa.select(studies.c.id).where(studies.c.name == name)).scalar_one_or_none()


def _add(connection: Connection, name: str) -> int:
    return int(connection.execute(studies.insert().values(name=name).returning(studies.c.id)).scalar_one())


def _number(connection: Connection, name: str, new: str | None = None) -> int:
    """The number of a study; raises if it is not there, or if a new name is in use."""
    names = dict(connection.execute(sa.select(studies.c.name, studies.c.id)).all())
    if name not in names:
        raise NotStored(sorted(names)).missing(name)
    if new is not None and new in names:
        raise NotStored(sorted(names)).in_use(new)
    return int(names[name])


def _prepare(database: Database, create: bool) -> None:
    """Make the tables where there are none; raises if they are of another version.

    Without `create` a database that has no such tables is a StorageError, and is left as it is.
    """
    with database.reading() as connection:
        if sa.inspect(connection).has_table(meta.name):
            return _check_version(connection.execute(_stored_version).scalar_one_or_none(), database.where)
    if not create:
        kind = "a SQLite" if database.lite else "a PostgreSQL"
        raise StorageError(f"{database.where} is {kind} database, but holds no likewise studies; check the name")
    with database.writing() as connection:
        database.lock(connection)
        if not sa.inspect(connection).has_table(meta.name):
            metadata.create_all(connection)
            connection.execute(meta.insert(), {"name": "schema", "value": VERSION})
    return None


def _check_version(version: str | None, where: str) -> None:
    if version != VERSION:
        newer = version is not None and version.isdecimal() and int(version) > int(VERSION)
        remedy = "run: pip install --upgrade likewise" if newer else "choose another file or database"
        raise StorageError(
            f"{where} holds studies of another likewise (schema {version!r}, this one has {VERSION}); {remedy}"
        )
