"""A search that is asked once more, because other workers were faster, goes on from what it found before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from likewise.acquisition.scoring import Scoring
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

    def resume(self) -> Resuming:
        """The search for picking once more."""
        return Resuming(self.search, self.found)

    def thorough(self) -> Search:
        return Resuming(self.search.thorough(), self.before, self.found)

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        if last is not None:
            self.found[-1:] = [self.search.equilibria(scorer, state, last=last, most=most)]
            return self.found[-1]
        earlier = self.before[len(self.found)] if len(self.found) < len(self.before) else None
        begin = earlier if earlier is not None and earlier.objects else None
        answer = self.search.equilibria(scorer, state, last=begin, most=most)
        if begin is not None and not answer.objects:
            answer = self.search.equilibria(scorer, state, most=most)
        self.found.append(answer)
        return answer
