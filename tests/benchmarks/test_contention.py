"""Timing asks of several workers on one study."""

from __future__ import annotations

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.contention import run, summary


def test_every_ask_of_every_worker_is_timed() -> None:
    found = run("box", 2, 8, 0.0)
    # Each of the two may have looked just before the other one added the last.
    assert 8 <= found["asks"] <= 9
    assert 0.0 < found["seconds"]["median"] <= found["seconds"]["p95"]


def test_the_summary_is_of_both_clocks() -> None:
    found = summary([(2.0, 1.0)] * 99 + [(20.0, 10.0)])
    assert found["seconds"] == {"median": 2.0, "p95": 2.0}
    assert found["cpu"]["median"] == pytest.approx(1.0)
