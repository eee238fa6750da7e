"""What a benchmark writes into a page replaces what it wrote before, and nothing else."""

from __future__ import annotations

from pathlib import Path

from benchmarks.sections import write_section


def test_a_part_is_replaced_and_the_rest_of_the_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\nby hand\n")
    write_section("one", "first", page)
    write_section("two", "second", page)
    before = page.read_text()
    write_section("one", "first again\n", page)
    assert page.read_text() == before.replace("first", "first again")
    assert page.read_text().startswith("# Page\n\nby hand\n\n<!-- one: begin -->\nfirst again\n<!-- one: end -->\n")
