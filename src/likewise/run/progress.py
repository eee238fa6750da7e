"""A progress bar on stderr for long runs; silent where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from likewise.study.trial import State

if TYPE_CHECKING:
    from likewise.errors import StudyError
from likewise.study.study import Study

Show = Callable[[int, "Study"], None]


@contextmanager
def progress(total: int, *, shown: bool | None = None) -> Iterator[Show]:
    """Evaluations done, the best value, failures and the time left. `shown=None` leaves it to the terminal."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda done, study: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("likewise"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda done, study: bar.update(task, completed=done, description=describe(study))


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
