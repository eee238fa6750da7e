"""Spaces from their descriptions: the name of a public class and its arguments, from a file or from a stored study."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import likewise
from likewise.errors import SpaceError, TableError
from likewise.spaces.base import FUNCTION, Space


def spaces() -> dict[str, type[Space]]:
    """The public spaces that text can describe, by name.

    >>> spaces()["Box"].short, "Custom" in spaces()
    ('box:0..1,20..120', False)
    """
    names = [name for name, home in likewise.HOMES.items() if home.startswith("likewise.spaces.")]
    return {name: public for name in names if _is_described(public := getattr(likewise, name))}


def _is_described(public: Any) -> bool:
    is_space = isinstance(public, type) and issubclass(public, Space) and not inspect.isabstract(public)
    return is_space and public.short is not None


def build(data: Any, where: str) -> Space:
    """The space of TOML or JSON data, as `describe` writes it too; a list of values is a Categorical.

    where: where the data comes from, for errors.

    >>> build({"space": "Subsets", "items": ["a", "b"]}, "space.toml").size
    4
    """
    if isinstance(data, list):
        data = {"space": "Categorical", "values": data}
    known = spaces()
    names = ", ".join(f'"{name}"' for name in known)
    if not isinstance(data, Mapping) or not isinstance(data.get("space"), str):
        raise TableError(f"{where}: 'space' must be a name, e.g. space = \"Strings\". It can be {names}.")
    name = next((name for name in known if name.lower() == data["space"].lower()), None)
    if name is None:
        raise TableError(f"{where}: there is no space {data['space']!r}. It can be {names}.")
    arguments = {key: value for key, value in data.items() if key != "space"}
    if arguments.get("where") == FUNCTION:
        raise TableError(f"{where}: the `where` of this {name} is a function, which is not stored.")
    try:
        return known[name].from_arguments(arguments, lambda part, called: build(part, f"{where}, {called}"))
    except TableError:
        # A part of it has said what is wrong.
        raise
    except (SpaceError, TypeError, ValueError) as error:
        taken = ", ".join(known[name].arguments())
        raise TableError(f"{where}: {error}; the arguments of {name} are: {taken}.") from None


def rebuild(description: Mapping[str, Any]) -> Space:
    """The space that described itself so; a SpaceError where a description does not say enough to make it anew.

    >>> import likewise as lw
    >>> rebuild(lw.Strings("ACGT", 8).describe())
    Strings(alphabet='ACGT', length=None, min_length=8, max_length=8, where=None)
    """
    try:
        made = build(description, "the description")
    except TableError as error:
        raise SpaceError(str(error)) from error
    if made.describe() != description:
        raise SpaceError("its description does not say all of it")
    return made
