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
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from likewise.errors import MissingExtra, StorageError
from likewise.study.storage import database, schema
from likewise.study.storage.address import without_password
from likewise.study.storage.base import open_storage
from likewise.study.storage.listing import studies
from likewise.study.storage.rows import digest
from likewise.study.storage.sql import Sql, open_sql
from likewise.study.storage.trials import NewRow, Row
from likewise.study.trial import State

Start = Callable[..., subprocess.Popen[str]]
# A dozen processes on two cores may take their time.
pytestmark = pytest.mark.timeout(1200)

SHARE = """
import random, sys
from likewise.study.storage.base import Taken, open_storage
from likewise.study.storage.trials import NewRow
from likewise.study.trial import State
url, worker, objects = sys.argv[1], sys.argv[2], int(sys.argv[3])
study = open_storage(url).open("shared", {"direction": "maximize"})
order = list(range(objects))
random.Random(worker).shuffle(order)
revision, seen, taken = 0, {}, set()
for number in order:
    if number in taken:
        continue
    try:
        (id,) = study.add([NewRow(key=str(number), payload=str(number), worker=worker)])
    except Taken:
        continue
    study.settle(id, state=State.TOLD, value=number / 7)
    rows, revision = study.since(revision)
    seen.update({row.id: row for row in rows})
    taken.update(int(row.key) for row in rows)
    assert sorted(seen) == list(range(len(seen))), "a reader missed an earlier row"
    print(id, number, flush=True)
"""

FORK = """
import os, sys
from likewise.study.storage.base import open_storage
from likewise.study.storage.trials import NewRow
study = open_storage(sys.argv[1]).open("forked", {})
for number in range(5):
    study.add([NewRow(key=f"before {number}", payload="1")])
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        for number in range(10):
            study.add([NewRow(key=f"{child} {number}", payload="1")])
        os._exit(0)
    children.append(pid)
for number in range(10):
    study.add([NewRow(key=f"parent {number}", payload="1")])
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
assert sorted(row.id for row in study.since(0)[0]) == list(range(55))
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
from likewise.study.storage.listing import studies
from likewise.study.storage.base import open_storage
directory, url = sys.argv[1:]
open_storage(f"sqlite:///{directory}/other.db").open("s", {})
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for info in studies(url):
    with open_storage(url, create=False) as storage:
        print(info.name, len(storage.rows(info.name)))
"""

# Root may write anywhere, so it gives up its rights, once everything is imported.
UNPRIVILEGED = """
import os, sys
from likewise.errors import StorageError
from likewise.study.storage.base import open_storage
directory, url = sys.argv[1:]
open_storage(f"sqlite:///{directory}/other.db").open("s", {})
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    open_storage(url).open("s", {})
except StorageError as error:
    print(error)
"""


def rows_of(url: str, name: str) -> list[Row]:
    with open_storage(url) as storage:
        return sorted(storage.open(name, {"direction": "maximize"}).since(0)[0], key=lambda row: row.id)


def execute(url: str, *statements: str) -> list[Any]:
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        found = [connection.exec_driver_sql(statement) for statement in statements][-1]
        return list(found) if found.returns_rows else []


def test_eight_processes_share_a_study(url: str, start: Start) -> None:
    objects = 400
    workers = [start(SHARE, url, worker, objects) for worker in range(8)]
    outputs = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8, outputs
    told = [tuple(map(int, line.split())) for out, _ in outputs for line in out.splitlines()]
    rows = rows_of(url, "shared")
    assert [row.id for row in rows] == list(range(objects))
    assert sorted(int(row.key) for row in rows) == list(range(objects))
    assert {row.state for row in rows} == {State.TOLD}
    assert sorted(told) == [(row.id, int(row.key)) for row in rows]
    assert all(row.value == int(row.key) / 7 for row in rows)


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
    with open_storage(url) as storage, open_storage(url) as fast:
        storage.open("s", {}).add([NewRow("a", "1", lease=60.0)])
        truth = time.time()
        monkeypatch.setattr(time, "time", lambda: truth + 120.0)
        hasty = fast.open("s", {})
        assert hasty.expire() == []
        hasty.add([NewRow("b", "1", lease=60.0)])
        assert all(abs((row.lease or 0.0) - 60.0 - truth) < 30.0 for row in hasty.since(0)[0])


def test_a_lease_begins_when_the_lock_is_had(url: str) -> None:
    """Who waits for another writer longer than the lease does not get a lease that has ended."""
    with open_storage(url) as storage:
        study = storage.open("s", {})
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
        study.add([NewRow("a", "1", lease=0.5)])
        assert study.expire() == []
        (row,) = study.since(0)[0]
        assert row.lease == row.created + 0.5
        holder.join()


def test_a_lost_connection_is_replaced(postgres_url: str) -> None:
    with open_storage(postgres_url) as storage:
        study = storage.open("s", {})
        study.add([NewRow("a", "1")])
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        execute(postgres_url, f"{others} AND pid <> pg_backend_pid()")
        assert study.add([NewRow("b", "1")]) == [1]


def test_sqlite_waits_for_the_disk(sqlite_url: str) -> None:
    kept = database.Database(database.parse(sqlite_url))
    with kept.reading() as connection:
        pragmas = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    kept.close()
    assert pragmas == ["wal", 2]


def test_one_file_remains_after_closing(sqlite_url: str, tmp_path: Path) -> None:
    with open_storage(sqlite_url) as storage:
        storage.open("s", {}).add([NewRow("a", "1")])
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_relative_paths_stay_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_storage("sqlite:///study.db") as storage:
        storage.close()
        monkeypatch.chdir("/")
        storage.open("s", {})
    assert (tmp_path / "study.db").exists()


def test_queries_use_their_indexes(sqlite_url: str) -> None:
    from likewise.study.storage import sql

    open_storage(sqlite_url).close()
    engine = sa.create_engine(sqlite_url)
    given = {"its_study": 1, "moment": 0.0, "after": 0, "digests": ["a"]}
    for query, index in ((sql._any_late, "lease"), (sql._taken, "held"), (sql._rows_since, "revision")):
        text = str(query.params(given).compile(engine, compile_kwargs={"literal_binds": True}))
        with engine.connect() as connection:
            plan = " ".join(str(row) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}"))
        assert f"likewise_trials_{index}" in plan
    engine.dispose()


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
    with open_storage(url) as storage:
        storage.open("s", {})
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
        storage.open("s", {}).add([NewRow(str(number), "1") for number in range(2000)])
    path = tmp_path / "study.db"
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StorageError, match="damaged"):
        open_storage(sqlite_url).open("s", {}).since(0)


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
        storage.open("s", {}).add([NewRow("a", "1")])
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
        study = storage.open("s", {})
        other = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process held it"):
            study.add([NewRow("a", "1")])
        other.close()
        assert study.add([NewRow("a", "1")]) == [0]


def test_a_newer_schema_is_refused(url: str) -> None:
    open_storage(url).close()
    execute(url, "UPDATE likewise_meta SET value = '99'")
    with pytest.raises(StorageError, match=r"newer likewise .schema 99, .*upgrade"):
        open_storage(url)


def test_an_open_study_is_not_written_once_the_schema_has_risen(url: str) -> None:
    with open_storage(url) as storage:
        study = storage.open("s", {})
        study.add([NewRow("a", "1")])
        execute(url, "UPDATE likewise_meta SET value = '99'")
        for write in (
            lambda: study.add([NewRow("b", "1")]),
            lambda: study.settle(0, state=State.TOLD, value=1.0),
            lambda: study.beat([0], 1.0),
            lambda: study.note("1"),
        ):
            with pytest.raises(StorageError, match=r"newer likewise .schema 99, .*upgrade"):
                write()
        execute(url, "UPDATE likewise_meta SET value = '2'")
        assert [row.state for row in study.since(0)[0]] == [State.ASKED]


def test_an_unreadable_schema_is_refused(url: str) -> None:
    open_storage(url).close()
    execute(url, "UPDATE likewise_meta SET value = 'one'")
    with pytest.raises(StorageError, match="'one'"):
        open_storage(url)


def aged(url: str) -> None:
    """A made-up schema 0: trials without a standard deviation."""
    with open_storage(url) as storage:
        storage.open("old", {}).add([NewRow("a", "1", state=State.TOLD, value=0.1)])
    execute(
        url,
        "ALTER TABLE likewise_trials DROP COLUMN std",
        "ALTER TABLE likewise_trials DROP COLUMN outcomes",
        "ALTER TABLE likewise_trials DROP COLUMN notes",
        "ALTER TABLE likewise_trials DROP COLUMN corrections",
        "UPDATE likewise_meta SET value = '0' WHERE name = 'schema'",
    )


def test_an_older_schema_is_migrated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aged(url)
    step = ("ALTER TABLE likewise_trials ADD COLUMN std DOUBLE PRECISION",)
    monkeypatch.setattr(schema, "MIGRATIONS", {0: step, **schema.MIGRATIONS})
    for _ in range(2):
        with open_storage(url) as storage:
            (row,) = storage.open("old", {}).since(0)[0]
            assert (row.value, row.std) == (0.1, None)
    assert execute(url, "SELECT value FROM likewise_meta") == [(str(schema.VERSION),)]


# The tables of schema 1, as SQLite kept them, with a study of two trials.
SCHEMA_1 = """
CREATE TABLE likewise_meta (name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name));
CREATE TABLE likewise_studies (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
  settings TEXT NOT NULL, size INTEGER NOT NULL, revision BIGINT NOT NULL, created DOUBLE NOT NULL,
  updated DOUBLE NOT NULL, UNIQUE (name));
CREATE TABLE likewise_trials (study INTEGER NOT NULL, id INTEGER NOT NULL, "key" TEXT NOT NULL, payload TEXT NOT NULL,
  state TEXT NOT NULL, value DOUBLE, std DOUBLE, error TEXT, worker TEXT, created DOUBLE NOT NULL,
  updated DOUBLE NOT NULL, lease DOUBLE, summary TEXT NOT NULL, revision BIGINT NOT NULL, digest TEXT NOT NULL,
  replicate BOOLEAN NOT NULL, PRIMARY KEY (study, id),
  FOREIGN KEY(study) REFERENCES likewise_studies (id) ON DELETE CASCADE);
CREATE TABLE likewise_notes (id INTEGER NOT NULL, study INTEGER NOT NULL, created DOUBLE NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (id), FOREIGN KEY(study) REFERENCES likewise_studies (id) ON DELETE CASCADE);
INSERT INTO likewise_meta VALUES ('schema', '1');
INSERT INTO likewise_studies VALUES (1, 'old', '{}', 2, 2, 1.7e9, 1.7e9);
INSERT INTO likewise_trials VALUES (1, 0, 'a', '1', 'told', 0.30000000000000004, 0.5, NULL, 'w', 1.7e9, 1.7e9, NULL,
  '{"mean": 1}', 2, :a, 0);
INSERT INTO likewise_trials VALUES (1, 1, 'b', '2', 'asked', NULL, NULL, NULL, 'w', 1.7e9, 1.7e9, NULL, '{}', 1, :b, 0);
"""


def test_a_file_of_schema_1_is_migrated_and_takes_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    script = SCHEMA_1.replace(":a", f"'{digest('a')}'").replace(":b", f"'{digest('b')}'")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    for told in (False, True):
        with open_storage(f"sqlite:///{path}") as storage:
            study = storage.open("old", {})
            first, second = sorted(study.since(0)[0], key=lambda row: row.id)
            assert (first.value, first.std, first.outcomes, first.worker) == (0.1 + 0.2, 0.5, None, "w")
            assert (second.state is State.TOLD) is told
            if not told:
                study.settle(1, state=State.TOLD, outcomes='{"yield": {"value": 71.0}}')
            assert storage.check() == []
    assert execute(f"sqlite:///{path}", "SELECT value FROM likewise_meta") == [(str(schema.VERSION),)]


def test_a_database_of_schema_1_is_migrated(url: str) -> None:
    with open_storage(url) as storage:
        storage.open("old", {}).add([NewRow("a", "1", state=State.TOLD, value=0.1)])
    drop = [f"ALTER TABLE likewise_trials DROP COLUMN {column}" for column in ("outcomes", "notes", "corrections")]
    execute(url, *drop, "UPDATE likewise_meta SET value = '1' WHERE name = 'schema'")
    with open_storage(url) as storage:
        study = storage.open("old", {})
        study.add([NewRow("b", "2", state=State.TOLD, outcomes='{"yield": {"value": 71.0}}')])
        assert [(row.value, row.outcomes is None) for row in study.since(0)[0]] == [(0.1, True), (None, False)]


def test_a_migration_that_breaks_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aged(url)
    steps = ("ALTER TABLE likewise_trials ADD COLUMN std DOUBLE PRECISION", "ALTER TABLE nowhere ADD COLUMN x TEXT")
    monkeypatch.setattr(schema, "MIGRATIONS", {0: steps, **schema.MIGRATIONS})
    with pytest.raises(StorageError, match="nowhere"):
        open_storage(url)
    assert execute(url, "SELECT value FROM likewise_meta") == [("0",)]
    engine = sa.create_engine(url)
    assert "std" not in {column["name"] for column in sa.inspect(engine).get_columns("likewise_trials")}
    engine.dispose()


def test_a_schema_without_a_step_is_refused(url: str) -> None:
    aged(url)
    with pytest.raises(StorageError, match=r"schema 0.*export"):
        open_storage(url)


def test_other_tables_in_the_database_are_left_alone(url: str) -> None:
    execute(url, "CREATE TABLE studies (mine INTEGER)", "INSERT INTO studies VALUES (7)")
    with open_storage(url) as storage:
        storage.open("s", {}).add([NewRow("a", "1")])
        storage.delete("s")
    assert execute(url, "SELECT mine FROM studies") == [(7,)]


def test_the_database_itself_refuses_an_object_twice(url: str) -> None:
    with open_storage(url) as storage:
        storage.open("s", {}).add([NewRow("a", "1")])
    copied = [column.name for column in schema.trials.columns if column.name != "id"]
    twice = f"INSERT INTO likewise_trials (id, {', '.join(copied)}) SELECT 1, {', '.join(copied)} FROM likewise_trials"
    with pytest.raises(sa.exc.IntegrityError):
        execute(url, twice)


def test_a_copied_file_is_the_same_study(sqlite_url: str, tmp_path: Path) -> None:
    with open_storage(sqlite_url) as storage:
        storage.open("s", {}).add([NewRow(str(number), "1") for number in range(50)])
    shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
    with open_sql(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert isinstance(copy, Sql)
        assert len(copy.open("s", {}).since(0)[0]) == 50


@pytest.mark.parametrize("password", ["a:b", "a/b", "a@b", "a?b", "a%2Fb", ""])
def test_a_password_is_not_shown_whatever_its_signs(password: str) -> None:
    shown = without_password(f"postgresql://me:{password}@host/db?x=1&Password=c%40d&sslpassword=e")
    assert shown == "postgresql://me:***@host/db?x=1&Password=***&sslpassword=***"


def test_what_is_no_password_is_shown() -> None:
    for url in ("sqlite:////home/a:b@c/study.db", "postgresql://me@host/db", "study.db", "postgresql:///db?host=/tmp"):
        assert without_password(url) == url
