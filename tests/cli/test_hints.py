"""Errors below the command line name no option of it: they say what can be set, and the command line says how."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import likewise
from likewise.cli.main import HINTS

PACKAGE = Path(likewise.__file__).parent
# Storages are mended by a command alone, which their errors name; the names of colours in a page begin like options.
EXEMPT = {"cli", "storage", "charts.py"}
BELOW = [path for path in PACKAGE.rglob("*.py") if not EXEMPT & set(path.relative_to(PACKAGE).parts)]


def texts(path: Path) -> Iterator[str]:
    """The texts of a file, without its documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def test_no_text_below_the_command_line_names_an_option() -> None:
    option = re.compile(r"(^|[\s(`])--[a-z]")
    named = [(path.name, text) for path in BELOW for text in texts(path)]
    assert [pair for pair in named if option.search(pair[1].replace("pip install --", ""))] == []


def test_every_hint_is_of_a_setting_that_errors_carry() -> None:
    assert set(HINTS) <= {text for path in BELOW for text in texts(path)}
