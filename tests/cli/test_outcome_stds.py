"""Standard deviations of several outcomes: each has its own column, in options, settings, results and rounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.fixtures.alloys import AIMS, RECORD, table

Run = Callable[..., Any]
Save = Callable[..., Path]
STDS = ("--std", "strength=sd", "--std", "price=psd")


def fill(path: str, **cells: list[str]) -> None:
    frame = polars.read_csv(path, infer_schema=False)
    rows = frame.rows(named=True)
    for k, row in enumerate(rows):
        row |= {name: values[k] for name, values in cells.items() if values[k]}
    polars.DataFrame(rows, schema=frame.schema).write_csv(path)


def test_each_outcome_has_the_standard_deviations_that_it_has_alone(run: Run, save: Save) -> None:
    file = save(table(), "t.csv").name
    both = run("diagnose", file, *AIMS, *STDS, "--json").data["outcomes"]
    for name, std in (("strength:max", "sd"), ("price:min", "psd")):
        alone = run("diagnose", file, *RECORD, "--value", name, "--std", std, "--json").data
        plain = run("diagnose", file, *RECORD, "--value", name, "--json").data
        found = both[name.partition(":")[0]]["committee"]
        assert found["log_density"] == pytest.approx(alone["committee"]["log_density"], rel=1e-6)
        assert found["log_density"] != pytest.approx(plain["committee"]["log_density"], rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--std", "sd"), ["Whose standard deviations", "'strength', 'price', 'imp'", "--std strength=sd"]),
        (("--std", "sd=strength"), ["Whose standard deviations are 'sd=strength'"]),
        (("--std", "strength=nothing"), ["no column 'nothing'"]),
        (("--std", "strength=sd", "--std", "strength=psd"), ["'sd' or in 'psd'", "Name one"]),
        (("--std", "strength=imp"), ["'imp'", "both values and standard deviations"]),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_remedy(
    run: Run, save: Save, options: tuple[str, ...], words: list[str]
) -> None:
    answer = run("suggest", save(table(), "t.csv").name, *AIMS, *options)
    assert answer.code == 2
    for word in words:
        assert word in answer.err


def test_one_column_may_be_named_or_not(run: Run, save: Save) -> None:
    file = save(table(), "t.csv").name
    answers = [run("diagnose", file, *RECORD, "--value", "strength", "--std", std) for std in ("sd", "strength=sd")]
    assert answers[0].code == 0, answers[0].err
    assert answers[0].out == answers[1].out


def test_a_bad_standard_deviation_of_a_further_outcome_is_named_by_its_cell(run: Run, save: Save) -> None:
    answer = run("suggest", save(table(psd="-1"), "t.csv").name, *AIMS, *STDS)
    assert answer.code == 1
    assert "'psd'" in answer.err
    assert "standard deviation" in answer.err


def test_columns_of_standard_deviations_go_through_rounds(run: Run, save: Save) -> None:
    file = save(table(18), "t.csv")
    assert run("init", file.name, *AIMS, *STDS, "-n", 2).code == 0
    assert 'std = { strength = "sd", price = "psd" }' in Path("likewise.toml").read_text()
    for _ in range(3):
        answer = run("suggest")
        assert answer.code == 0, answer.err
        names = polars.read_csv("next.csv", infer_schema=False)["run"].to_list()
        many = len(names)
        fill("next.csv", strength=["5.5"] * many, sd=["0.25"] * many, imp=["1"] * many)
        fill("next.csv", price=["3.25"] * (many - 1) + [""], psd=["0.125"] * (many - 1) + [""])
        told = run("tell")
        assert told.code == 0, told.err
        kept = {r["run"]: r for r in polars.read_csv(file, infer_schema=False).rows(named=True) if r["run"]}
        assert all(kept[name]["sd"] == "0.25" for name in names)
        assert [kept[name]["psd"] for name in names] == ["0.125"] * (many - 1) + [None]
        assert kept[names[-1]]["status"] == "running"
    assert run("diagnose").code == 0


def test_a_corrected_value_loses_its_own_standard_deviation_and_no_other(run: Run, save: Save) -> None:
    file = save(table(3).replace("sd,psd", "strength_std,price_std"), "t.csv")
    stds = ("--std", "strength=strength_std", "--std", "price=price_std")
    before = polars.read_csv(file, infer_schema=False).rows(named=True)
    new = before[0] | {"strength": "7.5", "strength_std": None}
    more = before[1] | {"price": "9.5", "price_std": None}
    polars.DataFrame([new, more]).write_csv("new.csv")
    answer = run("tell", file.name, "new.csv", *AIMS, *stds, "--on-conflict", "replace")
    assert answer.code == 0, answer.err
    after = polars.read_csv(file, infer_schema=False).rows(named=True)
    assert {k: after[0][k] for k in new} == new
    assert {k: after[1][k] for k in more} == more
    assert after[2] == before[2]


def test_a_campaign_that_begins_without_a_table_has_columns_for_them(run: Run, save: Save) -> None:
    space = ("--space", "a=0..1, b=0..1", *AIMS[4:], *STDS, "--block", "day", "-n", "2")
    first = run("suggest", *space, "--out", "runs.csv")
    assert first.code == 0, first.err
    assert {"sd", "psd", "day"} <= set(polars.read_csv("runs.csv").columns)
    assert run("suggest", "runs.csv", *space, "--out", "next.csv").code == 0
    Path("lab").mkdir()
    begun = run("init", "lab/runs.csv", *space)
    assert begun.code == 0, begun.err
    assert 'block = "day"' in Path("lab/likewise.toml").read_text()
    assert run("suggest", "lab/runs.csv").code == 0
