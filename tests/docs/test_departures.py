"""docs/paper.md: its snippets run in a few lines, and no departure of the default method from the paper is left out."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tools.house.source import ROOT

import likewise as lw
from likewise.model.fit import Settings
from likewise.search.choose import choose_search
from likewise.study.methods.committee import CommitteeMethod

PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# What both methods have alike, and what holds the parts that are compared one by one.
ALIKE = {"initial", "weight", "mix", "regression", "objects"}


def listed(page: str = PAGE) -> set[str]:
    """The settings that the table of departures names."""
    table = page.split("## Where the default method departs")[1].split("\n## ")[0]
    rows = [line.split("|") for line in table.replace("\\|", "/").splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row[3])}


def differences() -> set[str]:
    """The names of all settings and parts by which a study with `lw.Paper()` differs from the default one."""
    box, x = lw.Box([0.0, 0.0], [10.0, 10.0]), 10 * np.random.default_rng(0).random((12, 2))
    studies = [lw.Study(box, lw.RBF(2.0), method=method) for method in (None, lw.Paper())]
    for study in studies:
        study.tell_many([(p, float(np.sin(p).sum())) for p in x])
    ours, papers = (study.committee() for study in studies)
    found = {f.name for made in (CommitteeMethod, lw.Paper) for f in fields(made)}
    found |= {f.name for f in fields(choose_search(box, differentiable=True))}
    beliefs = [study._beliefs() for study in studies]
    for one, two in (
        (beliefs[0].settings, beliefs[1].settings),
        (ours, papers),
        (ours.members[0], papers.members[0]),
        (ours.members[0].regression, papers.members[0].regression),
    ):
        found |= {f.name for f in fields(one) if not same(getattr(one, f.name), getattr(two, f.name))}
    return found


def same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        return one is not None and two is not None and np.array_equal(one, two)
    return bool(one == two)


def test_every_departure_is_documented() -> None:
    assert {"spectra", "warps", "transform", "singular", "survivors", "amplitude", "step"} <= differences()
    assert not differences() - listed() - ALIKE
    assert {f.name for f in fields(Settings)} <= listed()


def test_a_departure_that_is_not_listed_is_noticed() -> None:
    assert differences() - listed(PAGE.replace("`survivors`", "survivors")) - ALIKE == {"survivors"}


def test_the_paper_is_reached_in_a_few_lines() -> None:
    names: dict[str, Any] = {}
    assert len(SNIPPETS) >= 5
    for snippet in SNIPPETS:
        assert len(snippet.splitlines()) <= 5
        exec(compile(snippet, "paper.md", "exec"), names)
    np.testing.assert_allclose(names["influence"] @ [0.3, 0.7], names["mean"])
    np.testing.assert_allclose(names["projection"] + names["rejection"], names["here"])
    assert len(names["EQ"]) == len(names["u1"]) == len(names["u2"]) == len(names["V"]) >= 1
    assert len(names["batch"]) == 4


@pytest.mark.parametrize("name", ["Paper", "project", "reject", "empirical_features", "condition"])
def test_the_papers_parts_are_public_and_give_their_equation(name: str) -> None:
    assert re.search(r"[=ΣΦμ]", str(getattr(lw, name).__doc__))
