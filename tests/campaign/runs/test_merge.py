"""Laws of merging: nothing that was typed is lost, and telling twice is telling once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.campaign.journal import Merge, OnConflict
from likewise.campaign.merge import merge_results
from likewise.campaign.results import as_results
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.text import Listener

RUNS = ("", "R1-1bc", "R1-2df", "R2-1gh")
SCORES = ("", "", "1", "2.5", "failed", "<0.1", "n.d.", "> 9")
CHOICES = Choices(("word",), "score", text=("word",))

cells = st.tuples(st.sampled_from("abcd"), st.sampled_from(SCORES), st.sampled_from(["", "x", "y"]))
tables = st.lists(cells, min_size=1, max_size=6)
results = st.lists(st.tuples(cells, st.sampled_from(RUNS)), min_size=1, max_size=5)


def named_once(told: list[Any]) -> bool:
    """Whether no run is named twice, as by a row that somebody has copied: then the law is for runs alone."""
    runs = [run for _, run in told if run]
    return len(runs) == len(set(runs))


def written(folder: str, name: str, header: str, rows: list[tuple[str, ...]]) -> Path:
    path = Path(folder) / name
    path.write_text("\n".join([header, *(",".join(row) for row in rows), ""]))
    return path


def both(folder: str, table: list[tuple[str, ...]], told: list[Any]) -> tuple[Sheet, Sheet]:
    """A table whose first rows are runs that are out, and results for it."""
    rows = []
    for place, (word, score, note) in enumerate(table):
        run = RUNS[place + 1] if place < 2 else ""
        rows.append((word, score, note, run, "suggested" if run and not score else "", "1" if run else ""))
    mine = sheet(written(folder, "t.csv", "word,score,note,run,status,round", rows), CHOICES, Listener())
    given = [(word, score, note, run, "") for (word, score, note), run in told]
    path = written(folder, "r.csv", "word,score,note,run,status", given)
    return mine, sheet(path, as_results(mine, path, CHOICES), Listener())


def merged(folder: str, table: Sheet, told: Sheet, how: OnConflict) -> tuple[Merge, Sheet]:
    """The merge, and its table as it is read again."""
    merge = merge_results(table, told, how)
    path = Path(folder) / "t.csv"
    merge.frame.fill_null("").write_csv(path)
    return merge, sheet(path, CHOICES, Listener())


@pytest.mark.parametrize("how", ["keep", "add"])
@given(table=tables, told=results)
@settings(max_examples=25)
def test_every_cell_is_in_the_table_or_listed(how: OnConflict, table: list[Any], told: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        mine, theirs = both(folder, table, told)
        merge, after = merged(folder, mine, theirs, how)
        found = after.table.frame.fill_null("").rows(named=True)
        listed = {(c.told_row, c.column) for c in merge.conflicts}
        for place, ((word, score, note), _) in enumerate(told):
            row = theirs.table.number(place)
            same = [each for each in found if each["word"] == word]
            assert same, "the object is in the table"
            assert not score or (row, "") in listed or any(each["score"] == score for each in same)
            assert not note or (row, "note") in listed or any(note in each["note"] for each in same)
        for place, (word, score, note) in enumerate(table):
            # What was in the table stays where it was.
            assert found[place]["word"] == word
            assert not score or found[place]["score"] == score
            assert note in found[place]["note"]


@given(table=tables, told=results.filter(named_once), how=st.sampled_from(["keep", "add"]))
@settings(max_examples=25)
def test_telling_twice_is_telling_once(table: list[Any], told: list[Any], how: OnConflict) -> None:
    with TemporaryDirectory() as folder:
        mine, theirs = both(folder, table, told)
        _, once = merged(folder, mine, theirs, how)
        _, twice = merged(folder, once, theirs, how)
        names = [name for name in once.table.columns if name not in ("status", "note")]
        assert polars.DataFrame.equals(once.table.frame.select(names), twice.table.frame.select(names))
