"""The page about studies shows what runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import likewise as lw

PAGE = Path(__file__).resolve().parents[2] / "docs" / "study.md"


@pytest.mark.timeout(900)
def test_the_snippets_of_the_page_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), names)
    shown = capsys.readouterr().out
    assert "promoters maximize 0.42" in shown
    assert "precipitated" in shown
    assert [info.name for info in lw.studies("sqlite:///study.db")] == ["promoters", "run"]
    assert (tmp_path / "trials.csv").exists()
