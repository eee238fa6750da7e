"""The list of commands is quick: no command loads before it is used, and the list says what each says of itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from likewise.cli.main import COMMANDS, load

CODE = """
import sys
from typer.testing import CliRunner
from likewise.cli.main import app
assert CliRunner().invoke(app, ["--help"]).exit_code == 0
print(*sorted({name.split(".")[0] for name in sys.modules} & {"numpy", "scipy", "polars", "sqlalchemy", "matplotlib"}))
print(*sorted(name for name in sys.modules if name.startswith("likewise.cli.commands.")))
"""


def test_help_loads_no_command_and_no_large_library() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_every_command_under_its_name(name: str) -> None:
    command = load(name)
    assert command.name == name
    assert command.help
    assert any("--debug" in parameter.opts for parameter in command.params)


def test_the_options_of_suggest_need_no_large_library() -> None:
    code = CODE.replace('["--help"]', '["suggest", "--help"]')
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert loaded == ["likewise.cli.commands.options", "likewise.cli.commands.suggest"]
