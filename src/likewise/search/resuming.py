"""A search that is asked once more, because other workers were faster, goes on from what it found before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

from likewise.acquisition.scorer import Scorer
from likewise.search.base import Found, Search, SearchState


@final
@dataclass(eq=False)
class Resuming(Search):
    """A search that keeps what it has found, and begins where the one before it ended.

    A strategy asks the same queries in the same order whenever it picks; what was found in answer to a query is
    where the search for a new answer begins, with more objects pending.
    """

    search: Search
    before: Sequence[Found] = ()
    found: list[Found] = field(default_factory=list)

    def resumed(self) -> Resuming:
        """The search for picking once more."""
        return Resuming(self.search, self.found)

    def equilibria(self, scorer: Scorer, state: SearchState) -> Found:
        return self._answer(self.search.equilibria, scorer, state)

    def foremost(self, scorer: Scorer, state: SearchState) -> Found:
        return self._answer(self.search.foremost, scorer, state)

    def thorough(self) -> Search:
        return Resuming(self.search.thorough(), self.before, self.found)

    def again(self, scorer: Scorer, state: SearchState, found: Found) -> Found:
        self.found[-1:] = [self.search.again(scorer, state, found)]
        return self.found[-1]

    def _answer(self, begin: Callable[[Scorer, SearchState], Found], scorer: Scorer, state: SearchState) -> Found:
        earlier = self.before[len(self.found)] if len(self.found) < len(self.before) else None
        answer = self.search.again(scorer, state, earlier) if earlier is not None and earlier.objects else None
        self.found.append(answer if answer is not None and answer.objects else begin(scorer, state))
        return self.found[-1]
