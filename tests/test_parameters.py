"""Every parameter of every public name is described where the name is."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import likewise as lw


def described(parameter: str, text: str) -> bool:
    """Whether a docstring has a line `parameter: …`, or names it in backticks."""
    listed = rf"(?m)^\s*(\w+, )*{parameter}(, \w+)*: \S"
    return bool(re.search(listed, text) or re.search(rf"`[^`]*\b{parameter}\b[^`]*`", text))


def signatures(name: str) -> Iterator[tuple[str, Any, str]]:
    """A public name, and the methods of a study: where a parameter is, its signature, and what is written about it."""
    made = getattr(lw, name)
    if not callable(made) or (isinstance(made, type) and issubclass(made, Exception | enum.Enum)):
        return
    own = made.__dict__.get("__init__") if isinstance(made, type) else None
    yield name, inspect.signature(made), f"{inspect.getdoc(made)}\n{own.__doc__ if own else ''}"
    if name in ("Study", "Result", "Prediction"):
        for method, function in inspect.getmembers(made, inspect.isfunction):
            if not method.startswith("_") and method != "begin_in_child":
                yield f"{name}.{method}", inspect.signature(function), inspect.getdoc(function) or ""


@pytest.mark.parametrize("name", sorted(lw.HOMES))
def test_every_parameter_is_described(name: str) -> None:
    missing = [
        f"{where}({parameter})"
        for where, signature, text in signatures(name)
        for parameter in signature.parameters
        # `Differentiable` is a protocol, which nobody makes.
        if parameter not in ("self", "args", "kwargs") and not parameter.startswith("_")
        if not described(parameter, text)
    ]
    assert not missing, f"these are in no docstring: {', '.join(missing)}"
