"""Values that are taken for bad measurements: who is warned of them, and which are to be measured again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from likewise.errors import LikewiseError, SuspectWarning
from likewise.model.gram_cache import same_sequence
from likewise.model.schedule import Data
from likewise.model.targets.contamination import describe, far_values, surely_near
from likewise.spaces.base import Space
from likewise.study.goals import Goals
from likewise.study.log import Ledger, Log
from likewise.study.methods.base import Beliefs, Known, Proposer
from likewise.study.observations import observations, trials_of
from likewise.study.record.findings import Finding
from likewise.study.trial import State, Trial

# Marks a suggestion to measure again what may be a bad measurement.
REPEAT = "repeat"
# Of the calls of `tell` and `ask` by a user.
TELL, ASK = 5, 4


@dataclass(eq=False)
class _Exact:
    """The values of an outcome that are no limits, and their trials' numbers; of known trials they are read once."""

    name: str
    ids: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    ordered: list[float] = field(default_factory=list)
    _trials: list[Trial] = field(default_factory=list)

    def read(self, trials: list[Trial]) -> None:
        """Bring them up to date with all told trials."""
        first = len(self._trials)
        if not same_sequence(trials[:first], self._trials):
            self.ids, self.values, self.ordered, first = [], [], [], 0
        for trial in trials[first:]:
            if self.name in trial.outcomes and trial.outcomes[self.name].limit is None:
                self.ids.append(trial.id)
                self.values.append(trial.outcomes[self.name].value)
        self.ordered = sorted([*self.ordered, *self.values[len(self.ordered) :]])
        self._trials = trials

    def far(self, new: list[float]) -> list[int]:
        """The places of the values that are far from all others, these included."""
        if surely_near(sorted([*self.ordered, *new])):
            return []
        return far_values(np.array([*self.values, *new])).tolist()


@final
@dataclass(eq=False)
class Suspicion:
    """Warns once of each told value that is taken for a bad measurement."""

    warned: set[tuple[int, str]] = field(default_factory=set)
    # The values that were far from all others when the model was asked about them.
    _judged: set[tuple[int, str]] = field(default_factory=set)
    _seen: dict[str, _Exact] = field(default_factory=dict)

    def look(self, findings: Sequence[Finding], log: Log, proposer: Proposer, goals: Goals) -> None:
        """Look at what is recorded; the ledger is as it was before these findings.

        Only where some value is far from all others, which costs next to nothing to see, is the model asked, once. What
        it makes of the value after further tells is heard at the next ask (`revise`).
        """
        ledger = log.ledger
        far = [name for name in goals.outcomes if self._some_far(findings, ledger, name)]
        if not far:
            return
        log.sync()
        try:
            suspects = proposer.suspects(observations(ledger, goals))
        except LikewiseError:
            # What cannot be compared is said where something is asked; here it would look as if nothing were recorded.
            return
        for name in far:
            told = self._read(ledger, name)
            self._judged.update((told.ids[i], name) for i in told.far([]))
            trials = trials_of(ledger, name, goals)
            for trial in (trials[place] for place in suspects[name]):
                self._warn(trial, name, goals, TELL)

    def revise(self, suspects: Mapping[str, Sequence[Trial]], goals: Goals) -> None:
        """Warn of those that an ask leaves out, though they were not suspected when they were told."""
        for name, trials in suspects.items():
            for trial in trials:
                if (trial.id, name) in self._judged:
                    self._warn(trial, name, goals, ASK)

    def _read(self, ledger: Ledger, name: str) -> _Exact:
        told = self._seen.setdefault(name, _Exact(name))
        told.read(ledger.within(State.TOLD))
        return told

    def _some_far(self, findings: Sequence[Finding], ledger: Ledger, name: str) -> bool:
        new = [value for finding in findings if (value := finding.value_of(name)) is not None]
        if not new:
            return False
        told = self._read(ledger, name)
        return any(i >= len(told.ids) or (told.ids[i], name) not in self._judged for i in told.far(new))

    def _warn(self, trial: Trial, name: str, goals: Goals, level: int) -> None:
        if (trial.id, name) not in self.warned:
            self.warned.add((trial.id, name))
            whose = f"{name} " if goals.named else ""
            text = describe(trial.object, trial.outcomes[name].value)
            warnings.warn(f"{whose}{text}; tell it once more to confirm or to correct it", SuspectWarning, level)


def to_repeat(beliefs: Beliefs, told: Data, known: Known, space: Space) -> list[Any]:
    """The objects of an outcome's suspects that would be the best of all if true, and have no other measurement.

    A true winner is not to be overlooked for longer than one measurement takes.
    """
    committee = beliefs.committee
    if not committee.suspects:
        return []
    places, best = {one.place for one in committee.suspects}, float(np.max(committee.values[committee.known]))
    others = (x for i, x in enumerate(told.objects) if i not in places)
    settled = {space.key(x) for x in [*others, *known.failed, *known.pending]}
    found = {space.key(one.object): one.object for one in committee.suspects if one.value > best}
    return [x for key, x in found.items() if key not in settled]
