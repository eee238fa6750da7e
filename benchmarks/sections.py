"""Parts of a page that a benchmark writes, between marks of their own; the rest of the page is written by hand."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def marks(name: str) -> tuple[str, str]:
    """The lines before and after a part.

    >>> marks("campaign")
    ('<!-- campaign: begin -->\\n', '<!-- campaign: end -->\\n')
    """
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def write_section(name: str, text: str, page: Path = PAGE) -> None:
    """Put the text in the place of what the part says; a part that the page has not is its last."""
    begin, end = marks(name)
    whole = page.read_text(encoding="utf-8")
    if begin not in whole:
        whole = whole.rstrip() + f"\n\n{begin}{end}"
    before, rest = whole.split(begin)
    page.write_text(before + begin + text.rstrip("\n") + "\n" + end + rest.split(end)[1], encoding="utf-8")
