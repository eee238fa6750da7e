"""What a user gives to a study or a run, refused before anything begins."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, get_args

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.errors import StudyError
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.spaces.base import Space
from likewise.study.storage.base import Storage


def at_least_one(name: str, number: Any) -> None:
    """A complaint about what is no whole number from 1.

    >>> at_least_one("budget", 60)
    """
    try:
        good = index(number) >= 1 and not isinstance(number, bool)
    except TypeError:
        good = False
    if not good:
        raise StudyError(f"{name} must be at least 1 and whole, not {number!r}")


def positive(name: str, number: Any) -> None:
    """A complaint about what is no positive number.

    >>> positive("timeout", 2.5)
    """
    try:
        good = float(number) > 0 and not isinstance(number, str | bool)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise StudyError(f"{name} must be positive, not {number!r}")


def number(name: str, given: Any) -> None:
    """A complaint about what is no number, or NaN.

    >>> number("target", -3)
    """
    if not isinstance(given, int | float | np.number) or isinstance(given, bool) or np.isnan(given):
        raise StudyError(f"{name} must be a number, not {given!r}")


def truth(name: str, given: Any) -> None:
    """A complaint about what is neither True nor False.

    >>> truth("progress", False)
    """
    if not isinstance(given, bool | np.bool_):
        raise StudyError(f"{name} must be True or False, not {given!r}")


def check_parts(acquisition: Any, strategy: Any, search: Any) -> None:
    """A complaint about parts of a study that are of another kind."""
    for name, given, kind, such in (
        ("acquisition", acquisition, Acquisition, "LogExpectedImprovement()"),
        ("strategy", strategy, Strategy, "TwoStage(), and how many in ask(8)"),
        ("search", search, Search, "None for the one that suits the space"),
    ):
        if given is not None:
            check_part(name, given, kind, such)


def check_part(name: str, given: Any, kind: type, such: str) -> None:
    """A complaint about what is no part of this kind, or a class of such parts in place of one.

    >>> check_part("acquisition", "ei", Acquisition, "LogExpectedImprovement()")
    Traceback (most recent call last):
    ...
    likewise.errors.StudyError: acquisition='ei' is no Acquisition; give LogExpectedImprovement()
    """
    if isinstance(given, type) and issubclass(given, kind):
        raise StudyError(f"{name}={given.__name__} is a class, not one of its objects; write {given.__name__}()")
    if not isinstance(given, kind):
        raise StudyError(f"{name}={given!r} is no {kind.__name__}; give {such}")


def check_spectra(spectra: Sequence[Any]) -> None:
    """A complaint about treatments of negative eigenvalues that do not exist, or about none.

    >>> check_spectra(["clipp"])
    Traceback (most recent call last):
    ...
    likewise.errors.StudyError: spectrum='clipp' is no treatment; give 'krein', 'as_is', 'clip' or 'flip'
    """
    *first, last = map(repr, get_args(Spectrum))
    names = f"{', '.join(first)} or {last}"
    if not spectra:
        raise StudyError(f"an empty list of spectra leaves no model; give {names}")
    for one in spectra:
        if one not in get_args(Spectrum):
            raise StudyError(f"spectrum={one!r} is no treatment; give {names}")


def check_setting(space: Any, seed: Any, lease: Any, storage: Any) -> None:
    """A complaint about what a study cannot be made with."""
    if isinstance(space, type) and issubclass(space, Space):
        raise StudyError(f"{space.__name__} is a class of spaces, not one of them; write {space.__name__}(…)")
    if not isinstance(space, Space):
        raise StudyError(f"a study needs a space such as Pool, Box or Strings, not {space!r}")
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and not (whole and seed >= 0):
        raise StudyError(f"a seed is a whole number from 0, or None to draw one, not {seed!r}")
    if not isinstance(storage, str | Storage | None):
        raise StudyError(f"storage={storage!r} is no storage; give a URL such as 'sqlite:///study.db', or None")
    if lease is not None:
        positive("lease", lease)
