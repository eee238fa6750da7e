"""Any table is a pool task: `python -m benchmarks pool`, with the methods that need no peer installed."""

from __future__ import annotations

import json
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


def test_unknown_columns_and_methods_are_named(tmp_path: Path) -> None:
    csv = strings(tmp_path)
    with pytest.raises(SystemExit, match="no column \\['nope'\\]"):
        run(csv, tmp_path / "out.json", "--object", "nope", "--kind", "string", "--methods", "random")
    with pytest.raises(SystemExit, match="no method is called 'magic'"):
        run(csv, tmp_path / "out.json", "--object", "seq", "--kind", "string", "--methods", "magic")
