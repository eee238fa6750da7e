"""Databases and processes for the tests.

PostgreSQL is a real server of the tests' own: one per test process, started when a test first needs it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """The server."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    server = pytest.importorskip("benchmarks.reliability.server", reason="the benchmarks are a package of their own")
    try:
        # The tests ask about concurrency, not about power cuts.
        with server.serving(durable=False) as running:
            yield running
    except server.NoServer as error:
        pytest.skip(str(error))


@pytest.fixture
def postgres_url(postgres_server: Any) -> str:
    """The URL of a new, empty database."""
    return str(postgres_server.new_url())


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
