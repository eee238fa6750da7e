"""Databases and processes for the tests.

PostgreSQL is a real server, from the binaries that the package pgserver carries or the system has. One server per
test process, started when a test first needs it. PostgreSQL refuses to run as root: there it runs as an account without
rights, from a copy of the binaries if need be; nothing on the machine is changed.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

ACCOUNTS = ("nobody", "postgres", "daemon")
STARTING = 60.0

Start = Callable[..., subprocess.Popen[str]]


def _installations() -> Iterator[Path]:
    """Directories with PostgreSQL's `bin`, the carried one first."""
    carried = importlib.util.find_spec("pgserver")
    if carried is not None and carried.origin is not None:
        yield Path(carried.origin).parent / "pginstall"
    yield from sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parents[1]


def _reachable(installation: Path, home: Path, account: dict[str, Any]) -> Path:
    """The installation, or a copy of it if it lies where the account cannot go."""
    try:
        subprocess.run([installation / "bin" / "postgres", "--version"], check=True, capture_output=True, **account)
    except (PermissionError, subprocess.CalledProcessError):
        copy = home / "copy" / "pgserver" / "pginstall"
        shutil.copytree(installation, copy)
        if (libraries := installation.parents[1] / "pgserver.libs").is_dir():
            shutil.copytree(libraries, home / "copy" / "pgserver.libs")
        return copy
    return installation


def _account() -> dict[str, Any]:
    """How to start a process without root's rights; nothing to do for anyone else."""
    if os.geteuid() != 0:
        return {}
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    pytest.skip(f"PostgreSQL refuses to run as root, and there is none of the accounts {', '.join(ACCOUNTS)}")


def _start(installation: Path, home: Path) -> subprocess.Popen[bytes]:
    account = _account()
    data = home / "data"
    data.mkdir()
    if account:
        for path in (home, data):
            os.chown(path, account["user"], account["group"])
    binaries = _reachable(installation, home, account) / "bin"
    # Without a home directory and locale of its own, the server behaves the same on every machine.
    process = {"cwd": home, "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}, **account}
    initdb = [binaries / "initdb", "-D", data, "-U", "likewise", "--auth=trust", "--encoding=UTF8", "--no-sync"]
    subprocess.run(initdb, check=True, capture_output=True, timeout=120, **process)
    with (home / "log").open("wb") as log:
        # -F: the tests ask about concurrency, not about power cuts.
        command = [binaries / "postgres", "-D", data, "-k", home, "-h", "", "-F", "-c", "max_connections=100"]
        return subprocess.Popen(command, stdout=log, stderr=log, **process)


def _await(server: subprocess.Popen[bytes], home: Path, url: str) -> None:
    import psycopg

    deadline = time.monotonic() + STARTING
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "log").read_text(errors="replace")) from None
            time.sleep(0.05)


@contextmanager
def _serving(installation: Path) -> Iterator[str]:
    # Not pytest's directory: the path of a socket may have about a hundred characters only.
    with tempfile.TemporaryDirectory(prefix="likewise-pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        home = Path(name)
        server = _start(installation, home)
        try:
            _await(server, home, f"postgresql://likewise@/postgres?host={home}")
            yield f"?host={home}"
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(30)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The server, as the part of its URL after the database's name."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    tried: list[str] = []
    with ExitStack() as stack:
        for installation in _installations():
            try:
                server = stack.enter_context(_serving(installation))
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                tried.append(f"{installation}: {error}")
            else:
                yield server
                return
        pytest.skip(f"no PostgreSQL server could be started; tried {'; '.join(tried) or 'none, as none is installed'}")


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of a new, empty schema, which to its users is a database of their own but costs no files."""
    import psycopg

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(f"postgresql://likewise@/postgres{postgres_server}", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"postgresql+psycopg://likewise@/postgres{postgres_server}&options=-csearch_path%3D{name}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture(params=["sqlite_url", "postgres_url"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a script with arguments; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, *map(str, arguments)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()
