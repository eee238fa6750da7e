"""`python -m benchmarks` keeps tasks apart: a file holds one task, and is asked about it before a run is skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.__main__ import main
from benchmarks.commit import commit
from benchmarks.suite import Job, run_jobs

SHORT = ["--methods", "random", "--seeds", "1", "--initial", "3", "--budget", "2"]


def test_a_file_of_another_task_stops_before_its_runs_are_taken_for_this_one(tmp_path: Path) -> None:
    out = tmp_path / "b.json"
    main(["function", "branin", *SHORT, "--json", str(out)])
    kept = out.read_text()
    with pytest.raises(SystemExit, match=r"holds another task: .'name': 'branin'.*'hartmann6'.* another --json"):
        main(["function", "hartmann6", *SHORT, "--json", str(out)])
    with pytest.raises(SystemExit, match=r".'batch': 1., not .'batch': 2."):
        main(["function", "branin", *SHORT, "--json", str(out), "--batch", "2"])
    assert out.read_text() == kept


def test_the_suite_stops_at_a_file_of_another_task(tmp_path: Path) -> None:
    main(["function", "branin", *SHORT, "--json", str(tmp_path / "branin.json")])
    with pytest.raises(SystemExit, match=r"'initial': 3, 'budget': 2., not .'initial': 10, 'budget': 60"):
        run_jobs([Job("branin", "random", 0)], tmp_path)


def test_integrands_have_a_file_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    integrands = ["rastrigin", "sine_ridge"]
    main(["expectation", "1", "--integrand", *integrands, *SHORT, "--json", str(tmp_path / "out.json")])
    found = {path.name: json.loads(path.read_text())["task"]["name"] for path in tmp_path.iterdir()}
    assert found == {f"out-expectation1_{one}.json": f"expectation1_{one}" for one in integrands}
    main(["expectation", "1", "--integrand", "rastrigin", *SHORT, "--json", str(tmp_path / "alone.json")])
    assert (tmp_path / "alone.json").exists()
    assert capsys.readouterr().out.count("| random | 1 |") == 3


def test_results_go_to_the_folder_that_is_given(tmp_path: Path) -> None:
    main(["--results", str(tmp_path), "function", "branin", *SHORT, "--methods", "likewise,random"])
    methods = json.loads((tmp_path / "branin.json").read_text())["methods"]
    assert "commit" not in methods["random"]["runs"]["0"]
    assert methods["likewise"]["runs"]["0"].get("commit") == commit()
