"""The protocol: a search finds the equilibria of a score in a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scorer
from likewise.search.places import Places
from likewise.similarity.base import Similarity, Vector
from likewise.spaces.base import Generator, Space


@dataclass(frozen=True, eq=False)
class Found:
    """Distinct objects that a search ended at, best first."""

    objects: list[Any]
    scores: Vector


@dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search takes place: the space, what was observed (best first), and what may not be proposed again.

    `taken` are keys, `tried` where the objects lie, as far as they are known: what is closer to one of them than the
    space can set is no new object either. `repeats` are the keys of observed objects that may be
    measured again, though they are taken.
    """

    space: Space
    observed: Sequence[Any]
    taken: frozenset[str] | set[str]
    rng: Generator
    tried: Places | None = None
    repeats: frozenset[str] = frozenset()

    def free(self, x: Any) -> bool:
        """Whether the object may be proposed."""
        return bool(self.all_free([x])[0])

    def all_free(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of the objects may be proposed."""
        fresh = np.array([self.space.key(x) not in self.taken for x in objects], dtype=bool)
        return fresh & ~self.places.close(objects)

    @property
    def places(self) -> Places:
        """Where the tried objects lie."""
        return self.tried or Places.of(self.space)

    def without(self, objects: Sequence[Any]) -> SearchState:
        """The state when these objects are taken, too."""
        keys = {self.space.key(x) for x in objects}
        return replace(self, taken=self.taken | keys, tried=self.places.add(objects), repeats=self.repeats - keys)


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
    """The distinct free objects, best first; what has no score at all is none of them."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -np.inf]
    # Of very many the best few times `most` are usually enough, and keys take time.
    few = len(order) if most is None else 4 * most
    kept = _distinct(objects, order[:few].tolist(), state)
    if most is not None and len(kept) < most and few < len(order):
        kept = _distinct(objects, order.tolist(), state)
    return Found([objects[i] for i in kept[:most]], scores[kept[:most]])


def _distinct(objects: Sequence[Any], order: Sequence[int], state: SearchState) -> list[int]:
    fresh: dict[str, int] = {}
    for i in order:
        fresh.setdefault(state.space.key(objects[i]), i)
    free = [i for key, i in fresh.items() if key not in state.taken]
    return [free[i] for i in state.places.apart([objects[i] for i in free])]
