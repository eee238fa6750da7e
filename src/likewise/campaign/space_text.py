"""Spaces by text: `strings:ACGT:8` or `temp=20..120/5, solvent=DMF|THF` on the command line, TOML for the rest."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from likewise.errors import SpaceError, TableError, UsageError
from likewise.spaces.base import Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.condition import Condition
from likewise.spaces.description import build, spaces
from likewise.spaces.numbers import NUMBER, Float, Int, Range, is_range, read_range, write_range
from likewise.spaces.record import Record
from likewise.spaces.strings import ALPHABETS, Strings
from likewise.tables.cells import DEEPEST, TOO_DEEP, check_depth

# Settings in a line of text: `temp=20..120/5, time=1..24, solvent=DMF|THF|water, x+y+z=1`.
#
# A part is a name, =, and a range (`20..120`, in steps `20..120/5`, whole numbers `1..8 int`, logarithmic `0.1..9
# log`), values (`DMF|THF|water`), or the short form of another space (`dna:8`). What is compared otherwise is a
# condition; a sum whose names have no range of their own, as in x+y+z=1, gives them one, from 0. Texts with signs in
# them stand in quotes.

EXAMPLE = "temp=20..120/5, time=1..24, solvent=DMF|THF|water, x+y+z=1"
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
DECLARED = re.compile(r"\s*(`[^`]+`|[^\W\d][^=<>!|+*,'\"`]*?)\s*=(?!=)\s*(.*)", re.DOTALL)
COMPARED = re.compile(r"[<>=≤≥≠]|\bin\s*[\[(]")
WORD = re.compile(r"[^\W\d]\w*")
PLAIN = re.compile(r"[^\s|,='\"`<>:*+()\[\]]+(?: [^\s|,='\"`<>:*+()\[\]]+)*")

Short = Callable[[str], Space | None]


class Item(NamedTuple):
    """What stands between two commas, and where it begins."""

    text: str
    at: int


def read_settings(text: str, short: Short) -> Record:
    """The record that a line of settings describes; `short` reads the short form of another space, if it is one.

    >>> read_settings("temp=20..120/5, solvent=DMF|THF", lambda text: None).size
    42
    """
    parts: dict[str, Any] = {}
    conditions: list[Item] = []
    items = list(_items(text))
    declared = {_declared(match) for item in items if (match := DECLARED.fullmatch(item.text)) is not None}
    for item in items:
        match = DECLARED.fullmatch(item.text)
        name = "" if match is None else _declared(match)
        if match is not None and name not in parts and not _is_sum(match[2], declared):
            parts[name] = _part(text, Item(match[2], item.at + match.start(2)), short)
        elif COMPARED.search(QUOTED.sub("", item.text)):
            conditions.append(item)
        else:
            raise _fault(
                text,
                item.at,
                f"{item.text.strip()!r} is neither a part, such as temp=20..120, nor a condition, such as x+y=1; "
                "numbers have a point, as in 0.5",
            )
    for item in conditions:
        parts.update(_given_by(text, item, parts))
    where = " and ".join(f"({item.text.strip()})" if len(conditions) > 1 else item.text.strip() for item in conditions)
    try:
        return Record(where or None, **parts)
    except SpaceError as error:
        raise UsageError(f"Space {text!r} is none: {error}") from None


def _items(text: str) -> Iterator[Item]:
    """What stands between commas that are in no quotes and no brackets."""
    masked, depth, start = QUOTED.sub(lambda match: "_" * len(match[0]), text), 0, 0
    if (open_ := re.search(r"['\"`]", masked)) is not None:
        raise _fault(text, open_.start(), f"the quote {open_[0]} is not closed")
    for at, letter in enumerate([*masked, ","]):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and (depth <= 0 or at == len(masked)):
            if not text[start:at].strip():
                raise _fault(text, start, "there is nothing between two commas; leave one out")
            yield Item(text[start:at], start)
            start = at + 1


def _declared(match: re.Match[str]) -> str:
    return match[1].strip("`").strip()


def _is_sum(text: str, names: Collection[str]) -> bool:
    """Whether this is the right side of an equation, calculated from known names, and no range and no values."""
    bare = QUOTED.sub("", text)
    if not any(name in names for name in WORD.findall(text)):
        return False
    return (
        not is_range(bare) and "|" not in bare and ":" not in bare and bool(re.search(r"[*+]|[\w)]\s*-\s*[\w(]", bare))
    )


def _part(text: str, item: Item, short: Short) -> Any:
    """The space of a part."""
    declared = item.text.strip()
    try:
        if not declared:
            raise SpaceError("it has no values; write a range such as 20..120, or values such as DMF|THF")
        if is_range(QUOTED.sub("", declared)):
            interval = read_range(declared)
            return (Int if interval.integer else Float).from_range(interval)
        if "|" not in declared and re.search(r"[*+]", QUOTED.sub("", declared)):
            raise SpaceError(
                f"{declared!r} is calculated from no part that is there; if it is a text, put it in quotes"
            )
        return (None if QUOTED.match(declared) else short(declared)) or Categorical(_values(declared))
    except SpaceError as error:
        raise _fault(text, item.at, str(error)) from None


def _values(text: str) -> list[Any]:
    """Values between |, as numbers where all are numbers."""
    masked = QUOTED.sub(lambda match: "_" * len(match[0]), text)
    cuts = [-1, *(at for at, letter in enumerate(masked) if letter == "|"), len(text)]
    values = [text[a + 1 : b].strip() for a, b in pairwise(cuts)]
    if not all(values):
        raise SpaceError(f"{text!r} has nothing between two |; leave one out")
    if all(re.fullmatch(NUMBER, value) for value in values):
        return [int(value) if re.fullmatch(r"[+-]?\d{1,15}", value) else float(value) for value in values]
    return [value[1:-1] if QUOTED.fullmatch(value) else value for value in values]


def _given_by(text: str, item: Item, parts: dict[str, Any]) -> dict[str, Float]:
    """The ranges of names that only a sum such as x+y+z=1 has: from 0 to what makes up all of it."""
    try:
        read = Condition.read(item.text)
    except SpaceError as error:
        raise _fault(text, item.at, str(error)) from None
    missing = [name for name in read.names if name not in parts]
    if not missing:
        return {}
    form, sign = read.comparisons[0]
    positive = form is not None and min(form.coefficients.values(), default=0.0) > 0 and len(form.coefficients) > 1
    if len(read.comparisons) > 1 or sign not in ("=", "<=") or form is None or form.constant >= 0 or not positive:
        raise _fault(
            text,
            item.at + item.text.index(missing[0]),
            f"{missing[0]!r} has no range; write {missing[0]}=0..1, say. If it is a text, put it in quotes",
        )
    return {name: Float(0.0, -form.constant / form.coefficients[name]) for name in missing}


def _fault(text: str, at: int, what: str) -> UsageError:
    return UsageError(f"Space {text!r} cannot be read at position {at + 1}: {what}. Write it like {EXAMPLE!r}.")


def write_settings(space: Space) -> str | None:
    """The line that `read_settings` reads; None for a space that has none, such as one with a function in it.

    >>> write_settings(Record("x + y = 1", x=Float(0, 1), y=Float(0, 1, step=0.1), s=["a", "b c"]))
    'x=0..1, y=0..1/0.1, s=a|b c, x + y = 1'
    """
    if not isinstance(space, Record) or not isinstance(space.where, Condition | None):
        return None
    written = [(name, _written(part)) for name, part in space.parts.items()]
    if any(part is None for _, part in written):
        return None
    items = [f"{_name(name)}={part}" for name, part in written]
    return ", ".join(items + ([] if space.where is None else [space.where.text]))


def _name(name: str) -> str:
    return name if WORD.fullmatch(name) else f"`{name}`"


def _written(part: Space) -> str | None:
    if part.where is not None:
        return None
    if isinstance(part, Int | Float):
        step = None if part.step is None else float(part.step)
        return write_range(Range(float(part.low), float(part.high), step, part.log, isinstance(part, Int)))
    if isinstance(part, Strings):
        return part.to_text()
    if not isinstance(part, Categorical):
        return None
    values = part.objects
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return "|".join(repr(value) for value in values)
    texts = all(isinstance(value, str) for value in values)
    return "|".join(map(_quoted, values)) if texts and all('"' not in v or "'" not in v for v in values) else None


def _quoted(value: str) -> str:
    plain = PLAIN.fullmatch(value) and not re.fullmatch(NUMBER, value) and not is_range(value)
    return value if plain else f"'{value}'" if "'" not in value else f'"{value}"'


# In TOML a space has its name under `space` and its arguments under theirs, as in Python:
#
#     space = "Record"
#     [parts]
#     solvent = ["water", "DMF"]
#     temperature = { space = "Box", lower = 20, upper = 120 }
#
# The names, arguments and short forms are what the classes say of themselves.

# A key a.b.c… of very many parts; Python's reader keeps every beginning of it, which takes all memory.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}")


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
    short = _short_form(text)
    if short is None and "=" in text:
        return read_settings(text, _short_form)
    if short is None:
        raise UsageError(
            f"Space {text!r} is neither a TOML file, nor settings such as {EXAMPLE!r}, nor one of the short forms, "
            f"such as {', '.join(_forms())}; `likewise spaces` lists them."
        )
    return short


def _forms() -> dict[str, type[Space]]:
    return {space.short: space for space in spaces().values() if space.short}


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
