"""When a run ends: its budget, its time, a value that is good enough, or nothing more to be gained."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from likewise.run.evaluation import Outcome
from likewise.run.options import Settings
from likewise.study.gain import Gain


@dataclass(eq=False)
class Watch:
    """Counts what happens in a run, and says why it should stop, if it should."""

    settings: Settings
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
        if self.settings.timeout is None:
            return None
        return max(0.0, self.started + self.settings.timeout - self.clock())

    @property
    def budget_left(self) -> int:
        """How many evaluations may still begin."""
        return self.settings.budget - self.begun

    def asked(self, n: int, gain: Gain | None = None) -> None:
        """Count suggestions, and how many asks in a row promise too little; a spread-out start promises nothing."""
        self.begun += n
        least = self.settings.stop_when
        if least is None or gain is None or gain.expected is None:
            return
        too_little = least(gain) if callable(least) else gain.expected < least
        self.hopeless = self.hopeless + 1 if too_little else 0

    def told(self, outcome: Outcome) -> None:
        """Count an evaluation that has ended."""
        self.ended += 1
        self.failures = self.failures + 1 if outcome.value is None else 0
        self.error = outcome.error or self.error

    def done(self, best: float | None) -> str | None:
        """Why the run should end at once, evaluations in flight given up; `best` is the study's best value."""
        target = self.settings.target
        if self.called:
            return "a callback stopped it"
        if target is not None and best is not None and self.sign * best >= self.sign * target:
            return f"the target {target:g} is reached"
        if self.time_left == 0.0:
            return f"the time of {self.settings.timeout:g} s is over"
        return None

    @property
    def hopeless_reason(self) -> str | None:
        """Why nothing more should be begun: too little is expected of it."""
        if self.hopeless < self.settings.patience:
            return None
        least = self.settings.stop_when
        little = "too little gain" if least is None or callable(least) else f"a gain of less than {least:g}"
        return f"{'the last ask' if self.hopeless == 1 else f'the last {self.hopeless} asks'} promised {little}"

    @property
    def enough(self) -> str | None:
        """Why nothing more should be begun, though what is in flight may end."""
        spent = f"the budget of {self.settings.budget} evaluations is spent" if self.budget_left <= 0 else None
        return self.hopeless_reason or spent
