"""A new space is one file and one line: it is then known by name, on the command line, to `auto` and in tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import likewise

FILE = '''
"""Even numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from likewise.errors import SpaceError
from likewise.spaces.base import Generator, Space


@dataclass(frozen=True)
class Evens(Space):
    """Even numbers below a bound."""

    kind = "numbers"
    short = "evens:100"
    bound: int
    where: Callable[[Any], bool] | None = None

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(int(text))

    def _draw(self, n: int, rng: Generator) -> list[int]:
        return [2 * int(i) for i in rng.integers((self.bound + 1) // 2, size=n)]

    def _fit(self, x: Any) -> int:
        if not isinstance(x, int) or x % 2 or not 0 <= x < self.bound:
            raise SpaceError(f"{x!r} is not an even number from 0 to below {self.bound}")
        return x
'''
LINE = "from likewise.spaces.evens import Evens as Evens\n"
USE = """
import csv, json
from pathlib import Path
import numpy as np
import likewise as lw
from likewise.cli.main import app
from likewise.testing.spaces import check_space
from typer.testing import CliRunner

def run(*arguments):
    answer = CliRunner().invoke(app, [str(each) for each in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.output

check_space(lw.Evens(100))
assert lw.Evens(100).recognise(np.random.default_rng(0)).kind == "numbers"
assert lw.maximize(lambda x: -x, lw.Evens(10), budget=8).object % 2 == 0

listed = [tuple(each.values()) for each in json.loads(run("spaces", "--json"))["spaces"]]
assert ("Evens", "evens:100", "Even numbers below a bound", "bound") in listed

parts = 'n = { space = "evens", bound = 40 }\\nbase = ["a", "b"]'
Path("space.toml").write_text(f'space = "Record"\\n[parts]\\n{parts}')
for space, columns in (("evens:40", ["object"]), ("space.toml", ["n", "base"])):
    run("suggest", "--space", space, "-n", 6, "--out", "next.csv", "--force")
    rows = list(csv.reader(open("next.csv")))
    assert rows[0][: len(columns)] == columns
    assert all(int(row[0]) % 2 == 0 and int(row[0]) < 40 for row in rows[1:])
    for row in rows[1:]:
        row[len(columns)] = row[0]
    csv.writer(open("table.csv", "w", newline="")).writerows(rows)
    names = [word for column in columns for word in ("-o", column)]
    again = json.loads(run("suggest", "table.csv", "--space", space, *names, "--value", "value", "--json", "-q"))
    assert again["measured"] == 6
"""


@pytest.mark.parametrize(("line", "said"), [(LINE, ""), ("", "module 'likewise' has no attribute 'Evens'")])
def test_a_space_is_one_file_and_one_line(tmp_path: Path, line: str, said: str) -> None:
    package = tmp_path / "src" / "likewise"
    shutil.copytree(Path(likewise.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "spaces" / "evens.py").write_text(FILE)
    with (package / "__init__.pyi").open("a") as stub:
        stub.write(line)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-c", USE], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert (done.returncode == 0) == bool(line), done.stderr
    assert said in done.stderr
