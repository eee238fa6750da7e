"""The protocol: a search finds the equilibria of a score in a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.acquisition.scorer import Scorer
from likewise.similarity.base import Similarity, Vector
from likewise.spaces.base import Generator, Space


@dataclass(frozen=True, eq=False)
class Found:
    """Distinct objects that a search ended at, best first."""

    objects: list[Any]
    scores: Vector


@dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search takes place: the space, what was observed (best first), and what may not be proposed again."""

    space: Space
    observed: Sequence[Any]
    taken: frozenset[str] | set[str]
    rng: Generator

    def free(self, x: Any) -> bool:
        """Whether the object may be proposed."""
        return self.space.key(x) not in self.taken


class Search(ABC):
    """Finds the objects of a space that a scorer values most."""

    def ready(self, similarities: Sequence[Similarity]) -> None:
        """Make what will be needed whatever is learnt; an object that a similarity cannot compare is an error here."""
        return

    @abstractmethod
    def equilibria(
        self, scorer: Scorer, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        """Objects where the search came to rest, best first, without those that are taken.

        `last` is what was found before one more object became pending, a place to start from; None for a first search.
        `most` is how many objects will be picked; None where all equilibria are of interest. The best one is found in
        either case.
        """

    def thorough(self) -> Search:
        """The search that follows every trajectory to its end, for those who want all equilibria and not the best."""
        return self


def best_distinct(objects: Sequence[Any], scores: Vector, state: SearchState, most: int | None = None) -> Found:
    """The distinct free objects, best first."""
    seen: set[str] = set()
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        key = state.space.key(objects[i])
        if key not in seen and key not in state.taken:
            seen.add(key)
            kept.append(i)
            if most is not None and len(kept) >= most:
                break
    return Found([objects[i] for i in kept], scores[kept])
