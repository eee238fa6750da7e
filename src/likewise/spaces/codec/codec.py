"""Objects as JSON data: `plain` for objects that are looked up again, `tagged` for those that must come back alike."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

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
        return _number(x)
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


def _number(x: Any) -> Any:
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
        return {"array": [x.dtype.str, _number(x)]}
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
