"""Heartbeats go on as long as there is something to keep."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import likewise as lw
from likewise.errors import StorageError


@pytest.mark.parametrize("trouble", [RuntimeError, MemoryError, OSError, StorageError])
def test_leases_are_extended_whatever_goes_wrong_at_a_beat(
    trouble: Callable[[str], Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    study = lw.Study(lw.Pool([1, 2, 3]), lambda x, y: 1.0 / (1.0 + abs(x - y)), lease=0.6)
    beat, beats = study._log.storage.beat, iter(range(100))

    def troubled(study: int, ids: Sequence[int], lease: float) -> None:
        if next(beats) == 0:
            raise trouble("out of order")
        beat(study, ids, lease)

    monkeypatch.setattr(study._log.storage, "beat", troubled)
    with caplog.at_level(logging.WARNING, logger="likewise"):
        (asked,) = study.ask()
        time.sleep(1.5)
    other: Any = study.ask(3)
    assert asked.object not in {s.object for s in other}
    study.tell(asked, 1.0)
    study.abandon()
    assert ("out of order" in caplog.text) == (trouble is not StorageError)
