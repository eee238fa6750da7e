"""A progress bar for long runs: on stderr where that is a terminal, and below the cell in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib import import_module
from time import monotonic
from typing import Any

from likewise.errors import StudyError
from likewise.study.study import Study
from likewise.study.trial import State

Show = Callable[[int, Study], None]
# Seconds between two pictures of the bar in a notebook: each is a message to the browser.
PAUSE = 0.1


@contextmanager
def progress(total: int, *, shown: bool | None = None) -> Iterator[Show]:
    """Evaluations done, the best value and failures. `shown=None`: where there is a terminal or a notebook."""
    if shown is False:
        yield lambda done, study: None
    elif in_notebook():
        yield from _below_the_cell(total)
    elif shown or sys.stderr.isatty():
        yield from _on_stderr(total)
    else:
        yield lambda done, study: None


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which a browser looks at; IPython in a terminal is none.

    >>> in_notebook()
    False
    """
    # Whoever runs in a notebook has loaded IPython, and nobody else pays for it.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _on_stderr(total: int) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("likewise"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda done, study: bar.update(task, completed=done, description=describe(study))


@dataclass(frozen=True)
class Bar:
    """The bar of a notebook: HTML that needs no widgets, so that it also stays in the file.

    >>> Bar(3, 12, "best 0.25")
    likewise 3/12 best 0.25
    """

    done: int
    total: int
    text: str

    def __repr__(self) -> str:
        return f"likewise {self.done}/{self.total} {self.text}"

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self.done}" max="{self.total}" style="vertical-align: middle"></progress>'
        return f"{bar} {self.done}/{self.total} {escape(self.text)}"


def _below_the_cell(total: int) -> Iterator[Show]:
    ipython: Any = import_module("IPython.display")
    handle = ipython.display(Bar(0, total, "starting"), display_id=True)
    shown_at = monotonic()
    last: tuple[int, Study] | None = None

    def show(done: int, study: Study) -> None:
        nonlocal shown_at, last
        last = (done, study)
        if monotonic() - shown_at >= PAUSE:
            handle.update(Bar(done, total, describe(study)))
            shown_at, last = monotonic(), None

    try:
        yield show
    finally:
        if last is not None:
            done, study = last
            handle.update(Bar(done, total, describe(study)))


def describe(study: Study) -> str:
    """The best value so far, and how many trials have failed.

    >>> import likewise as lw
    >>> study = lw.Study(lw.Pool(["a", "b"]), lambda x, y: 1.0)
    >>> study.tell("a", 0.25)
    >>> study.fail("b")
    >>> describe(study)
    'best 0.25, 1 failed'
    """
    failed = study.count(State.FAILED)
    best = _best(study) if study.count(State.TOLD) else "no value yet"
    return best + (f", {failed} failed" if failed else "")


def _best(study: Study) -> str:
    if study.goals.objective is None:
        return f"{len(study.front)} on the front"
    try:
        return f"best {study.best.measured}"
    except StudyError:
        return "nothing keeps to the constraints yet"
