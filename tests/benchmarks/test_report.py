"""The report's words: which ratios count, what molecules look like to whom, and which runs are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.footing import footing
from benchmarks.measures import Measures
from benchmarks.methods import METHODS, OF_NOISE
from benchmarks.sections import marks
from benchmarks.store import RESULTS
from benchmarks.suite import jobs, missing
from benchmarks.tables import all_measures
from benchmarks.tasks.catalogue import FIVE, expectations

from benchmarks import report


def reached(regret: float, seeds: int = 5) -> Measures:
    rows = np.full(seeds, regret)
    return Measures(tuple(range(seeds)), np.repeat(rows[:, None], 3, axis=1), rows, rows, rows, rows, rows)


def test_ratios_without_a_gaussian_process_are_marked_and_left_out_of_the_mean() -> None:
    weak = {"likewise": reached(0.1), "optuna-tpe": reached(0.4), "random": reached(0.5), "botorch": reached(0.1, 2)}
    tables = {"esol": weak, "photoswitch": {"likewise": reached(0.1), "botorch": reached(0.205)}}
    assert report._ratio(weak, "optuna-tpe") == "**0.26** against optuna-tpe, random only"
    assert report._ratio(tables["photoswitch"], "botorch") == "**0.50**"
    said = report._overall(tables, report.ratios(tables))
    assert "| Pools | 1 | 0.50 | 0.50 (photoswitch) | 1 |" in said
    assert "| Pools, without esol, freesolv_max, freesolv_min, zinc50k | 1 | 0.50 | 0.50 (photoswitch) | 0 |" in said


def test_equal_footing_has_both_ratios_and_their_means() -> None:
    table = {"likewise": reached(0.045), "botorch": reached(0.295)}
    assert footing({"oer": table}) == ""
    table |= {"likewise-fingerprints": reached(0.145), "botorch-descriptors": reached(0.095)}
    said = footing({"esol": table, "oer": table})
    assert "| **0.50** | **0.50** |" in said.splitlines()[-1]
    assert "oer" not in said


def test_missing_runs_are_counted_by_method() -> None:
    there = {"esol": {"skopt": range(5)}, "photoswitch": {"skopt": range(20)}}
    short = missing(there, ("skopt",))["skopt"]
    assert short[5, 10] == ["esol"]
    assert not any("photoswitch" in files for files in short.values())
    assert "tfbind8" in short[0, 5]


def test_the_paper_s_method_is_planned_on_functions_and_expectations_with_twenty_seeds() -> None:
    short = missing({}, ("paper",))["paper"]
    assert {*FIVE, "ackley50", *expectations(1, 2, 5, 10)} <= set(short[0, 20])
    assert not {"nug12", "oer", "direct_arylation"} & {job.task for job in jobs(("paper",))}


def test_every_method_is_planned() -> None:
    assert {job.method for job in jobs(tuple(METHODS))} == set(METHODS) - set(OF_NOISE)


def test_the_page_keeps_what_is_around_the_suite(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="curves need Matplotlib")
    begin, end = marks("suite")
    (tmp_path / "page.md").write_text("old\n".join(("before\n" + begin, end + "after\n")))
    report.write(tmp_path / "page.md", tmp_path / "none")
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "- Runs missing: skopt 0 of 5 on" in page
    assert "old" not in page.split()


def test_readme_and_page_say_what_the_results_say() -> None:
    """Figures are changed by `python -m benchmarks report`, and never by hand."""
    contents = report.read(RESULTS)
    tables = {name: all_measures(content) for name, content in contents.items()}
    found, root = report.ratios(tables), Path(report.__file__).resolve().parents[1]
    begin, end = marks("suite")
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert readme.partition(begin)[2].partition(end)[0] == report.headline(tables, found) + "\n"
    page = (root / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert report._overall(tables, found) in page
    assert report._losses(tables, found) in page


def test_readme_is_written_with_the_page(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="curves need Matplotlib")
    (readme := tmp_path / "README.md").write_text("first\n".join(("", *marks("suite"), "")))
    tables = {"oer": {"likewise": reached(0.045), "botorch": reached(0.095)}}
    assert "0.50 on 1 pools of real data (largest 0.50 (oer))" in report.headline(
        tables, report.ratios(tables)
    ).replace("\n ", "")
    report.write(tmp_path / "page.md", tmp_path / "none", readme)
    assert readme.read_text().count("[Benchmarks](docs/benchmarks.md)") == 1


def test_logarithms_are_said_beside_the_task() -> None:
    assert report._label("hpolib_protein-batch8") == "hpolib_protein-batch8 (log₁₀)"
    assert report._label("esol") == "esol"
