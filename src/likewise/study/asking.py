"""One ask among many workers: what was known when it began, and what the others have taken since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from likewise.study.ledger import HOLDING, Ledger
from likewise.study.proposal import Proposal
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial


@final
@dataclass(eq=False)
class Asking:
    """Proposes objects until none of them is taken by another worker first.

    It learns from what was told before it began, once. What has come since counts as in flight: so long as a worker
    loses, it neither fits its model again nor searches from the start, and takes the next best objects instead.
    """

    ledger: Ledger
    proposal: Proposal
    seed: int
    replicates: bool
    attempt: int = field(default=0, init=False)
    kept: list[Any] = field(default_factory=list, init=False)
    lost: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.told: Sequence[Trial] = self.ledger.within(State.TOLD)
        self._pending = [trial.object for trial in self.ledger.within(State.ASKED)]
        self._known = {trial.id for trial in self.ledger.trials}

    def objects(self, n: int) -> list[Any]:
        """Up to `n` distinct objects that are free as far as this worker knows."""
        key = self.proposal.proposer.space.key
        held = self.ledger.keys({State.ASKED} if self.replicates else HOLDING)
        taken = held | self.lost | {key(x) for x in self.kept}
        rng = np.random.default_rng([self.seed, len(self._known), self.attempt])
        pending = [*self._pending, *self._since(), *self.kept]
        missing = n - len(self.kept)
        return self.kept + (self.proposal.pick(missing, pending, taken, rng) if missing else [])

    def lose(self, found: Sequence[Suggestion], lost: Collection[str]) -> None:
        """Other workers were faster, and the ledger knows it: keep what is still free."""
        key = self.proposal.proposer.space.key
        self.kept = [s.object for s in found if key(s.object) not in lost]
        # A row that cannot be read holds its object as well, and is not in the ledger.
        self.lost.update(lost)
        self.attempt += 1

    def _since(self) -> list[Any]:
        trials = self.ledger.trials if self.attempt else []
        return [t.object for t in trials if t.id not in self._known and t.state is not State.ABANDONED]
