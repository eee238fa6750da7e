"""The campaign of kills: a share of it is run, and its judge sees what it is there to see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")
if not sys.platform.startswith("linux"):
    pytest.skip("processes are killed by handles that Linux alone has", allow_module_level=True)

from benchmarks.reliability import results
from benchmarks.reliability.cases import DATABASES, PARENTS, STARTS, WORKERS, draw
from benchmarks.reliability.clients import tell
from benchmarks.reliability.judge import FAULTS, Promises, Verdict, compare
from benchmarks.reliability.processes import PARENT, FileLog, lines
from tests.fixtures.logs import add, end, log_of

from likewise.study.log import Log

ROOT = Path(__file__).parents[2]


def campaign(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.reliability", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


# Small cases of both levels whose parent drops its study, is killed or writes on; in one of them the server is killed.
SEED, CASES = 1541, {"sqlite": (0, 2), "postgresql": (1, 3)}


@pytest.mark.parametrize("database", DATABASES)
def test_a_share_of_the_campaign_loses_nothing(database: str, tmp_path: Path) -> None:
    if database == "postgresql":
        pytest.importorskip("psycopg", reason="psycopg is not installed")
    out = tmp_path / "found.json"
    done = campaign("--seed", SEED, "--case", *CASES[database], "--out", out)
    if "NoServer" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    found = results.read(out)
    assert {one["database"] for one in found} == {database}
    assert sum(map(results.kills_of, found)) >= 5
    assert sum(one["acknowledged"] for one in found) > 0
    assert all(map(results.is_sound, found))


def test_a_case_is_drawn_from_its_seed_and_number() -> None:
    drawn = [draw(3, number) for number in range(400)]
    assert drawn == [draw(3, number) for number in range(400)]
    assert len(set(drawn)) == 400
    for wanted, name in ((WORKERS, "workers"), (STARTS, "start"), (PARENTS, "parent"), (DATABASES, "database")):
        assert {getattr(case, name) for case in drawn} == set(wanted)
    assert any(case.server_dies for case in drawn)
    assert not any(case.inherited for case in drawn if case.start != "fork" or case.parent == "without a study")


@pytest.fixture
def study() -> Log:
    log = log_of()
    for number in range(3):
        end(log, *add(log, number), value=float(number))
    return log


def kept(study: Log, **promised: Any) -> dict[str, int]:
    """The faults found."""
    verdict = compare(Promises(**promised), study.ledger.trials, exclusive=True)
    return {name: getattr(verdict, name) for name in FAULTS if getattr(verdict, name)}


def test_the_judge_finds_what_is_there(study: Log) -> None:
    assert kept(study, asked={0: "0", 2: "2"}, told={0.0: "0", 1.0: "1"}, whole=[[0.0, 1.0], [7.0, 8.0]]) == {}


def test_the_judge_sees_each_fault(study: Log) -> None:
    assert kept(study, told={9.0: "0"}) == {"lost": 1}
    assert kept(study, told={1.0: "0"}) == {"changed": 1}
    assert kept(study, asked={5: "5"}) == {"asks_lost": 1}
    assert kept(study, asked={1: "0"}) == {"asks_lost": 1}
    assert kept(study, whole=[[0.0, 9.0]]) == {"torn": 1}
    tell(study, [(None, 0, 0.0)])
    assert kept(study, told={0.0: "0"}) == {"duplicated": 1}
    assert kept(study, asked={0: "0", 3: "0"}) == {"duplicated": 1, "twice": 1}


def test_the_judge_sees_a_missing_id(study: Log) -> None:
    rows = [row for row in study.ledger.trials if row.id != 1]
    assert compare(Promises(), rows, exclusive=True) == Verdict(gaps=1)


def test_a_line_that_was_cut_short_is_no_acknowledgement(tmp_path: Path) -> None:
    log = FileLog(tmp_path, PARENT)
    log.told("1", 2.0)
    with (tmp_path / "parent.log").open("a") as file:
        file.write('["told", "3"')
    promises = Promises()
    promises.read(tmp_path)
    assert promises.told == {2.0: "1"}
    assert next(lines(tmp_path / "parent.log"))[0] == "process"


def test_the_page_shows_the_figures_of_the_file() -> None:
    assert results.tables(results.read(results.OUT)) in results.DOCS.read_text()
