"""The page about several objectives shows what runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "objectives.md"


# One of the impurities that the page measures is far from all others, which is said.
@pytest.mark.filterwarnings("ignore::likewise.errors.SuspectWarning")
def test_the_snippets_of_the_page_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for snippet in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), names)
    shown = capsys.readouterr().out
    assert "hypervolume" in shown
    assert "on the front; the budget of 10 evaluations is spent" in shown
    basket = names["basket"]
    assert isinstance(basket, list)
    assert sum(s.object["euro"] for s in basket) <= 15
