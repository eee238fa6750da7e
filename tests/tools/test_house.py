"""The house is as docs/architecture.md says, and is counted as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.house import page
from tools.house.page import faults, small
from tools.house.source import Source, read_package, repeated_classes, single_importers, vagueness
from tools.house.ways import walk

# As measured; to be lowered whenever less is measured.
MOST_WITH_ONE_IMPORTER = 21
MOST_VAGUE = 0.03


def test_the_page_shows_the_rooms_and_names_files_that_are_there() -> None:
    assert not faults(), "python -m tools.house --docs makes the table anew"


def test_a_room_or_a_file_that_is_missing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("| `tables` |")]
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text("\n".join([*lines, "`model/nothing.py`"]), encoding="utf-8")
    assert faults() == ["room tables is not on the page", "model/nothing.py is named on the page and gone"]


def test_the_house_does_not_grow_back() -> None:
    sources = read_package()
    classes, halves, share = repeated_classes(sources), single_importers(sources), vagueness(sources)
    advice = "`python -m tools.house --names` lists them"
    assert not classes, f"two classes of one name: rename one; {advice}"
    assert len(halves) <= MOST_WITH_ONE_IMPORTER, f"{len(halves)} modules have one importer: join one with it; {advice}"
    assert share <= MOST_VAGUE, f"{share:.2%} of the bindings say nothing, such as `found`: rename some; {advice}"


def test_what_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.house.source.PACKAGE", tmp_path)
    room = tmp_path / "model"
    room.mkdir()
    texts = {
        "a.py": '"""One\n\ntwo."""\n\n# why\nX, Y = 1, -2e3  # counts\n\n\nclass C:\n    """What."""\n    n = 7 * X\n',
        "b.py": "from likewise.model.a import C, X\nfound = X\nname = C\n",
        "c.py": "from likewise.model.b import found\nclass C: pass\n",
        "d.py": "from likewise.model.b import name\nWORD = 'x'\n",
        "e.py": "from likewise.model import c\n",
        "__init__.py": "from likewise.model import c, d\n",
    }
    for name, text in texts.items():
        (room / name).write_text(text)
    sources = [Source(room / name) for name in texts]
    assert [source.tokens for source in sources] == [8 + 3 + 5, 10 + 3 + 3, 8 + 4, 8 + 3, 6, 8]
    assert [(len(source.constants), source.numeric, source.literals) for source in sources] == [
        (2, 2, 2),
        (0, 0, 0),
        (0, 0, 0),
        (1, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert single_importers(sources) == {"likewise.model.a": "likewise.model.b", "likewise.model.c": "likewise.model.e"}
    assert repeated_classes(sources) == {"C": ["model/a.py", "model/c.py"]}
    assert vagueness(sources) == 1 / 6


def test_one_ask_begins_in_the_study_and_passes_through_model_and_search() -> None:
    way = walk("ask")
    assert next(iter(way.files.items())) == ("study/study.py", "Study.ask")
    assert {"model", "search", "similarity"} <= {name.split("/")[0] for name in way.files}
    assert set(way.files) <= set(way.loaded)
    assert len(way.files) < way.functions
    assert small(read_package(), way).count("\n") < 30, "the page shows a small table"
