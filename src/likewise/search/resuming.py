"""A search that is asked once more, because other workers were faster, goes on from what it found before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

from likewise.acquisition.scorer import Scorer
from likewise.search.base import Found, Ground, Search


@final
@dataclass(eq=False)
class Resuming(Search):
    """A search that keeps what it has found, and begins where the one before it ended.

    A strategy asks the same questions in the same order whenever it picks; what was found in answer to a question is
    where the search for a new answer begins, with more objects pending.
    """

    search: Search
    before: Sequence[Found] = ()
    found: list[Found] = field(default_factory=list)

    def resumed(self) -> Resuming:
        """The search for picking once more."""
        return Resuming(self.search, self.found)

    def equilibria(self, scorer: Scorer, ground: Ground) -> Found:
        return self._answer(self.search.equilibria, scorer, ground)

    def foremost(self, scorer: Scorer, ground: Ground) -> Found:
        return self._answer(self.search.foremost, scorer, ground)

    def thorough(self) -> Search:
        return Resuming(self.search.thorough(), self.before, self.found)

    def again(self, scorer: Scorer, ground: Ground, found: Found) -> Found:
        self.found[-1:] = [self.search.again(scorer, ground, found)]
        return self.found[-1]

    def _answer(self, begin: Callable[[Scorer, Ground], Found], scorer: Scorer, ground: Ground) -> Found:
        earlier = self.before[len(self.found)] if len(self.found) < len(self.before) else None
        answer = self.search.again(scorer, ground, earlier) if earlier is not None and earlier.objects else None
        self.found.append(answer if answer is not None and answer.objects else begin(scorer, ground))
        return self.found[-1]
