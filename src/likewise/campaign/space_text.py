"""Spaces by text: `strings:ACGT:8` on the command line, and a TOML file for the rest.

In TOML a space has its name under `space` and its arguments under theirs, as in Python:

    space = "Record"
    [parts]
    solvent = ["water", "DMF"]
    temperature = { space = "Box", lower = 20, upper = 120 }
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.campaign.names import Named
from likewise.errors import SpaceError, TableError, UsageError
from likewise.tables.nesting import DEEPEST, TOO_DEEP, check_depth

if TYPE_CHECKING:
    from likewise.spaces.base import Space

SPACES: dict[str, Named] = {
    "Strings": Named(
        "spaces.strings:Strings", "strings:ACGT:8", "strings of letters", "alphabet, length or min_length, max_length"
    ),
    "Permutations": Named(
        "spaces.permutations:Permutations", "permutations:12", "orders of items", "n (or items), steps"
    ),
    "Subsets": Named("spaces.subsets:Subsets", "subsets:a,b,c", "choices out of items", "items, min_size, max_size"),
    "Box": Named("spaces.box:Box", "box:0..1,20..120", "vectors of numbers", "lower, upper, log, integer"),
    "Simplex": Named("spaces.simplex:Simplex", "simplex:3", "shares that add up to a total", "n, total"),
    "Categorical": Named("spaces.categorical:Categorical", "values:red,green", "one of some values", "values"),
    "Record": Named("spaces.record:Record", "(file)", "named parts, each with a space of its own", "parts"),
    "Molecules": Named(
        "spaces.molecules:Molecules", "(file)", "molecules near some start molecules", "start, max_tokens, alphabet"
    ),
    "Grammar": Named("spaces.grammar:Grammar", "(file)", "texts of a grammar", "rules, start, max_depth, separator"),
    "Gaussians": Named("spaces.gaussians:Gaussians", "(file)", "normal distributions", "mean, variance, dimension"),
    "Graphs": Named("spaces.graphs:Graphs", "(file)", "graphs", "nodes, labels, edge_labels, directed, connected"),
}
# A key a.b.c… of very many parts; Python's reader keeps every beginning of it, which takes all memory.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}")


def space(text: str) -> Space:
    """The space that a text describes: a short form, or the name of a TOML file.

    >>> space("strings:ACGT:8").size
    65536
    """
    kind, _, rest = text.partition(":")
    if (file := path(text)) is not None:
        return _from_file(file)
    if kind.lower() not in _SHORT:
        forms = ", ".join(named.kind for named in SPACES.values() if named.kind != "(file)")
        raise UsageError(
            f"--space {text!r} is neither a TOML file nor one of the short forms, such as {forms}; "
            "`likewise spaces` lists them."
        )
    try:
        return _SHORT[kind.lower()](rest)
    except SpaceError as error:
        raise UsageError(f"--space {text!r} is no space: {error}") from None
    except (ValueError, TypeError):
        form = next(named.kind for named in SPACES.values() if named.kind.startswith(f"{kind.lower()}:"))
        raise UsageError(f"--space {text!r} cannot be read; write it like {form!r}.") from None


def path(text: str | None) -> Path | None:
    """The file that describes a space, if the text names one."""
    return Path(text) if text is not None and text.lower().endswith(".toml") else None


def _from_file(path: Path) -> Space:
    try:
        data = _toml(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}; check the name and the folder.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}; check its permissions.") from None
    except ValueError as error:
        raise TableError(f"{path} is not TOML: {error}; `likewise spaces` shows an example.") from None
    return built(data, str(path))


def _toml(text: str) -> dict[str, Any]:
    """The data of a TOML text; a ValueError where it is none, or nested too deep."""
    if DOTTED.search(text):
        raise ValueError(TOO_DEEP)
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    check_depth(data)
    return data


def built(data: Any, where: str) -> Space:
    """The space of TOML data; a list of values is a Categorical.

    >>> built({"space": "Subsets", "items": ["a", "b"]}, "space.toml").size
    4
    """
    from likewise.spaces.base import Space

    if isinstance(data, list):
        data = {"space": "Categorical", "values": data}
    if not isinstance(data, Mapping) or not isinstance(data.get("space"), str):
        raise TableError(f'{where} says of no kind of space; write space = "Strings" or another of {_names()}.')
    name = next((known for known in SPACES if known.lower() == data["space"].lower()), None)
    if name is None:
        raise TableError(f"{where} has space = {data['space']!r}, which there is not; it can be {_names()}.")
    arguments = {key: value for key, value in data.items() if key != "space"}
    if name == "Record":
        parts = arguments.pop("parts", {})
        if not isinstance(parts, Mapping):
            raise TableError(f"{where} needs a table [parts] with a space, or a list of values, for each column.")
        arguments |= {part: built(inside, f"{where}, part {part!r}") for part, inside in parts.items()}
    made = SPACES[name].load()
    if name == "Permutations" and "items" in arguments:
        arguments["n"] = arguments.pop("items")
    try:
        if name != "Record":
            inspect.signature(made).bind(**arguments)
        found: Space = made(**arguments)
    except (SpaceError, TypeError, ValueError) as error:
        raise TableError(f"{where}: {error}; the arguments of {name} are: {SPACES[name].arguments}.") from None
    assert isinstance(found, Space)
    return found


def _names() -> str:
    return ", ".join(f'"{name}"' for name in SPACES)


def _strings(rest: str) -> Space:
    alphabet, _, length = rest.rpartition(":")
    low, dash, high = length.partition("-")
    if not dash:
        return _load("Strings")(alphabet, length=int(low))
    return _load("Strings")(alphabet, min_length=int(low), max_length=int(high))


def _permutations(rest: str) -> Space:
    return _load("Permutations")(int(rest) if rest.strip().isdigit() else _listed(rest))


def _box(rest: str) -> Space:
    bounds = [part.split("..") for part in rest.split(",")]
    return _load("Box")([float(low) for low, _ in bounds], [float(high) for _, high in bounds])


def _listed(rest: str) -> list[str]:
    return [item.strip() for item in rest.split(",") if item.strip()]


def _load(name: str) -> Callable[..., Any]:
    made: Callable[..., Any] = SPACES[name].load()
    return made


_SHORT: dict[str, Callable[[str], Any]] = {
    "strings": _strings,
    "permutations": _permutations,
    "subsets": lambda rest: _load("Subsets")(_listed(rest)),
    "box": _box,
    "simplex": lambda rest: _load("Simplex")(int(rest)),
    "values": lambda rest: _load("Categorical")(_listed(rest)),
}
