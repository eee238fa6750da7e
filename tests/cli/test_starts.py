"""A folder of data runs no code: whatever files lie in it, no start of an interpreter imports them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import likewise as lw
from likewise.similarity import parallel

# Without what `python -m` itself loads (collections, functools, …): only `-P` helps there.
NAMES = (
    *("__future__", "ast", "csv", "dataclasses", "distributed", "json", "loky", "multiprocessing", "numpy", "pickle"),
    *("polars", "random", "rdkit", "rich", "scipy", "sitecustomize", "socket", "subprocess", "typer", "typing"),
    "usercustomize",
)
COMMAND = "from likewise.cli.main import main; main()"


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Path]:
    """A folder of files named like libraries, each of which leaves a mark when it is run; in the end there is none."""
    folder, marks = tmp_path / "data", tmp_path / "marks"
    folder.mkdir()
    marks.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(marks / name)!r}, 'w').close()\n")
    yield folder
    assert sorted(mark.name for mark in marks.iterdir()) == []


def run(folder: Path, *command: str) -> str:
    # The path of this process, so that it is found where it is not installed.
    path = os.pathsep.join(entry for entry in sys.path if entry and Path(entry) != Path.cwd())
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**{name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def molecules(count: int) -> list[str]:
    tails = ["O", "N", "C#N", "F", "Cl", "S"]
    return [f"C{'C' * (i // 6 % 28)}{'C(C)' * (i // 168)}C{tails[i % 6]}" for i in range(count)]


@pytest.mark.parametrize("start", [("-P", "-c", COMMAND), ("-m", "likewise")])
def test_suggesting_among_many_molecules_runs_nothing_beside_the_table(hostile: Path, start: tuple[str, ...]) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) % 13 if i % 460 == 0 else ''}" for i, smiles in enumerate(molecules(4600))]
    (hostile / "mols.csv").write_text("\n".join(["smiles,y", *lines]))
    answer = run(hostile, *start, "suggest", "mols.csv", "-n", "2", "-s", "tanimoto", "--json")
    assert len(json.loads(answer)["suggestions"]) == 2


@pytest.mark.parametrize("command", ["similarities", "spaces", "--help"])
def test_no_command_runs_what_lies_in_the_working_directory(hostile: Path, command: str) -> None:
    run(hostile, "-m", "likewise", command)


def test_a_process_that_encodes_runs_nothing_in_the_working_directory(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.setattr(parallel, "PIECE", 1)
    assert len(list(parallel.encode_pieces([lw.Hamming()], ["ab", "cd"], 2))) == 2
    assert "PYTHONSAFEPATH" not in os.environ


def test_a_process_that_encodes_finds_the_modules_of_an_interactive_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words_of_mine.py").write_text("class Word(str):\n    pass\n")
    (tmp_path / "numpy.py").write_text("raise SystemExit('this is not numpy')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*(entry for entry in sys.path if entry), ""])
    from words_of_mine import Word  # type: ignore[import-not-found]

    monkeypatch.setattr(parallel, "PIECE", 1)
    assert len(list(parallel.encode_pieces([lw.Hamming()], [Word("ab"), Word("cd")], 2))) == 2


def test_a_pool_in_a_script_elsewhere_runs_nothing_in_the_working_directory(hostile: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "import likewise as lw\n"
        "def f(x):\n"
        "    return [len(x), 'PYTHONSAFEPATH' not in os.environ]\n"
        "pool = lw.Pool([f'{i:05d}' for i in range(5000)], processes=2)\n"
        "(chunk,), = pool.encodings([lw.Embedded(f, lw.Linear())])\n"
        "print(chunk.sum(axis=0).tolist())\n"
    )
    assert run(hostile, str(script)).strip() == "[25000.0, 5000.0]"


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_run_nothing_in_the_working_directory(hostile: Path, tmp_path: Path, method: str) -> None:
    for name in ("collections", "selectors", "signal", "struct", "tempfile", "threading"):
        (hostile / f"{name}.py").write_text((hostile / "numpy.py").read_text().replace("numpy", name))
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, os\n"
        "import likewise as lw\n"
        "def f(x):\n"
        "    return -abs(x[0] - 0.3) if 'PYTHONSAFEPATH' not in os.environ else None\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    run = lw.maximize(f, lw.Box([0.0], [1.0]), budget=3, workers=2, seed=0)\n"
        "    print(len(run.study.trials), 'PYTHONSAFEPATH' in os.environ)\n"
    )
    assert run(hostile, str(script)).split() == ["3", "False"]
