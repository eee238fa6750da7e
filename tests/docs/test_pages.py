"""Pages name files, tests and names that are there, link to somewhere, and use the words of the design."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.house.source import PACKAGE, ROOT

import likewise as lw

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
RETIRED = (
    "likeness|likenesses|seat|seats|seating|reseat|crew|mailbox|voice|complaint|complaints|influence/|interfaces/|"
    "found out"
)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    # In a block of code, [N+](=O) is a nitro group.
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose)
    assert not [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_are_there(page: Path) -> None:
    named = re.findall(r"`((?:[\w.]+/)+(?:\w+\.(?:py|pyi|md|json|cff|toml))?)`", text_of(page))
    places = (PACKAGE, PACKAGE.parent, ROOT, ROOT / "docs", ROOT / "benchmarks")
    made = ("dist/", "likewise-demo/")
    assert not [name for name in named if not name.startswith(made) and not any((p / name).exists() for p in places)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_retired_words_are_gone(page: Path) -> None:
    assert not re.findall(rf"(?<![\w/.-])(?:{RETIRED})(?![\w-])", text_of(page), re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tests_that_are_named_are_there(page: Path) -> None:
    there = {path.name: text_of(path) for path in (ROOT / "tests").rglob("test_*.py")}
    for name, test in re.findall(r"`(test_\w+\.py)(?:::(test_\w+)…?)?`", text_of(page)):
        assert f"def {test}" in there[name] if test else name in there


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_public_names_are_public(page: Path) -> None:
    text = text_of(page)
    # What a page defines itself may become public by a line that it shows.
    own = set(re.findall(r"^class (\w+)", text, re.MULTILINE))
    assert {name for name in re.findall(r"\blw\.([A-Za-z]\w*)", text) if not hasattr(lw, name)} <= own


@pytest.mark.parametrize("name", ["similarities.md", "spaces.md", "integrations.md"])
def test_snippets_run(name: str) -> None:
    pytest.importorskip("rdkit")
    names = {"lw": lw, "smiles": ["CCO", "CCN", "CCC"], "values": [1.0, 2.0, 3.0]}
    snippets = re.findall(r"^```python\n(.*?)^```$", text_of(ROOT / "docs" / name), re.MULTILINE | re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, name, "exec"), names)
