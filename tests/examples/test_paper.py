"""The paper's application and the notebook run from the first line to the last."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from benchmarks.experiments.figures import PICTURES, run_notebook

ROOT = Path(__file__).resolve().parents[2]


def test_the_application_says_which_method_is_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    path = ROOT / "examples" / "paper_application.py"
    options = ["--out", str(tmp_path), "--seeds", "1", "--dimension", "1", "--budget", "12"]
    monkeypatch.setattr(sys, "argv", [str(path), *options])
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    for words in (
        "default of likewise",
        "paper, strategy 1",
        "paper, strategy 2",
        "GP-based BO",
        "lw.Paper as printed",
    ):
        assert words in said
    assert (tmp_path / "paper_application.png").stat().st_size > 1000


def test_the_notebook_runs() -> None:
    pytest.importorskip("matplotlib")
    names = run_notebook({"SEEDS, BUDGET, FIRST = 3, 25, 8": "SEEDS, BUDGET, FIRST = 1, 10, 8"})
    assert names["BUDGET"] == 10
    for picture in PICTURES:
        assert names[picture].axes
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
