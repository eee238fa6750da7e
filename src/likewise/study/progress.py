"""A progress bar on stderr for long runs; silent where stderr is no terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from likewise.study.study import Study


class Progress:
    """Evaluations done, best value and time left. `shown=None` leaves it to the terminal."""

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
        if self._bar is None:
            return
        told = [t.value for t in study.trials if t.value is not None]
        failed = sum(t.error is not None for t in study.trials)
        best = f"best {study.best.value:.6g}" if told else "no value yet"
        self._bar.update(self._task, completed=done, description=best + (f", {failed} failed" if failed else ""))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
