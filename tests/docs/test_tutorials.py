"""Every tutorial runs from its first cell to its last, as the site shows it, and so do the first five minutes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tools.house.source import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(page: Path, cells: list[str]) -> None:
    names: dict[str, Any] = {"__name__": "tutorial"}
    for cell in cells:
        exec(compile(cell, page.name, "exec"), names)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs(page: Path) -> None:
    cells = CELL.findall(page.read_text(encoding="utf-8"))
    assert cells
    run(page, cells)


@pytest.mark.parametrize("name", ["python", "cluster"])
def test_first_minutes_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "start" / f"{name}.md"
    monkeypatch.chdir(tmp_path)
    run(page, SNIPPET.findall(page.read_text(encoding="utf-8")))
