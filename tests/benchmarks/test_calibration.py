"""The figures on intervals: what is simulated, counted, written and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration.__main__ import total
from benchmarks.calibration.cases import CASES, HELD_OUT
from benchmarks.calibration.docs import BEGIN, END, write
from benchmarks.calibration.measures import simulate


@pytest.mark.parametrize("case", [name for name in CASES if name not in ("graphs by edits", "box, one RBF")])
def test_every_case_has_objects_with_standardised_values(case: str) -> None:
    problem = CASES[case](np.random.default_rng(0))
    assert len(problem.objects) == len(problem.truth)
    assert abs(problem.truth.mean()) < 1e-9
    assert problem.truth.std() == pytest.approx(1.0)


def test_the_same_problem_gives_the_same_counts_and_the_page_its_part(tmp_path: Path) -> None:
    found = simulate("exp(−KL)", 10, 0)
    assert found == simulate("exp(−KL)", 10, 0)
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n<!-- suite: begin -->\nrest\n")
    cells = {"exp(−KL)|10": {"problems": 1, **total([found])}}
    write(cells, page)
    once = page.read_text()
    write(cells, page)
    assert page.read_text() == once
    assert BEGIN in once
    assert END in once
    assert once.endswith("<!-- suite: begin -->\nrest\n")
    assert all(name in once for name in HELD_OUT)
    assert (tmp_path / "page" / "calibration.png").stat().st_size > 1000
