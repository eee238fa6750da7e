"""A command line to talk to, and tables to talk about."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Answer:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The answer as JSON; stdout holds nothing else."""
        return json.loads(self.out)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run a command in a folder of its own."""
    from typer.testing import CliRunner

    from likewise.interfaces.cli import app

    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object) -> Answer:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of text or bytes."""

    def written(data: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return written


@pytest.fixture
def rows() -> Callable[..., list[dict[str, str]]]:
    """The rows of a CSV file."""

    def read(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
        text = path.read_bytes().decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))

    return read


@pytest.fixture
def words(save: Callable[..., Path]) -> Path:
    """Eighty-one words, every fifth of them with a made-up score: how many letters are vowels, and where."""
    lines = ["id,word,score"]
    for i, letters in enumerate(product("ABE", repeat=4)):
        score = sum(place + 1.0 for place, letter in enumerate(letters) if letter in "AE")
        lines.append(f"w{i},{''.join(letters)},{score if i % 5 == 0 else ''}")
    return save("\n".join(lines) + "\n", "words.csv")
