"""The pages of the API reference, one for each room, made from the list of public names."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Parameter, isclass, signature
from pathlib import Path
from typing import Any

import likewise as lw

ROOMS = {
    "study": "Studies",
    "run": "Runs",
    "spaces": "Spaces",
    "similarity": "Similarities",
    "acquisition": "Acquisitions",
    "search": "Strategies",
    "model": "The model",
    "integrations": "Inside other libraries",
    "errors": "Errors",
    "plots": "Pictures",
}
BESIDE = {
    "integrations": [
        "likewise.integrations.sklearn.SimilarityRegressor",
        "likewise.integrations.optuna.LikewiseSampler",
    ],
    "plots": [
        "likewise.plots.progress",
        "likewise.plots.predictions",
        "likewise.plots.calibration",
        "likewise.plots.object_map",
        "likewise.plots.weights",
    ],
}
# What spaces and similarities can do by protocols, which extending.md has; a user calls none of it.
PROTOCOL = {"moves", "crossover", "pull", "project", "dimension", "linearise", "linearise_within", "view", "spans"}
PROTOCOL |= {"stepped", "resolution", "levels", "narrow", "box", "distances", "check_scale", "scores", "slopes"}
ARGUMENT = re.compile(r"^(?:- )?((?:`?\w+`?)(?:, `?\w+`?)*)(?:, which [^:]*)?: (.*)$")
CODE = re.compile(r"(`[^`]+`)")
SPECIAL = re.compile(r"([*|_\\])")


def write(folder: Path) -> None:
    """The pages, written anew where they have changed."""
    folder.mkdir(exist_ok=True)
    pages = {room: names for room in ROOMS if (names := _names(room))}
    toc = "\n".join(pages)
    _put(folder / "index.md", f"# Reference\n\nEvery public name.\n\n```{{toctree}}\n{toc}\n```\n")
    for room, names in pages.items():
        entries = "\n".join(map(_entry, names))
        _put(folder / f"{room}.md", f"# {ROOMS[room]}\n\n{entries}")


def _put(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _names(room: str) -> list[str]:
    own = [f"likewise.{name}" for name, home in sorted(lw.HOMES.items()) if home.split(".")[1] == room]
    return own + [name for name in BESIDE.get(room, []) if _there(name)]


def _there(name: str) -> bool:
    home, _, last = name.rpartition(".")
    try:
        return hasattr(import_module(home), last)
    except ImportError:
        return False


def _entry(name: str) -> str:
    home, _, last = name.rpartition(".")
    what = getattr(import_module(home), last)
    if isclass(what):
        return f"## {last}\n\n```{{eval-rst}}\n.. autoclass:: {name}{_members(what)}\n```\n"
    kind = "autofunction" if callable(what) else "autodata"
    return f"## {last}\n\n```{{eval-rst}}\n.. {kind}:: {name}\n```\n"


def _members(what: type) -> str:
    """What is a class's own: what it shares with all of its kind stands with their base."""
    if issubclass(what, BaseException):
        return ""
    bases = [base for base in what.__mro__[1:] if base.__name__ in lw.HOMES]
    shared = {name for base in bases for name in dir(base) if not name.startswith("_")}
    also = {"from_text", "from_arguments", "with_vector", "to_vector", "from_vector", "to_numbers", "from_numbers"}
    # What scikit-learn adds to every estimator is on its own pages.
    foreign = {name for name in dir(what) if name.endswith("_request")}
    hidden = ", ".join(sorted(foreign | ((shared | also | PROTOCOL) & set(dir(what)) if bases else set())))
    return "\n   :members:" + (f"\n   :exclude-members: {hidden}" if hidden else "")


def to_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A docstring in the house's own plain form as reStructuredText: arguments become fields, backticks code."""
    if any("``" in line for line in lines):
        # Inherited from a library that writes reStructuredText.
        return
    made: list[str] = []
    example, arguments = False, _arguments(obj)
    for line in lines:
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if example:
            made.append(line)
            continue
        found = ARGUMENT.match(line)
        named = _plain(found[1]) if found else ""
        is_argument = found and arguments >= set(named.split(", "))
        made.append(f":{named}: {_escaped(found[2])}" if found and is_argument else _escaped(line))
    lines[:] = _spaced(made)


def _arguments(obj: Any) -> set[str]:
    try:
        parameters = signature(obj).parameters
    except (TypeError, ValueError):
        return set()
    # Options that are handed on are named by their docstring alone.
    handed_on = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return _Any() if handed_on else set(parameters)


class _Any(set[str]):
    """Contains everything."""

    def __ge__(self, other: object) -> bool:
        return True


def _plain(names: str) -> str:
    return names.replace("`", "")


def _escaped(text: str) -> str:
    return "".join(map(_part, CODE.split(text)))


def _part(part: str) -> str:
    """Code between double backticks, which a letter right behind would not end; other text with its signs escaped."""
    return f"`{part}`\\ " if _is_code(part) else SPECIAL.sub(r"\\\1", part)


def _is_code(part: str) -> bool:
    return len(part) > 1 and part.startswith("`")


def _spaced(lines: list[str]) -> list[str]:
    """A blank line before the first field and after the last, as the format wants it."""
    spaced: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        field, after = line.startswith(":"), before.startswith((":", " "))
        if field and not after and before:
            spaced.append("")
        spaced.append(line)
    return spaced
