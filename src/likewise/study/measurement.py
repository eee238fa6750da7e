"""Measured values: what an objective returns when it knows how sure it is, and which numbers are taken."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import StudyError

# Larger values, penalties for the most part, leave nothing of the others, and their fourth powers no number.
LARGEST = 1e70


@dataclass(frozen=True)
class Measurement:
    """A value with its standard error, as if told by `study.tell(x, value, std=std)`.

    >>> float(Measurement(0.31, std=0.02))
    0.31
    """

    value: float
    std: float

    def __float__(self) -> float:
        return float(self.value)


def read_value(x: Any, value: Any, std: float | None = None) -> tuple[float, float | None]:
    """The value of an object and its standard deviation, refused when they are no finite numbers.

    >>> read_value("CCO", Measurement(0.31, std=0.02))
    (0.31, 0.02)
    """
    if isinstance(value, Measurement):
        value, std = value.value, value.std if std is None else std
    name = reprlib.repr(x)
    number = _number(value)
    if number is None:
        raise StudyError(f"the value of {name} is no number: {reprlib.repr(value)}; tell a float, or use fail")
    if not abs(number) <= LARGEST:
        raise StudyError(
            f"the value of {name} is {number:g}, not a number up to {LARGEST:g} in size; "
            "if it could not be measured, use fail(…, reason)"
        )
    spread = None if std is None else _number(std)
    if std is not None and (spread is None or not 0 <= spread <= LARGEST):
        raise StudyError(
            f"the standard deviation of {name} is {reprlib.repr(std)}; it must be a number from 0 to {LARGEST:g}"
        )
    return number, spread


def _number(value: Any) -> float | None:
    """The value as a float, also from an array of one element; None if it is no number.

    A text or a truth value may be one by mistake, and is none.
    """
    if isinstance(value, str | bytes | bool | np.bool_):
        return None
    try:
        return float(value.item() if getattr(value, "size", None) == 1 else value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None
