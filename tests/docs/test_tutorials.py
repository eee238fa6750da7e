"""Every tutorial runs from its first cell to its last, as the site shows it, and so do the first five minutes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.house.source import ROOT

import likewise as lw

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


def test_the_first_minutes_with_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "start" / "python.md"
    monkeypatch.chdir(tmp_path)
    run(page, SNIPPET.findall(page.read_text(encoding="utf-8")))


def test_the_first_minutes_on_a_cluster_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker has the budget to itself, as the page says, and Dask evaluates for one script."""
    pytest.importorskip("distributed")
    page = ROOT / "docs" / "start" / "cluster.md"
    monkeypatch.chdir(tmp_path)
    worker, script = SNIPPET.findall(page.read_text(encoding="utf-8"))
    run(page, [worker] * 2)
    (study,) = lw.studies("sqlite:///shared.db")
    assert study.counts[lw.State.TOLD] == 20
    Path("run.py").write_text(script)
    done = subprocess.run([sys.executable, "run.py"], capture_output=True, text=True, check=True)
    assert "the budget of 20 evaluations is spent" in done.stdout


def fill_in(path: Path, column: str) -> None:
    """Write values into the runs of a workbook that have none."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    names = [cell.value for cell in book.active[1]]
    for number, row in enumerate(book.active.iter_rows(min_row=2)):
        row[names.index(column)].value = 20 + 7 * number
    book.save(path)


def test_the_first_minutes_with_a_spreadsheet_run(run: Callable[..., Any]) -> None:
    """The commands of the page in their order, from an empty folder, with results filled in before they are told."""
    for library in ("python_calamine", "xlsxwriter", "matplotlib"):
        pytest.importorskip(library)
    text = (ROOT / "docs" / "start" / "spreadsheet.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ likewise (.*)$", text, flags=re.MULTILINE)
    inline = [f"suggest {rest}" for rest in re.findall(r"`likewise suggest (--[^`]*)`", text)]
    assert len(shown) == 5
    assert len(inline) == 2
    for words in (*shown, *inline):
        if words == "tell":
            fill_in(Path("next.xlsx"), "yield")
        answer = run(*shlex.split(words))
        assert answer.code == 0, (words, answer.err)
    assert "measured rows, candidates of the space" in answer.err
    (again,) = re.findall(r"then: likewise (.*)$", answer.out, flags=re.MULTILINE)
    fill_in(Path("next.xlsx"), "yield")
    assert "4 results filled in" in run(*shlex.split(again)).out
    assert Path("report.html").exists()
