"""Any table is a pool task: `python -m benchmarks pool`, with the methods that need no peer installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.__main__ import main


def table(path: Path, heads: str, rows: list[str]) -> Path:
    path.write_text("\n".join([heads, *rows]) + "\n")
    return path


def strings(folder: Path) -> Path:
    """Sequences of unequal length; more of A is better."""
    rng = np.random.default_rng(0)
    made = {"".join(rng.choice(list("ACDE"), rng.integers(4, 9))) for _ in range(60)}
    return table(folder / "strings.csv", "seq,y", [f"{s},{s.count('A')}.{i:03}" for i, s in enumerate(sorted(made))])


def run(csv: Path, out: Path, *options: str) -> dict[str, dict[str, dict[str, dict[str, list[float]]]]]:
    common = ["--value", "y", "--seeds", "2", "--initial", "5", "--budget", "4", "--json", str(out)]
    main(["pool", "--csv", str(csv), *options, *common])
    found: dict[str, dict[str, dict[str, dict[str, list[float]]]]] = json.loads(out.read_text())["methods"]
    return found


def test_methods_begin_with_the_same_objects_and_look_at_each_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    methods = "likewise,ga,random"
    found = run(strings(tmp_path), tmp_path / "out.json", "--object", "seq", "--kind", "string", "--methods", methods)
    for seed in ("0", "1"):
        runs = [found[name]["runs"][seed]["values"] for name in methods.split(",")]
        assert len({tuple(values[:5]) for values in runs}) == 1
        assert all(len(values) == len(set(values)) == 9 for values in runs)
    assert "| **likewise** | 2 |" in capsys.readouterr().out


def test_runs_that_are_there_are_not_repeated(tmp_path: Path) -> None:
    csv, out = strings(tmp_path), tmp_path / "out.json"
    options = ("--object", "seq", "--kind", "string", "--methods", "random")
    run(csv, out, *options)
    marked = out.read_text().replace('"seconds":', '"seconds":1')
    out.write_text(marked)
    assert run(csv, out, *options) == json.loads(marked)["methods"]


@pytest.mark.parametrize("batch", ["1", "3"])
def test_records_of_numbers_and_categories(tmp_path: Path, batch: str) -> None:
    rng = np.random.default_rng(1)
    rows = [
        f"{x:.4f},{c},same,{x + (c == 'b'):.4f}"
        for x, c in zip(rng.random(40), rng.choice(["a", "b"], 40), strict=True)
    ]
    csv = table(tmp_path / "mixed.csv", "x,c,k,y", rows)
    fields = [part for name in "xck" for part in ("--object", name)]
    found = run(csv, tmp_path / "out.json", *fields, "--kind", "mixed", "--methods", "likewise", "--batch", batch)
    assert max(found["likewise"]["runs"]["0"]["values"]) > 1.5


STRING = ("--object", "seq", "--kind", "string")


def refused(csv: Path, *options: str) -> str:
    """What is said instead of running."""
    with pytest.raises(SystemExit) as stopped:
        run(csv, csv.with_suffix(".json"), *options)
    assert not csv.with_suffix(".json").exists()
    return str(stopped.value)


def test_unknown_columns_methods_and_files_are_named(tmp_path: Path) -> None:
    csv = strings(tmp_path)
    options = ("--kind", "string", "--methods", "random")
    assert "no column ['nope']" in refused(csv, "--object", "nope", *options)
    assert "no method is called 'magic'" in refused(csv, *STRING, "--methods", "random,magic")
    assert "there is no file" in refused(tmp_path / "absent.csv", *STRING, "--methods", "random")


@pytest.mark.parametrize("option", ["--batch", "--budget", "--initial", "--seeds", "--rows"])
@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_numbers_below_one_are_refused(option: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["pool", "--csv", "any.csv", "--object", "x", "--value", "y", "--kind", "vector", f"{option}={number}"])
    assert f"argument {option}: {number} is not a whole number of 1 or more" in capsys.readouterr().err


def test_a_pool_smaller_than_the_evaluations_is_refused(tmp_path: Path) -> None:
    csv = table(tmp_path / "small.csv", "seq,y", [f"{'A' * i}C,{i}" for i in range(8)])
    assert "small_y has 8 objects, fewer than --initial 5 + --budget 4" in refused(csv, *STRING, "--methods", "random")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["high", "low"] * 6, "column 'y' of .* holds no number, but 'high'"),
        (["3"] * 12, "half of .* has the best value, 3, "),
        (["1", "3", "3", "3"] * 3, "half of .* has the best value, 3, "),
    ],
)
def test_values_without_regret_are_refused(tmp_path: Path, values: list[str], said: str) -> None:
    csv = table(tmp_path / "values.csv", "seq,y", [f"{'A' * i}C,{value}" for i, value in enumerate(values)])
    assert re.search(said, refused(csv, *STRING, "--methods", "random"))


def test_rows_without_a_value_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{'A' * i}C,{i}" for i in range(12)]
    csv = table(tmp_path / "gaps.csv", "seq,y", [*rows, "A,", "G,n/a", "T,inf", "C,7"])
    run(csv, tmp_path / "out.json", *STRING, "--methods", "random")
    said = capsys.readouterr().out
    assert said.startswith("13 rows kept, 3 left out (no finite number in 'y'); 12 different objects\n")


def test_empty_and_wrong_cells_are_named(tmp_path: Path) -> None:
    rows = [f"{i},{i}" for i in range(12)]
    empty = table(tmp_path / "empty.csv", "x,y", [*rows, ",3"])
    vector = ("--object", "x", "--kind", "vector", "--methods", "random")
    assert "column 'x' of" in (said := refused(empty, *vector))
    assert "is empty in row 14 (1 such rows)" in said
    text = table(tmp_path / "text.csv", "x,y", [*rows, "warm,3"])
    assert "should hold numbers: could not convert string to float: 'warm'" in refused(text, *vector)
    log = table(tmp_path / "log.csv", "x,y", rows)
    assert "column 'x' has no logarithm at 0; leave --log x out" in refused(log, *vector, "--log", "x")


def test_texts_that_are_no_molecules_are_named(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="molecules need RDKit")
    csv = table(tmp_path / "wrong.csv", "smiles,y", [*(f"{'C' * i}O,{i}" for i in range(12)), "C1CC,3"])
    options = ("--object", "smiles", "--kind", "molecules", "--methods", "random")
    assert "column 'smiles' holds 'C1CC', which RDKit does not read as a molecule" in refused(csv, *options)


@pytest.mark.parametrize("kind", ["molecules", "string", "series"])
def test_kinds_of_one_column_take_no_more(tmp_path: Path, kind: str) -> None:
    csv = table(tmp_path / "two.csv", "a,b,y", ["C,C,1"])
    said = refused(csv, "--object", "a", "--object", "b", "--kind", kind, "--methods", "random")
    assert f"--kind {kind} takes one --object column, not 2 (a, b); take --kind reaction" in said


def test_fingerprints_alone_suit_molecules_and_reactions(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="molecules need RDKit")
    rows = [f"{'C' * i}O,{t},{k},{i * t}" for i in range(1, 7) for t, k in ((1, "a"), (2, "b"), (3, "a"))]
    csv = table(tmp_path / "reactions.csv", "smiles,t,k,y", rows)
    methods = "likewise-fingerprints,random"
    fields = [part for name in ("smiles", "t", "k") for part in ("--object", name)]
    found = run(csv, tmp_path / "out.json", *fields, "--kind", "reaction", "--methods", methods)
    assert set(found) == {"likewise-fingerprints", "random"}
    found = run(csv, tmp_path / "mixed.json", *fields, "--kind", "mixed", "--methods", methods)
    assert set(found) == {"random"}
