"""States of experiments as people write them, and what a study is told of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.campaign.columns import Kind, combine, read_state
from likewise.campaign.names import Request
from likewise.campaign.problem import solve
from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener
from likewise.study.trial import State as Trial

Save = Callable[..., Path]


@pytest.mark.parametrize(
    ("text", "kind", "limit"),
    [
        ("failed", Kind.FAILED, None),
        (" FAILED! ", Kind.FAILED, None),
        ("in  progress", Kind.RUNNING, None),
        ("n.d.", Kind.UNDETERMINED, None),
        ("<0.1", Kind.BELOW, 0.1),
        ("< 0,1", Kind.BELOW, 0.1),
        ("≤ 5 %", Kind.BELOW, 5.0),
        (">99", Kind.ABOVE, 99.0),
        ("above 1e3", Kind.ABOVE, 1000.0),
        ("<-2", Kind.BELOW, -2.0),
    ],
)
def test_texts_that_are_states(text: str, kind: Kind, limit: float | None) -> None:
    state = read_state(text)
    assert state is not None
    assert (state.kind, state.limit) == (kind, limit)


@pytest.mark.parametrize("text", ["71", "", "<", "< abc", "<1e999", "failed twice", "1 < 2", "overnight", "so-so"])
def test_texts_that_are_none(text: str) -> None:
    assert read_state(text) is None


def test_a_result_counts_more_than_an_old_status_and_a_failure_more_than_a_number() -> None:
    suggested, failed, done = (read_state(text) for text in ("suggested", "failed", "done"))
    assert combine(True, None, suggested) is None
    assert combine(True, None, failed) is failed
    assert combine(False, failed, suggested) is failed
    stuck = combine(False, None, done)
    assert stuck is not None
    assert stuck.kind is Kind.RUNNING


TABLE = (
    "word,score,status\nAA,1,\nAB,2,done\nBB,failed,\nCC,,running\nDD,<0.5,\nEE,n.d.,\nFF,3,failed\nGG,,\nHH,,skipped\n"
)


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_study_is_told_each_state(save: Save, skip_bad: bool) -> None:
    listener = Listener()
    table = sheet(save(TABLE), Choices(("word",), "score", skip_bad=skip_bad), listener)
    problem, _ = solve(table, Request(similarity=("hamming",)), lambda p: None, listener)

    def objects(state: Trial) -> set[Any]:
        return {trial.object for trial in problem.study.trials if trial.state is state}

    assert objects(Trial.TOLD) == {"AA", "AB", "DD"}
    assert objects(Trial.FAILED) == {"BB", "FF"}
    assert objects(Trial.ASKED) == {"CC"}
    assert [s.object for s in problem.study.ask(9)] == ["GG"]
    notes = " ".join(listener.notes)
    assert "row 6: '<0.5' taken as below 0.5: a limit, and not a value" in notes
    assert [(t.value, t.limit) for t in problem.study.trials if t.object == "DD"] == [(0.5, "below")]
    assert "row 7: 'n.d.' taken as not determined" in notes
    assert "row 8: 'failed' taken as failed: objects like it are avoided; its value is kept and does not count" in notes


def test_a_text_in_place_of_a_value_is_not_hidden_by_the_status(save: Save) -> None:
    from likewise.errors import TableError

    path = save("word,score,status\nAA,1,\nBB,8O,suggested\nCC,,\n")
    with pytest.raises(TableError, match="row 3, column 'score', '8O'"):
        sheet(path, Choices(("word",), "score"), Listener())


@pytest.mark.parametrize(
    "rows", [["<5"] * 6, ["<5", "<4", "<3", ">2", "<6", "<5"], ["<5", "<5", "<5", "<5", "7", ">90"]]
)
def test_a_table_of_limits_is_judged_and_suggests(save: Save, rows: list[str]) -> None:
    from likewise.campaign.reasons import judge

    table = "temp,yield\n" + "".join(f"{20 + 10 * i},{cell}\n" for i, cell in enumerate(rows)) + "90,\n100,\n"
    listener = Listener()
    problem, found = solve(sheet(save(table), Choices(), listener), Request(), judge, listener)
    assert found is not None
    assert not found.good
    assert len(problem.study.ask(2)) == 2
    best = problem.study.best.measured
    assert best == (">90" if ">90" in rows else ">2" if ">2" in rows else "<5")
