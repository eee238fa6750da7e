"""Every parameter of every public name is described where the name is."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import likewise as lw
from likewise import plots
from likewise.run.loop import RunOptions, StudyOptions
from likewise.testing.similarities import check_similarity
from likewise.testing.spaces import check_space

# Of these the methods are described as well; those of other classes belong to protocols, which docs/extending.md has.
USED = ("Study", "Result", "Prediction", "Posterior")


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
    if name in USED:
        yield from methods(made)


def methods(made: type) -> Iterator[tuple[str, Any, str]]:
    """The methods of a class that users call."""
    for method, function in inspect.getmembers(made, inspect.isfunction):
        if not method.startswith("_") and method != "begin_in_child":
            yield f"{made.__name__}.{method}", inspect.signature(function), inspect.getdoc(function) or ""


def undescribed(given: Iterable[tuple[str, Any, str]]) -> list[str]:
    """The parameters that no docstring describes."""
    return [
        f"{where}({parameter})"
        for where, signature, text in given
        for parameter in signature.parameters
        # `Differentiable` is a protocol, which nobody makes.
        if parameter not in ("self", "args", "kwargs") and not parameter.startswith("_")
        if not described(parameter, text)
    ]


@pytest.mark.parametrize("name", sorted(lw.HOMES))
def test_every_parameter_is_described(name: str) -> None:
    assert not undescribed(signatures(name))


def test_pictures_and_laws_are_described() -> None:
    pictures = [each for each in vars(plots).values() if inspect.isfunction(each) and each.__module__ == plots.__name__]
    public = [each for each in pictures if not each.__name__.startswith("_")]
    found = [
        (each.__name__, inspect.signature(each), inspect.getdoc(each) or "")
        for each in (*public, check_similarity, check_space)
    ]
    assert len(found) > 8
    assert not undescribed(found)


def test_options_are_described_where_they_are_taken() -> None:
    """Those of a run in `Study.optimize`, those of a study in `Study`."""
    for options, text in ((RunOptions, lw.Study.optimize.__doc__), (StudyOptions, lw.Study.__doc__)):
        assert not [name for name in options.__annotations__ if not described(name, str(text))]


def test_the_estimator_and_the_sampler_are_described() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("optuna")
    from likewise.integrations.optuna import LikewiseSampler
    from likewise.integrations.sklearn import SimilarityRegressor

    found = [
        (made.__name__, inspect.signature(made), inspect.getdoc(made) or "")
        for made in (LikewiseSampler, SimilarityRegressor)
    ]
    own = [each for each in methods(SimilarityRegressor) if each[0].split(".")[1] in vars(SimilarityRegressor)]
    assert not undescribed([*found, *own])
