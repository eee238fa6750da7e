"""Numbers that a user gives, refused before anything begins."""

from __future__ import annotations

from operator import index
from typing import Any

from likewise.errors import StudyError


def at_least_one(name: str, number: Any) -> None:
    """A complaint about what is no whole number from 1.

    >>> at_least_one("budget", 60)
    """
    try:
        good = index(number) >= 1
    except TypeError:
        good = False
    if not good:
        raise StudyError(f"{name} must be at least 1 and whole, not {number!r}")


def positive(name: str, number: Any) -> None:
    """A complaint about what is no positive number.

    >>> positive("timeout", 2.5)
    """
    try:
        good = float(number) > 0 and not isinstance(number, str)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise StudyError(f"{name} must be positive, not {number!r}")
