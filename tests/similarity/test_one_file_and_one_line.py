"""A new similarity is one file and one line: it is then known by name, in Python and on the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import likewise

FILE = '''
"""Words by their first letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from likewise.similarity.base import Matrix, Similarity, Vector


@dataclass(frozen=True)
class FirstLetter(Similarity):
    """1 for words that begin alike, and `otherwise` for others. PSD."""

    kind = "strings"
    compares = "the first letter"
    psd = True
    otherwise: float = 0.2
    case: Literal["ignore", "keep"] = "ignore"

    def encode(self, objects: Sequence[Any]) -> Any:
        return np.array([x[:1].lower() if self.case == "ignore" else x[:1] for x in objects])

    def between(self, a: Any, b: Any) -> Matrix:
        return np.where(a[:, None] == b, 1.0, self.otherwise)

    def within(self, a: Any) -> Vector:
        return np.ones(len(a))
'''
LINE = "from likewise.similarity.kinds.first_letter import FirstLetter as FirstLetter\n"
USE = """
import json
from pathlib import Path
import likewise as lw
from likewise.cli.main import app
from likewise.testing.similarities import check_similarity
from typer.testing import CliRunner

def run(*arguments):
    answer = CliRunner().invoke(app, [str(each) for each in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.output

words = ["ash", "alder", "beech", "Birch", "cedar", "cherry", "elm", "fir", "hazel", "holly"]
check_similarity(lw.FirstLetter(), words)
listed = [tuple(each.values()) for each in json.loads(run("similarities", "--json"))["similarities"]]
assert ("first_letter", "strings", "the first letter", "otherwise=0.2, case=ignore|keep") in listed
rows = [f"{word},{i if i < 6 else ''}" for i, word in enumerate(words)]
Path("words.csv").write_text("\\n".join(["word,y", *rows]))
answer = json.loads(run("suggest", "words.csv", "-o", "word", "-s", "first_letter(0.1)", "--json", "-q"))
assert answer["measured"] == 6
pool = lw.Pool([word * 3 for word in words] * 1000, processes=2)
assert sum(len(chunk) for chunk, in pool.encodings([lw.FirstLetter()])) == len(pool)
"""


@pytest.mark.parametrize(("line", "said"), [(LINE, ""), ("", "module 'likewise' has no attribute 'FirstLetter'")])
def test_a_similarity_is_one_file_and_one_line(tmp_path: Path, line: str, said: str) -> None:
    package = tmp_path / "src" / "likewise"
    shutil.copytree(Path(likewise.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "similarity" / "kinds" / "first_letter.py").write_text(FILE)
    with (package / "__init__.pyi").open("a") as stub:
        stub.write(line)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-c", USE], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert (done.returncode == 0) == bool(line), done.stderr
    assert said in done.stderr
