"""The page about choices shows what runs."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "choices.md"


def test_the_snippets_of_the_page_run_in_order() -> None:
    names: dict[str, object] = {}
    for snippet in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), names)
