"""The house is as docs/architecture.md says, and within its limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.house import page
from tools.house.page import LIMITS, beyond_limits, faults
from tools.house.source import Source, read_package, upward
from tools.house.ways import walk


def test_the_page_shows_the_rooms_and_their_imports_and_names_files_that_are_there() -> None:
    assert not faults(), "python -m tools.house --docs makes the generated part anew"


def test_a_room_an_import_or_a_file_that_is_missing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("| `tables` |", "  model -->"))]
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text("\n".join([*lines, "`model/nothing.py`"]), encoding="utf-8")
    assert sorted(faults()) == [
        "import model → figures is not on the page",
        "import model → similarity is not on the page",
        "import model → tables is not on the page",
        "model/nothing.py is named on the page and gone",
        "room tables is not on the page",
    ]


def test_no_import_leads_uphill() -> None:
    assert upward(read_package()) == []


def test_what_is_beyond_a_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "LIMITS", dict.fromkeys(LIMITS, 10**6) | {"lines of a function": 1})
    (found,) = beyond_limits()
    assert re.fullmatch(r"lines of a function: \d+ in \S+\.py: \w+, at most 1", found)


def test_lines_of_code_are_neither_blank_nor_comment_nor_docstring(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(
        '"""One\n\ntwo."""\n\n# why\nx = 1  # counts\n\n\ndef f():\n    """What."""\n    return """a\nb"""\n'
    )
    assert Source(path).code == 4


def test_one_ask_begins_in_the_study_and_passes_through_model_and_search() -> None:
    way = walk("ask")
    assert next(iter(way.files.items())) == ("study/study.py", "Study.ask")
    assert {"model", "search", "similarity"} <= {name.split("/")[0] for name in way.files}
    assert {name for pair in way.passages for name in pair} <= set(way.files) <= set(way.loaded)
    assert 0 < way.hops <= len(way.passages)
