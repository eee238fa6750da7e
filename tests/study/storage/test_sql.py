"""Databases under stress: many processes, forks, lost connections, bad files, old and new schemas."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.fixtures.logs import add, end, log_of

from likewise.errors import MissingExtra, StorageError
from likewise.study.log import studies
from likewise.study.storage import database, sql
from likewise.study.storage.base import open_storage
from likewise.study.storage.memory import without_password
from likewise.study.storage.sql import Sql, open_sql
from likewise.study.trial import State

Start = Callable[..., subprocess.Popen[str]]
# A dozen processes on two cores may take their time.
pytestmark = pytest.mark.timeout(1200)

SHARE = """
import random, sys
from likewise.study.log import Taken
from likewise.study.trial import State
from tests.fixtures.logs import add, end, log_of
from tests.fixtures.logs import add, end, log_of
url, worker, objects = sys.argv[1], sys.argv[2], int(sys.argv[3])
log = log_of(url, "shared", worker)
order = list(range(objects))
random.Random(worker).shuffle(order)
for number in order:
    try:
        (id,) = add(log, str(number))
    except Taken:
        continue
    end(log, id, value=number / 7)
    ids = [trial.id for trial in log.ledger.trials]
    assert ids == list(range(len(ids))), "a reader missed an earlier event"
    print(id, number, flush=True)
"""

FORK = """
import os, sys
from tests.fixtures.logs import add, log_of
log = log_of(sys.argv[1], "forked")
for number in range(5):
    add(log, f"before {number}")
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        for number in range(10):
            add(log, f"{child} {number}")
        os._exit(0)
    children.append(pid)
for number in range(10):
    add(log, f"parent {number}")
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
log.sync()
assert [trial.id for trial in log.ledger.trials] == list(range(55))
"""

OPEN = """
import sys, time
from likewise.study.storage.base import open_storage
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
for each in range(int(sys.argv[3])):
    open_storage(f"{sys.argv[1]}/{each}.db").close()
"""

LOOK = """
import os, sys
from likewise.study.log import read_log, studies
from likewise.study.storage.base import open_storage
from tests.fixtures.logs import log_of
directory, url = sys.argv[1:]
log_of(f"sqlite:///{directory}/other.db")
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for info in studies(url):
    with open_storage(url, create=False) as storage:
        print(info.name, len(read_log(storage, info.name).ledger))
"""

# Root may write anywhere, so it gives up its rights, once everything is imported.
UNPRIVILEGED = """
import os, sys
from likewise.errors import StorageError
from tests.fixtures.logs import log_of
directory, url = sys.argv[1:]
log_of(f"sqlite:///{directory}/other.db")
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    log_of(url)
except StorageError as error:
    print(error)
"""


def execute(url: str, *statements: str) -> list[Any]:
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        found = [connection.exec_driver_sql(statement) for statement in statements][-1]
        return list(found) if found.returns_rows else []


def test_eight_processes_share_a_study(url: str, start: Start) -> None:
    objects = 160
    workers = [start(SHARE, url, worker, objects) for worker in range(8)]
    outputs = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8, outputs
    told = [tuple(map(int, line.split())) for out, _ in outputs for line in out.splitlines()]
    trials = log_of(url, "shared").ledger.trials
    assert [trial.id for trial in trials] == list(range(objects))
    assert sorted(int(trial.object) for trial in trials) == list(range(objects))
    assert {trial.state for trial in trials} == {State.TOLD}
    assert sorted(told) == [(trial.id, int(trial.object)) for trial in trials]
    assert all(trial.value == int(trial.object) / 7 for trial in trials)


def test_forked_children_open_their_own_connections(url: str, start: Start) -> None:
    process = start(FORK, url)
    _, error = process.communicate(timeout=600)
    assert process.returncode == 0, error


def test_many_processes_open_a_new_file_at_once(start: Start, tmp_path: Path) -> None:
    """Each meets the others while they turn the journal into a write-ahead log, which does not wait by itself."""
    begin = time.time() + 3.0
    openers = [start(OPEN, f"sqlite:///{tmp_path}", begin, 10) for _ in range(8)]
    errors = [opener.communicate()[1] for opener in openers]
    assert [opener.returncode for opener in openers] == [0] * 8, errors


def test_turning_the_journal_waits_for_who_holds_the_file(sqlite_url: str, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "study.db", isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE mine (x INTEGER)")
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.5, other.close)
    timer.start()
    open_storage(sqlite_url).close()
    timer.join()


def test_leases_go_by_the_databases_clock(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose own clock is two minutes fast takes nothing from another."""
    add(log_of(url), "a", lease=60.0)
    truth = time.time()
    monkeypatch.setattr(time, "time", lambda: truth + 120.0)
    hasty = log_of(url)
    hasty.expire()
    add(hasty, "b", lease=60.0)
    assert [trial.state for trial in hasty.ledger.trials] == [State.ASKED] * 2
    assert all(abs(trial.created - truth) < 30.0 for trial in hasty.ledger.trials)


def test_a_lease_begins_when_the_lock_is_had(url: str) -> None:
    """Who waits for another writer longer than the lease does not get a lease that has ended."""
    with open_storage(url) as storage:
        log = log_of(storage)
        database, inside = storage._database, threading.Event()  # type: ignore[attr-defined]

        def hold() -> None:
            with database.writing() as connection:
                update = "" if database.lite else "SELECT * FROM likewise_studies FOR UPDATE"
                connection.exec_driver_sql(update or "SELECT 1")
                inside.set()
                time.sleep(1.0)

        holder = threading.Thread(target=hold)
        holder.start()
        inside.wait()
        add(log, "a", lease=0.5)
        log.expire()
        assert log.ledger.trials[0].state is State.ASKED
        holder.join()


def test_a_lost_connection_is_replaced(postgres_url: str) -> None:
    with open_storage(postgres_url) as storage:
        log = log_of(storage)
        add(log, "a")
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        execute(postgres_url, f"{others} AND pid <> pg_backend_pid()")
        assert add(log, "b") == [1]


def test_sqlite_waits_for_the_disk(sqlite_url: str) -> None:
    kept = database.Database(database.parse(sqlite_url))
    with kept.reading() as connection:
        pragmas = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    kept.close()
    assert pragmas == ["wal", 2]


def test_one_file_remains_after_closing(sqlite_url: str, tmp_path: Path) -> None:
    with open_storage(sqlite_url) as storage:
        add(log_of(storage), "a")
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_relative_paths_stay_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_storage("sqlite:///study.db") as storage:
        storage.close()
        monkeypatch.chdir("/")
        log_of(storage)
    assert (tmp_path / "study.db").exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("study.db", "sqlite:///study.db"),
        ("", "sqlite:///study.db"),
        ("sqlite://study.db", "two slashes"),
        ("mysql://host/db", "'mysql'"),
        ("sqlite+aiosqlite:///study.db", "aiosqlite"),
        ("postgresql+asyncpg://host/db", "asyncpg"),
        ("postgresql://host:port/db", "not a storage URL"),
    ],
)
def test_garbled_urls(url: str, words: str) -> None:
    with pytest.raises(StorageError, match=words):
        open_storage(url)


def test_an_unreachable_server_is_named_without_its_password() -> None:
    with pytest.raises(StorageError, match="check that the server runs") as raised:
        open_storage("postgresql://me:hush-hush@localhost:1/none")
    assert "localhost:1/none" in str(raised.value)
    assert "hush" not in str(raised.value)


def test_postgresql_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"likewise\[postgres\]"):
        open_storage("postgresql://localhost/db")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("smiles,yield\nCCO,0.3\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="is not an SQLite database") as raised:
        open_storage(f"sqlite:///{path}")
    assert str(path) in str(raised.value)
    assert path.read_bytes() == before


def test_looking_into_a_storage_makes_none(url: str) -> None:
    """Tables are made by the first study, not by asking which there are."""
    execute(url, "CREATE TABLE mine (x INTEGER)")
    with pytest.raises(StorageError, match="database, but holds no likewise studies"):
        studies(url)
    engine = sa.create_engine(url)
    assert sa.inspect(engine).get_table_names() == ["mine"]
    engine.dispose()
    log_of(url)
    assert [info.name for info in studies(url)] == ["s"]


def test_looking_into_a_file_leaves_it_as_it_is(tmp_path: Path) -> None:
    other, empty, missing = (tmp_path / f"{name}.db" for name in ("other", "empty", "missing"))
    execute(f"sqlite:///{other}", "CREATE TABLE mine (x INTEGER)")
    empty.touch()
    before = other.read_bytes()
    for path, words in ((other, "no likewise studies"), (empty, "no likewise studies"), (missing, "there is no file")):
        with pytest.raises(StorageError, match=words) as raised:
            studies(f"sqlite:///{path}")
        assert str(path) in str(raised.value)
    assert other.read_bytes() == before
    assert empty.read_bytes() == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "other.db"]


def test_a_damaged_database(sqlite_url: str, tmp_path: Path) -> None:
    with open_storage(sqlite_url) as storage:
        log = log_of(storage)
        for begin in range(0, 2000, 100):
            add(log, *map(str, range(begin, begin + 100)))
    path = tmp_path / "study.db"
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StorageError, match="damaged"):
        log_of(sqlite_url)


@pytest.mark.parametrize("place", ["missing/study.db", "file/study.db", "."])
def test_places_where_no_file_can_be(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="check that its directory exists") as raised:
        open_storage(f"sqlite:///{tmp_path}/{place}")
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize("existing", [True, False])
def test_what_may_not_be_written(existing: bool, tmp_path: Path, start: Start) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        url = f"sqlite:///{place}/study.db"
        if existing:
            open_storage(url).close()
            (place / "study.db").chmod(0o444)
        place.chmod(0o555)
        message, error = start(UNPRIVILEGED, tmp_path, url).communicate()
        place.chmod(0o755)
    assert f"{place}/study.db" in message, error
    assert "writable" in message or "written" in message


@pytest.mark.parametrize("closed", [True, False])
def test_a_file_in_a_folder_that_may_not_be_written_is_read(closed: bool, tmp_path: Path, start: Start) -> None:
    """A file that was closed is read as it is; one that is open elsewhere through what its writer keeps beside it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        url = f"sqlite:///{place}/a%23b.db"
        storage = open_storage(url)
        add(log_of(storage), "a")
        if closed:
            storage.close()
        place.chmod(0o555)
        answer, error = start(LOOK, tmp_path, url).communicate()
        place.chmod(0o755)
        storage.close()
    assert answer == "s 1\n", error


def test_a_file_locked_for_too_long(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    with open_storage(sqlite_url) as storage:
        log = log_of(storage)
        other = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process held it"):
            add(log, "a")
        other.close()
        assert add(log, "a") == [0]


@pytest.mark.parametrize(
    ("version", "words"), [("99", "schema '99', .*upgrade"), ("2", "schema '2', .*another"), ("one", "schema 'one'")]
)
def test_another_schema_is_refused_also_by_who_has_the_study_open(version: str, words: str, url: str) -> None:
    log = log_of(url)
    add(log, "a")
    execute(url, f"UPDATE likewise_meta SET value = '{version}'")
    for call in (lambda: open_storage(url), lambda: add(log, "b"), lambda: end(log, 0, value=1.0)):
        with pytest.raises(StorageError, match=words):
            call()
    execute(url, f"UPDATE likewise_meta SET value = '{sql.VERSION}'")
    assert [trial.state for trial in log_of(url).ledger.trials] == [State.ASKED]


def test_other_tables_in_the_database_are_left_alone(url: str) -> None:
    execute(url, "CREATE TABLE studies (mine INTEGER)", "INSERT INTO studies VALUES (7)")
    with open_storage(url) as storage:
        add(log_of(storage), "a")
        storage.delete("s")
    assert execute(url, "SELECT mine FROM studies") == [(7,)]


def test_a_copied_file_is_the_same_study(sqlite_url: str, tmp_path: Path) -> None:
    with open_storage(sqlite_url) as storage:
        add(log_of(storage), *map(str, range(50)))
    shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
    with open_sql(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert isinstance(copy, Sql)
        assert len(log_of(copy).ledger) == 50


@pytest.mark.parametrize("password", ["a:b", "a/b", "a@b", "a?b", "a%2Fb", ""])
def test_a_password_is_not_shown_whatever_its_signs(password: str) -> None:
    shown = without_password(f"postgresql://me:{password}@host/db?x=1&Password=c%40d&sslpassword=e")
    assert shown == "postgresql://me:***@host/db?x=1&Password=***&sslpassword=***"


def test_what_is_no_password_is_shown() -> None:
    for url in ("sqlite:////home/a:b@c/study.db", "postgresql://me@host/db", "study.db", "postgresql:///db?host=/tmp"):
        assert without_password(url) == url
