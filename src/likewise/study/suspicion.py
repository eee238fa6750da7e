"""Values that are taken for bad measurements: who is warned of them, and which are to be measured again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from likewise.errors import LikewiseError, SuspectWarning
from likewise.model.committee import Committee
from likewise.model.contamination import describe, far_values
from likewise.spaces.base import Space
from likewise.study.findings import Finding
from likewise.study.ledger import Ledger
from likewise.study.methods.base import Known, Proposer
from likewise.study.observations import observations, value_of
from likewise.study.trial import State

# Marks a suggestion to measure again what may be a bad measurement.
REPEAT = "repeat"
# Of the call of `tell` by a user.
LEVEL = 4


@final
@dataclass(eq=False)
class Suspicion:
    """Warns once of each told value that is taken for a bad measurement."""

    warned: set[int] = field(default_factory=set)

    def look(self, findings: Sequence[Finding], ledger: Ledger, proposer: Proposer, sign: float) -> None:
        """Look at what is recorded; the ledger is as it was before these findings.

        Only where some value is far from all others, which costs next to nothing to see, is the model asked.
        """
        told = [value_of(trial) for trial in ledger.within(State.TOLD)]
        new = [finding.value for finding in findings if finding.state is State.TOLD and finding.value is not None]
        if not new or not len(far_values(np.array([*told, *new]))):
            return
        ledger.sync()
        try:
            found = proposer.believe(observations(ledger, sign)).committee.suspects
        except LikewiseError:
            # What cannot be compared is said where something is asked; here it would look as if nothing were recorded.
            return
        trials = ledger.within(State.TOLD)
        for trial in (trials[one.place] for one in found):
            if trial.id not in self.warned:
                self.warned.add(trial.id)
                text = describe(trial.object, value_of(trial))
                warnings.warn(f"{text}; tell it once more to confirm or to correct it", SuspectWarning, LEVEL)


def to_repeat(committee: Committee, known: Known, space: Space) -> list[Any]:
    """The objects of suspects that would be the best of all if they were true, and have no other measurement.

    A true winner is not to be overlooked for longer than one measurement takes.
    """
    if not committee.suspects:
        return []
    places, best = {one.place for one in committee.suspects}, float(np.max(committee.values))
    others = (x for i, x in enumerate(known.told.objects) if i not in places)
    settled = {space.key(x) for x in [*others, *known.failed, *known.pending]}
    found = {space.key(one.object): one.object for one in committee.suspects if one.value > best}
    return [x for key, x in found.items() if key not in settled]
