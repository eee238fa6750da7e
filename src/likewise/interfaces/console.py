"""What the command line says, and where: results on stdout, everything else on stderr.

stdout can be piped at any time: it holds the answer alone, as a table for people or as JSON. Notes, progress and errors
go to stderr, progress only to a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

# Wide enough that nothing is cut when the table goes into a file or a pipe.
PIPE_WIDTH = 200
# Of the answers in JSON: it grows when a field is renamed, removed or means something else, not when one is added.
SCHEMA = 1


def out() -> Console:
    """stdout, for answers."""
    from rich.console import Console

    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def err() -> Console:
    """stderr, for everything else."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


@dataclass(eq=False)
class Voice:
    """How a command speaks: `notes` are collected for JSON and the report, and shown unless it is to be quiet."""

    quiet: bool = False
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Say something that the user should know, once, and go on."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            err().print(f"{text}.", soft_wrap=True)

    @contextmanager
    def working(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """A progress bar while something takes long; nothing where stderr is no terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield Progress()
            return
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Bar(*columns, *([TimeRemainingColumn()] if total else []), console=err(), transient=True) as bar:
            yield Progress(bar, bar.add_task(what, total=total))


@dataclass(eq=False)
class Progress:
    """How far a piece of work is."""

    bar: Bar | None = None
    task: Any = None

    def advance(self, by: int = 1) -> None:
        """Some more is done."""
        if self.bar is not None:
            self.bar.advance(self.task, by)

    def stage(self, what: str, total: int | None = None) -> None:
        """Something else begins."""
        if self.bar is not None:
            self.bar.reset(self.task, total=total, description=what)


def say(*lines: str) -> None:
    """Lines of an answer."""
    console = out()
    for line in lines:
        console.print(line, soft_wrap=True)


def say_json(command: str, data: Mapping[str, Any]) -> None:
    """An answer for programs: JSON alone, with every number finite; all begin alike."""
    from likewise import __version__

    data = {"schema": SCHEMA, "likewise": __version__, "command": command, **data}
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """An answer for people: columns under their names; those in `right` are flush right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0))
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    out().print(table)
