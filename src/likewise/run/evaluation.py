"""One evaluation of the objective: a value, or the text of what went wrong. It runs wherever the compute is."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from likewise.errors import StudyError
from likewise.study.measurement import Measurement, read_value


class Outcome(NamedTuple):
    """What an evaluation came to: a value, or values by name, with standard deviations, if known, or an error.

    `exit` has the argument of a `sys.exit` that was called, which is to end the run wherever the compute is.
    """

    value: Any = None
    std: Any = None
    error: str | None = None
    exit: tuple[int | str | None] | None = None


def evaluate(f: Callable[[Any], Any], x: Any) -> Outcome:
    """f(x), a number, a Measurement, or a mapping of such by name.

    Whatever f raises becomes text, as exceptions do not always travel.

    >>> evaluate(len, "CCO"), evaluate(len, 3).error.splitlines()[-1]
    (Outcome(value=3.0, std=None, error=None, exit=None), "TypeError: object of type 'int' has no len()")
    """
    try:
        found = f(x)
        return _read_all(x, found) if isinstance(found, Mapping) else _read(x, found)
    except KeyboardInterrupt:
        raise
    except StudyError as error:
        return Outcome(error=str(error))
    except SystemExit as error:
        return Outcome(exit=(error.code if isinstance(error.code, int | None) else str(error.code),))
    except BaseException as error:
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        return Outcome(error="".join(traceback.format_exception(type(error), error, below)).rstrip())


def _read(x: Any, value: Any, outcome: str | None = None) -> Outcome:
    """A value with its standard deviation; what is more than these stays a measurement."""
    found = read_value(x, value, outcome=outcome)
    if found.limit is not None or found.block is not None:
        return Outcome(Measurement(found.value, found.std, found.limit, found.block))
    return Outcome(found.value, found.std)


def _read_all(x: Any, found: Mapping[str, Any]) -> Outcome:
    """Values by name, and the standard deviations that are known."""
    try:
        each = {name: _read(x, value, name) for name, value in found.items()}
    except StudyError as error:
        # The trial has failed, and what else was measured is kept with it.
        raise StudyError(f"{error}. The function returned {dict(found)!r}") from None
    stds = {name: one.std for name, one in each.items() if one.std is not None}
    return Outcome({name: one.value for name, one in each.items()}, stds or None)
