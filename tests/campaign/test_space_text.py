"""Spaces by short form and by file, and the cells their objects are written in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.campaign.objects import from_cells, to_cells
from likewise.campaign.space_text import space
from likewise.errors import TableError, UsageError
from likewise.spaces.description import build

Run = Callable[..., Any]
Save = Callable[..., Path]

DATA: list[dict[str, Any]] = [
    {"space": "Strings", "alphabet": "ACGT", "length": 8},
    {"space": "strings", "alphabet": "01", "min_length": 2, "max_length": 4},
    {"space": "Permutations", "n": 5},
    {"space": "Permutations", "items": ["a", "b", "c"]},
    {"space": "Subsets", "items": ["a", "b", "c"], "min_size": 1},
    {"space": "Box", "lower": [0, 20], "upper": [1, 120]},
    {"space": "Box", "lower": 1e-4, "upper": 1e-1, "log": [0]},
    {"space": "Simplex", "n": 3, "total": 100.0},
    {"space": "Categorical", "values": ["red", 2, 3.5]},
    {"space": "Categorical", "values": [True, False]},
    {"space": "Grammar", "rules": {"S": ["S + S", "x"]}},
    {"space": "Gaussians", "mean": [-3.0, 3.0], "variance": [0.1, 4.0]},
    {
        "space": "Record",
        "parts": {
            "solvent": ["water", "DMF"],
            "temperature": {"space": "Box", "lower": 20, "upper": 120},
            "order": {"space": "Permutations", "n": 3},
        },
    },
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("decimal", [".", ","])
def test_objects_survive_being_written_in_cells(data: dict[str, Any], decimal: Any) -> None:
    made = build(data, "space.toml")
    columns = list(data["parts"]) if data["space"] == "Record" else ["object"]
    for x in made.sample(20, np.random.default_rng(0)):
        cells = to_cells(made, x, columns, decimal)
        back = made.fit(from_cells(made, dict(zip(columns, cells, strict=True)), decimal))
        # Numbers are written with as many digits as one would write down.
        assert _close(made.to_json(back), made.to_json(x))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_close, a, b))
    return a == pytest.approx(b, rel=1e-3, abs=1e-12) if isinstance(a, float) else a == b


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("strings:ACGT:8", 4**8),
        ("strings:AB:1-2", 6),
        ("permutations:4", 24),
        ("permutations:a,b,c", 6),
        ("subsets:a,b", 4),
    ],
)
def test_short_forms(text: str, size: int) -> None:
    assert space(text).size == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "strings",
        "strings:ACGT",
        "strings:ACGT:x",
        "permutations:",
        "box:1",
        "box:2..1",
        "simplex:x",
        "foo:1",
        "no.toml",
    ],
)
def test_bad_short_forms_are_usage(text: str) -> None:
    with pytest.raises(UsageError):
        space(text)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("not toml at all", ["not TOML"]),
        ("alphabet = 'ACGT'", ["space ="]),
        ("space = 'Sphere'", ["'Sphere'", '"Strings"']),
        ("space = 'Strings'\nalphabet = 'ACGT'\nlenght = 8", ["lenght", "length"]),
        ("space = 'Strings'\nalphabet = 'AA'\nlength = 8", ["alphabet"]),
        ("space = 'Record'\nparts = 3", ["[parts]"]),
        ("space = 'Record'\n[parts]\nt = { space = 'Box', lower = 3, upper = 1 }", ["part 't'", "bound"]),
    ],
)
def test_bad_files_say_where(save: Save, toml: str, words: list[str]) -> None:
    path = save(toml, "space.toml")
    with pytest.raises(TableError) as caught:
        space(str(path))
    for word in ("space.toml", *words):
        assert word in str(caught.value)


def test_a_loop_over_a_space(run: Run, save: Save) -> None:
    save('space = "Record"\n[parts]\nsolvent = ["water", "DMF"]\nt = { space = "Box", lower = 0, upper = 1 }', "s.toml")
    assert run("suggest", "--space", "s.toml", "-n", 6, "--out", "next.csv", "--value", "yield").code == 0
    lines = Path("next.csv").read_text().splitlines()
    assert lines[0].startswith("solvent,t,yield,run")
    filled = [lines[0]]
    for line in lines[1:]:
        solvent, t, *_ = line.split(",")
        filled.append(f"{solvent},{t},{(solvent == 'DMF') - (float(t) - 0.3) ** 2},,,,")
    Path("table.csv").write_text("\n".join(filled))
    command = ("suggest", "table.csv", "-o", "solvent", "-o", "t", "--space", "s.toml", "-n", 2, "--value", "yield")
    data = run(*command, "--json", "--out", "next2.csv").data
    assert [s["object"]["solvent"] for s in data["suggestions"]] == ["DMF", "DMF"]
    assert Path("next2.csv").read_text().startswith("solvent,t,yield,run")


def test_objects_outside_the_space_are_named(run: Run, save: Save) -> None:
    table = save("word,score\nACGT,1\nACGX,2\n")
    answer = run("suggest", table, "--space", "strings:ACGT:4")
    assert answer.code == 1
    for word in ("row 3", "'word'", "'ACGX'", "not in the space"):
        assert word in answer.err
    assert run("suggest", table, "--space", "strings:ACGT:4", "--skip-bad").code == 0
