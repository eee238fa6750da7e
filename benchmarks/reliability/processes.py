"""The processes of a case: workers that ask and tell, and the parent that starts them.

Each has a log: a file of its own, with a line for each thing that was acknowledged to it. A line is one `write` to the
kernel, which a killed process cannot take back.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import random
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from benchmarks.reliability.cases import Case
from benchmarks.reliability.clients import Client, client_of, open_study
from likewise.errors import StorageError

PARENT = -1
STOP = "stop"
STARTED = "started"
# What a worker waits for a server that is killed and started again.
PATIENCE = 60.0


class FileLog:
    """What one process was promised, a line each."""

    def __init__(self, folder: Path, worker: int) -> None:
        name = "parent" if worker == PARENT else str(worker)
        self._file = os.open(folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.write("process", os.getpid())

    def write(self, kind: str, *what: Any) -> None:
        os.write(self._file, (json.dumps([kind, *what]) + "\n").encode())

    def asked(self, id: int, key: str) -> None:
        self.write("asked", id, key)

    def told(self, key: str, value: float) -> None:
        self.write("told", key, value)

    def whole(self, values: list[float]) -> None:
        self.write("whole", values)


def stopped(folder: Path) -> bool:
    """Whether the wave is over; so it is when its folder is gone."""
    return (folder / STOP).exists() or not folder.exists()


def work(case: Case, url: str, folder: Path, wave: int, worker: int, study: Any = None) -> None:
    """Ask and tell, with the inherited study or with one of one's own, until one's time or the wave is over."""
    log = FileLog(folder, worker)
    with _reported(log):
        if stopped(folder):
            return
        client = _client(case, log, wave, worker)
        client.study = study or client.patient(lambda: open_study(case, url))
        del study
        fate, begun = case.waves[wave].fates[worker], time.monotonic()
        for steps in count(1):
            if stopped(folder) or (fate.spared and time.monotonic() > begun + fate.wait):
                return
            client.step()
            if case.reopen and steps % case.reopen == 0:
                _drop(client)
                client.study = client.patient(lambda: open_study(case, url))


def start_workers(case: Case, url: str, folder: Path, wave: int) -> None:
    """The parent: starts workers, replaces the dead, and does with its own study, if it has one, as the case says."""
    # Python complains about workers that lose their parent while they start, which is what is being done to them.
    with (folder / "stderr").open("wb") as file:
        os.dup2(file.fileno(), 2)
    log = FileLog(folder, PARENT)
    with _reported(log):
        client = _client(case, log, wave, PARENT)
        if case.parent != "without a study":
            client.study = client.patient(lambda: open_study(case, url))
            # What is still in the journal when the workers start is what a careless close would take along.
            for _ in range(client.rng.randrange(4)):
                client.step()
        _tend(case, url, folder, wave, client)


def _tend(case: Case, url: str, folder: Path, wave: int, client: Client) -> None:
    """Keep `case.workers` of the wave's workers running until all have been started and the wave is over."""
    waiting, running = list(range(len(case.waves[wave].fates))), list[BaseProcess]()
    context: Any = multiprocessing.get_context(case.start)
    if case.start == "forkserver":
        context.set_forkserver_preload([__name__])
    while not stopped(folder):
        running = [process for process in running if process.is_alive()]
        while waiting and len(running) < case.workers:
            inherited = client.study if case.inherited else None
            client.log.write("start", worker := waiting.pop(0))
            running.append(context.Process(target=work, args=(case, url, folder, wave, worker, inherited)))
            running[-1].start()
        if not waiting:
            (folder / STARTED).touch()
        if case.parent == "drops its study" and client.study is not None and client.rng.random() < 0.1:
            _drop(client)
            # Whoever would be started later has nothing to inherit.
            waiting = [] if case.inherited else waiting
        if case.parent in ("writes too", "is killed") and client.study is not None:
            client.step()
        else:
            time.sleep(0.01)
    for process in running:
        process.join()


def _client(case: Case, log: FileLog, wave: int, worker: int) -> Client:
    first = wave * 10**8 + (worker + 1) * 10**6
    values = map(float, count(first))
    rng = random.Random(f"{case.waves[wave].seed}/{worker}")
    return client_of(case)(log, values, rng, _patience(log) if case.server_dies else _at_once)


def _at_once(call: Callable[[], Any]) -> Any:
    return call()


def _patience(log: FileLog) -> Callable[[Callable[[], Any]], Any]:
    def patient(call: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return call()
            except StorageError as error:
                if time.monotonic() > deadline:
                    raise
                log.write("away", str(error)[:200])
                time.sleep(0.02)

    return patient


def _drop(client: Client) -> None:
    client.study = None
    gc.collect()


class _reported:
    """Writes an exception that ends a process to its log."""

    def __init__(self, log: FileLog) -> None:
        self._log = log

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is not None:
            self._log.write("error", "".join(traceback.format_exception(error))[-2000:])
        return True


def lines(path: Path) -> Iterator[list[Any]]:
    """The whole lines of a log; the last may be cut short by a kill."""
    text = path.read_bytes()
    yield from map(json.loads, text[: text.rfind(b"\n") + 1].splitlines())
