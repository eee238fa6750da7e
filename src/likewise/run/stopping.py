"""When a run ends: its budget, its time, a value that is good enough, or nothing more to be gained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from likewise.study.checks import at_least_one, positive
from likewise.study.evaluation import Outcome
from likewise.study.suggestion import Suggestion

PATIENCE = 3
MOST_FAILURES = 10


@dataclass(frozen=True)
class Limits:
    """What ends a run. Times are in seconds; `min_improvement` and `target` are in the units of the values."""

    budget: int
    wall_clock: float | None = None
    target: float | None = None
    min_improvement: float | None = None
    patience: int = PATIENCE
    most_failures: int = MOST_FAILURES

    def __post_init__(self) -> None:
        for name, number in (
            ("budget", self.budget),
            ("patience", self.patience),
            ("most_failures", self.most_failures),
        ):
            at_least_one(name, number)
        for name, limit in (("wall_clock", self.wall_clock), ("min_improvement", self.min_improvement)):
            if limit is not None:
                positive(name, limit)


@dataclass(eq=False)
class Watch:
    """Counts what happens in a run, and says why it should stop, if it should."""

    limits: Limits
    sign: float
    clock: Callable[[], float] = time.monotonic
    begun: int = 0
    ended: int = 0
    failures: int = 0
    hopeless: int = 0
    called: bool = False
    error: str | None = None
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def time_left(self) -> float | None:
        """Seconds until the run must end; None if it need not."""
        if self.limits.wall_clock is None:
            return None
        return max(0.0, self.started + self.limits.wall_clock - self.clock())

    @property
    def budget_left(self) -> int:
        """How many evaluations may still begin."""
        return self.limits.budget - self.begun

    def asked(self, suggestions: Sequence[Suggestion]) -> None:
        """Count suggestions, and how many in a row promise too little; a spread-out start promises nothing."""
        self.begun += len(suggestions)
        least = self.limits.min_improvement
        for s in suggestions:
            if least is not None and s.improvement is not None and s.notes.get("stage") != "initial":
                self.hopeless = self.hopeless + 1 if s.improvement < least else 0

    def told(self, outcome: Outcome) -> None:
        """Count an evaluation that has ended."""
        self.ended += 1
        self.failures = self.failures + 1 if outcome.value is None else 0
        self.error = outcome.error or self.error

    def done(self, best: float | None) -> str | None:
        """Why the run should end at once, evaluations in flight given up; `best` is the study's best value."""
        target = self.limits.target
        if self.called:
            return "a callback stopped it"
        if target is not None and best is not None and self.sign * best >= self.sign * target:
            return f"the target {target:g} is reached"
        if self.time_left == 0.0:
            return f"the time of {self.limits.wall_clock:g} s is over"
        return None

    @property
    def hopeless_reason(self) -> str | None:
        """Why nothing more should be begun: too little is expected of it."""
        if self.hopeless < self.limits.patience:
            return None
        least = self.limits.min_improvement
        return f"the last {self.hopeless} suggestions promised an improvement of less than {least:g}"

    @property
    def enough(self) -> str | None:
        """Why nothing more should be begun, though what is in flight may end."""
        spent = f"the budget of {self.limits.budget} evaluations is spent" if self.budget_left <= 0 else None
        return self.hopeless_reason or spent


def callbacks_of(given: Any) -> tuple[Callable[[Any, Any], Any], ...]:
    """One callback, several, or none.

    >>> callbacks_of(None), callbacks_of(print) == (print,)
    ((), True)
    """
    if given is None:
        return ()
    return (given,) if callable(given) else tuple(given)
