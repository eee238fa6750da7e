"""The snippets of the page on large pools run as they stand."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import likewise as lw

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_the_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"(<!-- not run -->\n)?```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for skipped, block in blocks:
        if not skipped:
            exec(block, names)
    assert sum(not skipped for skipped, _ in blocks) == 3
    assert names["pool"].memory == 500_000_000


def test_the_page_names_every_flag() -> None:
    flags = set(re.findall(r"^\| `(\w+)=", PAGE, re.MULTILINE))
    assert flags == set(inspect.signature(lw.Pool).parameters) - {"objects"}
