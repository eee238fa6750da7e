"""Batches on the command line: what is typed holds, any column counts, and plates are drawn by lots."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.campaign.outputs import plate_map, wells
from likewise.errors import UsageError

Run = Callable[..., Any]
LIGANDS = {"XPhos": 12, "SPhos": 30, "dppf": 3, "PPh3": 1, "BINAP": 40}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [(ligand, T, base, cost) for ligand, cost in LIGANDS.items() for T in (60, 80) for base in "abc"]
    lines = [f"{','.join(map(str, row))},{k if k % 4 == 0 else ''}" for k, row in enumerate(rows)]
    path = tmp_path / "table.csv"
    path.write_text("ligand,T,base,cost,yield\n" + "\n".join(lines) + "\n")
    return path


def suggested(run: Run, table: Path, *options: Any, n: int = 4) -> list[Any]:
    columns = ["-o", "ligand", "-o", "T", "-o", "base", "-v", "yield"]
    return [
        each["object"]
        for each in run("suggest", table, *columns, "-n", n, "--json", "-q", *options).data["suggestions"]
    ]


def test_what_is_typed_holds(run: Run, table: Path) -> None:
    found = suggested(run, table, "--same", "T", "--at-most", "2:ligand", "--where", "base != 'c' and cost < 35")
    assert len({x["T"] for x in found}) == 1
    assert len({x["ligand"] for x in found}) <= 2
    assert not any(x["base"] == "c" or x["ligand"] == "BINAP" for x in found)
    assert {x["T"] for x in suggested(run, table, "--fix", "T=80")} == {80}
    groups = suggested(run, table, "--same", "T", "--groups", 2)
    assert groups[0]["T"] == groups[1]["T"]
    assert groups[2]["T"] == groups[3]["T"]


def test_the_next_command_says_the_same(run: Run, table: Path) -> None:
    options = ["-o", "ligand", "-o", "T", "-o", "base", "-v", "yield"]
    said = run("suggest", table, *options, "-n", 2, "--same", "T", "--fix", "base=b", "--where", "cost < 20").out
    assert "--same T --fix base=b --where 'cost < 20'" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--at-most", "ligand"], "--at-most 3:ligand"),
        (["--fix", "base"], "--fix base=KOAc"),
        (["--fix", "base=z"], "no object has 'base' = 'z'; there are 'a', 'b', 'c'"),
        (["--same", "cost"], "no part 'cost'"),
        (["--where", "cots < 3"], "did you mean 'cost'"),
        (["--where", "base < 3"], "are in no order"),
        (["--where", "cost > 99"], "no object of the space satisfies"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, table: Path, options: list[str], message: str) -> None:
    answer = run("suggest", table, "-o", "ligand", "-o", "T", "-o", "base", "-v", "yield", *options)
    assert answer.code != 0
    assert message in " ".join(answer.err.split())


def test_what_init_is_told_holds_in_every_round(run: Run, table: Path) -> None:
    columns = ["-o", "ligand", "-o", "T", "-o", "base", "-v", "yield"]
    batch = ["--same", "T", "--at-most", "2:ligand", "--where", "base != 'c'", "--cost", "cost", "--budget", 50]
    told = run("init", table, *columns, *batch, "-n", 4)
    assert told.code == 0, told.err
    assert "Not used" not in told.out
    asked = run("suggest", "--json", "-q").data
    found = [each["object"] for each in asked["suggestions"]]
    assert found == suggested(run, table, *batch)
    assert len({x["T"] for x in found}) == 1
    assert sum(LIGANDS[x["ligand"]] for x in found) <= 50
    for wrong, message in ((["--budget", 5], "needs --cost"), (["--cost", "price"], "no column 'price'")):
        assert message in run("init", table, *columns, "--force", *wrong).err


def test_few_that_fit_are_said(run: Run, table: Path) -> None:
    answer = run(
        "suggest", table, "-o", "ligand", "-o", "T", "-o", "base", "-v", "yield", "-n", 9, "--fix", "ligand=dppf"
    )
    assert answer.code == 0
    assert "what is asked of the batch" in " ".join(answer.err.split())


def test_a_plate_map_has_every_run_and_the_controls(run: Run, table: Path, tmp_path: Path) -> None:
    options = ["-o", "ligand", "-o", "T", "-o", "base", "-v", "yield", "-n", 5, "--out", tmp_path / "next.csv"]
    plate = ["--plate", tmp_path / "plate.csv", "--wells", 24, "--controls", 3, "--replicates", 2]
    assert run("suggest", table, *options, *plate).code == 0
    rows = list(csv.DictReader((tmp_path / "plate.csv").read_text().splitlines()))
    runs = [row["run"] for row in csv.DictReader((tmp_path / "next.csv").read_text().splitlines())]
    assert Counter(row["run"] for row in rows) == {**dict.fromkeys(runs, 2), "control": 3}
    assert {row["ligand"] for row in rows if row["run"] != "control"} <= set(LIGANDS)


@given(st.integers(1, 60), st.sampled_from([6, 24, 96]), st.integers(0, 5), st.integers(1, 4), st.integers(0, 9))
def test_laws_of_plate_maps(runs: int, size: int, controls: int, replicates: int, seed: int) -> None:
    found = plate_map(runs, size, controls, replicates, seed)
    assert found == plate_map(runs, size, controls, replicates, seed)
    assert len({(each.plate, each.well) for each in found}) == len(found)
    assert [each.order for each in found] == list(range(1, len(found) + 1))
    count = Counter(each.run for each in found if each.run is not None)
    assert count == dict.fromkeys(range(runs), replicates)
    for plate in {each.plate for each in found}:
        assert sum(each.run is None for each in found if each.plate == plate) == controls


def test_plates_that_cannot_be_are_refused() -> None:
    assert wells(96)[-1] == "H12"
    assert wells(1536)[-1] == "AF48"
    with pytest.raises(UsageError, match="not 100"):
        plate_map(3, 100)
    with pytest.raises(UsageError, match="no room"):
        plate_map(3, 6, 6)
