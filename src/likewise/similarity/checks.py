"""What parameters and pairs of objects have to be, wherever similarities take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.errors import SimilarityError


def check_positive(name: str, what: str, value: float | None) -> None:
    """Refuse a parameter that is given and not positive."""
    if value is not None and not positive_numbers(value):
        raise SimilarityError(f"{name} needs a positive {what}, not {value!r}")


def positive_numbers(values: Any) -> bool:
    """Whether these are one or several numbers, and all positive.

    >>> [positive_numbers(values) for values in (0.5, [1, 2], "1", [], True)]
    [True, True, False, False, False]
    """
    numbers = np.asarray(values)
    return numbers.size > 0 and numbers.dtype.kind in "iuf" and bool(np.all(np.isfinite(numbers) & (numbers > 0)))


def check_whole(name: str, what: str, value: Any, least: int = 1) -> None:
    """Refuse a parameter that is no whole number, or one below `least`."""
    if not isinstance(value, int | np.integer) or value < least:
        raise SimilarityError(f"{name} needs a whole number for {what}, {least} or more, not {value!r}")


def check_widths(one: int, other: int, things: str, units: str, remedy: str) -> None:
    """Refuse to compare things of different widths.

    >>> check_widths(2, 3, "vectors", "numbers", "vectors that are compared need one length")
    Traceback (most recent call last):
    likewise.errors.SimilarityError: vectors of 2 and of 3 numbers cannot be compared; vectors that are ...
    """
    if one != other:
        raise SimilarityError(f"{things} of {one} and of {other} {units} cannot be compared; {remedy}")
