"""A database by its URL: how SQLite and PostgreSQL are connected to, locked and kept from forks, and their errors."""

from __future__ import annotations

import os
import random
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, final
from urllib.parse import quote
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from likewise.errors import MissingExtra, StorageError
from likewise.forks import before_forks, postponed
from likewise.forks import watch as watch_forks
from likewise.study.storage.memory import HIDDEN, without_password

# Forks and open databases: while a process forks, no connection to a file is open, and no idle one to a server.
#
# SQLite's locks are the operating system's, which belong to a process and are not inherited; SQLite's own list of the
# locks it holds is inherited. A child that finds a file in that list takes no lock on it, even with a connection of its
# own. Whoever closes the file next then believes to be the last, and removes the journal that the child writes to: what
# the child acknowledges is lost without an error. Closing the connections in the child comes too late, as it would run
# SQLite's own cleaning-up on files that the parent has open.
#
# A connection to a server is a socket, of which a child has a copy. If the parent is killed within a transaction, the
# server does not notice as long as the child lives, and the dead parent's locks hold up the child and everybody else.
#
# So the parent closes them before it forks, those to files once the threads that use one have ended their transactions;
# both sides open new ones when they next need them.


@final
class _Engines:
    """The engines of this process."""

    def __init__(self) -> None:
        self._engines: WeakSet[Engine] = WeakSet()
        self._process = os.getpid()

    def watch(self, engine: Engine) -> None:
        """Have its connections closed before forks; it must not have any yet."""
        self._check_seen()
        self._engines.add(engine)

    @contextmanager
    def using(self, engine: Engine) -> Iterator[None]:
        """Forks by other threads wait until this ends; this waits until they are done. A server's may go on."""
        self._check_seen()
        if engine.dialect.name != "sqlite":
            yield
            return
        with postponed():
            yield

    def close(self) -> None:
        """Close what is open."""
        for engine in list(self._engines):
            # The pool's own, which leaves alone what a thread still uses with a server.
            engine.pool.dispose()

    def begin_in_child(self) -> None:
        """Forget the parent's connections; one that the forking thread itself uses stays its own."""
        self._process = os.getpid()
        for engine in list(self._engines):
            engine.dispose(close=False)

    def _check_seen(self) -> None:
        """A fork that Python was not told of is fatal to whoever had a database open."""
        if self._process == os.getpid():
            return
        if any(engine.dialect.name == "sqlite" for engine in self._engines):
            raise StorageError(
                "this process was forked without Python's knowledge while an SQLite study was open, and could lose "
                "what it is told; open studies after the fork, or start processes with multiprocessing or os.fork"
            )
        self.begin_in_child()


_engines = _Engines()
watch, using = _engines.watch, _engines.using
watch_forks(_engines)
before_forks(_engines.close)


# A database by its URL: how SQLite and PostgreSQL are connected to, locked, and what their errors mean to a user.

FORMS = "write sqlite:///study.db for a file, or postgresql://user:password@host/database for a server"
PATIENCE = 60.0
LOOKED_AGAIN = 0.05
DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
# Any number will do, as long as every likewise takes the same one.
ADVISORY_LOCK = 5_154_211_873
ADVICE = {
    "not a database": "it is not an SQLite database; choose another file name",
    "unable to open": "check that its directory exists and can be written",
    "readonly": "make the file and its directory writable, or copy it to where you may write",
    "read-only": "make the file and its directory writable, or copy it to where you may write",
    "locked": f"another process held it for {PATIENCE:.0f} s; end that process, or use PostgreSQL for many workers",
    "malformed": "the file is damaged; restore a copy, or save what is readable with `sqlite3 FILE .recover`",
    "full": "free some space and repeat the call; what was acknowledged before is safe",
    "disk i/o": "check the disk; what was acknowledged before is safe",
}


class NoStorage(StorageError):
    """A URL that names no storage: it cannot be understood, or there is no such file."""


def parse(url: str) -> URL:
    """The URL with its driver and, for SQLite, an absolute path; `NoStorage` if it names no known database.

    >>> parse("postgres://me@host/db").drivername
    'postgresql+psycopg'
    """
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError) as error:
        raise NoStorage(f"{without_password(url)!r} is not a storage URL; {FORMS}") from error
    if parsed.drivername not in DRIVERS:
        raise NoStorage(f"{parsed.drivername!r} in {_shown(parsed)!r} is not a storage likewise knows; {FORMS}")
    parsed = parsed.set(drivername=DRIVERS[parsed.drivername])
    if parsed.get_backend_name() == "sqlite" and parsed.host:
        raise NoStorage(f"{_shown(parsed)!r} has two slashes where a file needs three; {FORMS}")
    if in_memory(parsed) or parsed.get_backend_name() != "sqlite" or "uri" in parsed.query:
        return parsed
    return parsed.set(database=str(Path(str(parsed.database)).expanduser().absolute()))


def in_memory(url: URL) -> bool:
    """Whether it is SQLite's way of saying: in memory."""
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


@final
class Database:
    """Connections to one database, for reading and for writing; without `create` it must be there already."""

    def __init__(self, url: URL, create: bool = True) -> None:
        self.lite = url.get_backend_name() == "sqlite"
        self.where = str(url.database) if self.lite else _shown(url)
        if not create and self.lite and "uri" not in url.query and not Path(self.where).exists():
            raise NoStorage(f"there is no file {self.where}; check the path")
        self._url = url
        self._engine = _engine(url if create or not _is_fixed(url) else _immutable(url), create)
        self._begin = {"likewise_begin": "BEGIN IMMEDIATE"}
        watch(self._engine)
        weakref.finalize(self, _release, self._engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent look."""
        with self._translate_errors(), using(self._engine), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: committed at the end, undone by an exception. SQLite lets in one writer at a time."""
        with self._translate_errors(), using(self._engine), self._engine.connect() as connection:
            if self.lite:
                connection = connection.execution_options(**self._begin)
            yield connection
            connection.commit()

    def lock(self, connection: Connection, shared: bool = False) -> None:
        """Keep every other likewise from creating or migrating anything until this transaction ends.

        Several transactions may do so at once if each says `shared`. In SQLite a writer is alone anyway.
        """
        if not self.lite:
            functions = sa.func.pg_advisory_xact_lock_shared if shared else sa.func.pg_advisory_xact_lock
            connection.execute(sa.select(functions(ADVISORY_LOCK)))

    def close(self) -> None:
        """Close every connection that is not in use."""
        _release(self._engine)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise StorageError(f"no connection to {self.where} came free in time; use fewer threads") from error
        except DBAPIError as error:
            reason = _scrub(" ".join(str(error.orig).split()), self._url)
            raise StorageError(f"cannot use the storage {self.where}: {reason}; {self._advice(reason)}") from error

    def _advice(self, reason: str) -> str:
        if not self.lite:
            return "check that the server runs, and the user, password and database in the URL"
        advices = (advice for sign, advice in ADVICE.items() if sign in reason.lower())
        return next(advices, "the last change was undone; what was acknowledged before is safe")


def _is_fixed(url: URL) -> bool:
    """Whether it is a file that nobody writes to, in a folder where SQLite cannot make the files it reads through."""
    if url.get_backend_name() != "sqlite" or "uri" in url.query:
        return False
    file = Path(str(url.database))
    return not os.access(file.parent, os.W_OK) and not file.with_name(f"{file.name}-wal").exists()


def _immutable(url: URL) -> URL:
    place = quote(str(url.database))
    return url.set(database=f"file:{place}", query={"mode": "ro", "immutable": "1", "uri": "true"})


def _engine(url: URL, create: bool) -> Engine:
    try:
        if url.get_backend_name() != "sqlite":
            # A study lives for months: connections that the server has dropped meanwhile are replaced unnoticed.
            # Whoever waited for a study's lock must see what was committed meanwhile, whatever the server's default.
            return sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        engine = sa.create_engine(url, connect_args={"timeout": PATIENCE})
    except ImportError as error:
        raise MissingExtra("a study on PostgreSQL", "psycopg", "postgres") from error
    except (ArgumentError, NoSuchModuleError, TypeError, ValueError) as error:
        raise NoStorage(f"{_shown(url)!r} is not a storage URL: {_scrub(str(error), url)}; {FORMS}") from error
    sa.event.listen(engine, "connect", _on_connect)
    if create:
        # A file that is only looked at keeps the journal it has.
        sa.event.listen(engine, "connect", _write_ahead)
    sa.event.listen(engine, "begin", _on_begin)
    return engine


def _release(engine: Engine) -> None:
    # A child that was forked without Python's knowledge has no connections of its own to close.
    with suppress(StorageError), using(engine):
        engine.dispose()


def _on_connect(connection: Any, record: Any) -> None:
    # The driver is kept from opening transactions, so that `_on_begin` can choose how they begin.
    connection.isolation_level = None
    # A text that is not UTF-8 is found when its row is checked; the driver would fail for every other row as well.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    with closing(connection.cursor()) as cursor:
        # An acknowledged tell survives a power cut, not only a killed process: each commit waits for the disk.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")


def _write_ahead(connection: Any, record: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    with closing(connection.cursor()) as cursor:
        while not _turned_write_ahead(cursor, may_wait=time.monotonic() < deadline):
            time.sleep(random.uniform(0.0, LOOKED_AGAIN))


def _turned_write_ahead(cursor: Any, may_wait: bool) -> bool:
    """Whether the journal is a write-ahead log now; no, while another process holds the file and one may wait."""
    try:
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            # Of all statements this one does not wait for a lock by itself.
            cursor.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if may_wait and "locked" in str(error):
            return False
        raise
    return True


def _on_begin(connection: Connection) -> None:
    # A transaction that reads first and writes later could find the file changed in between; it must begin as a writer.
    connection.exec_driver_sql(connection.get_execution_options().get("likewise_begin", "BEGIN"))


def _shown(url: URL) -> str:
    return without_password(url.render_as_string(hide_password=False))


def _scrub(text: str, url: URL) -> str:
    """A driver's message without the passwords of the URL, which it may quote."""
    hidden = [url.password, *(value for name, value in url.query.items() if "password" in name.lower())]
    for secret in (str(each) for each in hidden if each):
        text = text.replace(secret, HIDDEN)
    return text
