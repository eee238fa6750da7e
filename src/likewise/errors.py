"""Every error likewise raises on purpose, on one page.

    LikewiseError
    ├── SimilarityError   a score that is not a similarity, or an object it cannot compare
    ├── SpaceError        an object outside its space, or a space that cannot be
    ├── StudyError        a tell, ask or open that does not fit the study
    ├── StorageError      a stored study that cannot be read or written
    ├── TableError        a table that cannot be read or used as it is
    ├── UsageError        a command that does not fit its files
    └── MissingExtra      an optional library that is not installed

Each message names the thing, the value and the remedy. A `StorageWarning` says what was passed over to go on, a
`SuspectWarning` which value is far from all others.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class LikewiseError(Exception):
    """Base of all errors raised on purpose.

    `settings` are what can be set to get past it, by name, and to what if that is known. The command line says how in
    its own words, and a program may offer it.
    """

    def __init__(self, message: str = "", *, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.settings = dict(settings or {})


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to write in place of a name that is not known: the near ones, or all there are.

    >>> did_you_mean("solvnt", ["base", "solvent"]), did_you_mean("T", ["base", "solvent"])
    ("did you mean 'solvent'?", "there are 'base', 'solvent'")
    """
    listed = list(known)
    if near := get_close_matches(name, listed, cutoff=0.75):
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"there are {', '.join(map(repr, listed))}" if listed else "there are none"


class SimilarityError(LikewiseError, ValueError):
    """A score that is not a similarity, or an object that a similarity cannot compare."""


class SpaceError(LikewiseError, ValueError):
    """An object outside its space, or a space that cannot be."""


class StudyError(LikewiseError, ValueError):
    """A tell, ask or open that does not fit the study."""


class StorageError(LikewiseError, RuntimeError):
    """A stored study that cannot be read or written."""


class StorageWarning(UserWarning):
    """A stored row that cannot be used and is passed over; the others are read."""


class SuspectWarning(UserWarning):
    """A value that is far from all others, a hit or a slip; it counts like any other until it is corrected."""


class TableError(LikewiseError, ValueError):
    """A table that cannot be read or used as it is; the message names file, row, column, value and remedy."""


class UsageError(LikewiseError, ValueError):
    """A command that does not fit: a file that is not there, a column or a name that does not exist."""


class MissingExtra(LikewiseError, ImportError):
    """An optional library that is not installed."""

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}, which is not installed; run: pip install 'likewise[{extra}]'")


def import_extra(module: str, what: str, library: str, extra: str) -> Any:
    """The module of an optional library; a MissingExtra where it is not installed."""
    try:
        import_module(module.partition(".")[0])
        return import_module(module)
    except ImportError:
        raise MissingExtra(what, library, extra) from None
