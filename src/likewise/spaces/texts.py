"""What spaces of texts share: an object is its own JSON form and its own cell."""

from __future__ import annotations

from typing import Any

from likewise.errors import SpaceError
from likewise.spaces.base import Space
from likewise.tables.cells import Decimal


class Texts(Space):
    """A space whose objects are strings."""

    def from_json(self, data: Any) -> str:
        # Not fitted again, for parsing a text may take long.
        return str(data)

    def from_cell(self, text: str, decimal: Decimal | None) -> str:
        return text


def checked_text(x: Any, what: str = "a string") -> str:
    """The text; a SpaceError for anything else."""
    if not isinstance(x, str):
        raise SpaceError(f"{x!r} is not {what}")
    return str(x)
