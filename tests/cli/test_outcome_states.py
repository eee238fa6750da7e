"""What people write in place of one of several values, round after round: nothing is lost, whichever column it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.fixtures.alloys import AIMS, table

from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener

Run = Callable[..., Any]
Save = Callable[..., Path]
TEXTS = ("", "5", "<1", "n.d.", "failed", "pending")


def write(names: list[str], *cells: dict[str, str | None]) -> None:
    """Fill in cells of the first of these runs."""
    path, frame = "next.csv", polars.read_csv("next.csv", infer_schema=False)
    rows, more = frame.rows(named=True), dict(zip(names, cells, strict=False))
    for row in rows:
        row |= more.get(row["run"], {})
    polars.DataFrame(rows, schema=frame.schema).write_csv(path)


def runs(path: str) -> dict[str, dict[str, str]]:
    return {row["run"]: row for row in polars.read_csv(path, infer_schema=False).rows(named=True) if row["run"]}


@pytest.fixture
def asked(run: Run, save: Save) -> list[str]:
    """A round of four runs in next.csv of a campaign in t.csv, by their names."""
    save(table(24), "t.csv")
    assert run("init", "t.csv", *AIMS, "--std", "price=psd", "-n", 4).code == 0
    assert run("suggest").code == 0
    return list(runs("next.csv"))


def test_what_a_row_means_does_not_depend_on_the_order_of_its_outcomes(save: Save) -> None:
    rows = [
        f"w{k},{x},{y},{status}"
        for k, (x, y, status) in enumerate(product(TEXTS, TEXTS, ("", "suggested", "running", "leaks", "failed")))
    ]
    file = save("\n".join(["word,x,y,status", *rows, ""]))
    one, other = (
        sheet(file, Choices(("word",), first, others=(second,)), Listener()) for first, second in ("xy", "yx")
    )
    assert one.measured == other.measured
    assert one.candidates == other.candidates
    for i in range(len(rows)):
        assert one.results(i) == other.results(i)
        kinds = [None if (state := each.states.get(i)) is None else state.kind for each in (one, other)]
        assert kinds[0] == kinds[1], rows[i]
        for name in one.results(i):
            assert one.measurement(i, name) == other.measurement(i, name)


@pytest.mark.parametrize(
    ("cells", "status", "counts"),
    [
        (("<1", "", "1.5"), "running", {"strength": 1.0, "imp": 1.5}),
        (("n.d.", "", "1.5"), "running", {"imp": 1.5}),
        (("n.d.", "3", "1.5"), "done", {"price": 3.0, "imp": 1.5}),
        (("5", "n.d.", "<0.1"), "done", {"strength": 5.0, "imp": 0.1}),
        (("5", "3", "pending"), "running", {"strength": 5.0, "price": 3.0}),
        (("5", "3", "failed"), "failed", {}),
        (("failed", "3", ""), "failed", {}),
        (("", "skipped", ""), "skipped", {}),
    ],
)
def test_each_text_counts_for_its_column_and_a_failure_for_the_run(
    run: Run, asked: list[str], cells: tuple[str, ...], status: str, counts: dict[str, float]
) -> None:
    named = dict(zip(("strength", "price", "imp"), cells, strict=True))
    write(asked, {name: text or None for name, text in named.items()})
    told = run("tell")
    assert told.code == 0, told.err
    row = runs("t.csv")[asked[0]]
    assert {name: row[name] or "" for name in named} == named
    assert row["status"] == status
    table = sheet("t.csv", Choices(("a", "b"), "strength", others=("price", "imp")), Listener())
    assert table.results(table.runs[asked[0]]) == counts
    again = run("suggest")
    assert again.code == 0, again.err
    assert (asked[0] in runs("next.csv")) == (status == "running")


def test_what_was_pending_is_filled_in_without_a_contradiction_and_a_note_stays(run: Run, asked: list[str]) -> None:
    write(asked, {"strength": "5", "imp": "pending"}, {"strength": "6", "status": "column broke!"})
    assert run("tell").code == 0
    assert runs("t.csv")[asked[1]]["status"] == "column broke!"
    assert run("suggest").code == 0
    write(asked, *({"imp": "1.5", "price": "3"} for _ in range(2)))
    told = run("tell")
    assert told.code == 0, told.err
    for name in asked[:2]:
        assert (runs("t.csv")[name]["imp"], runs("t.csv")[name]["price"]) == ("1.5", "3")
    assert "strength 5, imp pending" in run("why", asked[0]).out
    assert "price 3, imp 1.5" in run("why", asked[0]).out


def test_a_run_may_fail_after_its_first_outcome_was_told(run: Run, asked: list[str]) -> None:
    write(asked, {"strength": "5"})
    assert run("tell").code == 0
    assert run("suggest").code == 0
    write(asked, {"price": "failed"})
    told = run("tell")
    assert told.code == 0, told.err
    row = runs("t.csv")[asked[0]]
    assert (row["strength"], row["price"], row["status"]) == ("5", "failed", "failed")
    assert "1 failed" in run("suggest").err


def test_two_values_of_a_further_outcome_may_both_count(run: Run, asked: list[str]) -> None:
    full = {"strength": "5", "price": "3", "psd": "0.5", "imp": "1.5"}
    write(asked, full)
    assert run("tell").code == 0
    write(asked, {"price": "4", "psd": "0.25"})
    refused = run("tell")
    assert refused.code == 1
    assert "column 'price'" in refused.err
    before = len(polars.read_csv("t.csv"))
    for added in (1, 0):
        told = run("tell", "--on-conflict", "add")
        assert told.code == 0, told.err
        assert f"{added} row{'s' * (added != 1)} added" in told.out
        rows = polars.read_csv("t.csv", infer_schema=False).rows(named=True)
        assert len(rows) == before + 1
        assert (rows[-1]["strength"], rows[-1]["price"], rows[-1]["psd"], rows[-1]["imp"]) == (None, "4", "0.25", None)
        assert runs("t.csv")[asked[0]] | full == runs("t.csv")[asked[0]]
    assert run("diagnose").code == 0


def test_a_table_that_was_corrected_is_not_contradicted_by_the_old_file(run: Run, asked: list[str]) -> None:
    write(asked, {"strength": "5", "price": "3", "imp": "1.5"})
    assert run("tell").code == 0
    text = Path("t.csv").read_text()
    line = next(each for each in text.splitlines() if asked[0] in each)
    Path("t.csv").write_text(text.replace(line, line.replace(",3,1.5,", ",3,1.7,")))
    told = run("tell")
    assert told.code == 0, told.err
    assert runs("t.csv")[asked[0]]["imp"] == "1.7"


def test_results_of_one_outcome_alone_are_merged(run: Run, asked: list[str]) -> None:
    Path("hplc.csv").write_text(f"run,imp\n{asked[0]},1.5\n{asked[1]},<0.1\n")
    told = run("tell", "hplc.csv")
    assert told.code == 0, told.err
    assert "2 results filled in" in told.out
    found = runs("t.csv")
    assert [(found[name]["imp"], found[name]["status"]) for name in asked[:2]] == [
        ("1.5", "running"),
        ("<0.1", "running"),
    ]


def test_a_table_of_whole_numbers_takes_the_decimal_sign_of_its_results(run: Run, save: Save) -> None:
    lines = ["a;b;x;y;sd", *(f"{i};{j};;;" for i in range(5) for j in range(5))]
    save("\n".join([*lines, ""]), "t.csv")
    aims = ("--object", "a", "--object", "b", "--value", "x", "--value", "y:min", "--std", "x=sd", "-n", 3)
    assert run("init", "t.csv", *aims).code == 0
    for number in range(3):
        assert run("suggest").code == 0
        head, *rows = [line.split(";") for line in Path("next.csv").read_text().splitlines()]
        for k, row in enumerate(rows):
            row[2], row[4] = row[2] or f"{number},{k}5", row[4] or "0,1"
            row[3] = row[3] or ("" if k == 0 else f"<0,{k}" if k == 1 else "1,5")
        Path("next.csv").write_text("\n".join(";".join(line) for line in (head, *rows)) + "\n")
        told = run("tell")
        assert told.code == 0, told.err
    text = Path("t.csv").read_text()
    assert "0,1" in text
    assert "<0,1" in text
    assert "." not in text
    table = sheet("t.csv", Choices(("a", "b"), "x", ("x=sd",), others=("y",)), Listener())
    assert table.sign == ","
    assert all(math.isclose(table.std(i, "x") or 0, 0.1) for i in table.measured)


def test_texts_go_into_columns_of_numbers_of_a_workbook_and_nothing_else_changes(run: Run, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("xlsxwriter")
    cells = [
        (i, j, 10.5 * i + j, 0.5 * i - j) if (i + j) % 3 == 0 else (i, j, None, None)
        for i in range(5)
        for j in range(5)
    ]
    polars.DataFrame(cells, schema=["a", "b", "x", "y"], orient="row").write_excel(tmp_path / "t.xlsx")
    assert (
        run("init", "t.xlsx", "--object", "a", "--object", "b", "--value", "x", "--value", "y:min", "-n", 3).code == 0
    )
    assert run("suggest").code == 0
    book = openpyxl.load_workbook("next.xlsx")
    told = (("<3", 1.0), (4.0, "<0.5"), (0.25, "n.d."))
    names = []
    for row, values in zip(book.active.iter_rows(min_row=2), told, strict=True):
        row[2].value, row[3].value = values
        names.append(row[4].value)
    book.save("next.xlsx")
    answer = run("tell")
    assert answer.code == 0, answer.err
    rows = list(openpyxl.load_workbook("t.xlsx").active.iter_rows(min_row=2, values_only=True))
    kept = {row[4]: row[2:4] for row in rows if row[4]}
    assert [kept[name] for name in names] == [*told]
    assert all(row[4] or row[:4] == old for row, old in zip(rows, cells, strict=True))
    assert run("suggest").code == 0
    assert run("diagnose").code == 0


def test_a_column_of_numbers_that_holds_no_text_refuses_it_and_loses_nothing(run: Run, tmp_path: Path) -> None:
    cells = [(k, 1.5 * k if k < 6 else None, 9.5 - k if k < 6 else None) for k in range(12)]
    polars.DataFrame(cells, schema=["a", "x", "y"], orient="row").write_parquet(tmp_path / "t.parquet")
    aims = ("--object", "a", "--value", "x", "--value", "y:min")
    for line in ("8,<3,1", "8,3,<1", "8,n.d.,1"):
        Path(tmp_path / "new.csv").write_text(f"a,x,y\n{line}\n")
        answer = run("tell", "t.parquet", "new.csv", *aims)
        assert answer.code == 1
        assert "nothing was written" in answer.err
    Path("new.csv").write_text("a,x,y\n8,3,failed\n")
    assert run("tell", "t.parquet", "new.csv", *aims).code == 0
    assert polars.read_parquet("t.parquet")["status"][8] == "failed"


def test_a_campaign_over_a_space_can_be_looked_at_while_a_result_is_missing(run: Run) -> None:
    aims = ("--value", "x", "--value", "y:min", "--require", "z<5")
    assert run("init", "lab.csv", "--space", "T=20..120/5, base=KOAc|NaOH", *aims, "-n", 4).code == 0
    for _ in range(2):
        assert run("suggest").code == 0
        frame = polars.read_csv("next.csv", infer_schema=False)
        rows = frame.rows(named=True)
        for k, row in enumerate(rows):
            row |= {"x": row["x"] or f"{k}.5", "y": row["y"] or (f"{k}" if k else None), "z": row["z"] or f"{k % 3}"}
        polars.DataFrame(rows, schema=frame.schema).write_csv("next.csv")
        assert run("tell").code == 0
    for command in (("explain", "T=80", "base=KOAc"), ("compare",), ("diagnose",)):
        answer = run(*command, "--json")
        assert answer.code == 0, answer.err
        assert list(answer.data["outcomes"]) == ["x", "y", "z"]


def test_what_is_to_be_filled_in_is_what_is_measured(run: Run, save: Save) -> None:
    lines = ["a,euro,x", *(f"{k},{3 + k % 4},{k * (9 - k) if k < 6 else ''}" for k in range(12))]
    file = save("\n".join([*lines, ""])).name
    aims = ("--object", "a", "--value", "euro:min", "--value", "x")
    answer = run("suggest", file, *aims, "--out", "next.csv")
    assert "Fill in column 'x' of next.csv" in answer.out


def test_a_slip_in_a_further_outcome_is_noted_when_it_is_told(run: Run, asked: list[str]) -> None:
    write(asked, {"strength": "5", "price": "30000", "imp": "1"})
    assert "price 30000 for" in run("tell").err


def test_a_limit_with_another_decimal_sign_is_the_same_limit(run: Run, asked: list[str]) -> None:
    Path("new.csv").write_text("a;b;strength;price;imp\n1,45;0,5;2,5;<0,25;1,5\n0,95;0,5;3,5;;>1,75\n")
    for filled in ("2 rows added", "2 known already"):
        told = run("tell", "new.csv")
        assert told.code == 0, told.err
        assert filled in told.out
    rows = polars.read_csv("t.csv", infer_schema=False).rows(named=True)[-2:]
    assert [(row["strength"], row["price"], row["imp"]) for row in rows] == [
        ("2.5", "<0.25", "1.5"),
        ("3.5", None, ">1.75"),
    ]
