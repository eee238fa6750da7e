"""What the command line says, and where: results on stdout, everything else on stderr.

stdout can be piped at any time: it holds the answer alone, as a table for people or as JSON. Notes, progress and errors
go to stderr, progress only to a terminal.

Every text goes through this file: control characters of cells and names, which a terminal would obey, are shown as
escapes, and very long cells are cut. Nothing else is to print.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise import __version__
from likewise.campaign.text import Listener, Progress

if TYPE_CHECKING:
    from rich.console import Console as Terminal
    from rich.progress import Progress as Bar

# Wide enough that nothing is cut when the table goes into a file or a pipe.
PIPE_WIDTH = 200
# Of the answers in JSON: it grows when a field is renamed, removed or means something else, not when one is added.
SCHEMA = 1


# What terminals obey rather than show, line ends and tabs excepted: controls, directions of writing, half characters.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters of a line, and of a line in a cell, that people are shown; files and JSON hold all.
LONGEST_LINE, LONGEST_CELL = 5_000, 1_000
WHOLE_NAME = 56


def visible(text: str) -> str:
    """The text with control characters written as escapes.

    >>> print(visible("\x1b[2Jgone"))
    \\x1b[2Jgone
    """
    return CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _cut(text: str, most: int) -> str:
    """The text without the middle of lines that are longer than this."""
    if len(text) <= most:
        return text
    return "\n".join(
        line if len(line) <= most else f"{line[: most // 2]} … {len(line) - most} characters … {line[-most // 2 :]}"
        for line in text.split("\n")
    )


def _console(*, stderr: bool) -> Terminal:
    from rich.console import Console as Terminal

    # rich reads COLUMNS itself, where somebody has set it.
    has_width = (sys.stderr if stderr else sys.stdout).isatty() or "COLUMNS" in os.environ
    width = None if has_width else PIPE_WIDTH
    return Terminal(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def answer_width() -> int:
    """How many characters a line of an answer may have."""
    return _console(stderr=False).width


def _show(console: Terminal, text: str) -> None:
    console.print(visible(_cut(text, LONGEST_LINE)), soft_wrap=True)


def complain(text: str) -> None:
    """An error, on stderr."""
    _show(_console(stderr=True), text)


@dataclass(eq=False)
class Console(Listener):
    """How a command speaks: notes are shown on stderr unless it is to be quiet."""

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr.")] = False

    def show(self, text: str) -> None:
        """Show a note."""
        if not self.quiet:
            _show(_console(stderr=True), text if text.endswith(".") else f"{text}.")

    @contextmanager
    def working(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """A progress bar while something takes long; nothing where stderr is no terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield Progress()
            return
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        left, console = [TimeRemainingColumn()] if total else [], _console(stderr=True)
        with Bar(*columns, *left, console=console, transient=True) as bar:
            yield Shown(bar, bar.add_task(visible(what), total=total))


@dataclass(eq=False)
class Shown(Progress):
    """Progress as a bar on the terminal."""

    bar: Bar
    task: Any

    def advance(self, by: int = 1) -> None:
        """Some more is done."""
        self.bar.advance(self.task, by)

    def end(self) -> None:
        """Something follows that shows its progress itself."""
        self.bar.stop()

    def stage(self, what: str, total: int | None = None) -> None:
        """Something else begins."""
        self.bar.reset(self.task, total=total, description=visible(what))


def say(*lines: str) -> None:
    """Lines of an answer."""
    console = _console(stderr=False)
    for line in lines:
        _show(console, line)


def say_json(command: str, data: Mapping[str, Any]) -> None:
    """An answer for programs: JSON alone, with every number finite; all begin alike."""
    data = {"schema": SCHEMA, "likewise": __version__, "command": command, **data}
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    # Line ends aside, what is left of control characters is inside of texts, where JSON has escapes of its own.
    sys.stdout.write(CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """An answer for people: columns under their names; those in `right` are flush right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0))
    cells = [[_cell(text) for text in row] for row in rows]
    # The first column has the names, which are to be copied: they stay in one piece where there is room.
    names = min(WHOLE_NAME, max((len(row[0]) for row in cells), default=0))
    for number, name in enumerate(columns):
        least = names if number == 0 else None
        table.add_column(_cell(name), justify="right" if number in right else "left", overflow="fold", min_width=least)
    for row in cells:
        table.add_row(*row)
    _console(stderr=False).print(table)


def _cell(text: str) -> str:
    return visible(_cut(text, LONGEST_CELL))
