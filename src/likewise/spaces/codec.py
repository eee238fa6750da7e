"""Objects as JSON and as cells of tables, and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.tables.cells import Decimal, number, number_text, one_number, read_json

# Objects in the cells of a table: numbers, JSON, and items that are written as text.

# Short enough that no digit is lost.
WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


def read_cell(text: str, decimal: Decimal | None, from_json: Callable[[Any], Any]) -> Any:
    """A number, a list in JSON, or what `from_json` makes of an object in JSON; a SpaceError for other text.

    >>> read_cell("1,5", ",", dict), read_cell("8", ",", dict), read_cell("[1, 2]", None, dict)
    (1.5, 8, [1, 2])
    """
    if text[0] not in "[{":
        value = read_number(text, decimal)
        return int(value) if WHOLE.fullmatch(text) else value
    try:
        data = read_json(text)
    except ValueError:
        raise SpaceError(f"{text!r} is not JSON") from None
    return data if isinstance(data, list) else from_json(data)


def read_number(text: str, decimal: Decimal | None) -> float:
    """The number that the text means with this decimal sign, or with whichever fits."""
    value = _number_in(text.strip(), decimal)
    if value is None:
        sign = "" if decimal is None else f" with decimal sign {decimal!r}"
        raise SpaceError(f"{text!r} is no number{sign}")
    return value


def read_item(text: str, items: Collection[Any], decimal: Decimal | None) -> Any:
    """The item that is written like this, or is this number; the text itself where there is none.

    >>> read_item("8,0", [8, 16], ","), read_item("red", ["red"], None)
    (8, 'red')
    """
    same = [item for item in items if text in (str(item), write_cell(item, decimal or "."))]
    as_number = _number_in(text, decimal)
    equal = [item for item in items if isinstance(item, int | float) and item == as_number]
    return (same or equal or [text])[0]


def read_items(text: str, items: Collection[Any]) -> list[Any]:
    """Several items: a list in JSON, or what stands between spaces, commas, semicolons or arrows.

    >>> read_items("2 > 0 > 1", range(3))
    [2, 0, 1]
    """
    if text.startswith("["):
        found: list[Any] = read_cell(text, None, list)
        return found
    return [read_item(item, items, None) for item in re.split(r"[\s,;>]+", text) if item]


def listed_text(text: str) -> list[str]:
    """The items between commas.

    >>> listed_text("red, green,")
    ['red', 'green']
    """
    return [item.strip() for item in text.split(",") if item.strip()]


def _number_in(text: str, decimal: Decimal | None) -> float | None:
    return one_number(text) if decimal is None else number(text, decimal)


def write_cell(data: Any, decimal: Decimal) -> str:
    """JSON data as a cell: text as it is, numbers in the table's own way, the rest as JSON.

    >>> write_cell([1.5], ","), write_cell([1, "a"], ".")
    ('1,5', '[1, "a"]')
    """
    if isinstance(data, str):
        return data
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], int | float):
        data = data[0]
    if isinstance(data, int | float) and not isinstance(data, bool):
        return number_text(data, decimal)
    return json.dumps(data, ensure_ascii=False)


# Objects as JSON data: `plain` for objects that are looked up again, `tagged` for those that must come back alike.

ATOMS = {str, int, bool, type(None)}
HASHABLE = {str, int, float, type(None)}


def without_form(x: Any) -> Any:
    """The complaint about an object that cannot be JSON data."""
    raise TypeError(f"{type(x).__name__} has no JSON form")


def plain(x: Any, other: Callable[[Any], Any] = without_form) -> Any:
    """The object as JSON data; arrays, tuples and sets become lists. A TypeError where it has none.

    An object of another kind may bring a method `to_json` of its own, or is what `other` makes of it.

    >>> plain({"a": (1, 2), "b": np.array([0.5])})
    {'a': [1, 2], 'b': [0.5]}
    """
    if type(x) in ATOMS or (type(x) is float and math.isfinite(x)):
        return x
    if isinstance(x, str | int):
        return str(x) if isinstance(x, str) else int(x)
    if isinstance(x, float | np.generic | np.ndarray):
        return _finite_number(x)
    if isinstance(x, Mapping):
        return {_field(name): plain(value, other) for name, value in x.items()}
    if isinstance(x, list | tuple):
        return [plain(value, other) for value in x]
    if isinstance(x, set | frozenset):
        return sorted((plain(value, other) for value in x), key=json.dumps)
    return plain(x.to_json()) if hasattr(x, "to_json") else other(x)


def scalar(x: Any) -> Any:
    """A string, a number, a truth value or None as JSON data; a TypeError for anything else.

    >>> scalar(np.int64(3))
    3
    """
    data = plain(x)
    if isinstance(data, list | dict):
        raise TypeError(f"{type(x).__name__} is no string, number, truth value or None")
    return data


def _finite_number(x: Any) -> Any:
    if isinstance(x, float):
        if not math.isfinite(x):
            raise TypeError(f"{x} is not a finite number")
        return float(x)
    if x.dtype.kind not in "biufU":
        raise TypeError(f"an array of {x.dtype} has no JSON form")
    if x.dtype.kind == "f" and not np.all(np.isfinite(x)):
        raise TypeError("it has a number that is not finite")
    return x.tolist()


def _field(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the field {name!r} is not named by a string")
    return name


def identity(data: Any) -> Hashable:
    """Something hashable that equal JSON data share; 1 and 1.0 are equal, 1 and true are not.

    >>> identity([1, {"a": 2.0}]) == identity([1.0, {"a": 2}]), identity(1) == identity(True)
    (True, False)
    """
    if type(data) in HASHABLE:
        return data
    if isinstance(data, list):
        return tuple(map(identity, data))
    if isinstance(data, dict):
        return ("dict", frozenset((name, identity(value)) for name, value in data.items()))
    return ("bool", data)


def tagged(x: Any) -> Any:
    """The object as JSON data from which `untagged` restores it, tuples, sets and arrays included.

    >>> tagged([1, (2, 3)])
    [1, {'tuple': [2, 3]}]
    """
    if isinstance(x, list):
        return [tagged(value) for value in x]
    if isinstance(x, dict):
        inside = {_field(name): tagged(value) for name, value in x.items()}
        return {"dict": inside} if len(inside) == 1 and next(iter(inside)) in _RESTORED else inside
    if isinstance(x, np.ndarray):
        return {"array": [x.dtype.str, _finite_number(x)]}
    if type(x) in (tuple, set, frozenset):
        values = [tagged(value) for value in x]
        return {type(x).__name__: values if isinstance(x, tuple) else sorted(values, key=json.dumps)}
    return without_form(x) if isinstance(x, tuple | set | frozenset | Mapping) else plain(x)


def untagged(data: Any) -> Any:
    """The object that `tagged` wrote.

    >>> untagged(tagged([1, (2, 3)]))
    [1, (2, 3)]
    """
    if isinstance(data, list):
        return [untagged(value) for value in data]
    if not isinstance(data, dict):
        return data
    tag = next(iter(data)) if len(data) == 1 else ""
    if tag in _RESTORED:
        return _RESTORED[tag](data[tag])
    return {name: untagged(value) for name, value in data.items()}


_RESTORED: dict[str, Any] = {
    "tuple": lambda values: tuple(map(untagged, values)),
    "set": lambda values: set(map(untagged, values)),
    "frozenset": lambda values: frozenset(map(untagged, values)),
    "array": lambda values: np.array(values[1], dtype=values[0]),
    "dict": lambda values: {name: untagged(value) for name, value in values.items()},
}


# Copies of plain containers, so that what is done to an object in one place does not change it in another.


def copied(x: Any, *, writeable: bool = True) -> Any:
    """The object with its arrays, dicts, lists, sets and bytearrays copied, at any depth; all else is as it is.

    Strings, numbers, tuples of such and objects of other classes are the same objects, so that copying them takes
    neither time nor memory. Arrays may be written to unless `writeable` says no.

    >>> record = {"solvent": "DMF", "ratio": [1, 2]}
    >>> same = copied(record)
    >>> same["ratio"].append(3)
    >>> record, copied("DMF") is record["solvent"]
    ({'solvent': 'DMF', 'ratio': [1, 2]}, True)
    """
    kind = type(x)
    if kind is np.ndarray:
        array = x.copy()
        array.flags.writeable = writeable
        return array
    if kind is dict:
        return {name: copied(value, writeable=writeable) for name, value in x.items()}
    if kind is list:
        return [copied(value, writeable=writeable) for value in x]
    if kind is tuple:
        values = tuple(copied(value, writeable=writeable) for value in x)
        return values if any(a is not b for a, b in zip(values, x, strict=True)) else x
    return kind(x) if kind in (set, bytearray) else x
