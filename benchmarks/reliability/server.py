"""A PostgreSQL of one's own, from the binaries that the package pgserver carries or the system has; it can be killed.

PostgreSQL refuses to run as root: there it runs as an account without rights, from a copy of the binaries if need be;
nothing on the machine is changed.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ACCOUNTS = ("nobody", "postgres", "daemon")
STARTING = 60.0


class NoServer(RuntimeError):
    """No PostgreSQL can be started here; it says why."""


class Server:
    """A server in a folder of its own. Without `durable` it does not wait for the disk: that is for power cuts."""

    def __init__(self, installation: Path, home: Path, durable: bool) -> None:
        self._home, self._data = home, home / "data"
        self._account = _account()
        self._own()
        self._binaries = _reachable(installation, home, self._account) / "bin"
        self._fast = () if durable else ("-F",)
        # Without a home directory and locale of its own, the server behaves the same on every machine.
        self._options = {"cwd": home, "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}, **self._account}
        self._run("initdb", "-D", self._data, "-U", "likewise", "--auth=trust", "--encoding=UTF8", "--no-sync")
        self._process = self._start()

    def new_url(self) -> str:
        """The URL of a new, empty schema, which to its users is a database of their own but costs no files."""
        import psycopg

        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self._base, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"postgresql+psycopg://likewise@/postgres?host={self._home}&options=-csearch_path%3D{name}"

    def kill_and_restart(self) -> None:
        """kill -9 the server with all its processes, as a crash of its machine would, and start it again."""
        children = _children(self._process.pid)
        for process in (self._process.pid, *children):
            _kill(process)
        self._process.wait()
        self._process = self._start()

    def stop(self) -> None:
        """End it at once."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(30)

    @property
    def _base(self) -> str:
        return f"postgresql://likewise@/postgres?host={self._home}"

    def _own(self) -> None:
        self._data.mkdir()
        if self._account:
            for path in (self._home, self._data):
                os.chown(path, self._account["user"], self._account["group"])

    def _run(self, program: str, *arguments: Any) -> None:
        subprocess.run(
            [self._binaries / program, *arguments], check=True, capture_output=True, timeout=120, **self._options
        )

    def _start(self) -> subprocess.Popen[bytes]:
        """The running server, once it answers."""
        deadline = time.monotonic() + STARTING
        while True:
            with (self._home / "log").open("ab") as log:
                command = [self._binaries / "postgres", "-D", self._data, "-k", self._home, "-h", "", *self._fast]
                process = subprocess.Popen(
                    [*command, "-c", "max_connections=100"], stdout=log, stderr=log, **self._options
                )
            if self._answers(process, deadline):
                return process
            # What a killed server left behind may take a moment to go.
            if time.monotonic() > deadline:
                process.kill()
                raise NoServer((self._home / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def _answers(self, process: subprocess.Popen[bytes], deadline: float) -> bool:
        import psycopg

        while process.poll() is None and time.monotonic() < deadline:
            try:
                psycopg.connect(self._base).close()
                return True
            except psycopg.OperationalError:
                time.sleep(0.02)
        return False


@contextmanager
def serving(durable: bool) -> Iterator[Server]:
    """A running server; `NoServer` says what was tried."""
    tried: list[str] = []
    with ExitStack() as stack:
        for installation in _installations():
            try:
                server = stack.enter_context(_at(installation, durable))
            except (OSError, NoServer, subprocess.SubprocessError) as error:
                tried.append(f"{installation}: {error}")
            else:
                yield server
                return
    raise NoServer(f"no PostgreSQL server could be started; tried {'; '.join(tried) or 'none, as none is installed'}")


@contextmanager
def _at(installation: Path, durable: bool) -> Iterator[Server]:
    # In /tmp: the path of a socket may have about a hundred characters only.
    with tempfile.TemporaryDirectory(prefix="likewise-pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        server = Server(installation, Path(name), durable)
        try:
            yield server
        finally:
            server.stop()


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
    raise NoServer(f"PostgreSQL refuses to run as root, and there is none of the accounts {', '.join(ACCOUNTS)}")


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return list(map(int, found.read_text().split())) if found.exists() else []


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
