"""One evaluation of the objective: a value, or the text of what went wrong. It runs wherever the compute is."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from likewise.errors import StudyError
from likewise.study.measurement import read_value


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
        return Outcome(*read_value(x, f(x)))
    except KeyboardInterrupt:
        raise
    except StudyError as error:
        return Outcome(error=str(error))
    except BaseException as error:
        # SystemExit included: an objective that calls sys.exit has failed, not the run.
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        return Outcome(error="".join(traceback.format_exception(type(error), error, below)).rstrip())
