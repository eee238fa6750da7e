"""The benchmark of conditional settings: what is stored is run again only where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import conditional


def test_stored_runs_are_replaced_only_with_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def method(evaluate: Any, begun: Any, seed: int) -> list[float]:
        ran.append(seed)
        return [float(len(ran))]

    monkeypatch.setattr(conditional, "RESULTS", tmp_path / "conditional.json")
    monkeypatch.setattr(conditional, "METHODS", {"likewise": method})
    monkeypatch.setattr(conditional, "task", lambda name: lambda x: 0.0)
    for seeds, again, dry in ((2, False, False), (3, False, False), (1, True, False), (3, True, True)):
        conditional.run(["wine"], ["likewise"], seeds, again=again, dry=dry)
    assert ran == [0, 1, 2, 0, 0, 1, 2]
    assert json.loads(conditional.RESULTS.read_text()) == {"wine": {"likewise": [[4.0], [2.0], [3.0]]}}
