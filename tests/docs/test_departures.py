"""docs/paper.md: its snippets run in a few lines, and no departure of the default method from the paper is left out."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from tools.house.source import ROOT

import likewise as lw
from likewise.model.fit import FitSettings
from likewise.search.choose import choose_search
from likewise.study.methods.committee import CommitteeMethod

PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
# By the letter of each: the code that comes first after it.
LETTERED = re.compile(r"^\*\*([A-Z])\.\*\*(?:(?!^```).)*^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPETS = dict(LETTERED.findall(PAGE))
# What both methods have alike, and what holds the parts that are compared one by one.
ALIKE = {"initial", "weight", "mix", "regression", "objects", "bounds"}


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
    assert {f.name for f in fields(FitSettings)} - ALIKE <= listed()


def test_a_departure_that_is_not_listed_is_noticed() -> None:
    assert differences() - listed(PAGE.replace("`survivors`", "survivors")) - ALIKE == {"survivors"}


@cache
def run(letter: str) -> dict[str, Any]:
    """What a snippet leaves behind, that has seen no other one."""
    names: dict[str, Any] = {"lw": lw}
    exec(compile(SNIPPETS[letter], f"paper.md {letter}", "exec"), names)
    return names


def test_each_row_of_the_paper_is_shown_in_a_snippet() -> None:
    rows = re.findall(r"^\| .* \| ([^|]*) \|$", PAGE.split("The letters are those")[0], re.MULTILINE)[1:]
    assert len(rows) >= 19
    assert set(rows) == set(SNIPPETS) == set("ABCDEFGHI")


@pytest.mark.parametrize("letter", SNIPPETS)
def test_a_part_of_the_paper_is_reached_in_five_lines(letter: str) -> None:
    assert len(SNIPPETS[letter].splitlines()) <= 5
    run(letter)


def test_the_snippets_show_what_they_say() -> None:
    b, c, d, e, f, h, i = (run(letter) for letter in "BCDEFHI")
    np.testing.assert_allclose(b["influence"] @ [0.3, 0.7], b["mean"])
    np.testing.assert_allclose(b["covariance"][0, 0], b["variance"][0])
    np.testing.assert_allclose(c["u2"], c["u1"] + 2 * c["std"])
    # ∇u₂ by central differences.
    z, step = np.array([2.0, 3.0]), 1e-5
    for k in range(2):
        up, down = (c["post"].predict([z + e * np.eye(2)[k]]) for e in (step, -step))
        numeric = (up.mean + 2 * up.std - down.mean - 2 * down.std) / (2 * step)
        np.testing.assert_allclose(c["gradient"][0, k], numeric, rtol=1e-6)
    np.testing.assert_allclose(d["projection"] + d["rejection"], d["here"])
    assert np.count_nonzero(e["influence"]) <= 2
    assert len(f["EQ"]) == len(f["u1"]) == len(f["u2"]) == len(f["V"]) >= 1
    assert len(f["batch"]) == 4
    # D_SYM of N(0, 1) and N(1, 1) is ½, and its derivative in the first mean −1.
    np.testing.assert_allclose(h["scores"], 49.5, atol=0.02)
    assert abs(h["slopes"][0, 0] - 1.0) < 5 * h["error"][0, 0] + 1e-3
    np.testing.assert_allclose(i["scores"], 1.5)
    np.testing.assert_allclose(i["gradient"], [[1.0, 0.25]])


@pytest.mark.parametrize("name", ["Paper", "project", "reject", "empirical_features", "condition"])
def test_the_papers_parts_are_public_and_give_their_equation(name: str) -> None:
    assert re.search(r"[=ΣΦμ]", str(getattr(lw, name).__doc__))
