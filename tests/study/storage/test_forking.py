"""Processes that fork with a study open: whatever the parent does with its own, nothing that was told is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import get_all_start_methods
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.logs import add, log_of

import likewise as lw
import likewise.forks
from likewise.errors import StorageError
from likewise.study.storage import database
from likewise.study.storage.base import open_storage

TELLS, WORKERS = 40, 2
Start = Callable[..., subprocess.Popen[str]]


def near(x: float, y: float) -> float:
    return 1.0 / (1.0 + abs(x - y))


SCRIPT = f"""
TELLS, WORKERS = {TELLS}, {WORKERS}
import multiprocessing, os, signal, sys, time
from pathlib import Path
import likewise as lw

def opened(url):
    return lw.Study(lw.Pool(list(range(10_000))), near, storage=url)

def near(x, y):
    return 1.0 / (1.0 + abs(x - y))

def work(url, worker, study=None):
    study = study or opened(url)
    for number in range(TELLS):
        study.tell(1000 * worker + number, number / 7)
        os.write(1, b"%d %d\\n" % (worker, number))
        if number == 3:
            Path(f"ready {{worker}}").touch()

if __name__ == "__main__":
    url, method, whose, end = sys.argv[1:]
    start = multiprocessing.get_context(method)
    study = opened(url)
    study.tell(9999, 0.0)
    given = (study,) if whose == "inherited" else ()
    workers = [start.Process(target=work, args=(url, worker, *given)) for worker in range(1, WORKERS + 1)]
    for each in workers:
        each.start()
    while not all(Path(f"ready {{worker}}").exists() for worker in range(1, WORKERS + 1)):
        time.sleep(0.001)
    if end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "dropped":
        del given, study
    for each in workers:
        each.join()
    if end == "kept":
        assert study.count(lw.State.TOLD) == 1 + TELLS * WORKERS
"""

# The parent dies in the midst of a change; its child ends by itself if it waits for the dead for too long.
KILLED_CHANGING = """
import os, signal, sys
from tests.fixtures.logs import add, log_of
log = log_of(sys.argv[1], "forked")
add(log, "before")
read, write = os.pipe()
if os.fork() == 0:
    signal.alarm(15)
    os.close(write)
    assert os.read(read, 1) == b"", "the parent lives"
    add(log, "after")
    print("told", flush=True)
    os._exit(0)
with log.change("ask"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts the script in a directory of its own: a child that is spawned needs its file."""

    def begin(*arguments: str) -> subprocess.Popen[str]:
        (tmp_path / "script.py").write_text(SCRIPT)
        command = [sys.executable, "script.py", *arguments]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return begin


def look_in(url: str) -> None:
    """What `likewise studies` does, in a process that then closes the file."""
    look = f"from likewise.study.log import studies; studies({url!r})"
    subprocess.run([sys.executable, "-c", look], check=True)


@pytest.mark.parametrize("end", ["dropped", "kept", "killed"])
@pytest.mark.parametrize(
    ("method", "whose"), [("fork", "inherited"), ("fork", "own"), ("forkserver", "own"), ("spawn", "own")]
)
def test_nothing_told_by_a_child_is_lost(method: str, whose: str, end: str, run: Start, sqlite_url: str) -> None:
    if method not in get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    parent = run(sqlite_url, method, whose, end)
    if end == "killed":
        parent.wait(60)
        look_in(sqlite_url)
    out, error = parent.communicate(timeout=60)
    assert parent.returncode == (-9 if end == "killed" else 0), error
    acknowledged = [tuple(map(int, line.split())) for line in out.splitlines()]
    assert len(acknowledged) == TELLS * WORKERS, error
    found = lw.Study(lw.Pool(list(range(10_000))), near, storage=sqlite_url).trials
    assert {(t.object, t.value) for t in found} == {(9999, 0.0)} | {(1000 * w + n, n / 7) for w, n in acknowledged}


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_study_is_not_sent_to_a_child(method: str, run: Start, sqlite_url: str) -> None:
    parent = run(sqlite_url, method, "inherited", "kept")
    error = parent.communicate(timeout=60)[1]
    assert parent.returncode == 1
    assert "open it there, by its storage and name" in error


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@forks
def test_a_fork_waits_for_the_transactions_of_other_threads(sqlite_url: str) -> None:
    with open_storage(sqlite_url) as storage:
        database, inside = storage._database, threading.Event()  # type: ignore[attr-defined]

        def slow() -> None:
            with database.writing():
                inside.set()
                time.sleep(0.3)

        thread = threading.Thread(target=slow)
        thread.start()
        inside.wait()
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            os._exit(0)
        waited = time.monotonic() - begin
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        assert waited > 0.2
        assert add(log_of(storage), "a") == [0]


@forks
def test_a_fork_does_not_wait_for_a_server(postgres_url: str) -> None:
    with open_storage(postgres_url) as storage:
        database, inside, forked = storage._database, threading.Event(), threading.Event()  # type: ignore[attr-defined]

        def slow() -> None:
            with database.writing():
                inside.set()
                assert forked.wait(30.0)

        thread = threading.Thread(target=slow)
        thread.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            os._exit(0 if add(log_of(storage, "child"), "a") == [0] else 1)
        forked.set()
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        assert storage.names() == ["child"]


@forks
def test_threads_go_on_writing_through_many_forks(sqlite_url: str) -> None:
    """No deadlock, nothing lost: four threads of the parent, and a row of each of ten children."""
    with open_storage(sqlite_url) as storage:
        log, stop = log_of(storage), threading.Event()
        counts = [0] * 4

        def write(place: int) -> None:
            while not stop.is_set():
                add(log_of(storage), f"{place} {counts[place]}")
                counts[place] += 1
                # SQLite's lock is not fair: without a pause the threads could keep the children from it for long.
                time.sleep(0.01)

        threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for number in range(10):
            child = os.fork()
            if child == 0:
                add(log, f"child {number}")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for thread in threads:
            thread.join()
    with open_storage(sqlite_url) as storage:
        assert len(log_of(storage).ledger) == sum(counts) + 10


@forks
def test_a_child_keeps_no_trials_of_its_parent(sqlite_url: str) -> None:
    study = lw.Study(lw.Pool([1, 2, 3]), near, storage=sqlite_url, lease=60.0)
    study.ask()
    assert study._heartbeat._ids
    child = os.fork()
    if child == 0:
        os._exit(len(study._heartbeat._ids))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    study.abandon()


def test_a_fork_that_python_does_not_know_of_is_refused(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_storage(sqlite_url) as storage:
        log = log_of(storage)
        with monkeypatch.context() as patch:
            patch.setattr(database._engines, "_process", -1)
            with pytest.raises(StorageError, match="forked without Python's knowledge"):
                add(log, "a")
            with pytest.raises(StorageError, match="open studies after the fork"):
                open_storage(sqlite_url)
        assert add(log, "a") == [0]


def test_a_parent_killed_within_a_change_does_not_hold_up_its_children(url: str, start: Start) -> None:
    told, error = start(KILLED_CHANGING, url).communicate()
    assert told == "told\n", error


@forks
def test_an_inherited_study_is_another_worker_and_waits_for_no_thread_of_its_parent(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likewise.forks, "PATIENCE", 0.1)
    objectives: Any = {"yield": "maximize", "cost": "minimize"}
    study = lw.Study(lw.Pool(list(range(20))), near, objectives=objectives, storage=sqlite_url)
    asked, partly, failing = study.ask(3)
    study.tell(partly, {"yield": 0.5})
    study.tell(failing, {"yield": 0.4})
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with study._lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        code = 1
        try:
            study.abandon()
            study.tell(partly, {"cost": 2.0})
            study.fail(failing)
            study.tell(7, {"yield": 1.0, "cost": 1.0})
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    thread.join()
    by_id = {trial.id: trial for trial in study.trials}
    assert by_id[asked.id].state is lw.State.ASKED
    assert by_id[partly.id].values == {"yield": 0.5, "cost": 2.0}
    assert by_id[failing.id].state is lw.State.FAILED
    (told,) = (trial for trial in by_id.values() if trial.object == 7)
    assert told.worker != study.worker
