"""Many processes on one study: nothing lost, nothing twice, whoever is killed whenever."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likewise as lw

Start = Callable[..., subprocess.Popen[str]]
# A dozen processes on two cores may take their time.
pytestmark = pytest.mark.timeout(1200)

# The model is kept small, so that it is the storage that is put under stress.
COMMON = """
import sys
import numpy as np
import likewise as lw
from likewise.model import selection

class Near(lw.Similarity):
    def encode(self, objects):
        return np.array(objects, dtype=float)

    def between(self, a, b):
        return 1.0 / (1.0 + np.abs(a[:, None] - b))

    def within(self, a):
        return np.ones(len(a))

selection.CONDITIONED_ON = selection.LEARNT_FROM = selection.EVERY_TELL_UNTIL = 20
url, size, initial, most, lease = sys.argv[1], *map(int, sys.argv[2:])
study = lw.Study(lw.Pool(list(range(size))), Near(), storage=url, initial=initial, lease=lease or None)
"""

SHARE = (
    COMMON
    + """
while study.count(lw.State.TOLD) + study.count(lw.State.ASKED) < most:
    for s in study.ask():
        study.tell(s, s.object / 7)
        print(s.id, s.object, flush=True)
"""
)

LOOP = (
    COMMON
    + """
while True:
    for s in study.ask(2):
        study.tell(s, s.object / 7)
        print(s.id, s.object, flush=True)
"""
)


def opened(url: str, size: int, **options: Any) -> lw.Study:
    return lw.Study(lw.Pool(list(range(size))), lambda x, y: 1.0 / (1.0 + abs(x - y)), storage=url, **options)


def test_eight_workers_share_one_study(url: str, start: Start) -> None:
    size, trials = 450, 400
    workers = [start(SHARE, url, size, 250, trials, 0) for _ in range(8)]
    outputs = [worker.communicate() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8, [error for _, error in outputs if error]
    told = sorted(tuple(map(int, line.split())) for out, _ in outputs for line in out.splitlines())
    found = opened(url, size).trials
    # Each of the eight may have looked just before another one added the last.
    assert trials <= len(found) <= trials + 7
    assert told == [(t.id, t.object) for t in found]
    assert len({t.object for t in found}) == len(found)
    assert all(t.state is lw.State.TOLD and t.value == t.object / 7 for t in found)
    assert len({t.worker for t in found}) == 8


def told_lines(lines: list[str]) -> dict[int, int]:
    """Ids and objects of the complete lines."""
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return {int(id): int(number) for id, number in pairs}


def kill_and_check(start: Start, path: Path, rounds: int, seed: int) -> None:
    """Four workers at a time share one file and are killed at random moments."""
    # A lease that nobody outlives: an object is then never asked twice.
    rng, url, size, lease = random.Random(seed), f"sqlite:///{path}", 2000 * rounds, 3600
    acknowledged: dict[int, int] = {}
    for _ in range(rounds):
        workers = [start(LOOP, url, size, 10**9, 0, lease) for _ in range(4)]
        for worker in workers:
            # Half are killed while they open the study, or soon after, half while they ask and tell.
            if rng.random() < 0.5:
                assert worker.stdout is not None
                acknowledged.update(told_lines([worker.stdout.readline()]))
            time.sleep(rng.uniform(0.0, 0.5))
            worker.send_signal(signal.SIGKILL)
        for worker in workers:
            out, error = worker.communicate()
            assert worker.returncode == -signal.SIGKILL, error
            acknowledged.update(told_lines(out.splitlines(keepends=True)))
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        study = opened(url, size, initial=10**9)
        found = {t.id: t for t in study.trials}
        assert sorted(found) == list(range(len(found)))
        assert {id: (found[id].object, found[id].value) for id in acknowledged} == {
            id: (x, x / 7) for id, x in acknowledged.items()
        }
        held = [t.object for t in found.values() if t.state is not lw.State.ABANDONED]
        assert len(set(held)) == len(held)
        assert len(study.ask(2)) == 2
        study.abandon()
    assert acknowledged
    # What the dead had asked comes back to the pool.
    study._store.beat([t.id for t in study.trials], -1.0)
    study._store.expire()
    assert study.count(lw.State.ASKED) == 0


def test_a_dozen_killed_workers_lose_nothing(start: Start, tmp_path: Path) -> None:
    kill_and_check(start, tmp_path / "study.db", rounds=3, seed=0)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_hundred_killed_workers_lose_nothing(start: Start, tmp_path: Path) -> None:
    kill_and_check(start, tmp_path / "study.db", rounds=25, seed=1)
