"""Help is quick: neither the list of commands nor that of a command's options loads anything that computes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from likewise.cli import work
from likewise.cli.main import COMMANDS, load

LARGE = {"numpy", "scipy", "polars", "sqlalchemy", "matplotlib"}
CODE = """
import sys
from typer.testing import CliRunner
from likewise.cli.main import app
for words in {lines}:
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0, words
print(*sorted({{name.split(".")[0] for name in sys.modules}} & {large}))
print(*sorted(name for name in sys.modules if name.startswith("{folder}.")))
"""


def loaded(lines: list[list[str]], folder: str) -> list[str]:
    """The large libraries, and the modules of a folder, that are loaded after the help on these."""
    code = CODE.format(lines=lines, large=LARGE, folder=folder)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_the_list_loads_no_command_and_no_large_library() -> None:
    assert loaded([[]], "likewise.cli.commands") == []


def test_the_options_of_no_command_need_a_large_library() -> None:
    assert loaded([[name] for name in COMMANDS], "likewise.cli.work") == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_every_command_under_its_name(name: str) -> None:
    command = load(name)
    assert command.name == name
    assert command.help
    assert any("--debug" in parameter.opts for parameter in command.params)


def test_what_commands_do_loads_by_name() -> None:
    assert {file for file, _ in COMMANDS.values()} == set(work.MODULES)
    assert all(getattr(work, name).__name__ == f"likewise.cli.work.{name}" for name in work.MODULES)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = work.nothing
