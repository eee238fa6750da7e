"""Copies of plain containers, so that what is done to an object in one place does not change it in another."""

from __future__ import annotations

from typing import Any

import numpy as np


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
