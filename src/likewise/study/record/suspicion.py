"""Values far from all others: who is told of them. They stay in the model until the user amends or withdraws them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from likewise.errors import SuspectWarning
from likewise.model.targets.far_values import describe, far_values
from likewise.study.goals import Goals
from likewise.study.log import Ledger
from likewise.study.measurement import Measurement
from likewise.study.record.findings import Finding
from likewise.study.trial import Outcome, State, Trial

REMEDY = "amend or withdraw a slip (`study.amend`, `study.withdraw`), and measure a hit once more"


def far_places(measured: Sequence[Measurement | Outcome]) -> list[int]:
    """The places of the values that are far from all others; one told with its standard deviation is none."""
    values = np.array([each.value for each in measured], dtype=float)
    return far_values(values, np.array([each.std is not None for each in measured], dtype=bool)).tolist()


def far_trials(told: Sequence[Trial], name: str) -> list[Trial]:
    """The told trials whose value of an outcome is far from all others."""
    measured = [(t, own) for t in told if (own := t.outcomes.get(name)) is not None and own.limit is None]
    return [measured[i][0] for i in far_places([own for _, own in measured])]


@final
@dataclass(eq=False)
class Suspicion:
    """Warns once of each value that is far from all others."""

    _named: set[tuple[int, str, float]] = field(default_factory=set)

    def look(self, findings: Sequence[Finding], ledger: Ledger, goals: Goals) -> None:
        """Warn of what was recorded, which the ledger has.

        A value that lies between two others is not far from all, which costs next to nothing to see.
        """
        told = ledger.within(State.TOLD)
        if any(_some_far(findings, told, name) for name in goals.outcomes):
            self.warn(ledger, goals, level=6)

    def warn(self, ledger: Ledger, goals: Goals, level: int) -> None:
        """Warn of all that were not warned of before; `level` as warnings have it."""
        for name in goals.outcomes:
            for trial in far_trials(ledger.within(State.TOLD), name):
                value = trial.outcomes[name].value
                if (trial.id, name, value) not in self._named:
                    self._named.add((trial.id, name, value))
                    of = f"{name} " if goals.named else ""
                    text = f"{of}{describe(trial.object, value)} (trial {trial.id}); {REMEDY}"
                    warnings.warn(text, SuspectWarning, stacklevel=level)


def _some_far(findings: Sequence[Finding], told: Sequence[Trial], name: str) -> bool:
    """Whether one of the values of an outcome that were just told is far from all others."""
    new = {value for finding in findings if (value := finding.value_of(name)) is not None}
    if not any(_may_be_far(value, told, name) for value in new):
        return False
    return any(trial.outcomes[name].value in new for trial in far_trials(told, name))


def _may_be_far(value: float, told: Sequence[Trial], name: str) -> bool:
    """Whether a value lies between no two others."""
    above = below = False
    for trial in told:
        if name in trial.outcomes:
            other = trial.outcomes[name].value
            above, below = above or other > value, below or other < value
            if above and below:
                return False
    return True
