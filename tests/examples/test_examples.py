"""Every example runs, on its data where they are and on a made-up problem anywhere; what the pages show is true."""

from __future__ import annotations

import csv
import gzip
import re
import runpy
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
EXAMPLES = {
    "dna": "tfbind8/tfbind8_SIX6_REF_R1.csv.gz",
    "molecules": "photoswitch/photoswitches.csv",
    "reactions": "direct_arylation/direct_arylation.csv",
    "architectures": "nasbench_macro/nasbench_macro_cifar10.csv",
    "assignment": "qaplib/nug12.dat",
    "compositions": "olympus/oer_plate_3496.csv",
    "series": "timeseries/covid3month.csv",
}
MINIMISED = {"assignment", "compositions"}


def run(example: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / "examples" / f"{example}.py"
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_on_a_made_up_problem(
    example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(example, "--made-up", "--budget", "7", monkeypatch=monkeypatch)
    assert " of 7 " in capsys.readouterr().out


def load(example: str) -> dict[str, Any]:
    """The names of an example, which is not run."""
    return runpy.run_path(str(ROOT / "examples" / f"{example}.py"))


def made_up_table(example: str, folder: Path) -> Path:
    """The example's made-up problem in a file of the same form as its data."""
    names, path = load(example), folder / Path(EXAMPLES[example]).name
    if example == "assignment":
        path.write_text("3\n\n0 1 2\n1 0 1\n2 1 0\n\n0 5 2\n5 0 3\n2 3 0\n")
        return path
    space, objective = names["problem"](None)
    objects = space.objects if isinstance(space, lw.Pool) else ["".join(x) for x in product(space.alphabet, repeat=8)]
    header, cells = {
        "dna": (["seq", "escore"], lambda x: [x]),
        "molecules": (["SMILES", names.get("WAVELENGTH")], lambda x: [x]),
        "reactions": ([*names.get("PARTS", []), "yield"], lambda x: [x[part] for part in names["PARTS"]]),
        "architectures": (["arch", "mean_acc"], lambda x: [x]),
        "compositions": (["ni_load", "fe_load", "co_load", "overpotential"], list),
        "series": (["values", "target"], lambda x: [" ".join(map(str, np.diff(np.expm1(x), prepend=0.0)))]),
    }[example]
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt", newline="") as file:
        csv.writer(file).writerows([header, *([*cells(x), objective(x)] for x in objects)])
    return path


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_on_a_table_like_its_data_and_on_its_data_where_they_are(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = DATA / EXAMPLES[example]
    for path in [made_up_table(example, tmp_path), *([real] if real.exists() else [])]:
        run(example, str(path), "--budget", "6", monkeypatch=monkeypatch)
        assert " of 6 " in capsys.readouterr().out


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each != "assignment"])
def test_a_table_of_the_made_up_problem_is_the_same_problem(example: str, tmp_path: Path) -> None:
    problem = load(example)["problem"]
    (space, objective), (read, value_of) = problem(None), problem(made_up_table(example, tmp_path))
    objects, again = space.sample(20, np.random.default_rng(0)), read.sample(20, np.random.default_rng(0))
    if example != "series":
        assert objects == again
    assert [value_of(x) for x in again] == pytest.approx([objective(x) for x in objects])


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("arguments", [(), ("nowhere.csv",)])
def test_an_example_without_its_data_says_so(
    example: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(example, *arguments, monkeypatch=monkeypatch)
    out = capsys.readouterr().out
    assert out.startswith("skipped: there is no ")
    assert "--made-up" in out


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_made_up_problem_is_solved_far_better_than_by_chance(example: str) -> None:
    names = load(example)
    space, objective = names["problem"](None)
    optimise = lw.minimize if example in MINIMISED else lw.maximize
    best = optimise(objective, space, names["similarity"](), budget=20, seed=0)
    sign = -1.0 if example in MINIMISED else 1.0
    chance = [sign * objective(x) for x in space.sample(200, np.random.default_rng(1))]
    assert sign * best.value >= np.quantile(chance, 0.95)


def rows(page: str) -> list[list[str]]:
    """The cells of every row of a page's tables whose first cell is code."""
    lines = (ROOT / "docs" / page).read_text().splitlines()
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| `lw.")]


def value(code: str, **names: Any) -> Any:
    return eval(code.strip("`"), {"lw": lw, **names})


def public(base: type) -> set[str]:
    """The public names of the classes that derive from `base`."""
    found = {name: getattr(lw, name) for name in lw.__all__ if name != "similarity"}
    return {name for name, of in found.items() if isinstance(of, type) and issubclass(of, base) and of is not base}


def test_every_public_similarity_stands_in_the_tables() -> None:
    text = (ROOT / "docs" / "similarities.md").read_text()
    assert not [name for name in public(lw.Similarity) if f"`lw.{name}(" not in text]


def test_the_tables_say_which_similarities_are_psd() -> None:
    names = {
        "letters": lambda x: [x.count("a")],
        "same_length": lambda x, other: 1.0,
        "log_density": lambda omega, x: x.log_density(omega),
        "objects": ["a", "b"],
        "matrix": np.eye(2),
    }
    table = rows("similarities.md")
    assert len(table) > 50
    for code, psd, *_ in table:
        assert {"yes": True, "no": False}[psd] == value(code, **names).psd, code


def test_every_public_space_stands_in_the_table_with_an_example_that_works() -> None:
    found = {type(value(cells[-1])) for cells in rows("spaces.md") if cells[-1].startswith("`")}
    mentioned = {cells[0].split("(")[0].removeprefix("`lw.") for cells in rows("spaces.md")}
    assert public(lw.Space) == mentioned
    assert {of.__name__ for of in found} >= mentioned - {"Custom", "Record", "Family"}


def test_the_code_of_the_page_on_extending_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "extending.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks), "extending.md", "exec"), names)
    assert len(blocks) == 6
    assert names["best"].value > -100
