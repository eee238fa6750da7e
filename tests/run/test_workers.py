"""Many processes on one study: nothing lost, nothing twice."""

from __future__ import annotations

import subprocess
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
import time
from pathlib import Path
import numpy as np
import likewise as lw
from likewise.model import model

class Near(lw.Similarity):
    def encode(self, objects):
        return np.array(objects, dtype=float)

    def between(self, a, b):
        return 1.0 / (1.0 + np.abs(a[:, None] - b))

    def within(self, a):
        return np.ones(len(a))

model.CONDITIONED_ON = model.LEARNT_FROM = model.EVERY_TELL_UNTIL = 20
url, meeting, size, initial, most, lease = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
study = lw.Study(lw.Pool(list(range(size))), Near(), storage=url, initial=initial, lease=lease or None)
# All begin together, however long it takes the last one to start.
(meeting / study.worker).touch()
while len(list(meeting.iterdir())) < 8:
    time.sleep(0.01)
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


def opened(url: str, size: int, **options: Any) -> lw.Study:
    return lw.Study(lw.Pool(list(range(size))), lambda x, y: 1.0 / (1.0 + abs(x - y)), storage=url, **options)


def test_eight_workers_share_one_study(url: str, start: Start, tmp_path: Path) -> None:
    size, trials, meeting = 180, 150, tmp_path / "meeting"
    meeting.mkdir()
    workers = [start(SHARE, url, meeting, size, 110, trials, 0) for _ in range(8)]
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
