"""Spaces by text: `strings:ACGT:8` or `temp=20..120/5, solvent=DMF|THF` on the command line, a TOML file for the rest.

In TOML a space has its name under `space` and its arguments under theirs, as in Python:

    space = "Record"
    [parts]
    solvent = ["water", "DMF"]
    temperature = { space = "Box", lower = 20, upper = 120 }

The names, arguments and short forms are what the classes say of themselves.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.campaign.names import public_names
from likewise.campaign.settings_text import EXAMPLE, read_settings
from likewise.errors import SpaceError, TableError, UsageError
from likewise.spaces.base import Space
from likewise.spaces.strings import ALPHABETS
from likewise.tables.nesting import DEEPEST, TOO_DEEP, check_depth

# A key a.b.c… of very many parts; Python's reader keeps every beginning of it, which takes all memory.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}")


def spaces() -> dict[str, type[Space]]:
    """The public spaces that text can describe, by name.

    >>> spaces()["Box"].short, "Custom" in spaces()
    ('box:0..1,20..120', False)
    """
    return {name: each for name, each in public_names("spaces").items() if _is_described(each)}


def _is_described(found: Any) -> bool:
    is_space = isinstance(found, type) and issubclass(found, Space) and not inspect.isabstract(found)
    return is_space and found.short is not None


def summary(space: type[Space]) -> str:
    """What a space is, in a sentence: the first of its documentation."""
    return (inspect.getdoc(space) or "").split("\n")[0].rstrip(".")


def space(text: str) -> Space:
    """The space that a text describes: a short form, a line of settings, or the name of a TOML file.

    >>> space("dna:8").size, space("temp=20..120/5, solvent=DMF|THF").size
    (65536, 42)
    """
    if (file := path(text)) is not None:
        return _from_file(file)
    found = _short_form(text)
    if found is None and "=" in text:
        return read_settings(text, _short_form)
    if found is None:
        raise UsageError(
            f"Space {text!r} is neither a TOML file, nor settings such as {EXAMPLE!r}, nor one of the short forms, "
            f"such as {', '.join(_forms())}; `likewise spaces` lists them."
        )
    return found


def _forms() -> dict[str, type[Space]]:
    return {each.short: each for each in spaces().values() if each.short}


def _short_form(text: str) -> Space | None:
    """The space of a short form; None where the text is none."""
    name, colon, rest = text.partition(":")
    if colon and name.lower() in ALPHABETS:
        name, rest = "strings", f"{name.lower()}:{rest}"
    forms = _forms()
    form = next((form for form in forms if form.startswith(f"{name.lower()}:")), None) if colon else None
    if form is None:
        return None
    try:
        return forms[form].from_text(rest)
    except SpaceError as error:
        raise UsageError(f"Space {text!r} is none: {error}") from None
    except (ValueError, TypeError):
        raise UsageError(f"Space {text!r} cannot be read; write it like {form!r}.") from None


def path(text: str | None) -> Path | None:
    """The file that describes a space, if the text names one."""
    return Path(text) if text is not None and text.lower().endswith(".toml") else None


def _from_file(path: Path) -> Space:
    try:
        data = _toml(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}; check the name and the folder.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}; check its permissions.") from None
    except ValueError as error:
        raise TableError(f"{path} is not TOML: {error}; `likewise spaces` shows an example.") from None
    return build(data, str(path))


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


def build(data: Any, where: str) -> Space:
    """The space of TOML data; a list of values is a Categorical.

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
    try:
        return known[name].from_arguments(arguments, lambda part, called: build(part, f"{where}, {called}"))
    except TableError:
        # A part of it has said what is wrong.
        raise
    except (SpaceError, TypeError, ValueError) as error:
        taken = ", ".join(known[name].arguments())
        raise TableError(f"{where}: {error}; the arguments of {name} are: {taken}.") from None
