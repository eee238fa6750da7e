"""One evaluation of the objective: a value, or the text of what went wrong. It runs wherever the compute is."""

from __future__ import annotations

import math
import reprlib
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from likewise.errors import StudyError
from likewise.study.measurement import Measurement

# Larger values, penalties for the most part, leave nothing of the others, and their fourth powers no number.
LARGEST = 1e70


class Outcome(NamedTuple):
    """What an evaluation came to: a value with its standard deviation, if known, or an error."""

    value: float | None = None
    std: float | None = None
    error: str | None = None


def evaluate(f: Callable[[Any], Any], x: Any) -> Outcome:
    """f(x), which is a number or a Measurement. Whatever f raises becomes text, as exceptions do not always travel.

    >>> evaluate(len, "CCO"), evaluate(len, 3).error.splitlines()[-1]
    (Outcome(value=3.0, std=None, error=None), "TypeError: object of type 'int' has no len()")
    """
    try:
        return Outcome(*measured(x, f(x)))
    except KeyboardInterrupt:
        raise
    except StudyError as error:
        return Outcome(error=str(error))
    except BaseException as error:
        # SystemExit included: an objective that calls sys.exit has failed, not the run.
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        return Outcome(error="".join(traceback.format_exception(type(error), error, below)).rstrip())


def measured(x: Any, value: Any, std: float | None = None) -> tuple[float, float | None]:
    """The value of an object and its standard deviation, refused when they are no finite numbers.

    >>> measured("CCO", Measurement(0.31, std=0.02))
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
    """The value as a float, also from an array of one element; None if it is no number."""
    try:
        return float(value.item() if getattr(value, "size", None) == 1 else value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None
