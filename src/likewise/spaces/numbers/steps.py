"""Numbers that are set in steps: each is the lower bound and a whole number of steps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector

# A number this close to a step, in steps, is on it.
CLOSE = 1e-6


def as_steps(step: Any, dimension: int) -> Vector:
    """The step of each dimension, 0 where there is none; a SpaceError for anything else.

    >>> as_steps([5, None], 2).tolist(), as_steps(None, 2).tolist()
    ([5.0, 0.0], [0.0, 0.0])
    """
    given = list(step) if isinstance(step, list | tuple | np.ndarray) else [step] * dimension
    try:
        found = np.array([0.0 if one is None else float(one) for one in given])
    except (TypeError, ValueError):
        found = np.full(dimension, np.nan)
    if isinstance(step, bool | str) or found.shape != (dimension,) or not np.all(np.isfinite(found) & (found >= 0)):
        raise SpaceError(
            f"step={step!r}: give a positive number, or one for each of {dimension} dimensions with None for no steps"
        )
    return found


def check_step(what: str, low: float, high: float, step: float) -> None:
    """A complaint about bounds that are no whole number of steps apart."""
    count = (high - low) / step
    if abs(count - round(count)) > CLOSE * max(1.0, count):
        below, above = (float(settle(np.array([low + k * step]), low, step)[0]) for k in (int(count), int(count) + 1))
        raise SpaceError(
            f"{what} goes from {low:g} to {high:g}, which is no whole number of steps of {step:g}; "
            f"let it end at {below:g} or {above:g}"
        )


def settle(numbers: Vector, low: float, step: float) -> Vector:
    """The nearest numbers that are a whole number of steps from `low`, with no more digits than both have.

    >>> settle(np.array([0.31, 0.42]), 0.0, 0.1).tolist()
    [0.3, 0.4]
    """
    places = max(_places(low), _places(step))
    return np.asarray(np.round(low + step * np.round((numbers - low) / step), places))


def _places(number: float) -> int:
    """How many decimal places the number is written with."""
    exponent = Decimal(repr(float(number))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def settle_columns(x: Matrix, lower: Vector, step: Vector, whole: NDArray[np.bool_]) -> Matrix:
    """Each column on its steps, if it has any; `whole` are those whose numbers are whole."""
    settled = np.where(whole, np.round(x), x)
    for k in np.flatnonzero((step > 0) & ~(whole & (step == 1.0))).tolist():
        settled[:, k] = settle(x[:, k], float(lower[k]), float(step[k]))
    return settled
