"""A progress bar on stderr for long runs; silent where stderr is no terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from likewise.study.trial import State

if TYPE_CHECKING:
    from likewise.study.study import Study


class Progress:
    """Evaluations done, the best value, failures and the time left. `shown=None` leaves it to the terminal."""

    def __init__(self, total: int, *, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._total = total
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("likewise"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._task = self._bar.add_task("starting", total=self._total)
        return self

    def advance(self, done: int, study: Study) -> None:
        """Show how far the run is."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=describe(study))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


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
    best = f"best {study.best.value:.6g}" if study.count(State.TOLD) else "no value yet"
    return best + (f", {failed} failed" if failed else "")
