"""Measured values: what an objective returns when it knows how sure it is, and which numbers are taken."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.study.trial import LIMITS, SIGNS, Outcome

# Larger values, penalties for the most part, leave nothing of the others, and their fourth powers no number.
LARGEST = 1e70


@dataclass(frozen=True)
class Measurement:
    """A value with its standard error, as if told by `study.tell(x, value, std=std)`.

    value: what was measured, or the limit that it lies below or above.
    std: the standard deviation of the measurement, in the units of the values; None (default) where it is not known.
    limit: "below" or "above" where the value is only a limit; `Below` and `Above` make such. None by default.
    block: what it was measured together with, such as a day or a plate: values of one block may be shifted alike. None
        by default.

    >>> float(Measurement(0.31, std=0.02))
    0.31
    """

    value: float
    std: float | None = None
    limit: str | None = None
    block: str | None = None

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        spread = "" if self.std is None else f" ± {self.std:.3g}"
        return f"{SIGNS[self.limit]}{self.value:.6g}{spread}"

    def __post_init__(self) -> None:
        if self.limit not in (None, *LIMITS):
            raise StudyError(f"limit={self.limit!r} is none of {', '.join(map(repr, LIMITS))}; leave it out otherwise")


def Below(limit: float, std: float | None = None) -> Measurement:
    """A value of which only an upper limit is known, as of what could not be detected: a likelihood, not a number.

    limit: what the measured value lies below, in the units of the values.
    std: the standard deviation of the measurement, where it is known; None by default.

    >>> Below(0.1)
    Measurement(value=0.1, std=None, limit='below', block=None)
    """
    return Measurement(limit, std, "below")


def Above(limit: float, std: float | None = None) -> Measurement:
    """A value of which only a lower limit is known: what was measured lies above it.

    limit, std: as in `Below`.
    """
    return Measurement(limit, std, "above")


def with_block(value: Any, block: Any) -> Any:
    """The value as a measurement of a block, where one is named; of outcomes by name each."""
    if block is None:
        return value
    if isinstance(value, Mapping):
        return {name: with_block(each, block) for name, each in value.items()}
    return replace(value if isinstance(value, Measurement) else Measurement(value), block=str(block))


def with_limits(value: Any, below: Any, above: Any) -> Any:
    """The value that was told, or the limit that was told in its place; one of the three.

    >>> with_limits(None, 0.1, None)
    Measurement(value=0.1, std=None, limit='below', block=None)
    """
    if isinstance(value, Mapping) and (below, above) != (None, None):
        side = "Above" if below is None else "Below"
        limit = f"{side}({above if below is None else below})"
        raise StudyError(f"whose limit is {limit}? Tell it by name: {{{next(iter(value), 'yield')!r}: {limit}}}")
    if sum(each is not None for each in (value, below, above)) > 1:
        raise StudyError(f"tell one of value={value!r}, below={below!r} and above={above!r}; two limits are no value")
    return Below(below) if below is not None else Above(above) if above is not None else value


def read_value(x: Any, value: Any, std: float | None = None, outcome: str | None = None) -> Outcome:
    """The value of an object, its standard deviation and its limit, refused when they are no finite numbers.

    outcome: its name, where there are names.

    >>> read_value("CCO", Measurement(0.31, std=0.02))
    Outcome(value=0.31, std=0.02, limit=None, block=None)
    """
    limit = block = None
    if isinstance(value, Measurement):
        limit, block, std = value.limit, value.block, value.std if std is None else std
        value = value.value
    number, spread = _number(value), None if std is None else _number(std)
    sound = number is not None and abs(number) <= LARGEST
    if not sound or (std is not None and (spread is None or not 0 <= spread <= LARGEST)):
        raise StudyError(_complaint(x, value, number, std, outcome))
    assert number is not None
    return Outcome(number, spread, limit, block)


def _complaint(x: Any, value: Any, number: float | None, std: Any, outcome: str | None) -> str:
    """What is wrong with a value that is refused; written only then, as the text of an object takes its time."""
    whose = reprlib.repr(x) if outcome is None else f"{outcome!r} of {reprlib.repr(x)}"
    remedy = "use fail" if outcome is None else f"leave {outcome!r} out, or use fail if nothing could be measured"
    if number is None:
        return f"the value of {whose} is no number: {reprlib.repr(value)}; tell a float, or {remedy}"
    if not abs(number) <= LARGEST:
        return f"the value of {whose} is {number:g}, not a number up to {LARGEST:g} in size; " + (
            "if it could not be measured, use fail(…, reason)" if outcome is None else remedy
        )
    return f"the standard deviation of {whose} is {reprlib.repr(std)}; it must be a number from 0 to {LARGEST:g}"


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
