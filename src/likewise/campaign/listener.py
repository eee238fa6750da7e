"""Who hears about the work on a table: what was taken for what, and how far it is.

The campaign knows no terminal. The command line listens by a console, a program by whatever it makes of the notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class Progress:
    """How far a piece of work is; this one shows nothing."""

    def advance(self, by: int = 1) -> None:
        """Some more is done."""

    def end(self) -> None:
        """Something follows that shows its progress itself."""

    def stage(self, what: str, total: int | None = None) -> None:
        """Something else begins."""


@dataclass(eq=False)
class Listener:
    """Collects notes, each once, and shows nothing."""

    notes: list[str] = field(default_factory=list, init=False)

    def note(self, text: str) -> None:
        """Hear something that the user should know."""
        if text not in self.notes:
            self.notes.append(text)
            self.show(text)

    def show(self, text: str) -> None:
        """Show a note to whoever waits."""

    @contextmanager
    def working(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """Show progress while something takes long."""
        yield Progress()
