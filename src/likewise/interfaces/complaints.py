"""The errors of the command line: a table that cannot be used as it is, and a command that does not fit its files."""

from __future__ import annotations

from likewise.errors import LikewiseError


class TableError(LikewiseError, ValueError):
    """A table that cannot be read or used as it is; the message names file, row, column, value and remedy."""


class UsageError(LikewiseError, ValueError):
    """A command that does not fit: a file that is not there, a column or a name that does not exist."""
