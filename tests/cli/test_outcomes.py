"""Several outcomes on the command line: three rounds by printed commands, with results that arrive one by one."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from likewise.campaign.columns import read_aims
from likewise.campaign.names import Request
from likewise.campaign.problem import solve
from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener
from likewise.report import plot_data
from likewise.report.charts import round_starts

Run = Callable[..., Any]
Save = Callable[..., Path]
AIMS = ("--object", "a", "--object", "b", "--value", "strength:max", "--value", "price:min", "--require", "imp<=2.2")


def strength(row: dict[str, str]) -> float:
    return round(10 * float(row["a"]) + 4 * float(row["b"]) * (1 - float(row["b"])), 3)


def price(row: dict[str, str]) -> float:
    return round(2 + 3 * float(row["a"]) ** 2 + float(row["b"]), 3)


def impurity(row: dict[str, str]) -> float:
    return round(1 + 2 * float(row["a"]) * float(row["b"]), 3)


MEASURED = {"strength": strength, "price": price, "imp": impurity}


def table(known: int = 8) -> str:
    places = [(i / 6, j / 6) for i in range(7) for j in range(7)]
    rows = [{"a": f"{a:.3f}", "b": f"{b:.3f}"} for a, b in sorted(places, key=lambda p: (97 * p[0] + 31 * p[1]) % 1)]
    lines = ["a,b,strength,price,imp"]
    for k, row in enumerate(rows):
        values = [str(f(row)) if k < known else "" for f in MEASURED.values()]
        lines.append(",".join([row["a"], row["b"], *values]))
    return "\n".join([*lines, ""])


def fill(names: dict[str, tuple[str, ...]], path: str = "next.csv") -> None:
    """Fill in some outcomes of each run, by its name; those of others that are out are completed."""
    frame = polars.read_csv(path, infer_schema=False)
    rows = frame.rows(named=True)
    for row in rows:
        for name in names.get(row["run"], tuple(MEASURED)):
            row[name] = row[name] or str(MEASURED[name](row))
    polars.DataFrame(rows, schema=frame.schema).write_csv(path)


def runs(path: Path) -> dict[str, dict[str, str]]:
    rows = polars.read_csv(path, infer_schema=False).rows(named=True)
    return {row["run"]: row for row in rows if row.get("run")}


def test_three_rounds_with_results_that_arrive_one_by_one(run: Run, save: Save) -> None:
    file = save(table(), "alloys.csv")
    command = ["suggest", file.name, *AIMS, "-n", "3", "--out", "next.csv"]
    waiting: list[str] = []
    for number in range(3):
        answer = run(*command)
        assert answer.code == 0, answer.err
        for words in (
            "strength",
            "price",
            "imp",
            "enters the front",
            "keeps limits",
            "The front so far",
            "price because",
        ):
            assert words in answer.out
        assert ("Still under way" in answer.out) == bool(waiting)
        new = [name for name in runs(Path("next.csv")) if name not in waiting]
        assert len(new) == 3
        because = runs(Path("next.csv"))[new[0]]["likewise_because"]
        assert all(f"{name}: " in because for name in MEASURED)
        fill({new[0]: ("strength",), new[1]: ("price", "imp"), new[2]: ()})
        command = shlex.split(answer.out.strip().splitlines()[-1].split("then: ")[1])[1:]
        told = run(*command)
        assert told.code == 0, told.err
        assert f"{2 + len(waiting)} results filled in" in told.out
        kept = runs(file)
        assert [kept[name]["status"] for name in new] == ["running", "running", "suggested"]
        assert all(kept[name]["status"] == "done" and kept[name]["imp"] for name in waiting)
        assert "0 results filled in" in run(*command).out
        waiting, command = new, shlex.split(told.out.strip().splitlines()[-1].split("Next: ")[1])[1:]
        assert number < 2 or kept.keys() >= set(new)
    why = run("why", new[0], file.name).out
    assert "Expected strength" in why
    assert "keep the limits" in why


def test_a_settings_file_says_what_is_wanted(run: Run, save: Save) -> None:
    file = save(table(), "alloys.csv")
    begun = run("init", file.name, *AIMS, "-n", 2)
    assert begun.code == 0, begun.err
    assert "the largest strength and the smallest price, where imp is at most 2.2 is looked for" in begun.out
    data = run("suggest", "--json").data
    assert data["objectives"] == {"strength": "maximize", "price": "minimize"}
    assert data["constraints"] == {"imp": [None, 2.2]}
    assert all(set(s["outcomes"]) == set(MEASURED) for s in data["suggestions"])
    assert all(one["values"]["imp"] <= 2.2 for one in data["front"])


def test_a_column_that_is_known_of_every_row_needs_no_model(run: Run, save: Save) -> None:
    lines = table().splitlines()
    full = [f"{line},{2 + k % 5}" for k, line in enumerate(lines[1:])]
    file = save("\n".join([f"{lines[0]},euro", *full, ""]), "alloys.csv")
    goals = ("--object", "a", "--object", "b", "--value", "strength:max", "--value", "euro:min")
    answer = run("suggest", file.name, *goals, "-n", 2)
    assert "taken as known, not measured" in answer.err
    assert answer.code == 0, answer.err
    bought = run("suggest", file.name, *AIMS[:6], "--cost", "euro", "--budget", "6", "-n", 4, "--json").data
    prices = polars.read_csv(file)["euro"].to_list()
    assert 0 < sum(prices[s["row"] - 2] for s in bought["suggestions"]) <= 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--value", "strength:max", "--value", "strength:min"), ["both the largest and the smallest"]),
        (("--value", "strength:max", "--value", "nothing:min"), ["nothing"]),
        (("--value", "strength", "--require", "imp"), ["no requirement", "impurity<2"]),
        (("--value", "strength", "--require", "imp 8..6"), ["leaves no room"]),
        (("--require", "imp<2"), ["--value"]),
        (("--value", "strength", "--budget", "5"), ["--cost"]),
        (("--value", "strength", "--value", "a:min"), ["'a'"]),
    ],
)
def test_what_cannot_be_meant_is_named(run: Run, save: Save, options: tuple[str, ...], words: list[str]) -> None:
    answer = run("suggest", save(table(), "alloys.csv").name, "--object", "a", "--object", "b", *options)
    assert answer.code != 0
    for word in words:
        assert word in " ".join(answer.err.split())


def test_a_text_in_one_of_three_outcomes_is_named_by_its_cell(run: Run, save: Save) -> None:
    lines = table().splitlines()
    lines[2] = ",".join([*lines[2].split(",")[:4], "wet"])
    answer = run("suggest", save("\n".join([*lines, ""]), "alloys.csv").name, *AIMS)
    assert answer.code != 0
    assert "'imp'" in answer.err
    assert "wet" in answer.err


@pytest.mark.parametrize("third", [(), ("--value", "imp:min")])
def test_the_report_shows_the_front_and_each_outcome(run: Run, save: Save, third: tuple[str, ...]) -> None:
    aims = AIMS if not third else (*AIMS[:-2], *third)
    answer = run("suggest", save(table(12), "alloys.csv").name, *aims, "-n", 3, "--report", "report.html")
    assert answer.code == 0, answer.err
    text = Path("report.html").read_text()
    for name in ("strength", "price", *(("imp",) if third else ())):
        assert text.count(f"Which factor matters for {name}, and how?") == 1
    assert text.count('id="factor-0-a"') == text.count('id="factor-1-b"') == 1
    for words in ("trade-off", "Its growth", "enters the front", *(f"predictions of {name}" for name in MEASURED)):
        assert words in text
    assert ("keeps limits" in text) == (not third)
    # Parts of pictures are told apart by their ids.
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_the_front_says_which_values_are_only_limits(run: Run, save: Save) -> None:
    lines = table().splitlines()
    a, b, strong, _, impure = lines[1].split(",")
    lines[1] = ",".join([a, b, strong, "<0.5", impure])
    answer = run("suggest", save("\n".join([*lines, ""]), "alloys.csv"), *AIMS, "-n", "2")
    assert answer.code == 0, answer.err
    assert f"strength {float(strong):.6g}, price <0.5, imp" in answer.out


def test_a_failure_counts_whatever_else_was_measured_and_an_objective_may_come_last(run: Run, save: Save) -> None:
    file = save(table(), "alloys.csv")
    aims = ("--object", "a", "--object", "b", "--value", "strength:max", "--require", "imp<=2.2")
    assert run("suggest", file.name, *aims, "-n", "3", "--out", "next.csv").code == 0
    frame = polars.read_csv("next.csv", infer_schema=False)
    rows = frame.rows(named=True)
    rows[0] |= {"strength": "failed", "imp": "1.5"}
    rows[1] |= {"imp": "0.1"}
    rows[2] |= {"strength": "4", "imp": "n.d."}
    polars.DataFrame(rows, schema=frame.schema).write_csv("next.csv")
    answer = run("tell", file.name, "next.csv", *aims)
    assert answer.code == 0, answer.err
    assert "1 run still under way" in answer.out
    told = runs(file)
    found = [(told[row["run"]]["strength"], told[row["run"]]["status"]) for row in rows]
    assert found == [("failed", "failed"), (None, "running"), ("4", "done")]
    again = run("suggest", file.name, *aims, "-n", "2", "--out", "next.csv")
    assert again.code == 0, again.err
    assert "Best so far" in again.out


SETTINGS = """table = "{table}"
next = "next.csv"
number = 3
space = "a=0..1, b=0..1"
[values]
strength = "maximize"
price = "minimize"
[require]
imp = "<=2.2"
"""


def test_settings_written_by_hand_begin_with_an_empty_table(run: Run) -> None:
    Path("likewise.toml").write_text(SETTINGS.format(table="runs.csv"))
    for number in range(1, 3):
        asked = run("suggest")
        assert ("was not there" in asked.err) == (number == 1)
        fill({})
        assert run("tell").code == 0
        found = runs(Path("runs.csv"))
        assert len(found) == 3 * number
        assert all(row[name] for row in found.values() for name in MEASURED)


def test_a_table_that_is_named_and_missing_is_a_slip(run: Run) -> None:
    Path("likewise.toml").write_text(SETTINGS.format(table="runs.csv"))
    refused = run("suggest", "rusn.csv")
    assert refused.code == 2
    assert "rusn.csv" in refused.err
    assert not Path("rusn.csv").exists()
    assert not Path("runs.csv").exists()


def test_a_direction_for_all_may_not_contradict_those_of_the_columns(run: Run, save: Save) -> None:
    file = save(table(), "alloys.csv").name
    refused = run("suggest", file, *AIMS, "--minimize")
    assert refused.code == 2
    assert "--minimize contradicts 'strength:max'" in refused.err
    some = ("--object", "a", "--object", "b", "--value", "strength:max", "--value", "price", "--minimize")
    assert "the smallest price" in run("suggest", file, *some).err


def test_a_record_may_stand_in_one_pair_of_quotation_marks(run: Run, save: Save) -> None:
    file = save(table(), "alloys.csv").name
    apart, together = (run("explain", file, *words, *AIMS) for words in (["a=0.3", "b=0.4"], ["a=0.3, b=0.4"]))
    assert apart.code == 0, apart.err
    assert apart.out == together.out


def test_costs_that_are_none_and_budgets_that_buy_nothing_say_so(run: Run, save: Save) -> None:
    lines = table().splitlines()
    lines = [f"{line},{cost}" for line, cost in zip(lines, ["euro", *(str(3 + i % 7) for i in range(49))], strict=True)]
    file = save("\n".join([*lines, ""]), "alloys.csv").name
    bought = run("suggest", file, *AIMS, "-n", 4, "--cost", "euro", "--budget", 12)
    assert re.search(r"suggestions? for \d+ by column 'euro', of a budget of 12", bought.err)
    nothing = run("suggest", file, *AIMS, "-n", 4, "--cost", "euro", "--budget", 2, "--report", "report.html")
    assert nothing.code == 0
    for text in (nothing.out, Path("report.html").read_text()):
        assert "No candidate fits what is asked of the batch" in text
        assert "Every candidate has a value" not in text
    lines[-1] = lines[-1].rpartition(",")[0] + ",cheap"
    refused = run("suggest", save("\n".join([*lines, ""]), "alloys.csv").name, *AIMS, "--cost", "euro", "--budget", 9)
    assert refused.code == 2
    assert "'cheap' in column 'euro', row 50" in refused.err


def test_the_growth_of_the_front_is_shown_by_rounds(run: Run, save: Save) -> None:
    """A run of which an objective is still to come is not on the picture, nor counted."""
    lines = table(12).splitlines()
    rounds = ["round", *(str(1 + k // 4) if k < 12 else "" for k in range(len(lines) - 1))]
    lines = [f"{line},{number}" for line, number in zip(lines, rounds, strict=True)]
    a, b, strong, _, impure, number = lines[2].split(",")
    lines[2] = ",".join([a, b, strong, "", impure, number])
    file = save("\n".join([*lines, ""]), "alloys.csv")
    assert run("suggest", file.name, *AIMS, "--report", "report.html").code == 0
    assert "Broken lines part the rounds" in Path("report.html").read_text()
    choices = Choices(("a", "b"), "strength", others=("price", "imp"))
    request = Request(aims=read_aims(["strength", "price:min"], ["imp<=2.2"]))
    problem, _ = solve(sheet(file, choices, Listener()), request, lambda problem: None, Listener())
    assert round_starts(problem, ["strength", "price"]) == [0, 3, 7]
    assert len(plot_data.volumes(problem.study).values) == 11


BRANCHES = """space = "OneOf"
[branches]
batch = { space = "Record", parts = { hours = { space = "Float", low = 1, high = 24 } } }
flow = { space = "Record", parts = { rate = { space = "Float", low = 0.1, high = 5 }, lamp = ["red", "blue"] } }
"""


@pytest.mark.parametrize("values", [("yield:max",), ("yield:max", "waste:min")])
def test_objects_of_branches_are_explained_and_reported_with_their_branch(
    run: Run, save: Save, values: tuple[str, ...]
) -> None:
    Path("space.toml").write_text(BRANCHES)
    objects = [{"batch": {"hours": 3.0 * i}} for i in range(1, 5)]
    objects += [{"flow": {"rate": float(i), "lamp": "red"}} for i in range(1, 5)]
    rows = [{"object": json.dumps(x), "yield": 10.0 + 3 * i, "waste": 8.0 - i} for i, x in enumerate(objects)]
    polars.DataFrame(rows).write_csv("runs.csv")
    options = ("--object", "object", *(word for text in values for word in ("--value", text)))
    explained = run("explain", "runs.csv", '{"flow": {"rate": 9.0, "lamp": "blue"}}', *options)
    assert explained.code == 0, explained.err
    assert "'rate' is 9, outside of what the table has seen, 1 to 4" in explained.err
    answer = run("suggest", "runs.csv", "--space", "space.toml", *options, "-n", 4, "--report", "report.html")
    assert answer.code == 0, answer.err
    text = Path("report.html").read_text()
    assert "<th>batch</th>" not in text
    assert "<th>flow</th>" not in text
    assert "flow rate: " in text
