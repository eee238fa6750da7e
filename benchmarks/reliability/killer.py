"""One wave of processes: started, killed as the case says, and waited for."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from select import select
from typing import Any

from benchmarks.reliability.cases import Case, Fate, Wave
from benchmarks.reliability.processes import STARTED, STOP, lines, start_workers
from likewise.errors import StorageError
from likewise.study.log import studies

TICK = 0.003
# A machine that does other things as well may take its time; what takes longer than this hangs.
LIMIT = 120.0
# A worker that is to be killed after its first acknowledgement is killed without one after so many seconds.
SILENT = 20.0
# How long the workers of a dead parent may take to show themselves.
ORPHANS = {"fork": 0.2, "forkserver": 1.0, "spawn": 2.0}


@dataclass
class Kills:
    """How many were killed, and which processes did not come to their end."""

    workers: int = 0
    parents: int = 0
    servers: int = 0
    hung: int = 0


@dataclass
class Watched:
    """A process as its log shows it: its number once it runs, and when its first acknowledgement was seen."""

    path: Path
    fate: Fate
    handle: int | None = None
    begun: float = 0.0
    first: float | None = None
    done: bool = False

    def look(self) -> None:
        if self.handle is None and self.path.exists() and (found := list(lines(self.path))):
            try:
                # A handle rather than a number: the number of a process that has ended may be another's.
                self.handle = os.pidfd_open(found[0][1])
            except ProcessLookupError:
                self.done = True
            self.begun = time.monotonic()
        if self.handle is not None and self.first is None and self.path.read_bytes().count(b"\n") > 1:
            self.first = time.monotonic()

    def due(self) -> bool:
        since = self.begun if self.fate.opening else self.first or self.begun + SILENT
        return self.handle is not None and time.monotonic() >= since + self.fate.wait

    def kill(self) -> bool:
        """Whether it was still there to be killed."""
        self.done = True
        if not self.running():
            return False
        signal.pidfd_send_signal(self.handle, signal.SIGKILL)  # type: ignore[arg-type]
        return True

    def running(self) -> bool:
        """Whether it lives: a handle can be read when its process has ended."""
        return self.handle is not None and not select([self.handle], [], [], 0)[0]

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)


@dataclass
class Run:
    """A wave under way."""

    case: Case
    wave: Wave
    folder: Path
    url: str
    restart: Callable[[], None]
    kills: Kills
    begun: float = field(default_factory=time.monotonic)
    visitors: list[BaseProcess] = field(default_factory=list)
    bereft: float | None = None

    def __post_init__(self) -> None:
        self.workers = [Watched(self.folder / f"{n}.log", fate) for n, fate in enumerate(self.wave.fates)]
        spared = self.case.parent != "is killed"
        self.parent = Watched(self.folder / "parent.log", Fate(False, self.wave.parent_wait, spared))
        self.servers, self.visits = sorted(self.wave.server_waits), sorted(self.wave.visits)

    def tick(self) -> None:
        """Kill whoever is due."""
        for one in (self.parent, *self.workers):
            one.look()
            if not one.done and not one.fate.spared and one.due() and one.kill():
                self.kills.parents += one is self.parent
                self.kills.workers += one is not self.parent
        elapsed = time.monotonic() - self.begun
        if self.servers and elapsed > self.servers[0]:
            self.servers.pop(0)
            self.restart()
            self.kills.servers += 1
        if self.visits and elapsed > self.visits[0]:
            self.visits.pop(0)
            self.visitors.append(start(visit, self.url))

    def over(self) -> bool:
        """Whether all who are to be killed have been, and nobody else can come."""
        alive = self.parent.running()
        if self.servers or (alive and not (self.parent.fate.spared and (self.folder / STARTED).exists())):
            return False
        if self._missing() and (alive or not self._orphaned()):
            return False
        return not any(one.running() for one in self.workers if not one.fate.spared)

    def _missing(self) -> bool:
        """Whether a worker that was started has not shown itself."""
        begun = {what[1] for what in lines(self.parent.path) if what[0] == "start"} if self.parent.handle else set()
        return not self.parent.handle or any(self.workers[n].handle is None and not self.workers[n].done for n in begun)

    def _orphaned(self) -> bool:
        """Whether the parent has been dead for so long that no worker of its can still show itself."""
        if self.parent.handle is None:
            return False
        self.bereft = self.bereft or time.monotonic()
        return time.monotonic() > self.bereft + ORPHANS[self.case.start]

    def finish(self, patience: float) -> None:
        """Wait until everyone is gone; who does not go is killed, and counted."""
        (self.folder / STOP).touch()
        deadline = time.monotonic() + patience
        for one in (*self.workers, self.parent):
            one.look()
            while one.running() and time.monotonic() < deadline:
                time.sleep(TICK)
            self.kills.hung += one.kill()
            one.close()


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """A new process, forked from this one, which never opens a database."""
    gc.collect()
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    return process


def visit(url: str) -> None:
    """Open the storage, look, and close it, as `likewise studies` does while others work."""
    try:
        studies(url)
    except StorageError:
        # There may be nothing to see yet, or no server.
        return


def run_wave(case: Case, number: int, folder: Path, url: str, restart: Callable[[], None], kills: Kills) -> None:
    """Start the wave's processes, kill them, and wait until all are gone."""
    folder.mkdir()
    parent = start(start_workers, case, url, folder, number)
    run = Run(case, case.waves[number], folder, url, restart, kills)
    try:
        while not run.over() and time.monotonic() < run.begun + LIMIT:
            run.tick()
            time.sleep(TICK)
        run.finish(LIMIT)
    except BaseException:
        # A campaign that is interrupted leaves nobody behind.
        run.finish(0.0)
        raise
    for process in (parent, *run.visitors):
        process.join()
