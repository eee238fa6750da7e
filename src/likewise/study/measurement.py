"""Measured values: what an objective returns when it knows how sure it is, and which numbers are taken."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.study.storage.outcomes import LIMITS
from likewise.study.trial import SIGNS, Outcome

# Larger values, penalties for the most part, leave nothing of the others, and their fourth powers no number.
LARGEST = 1e70


@dataclass(frozen=True)
class Measurement:
    """A value with its standard error, as if told by `study.tell(x, value, std=std)`.

    value: what was measured, or the limit that it lies below or above.
    std: the standard deviation of the measurement, in the units of the values; None (default) where it is not known.
    limit: "below" or "above" where the value is only a limit; `Below` and `Above` make such. None by default.

    >>> float(Measurement(0.31, std=0.02))
    0.31
    """

    value: float
    std: float | None = None
    limit: str | None = None

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
    Measurement(value=0.1, std=None, limit='below')
    """
    return Measurement(limit, std, "below")


def Above(limit: float, std: float | None = None) -> Measurement:
    """A value of which only a lower limit is known: what was measured lies above it.

    limit, std: as in `Below`.
    """
    return Measurement(limit, std, "above")


def with_limits(value: Any, below: Any, above: Any) -> Any:
    """The value that was told, or the limit that was told in its place; one of the three.

    >>> with_limits(None, 0.1, None)
    Measurement(value=0.1, std=None, limit='below')
    """
    if sum(each is not None for each in (value, below, above)) > 1:
        raise StudyError(f"tell one of value={value!r}, below={below!r} and above={above!r}; two limits are no value")
    return Below(below) if below is not None else Above(above) if above is not None else value


def read_value(x: Any, value: Any, std: float | None = None) -> Outcome:
    """The value of an object, its standard deviation and its limit, refused when they are no finite numbers.

    >>> read_value("CCO", Measurement(0.31, std=0.02))
    Outcome(value=0.31, std=0.02, limit=None)
    """
    limit = None
    if isinstance(value, Measurement):
        value, std, limit = value.value, value.std if std is None else std, value.limit
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
    return Outcome(number, spread, limit)


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
