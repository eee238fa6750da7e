"""The protocol: a search finds the equilibria of a score in a space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scoring import Scoring
from likewise.search.places import Places
from likewise.search.plate import Plate, Rows
from likewise.similarity.base import Similarity, Vector
from likewise.spaces.base import Enumerable, Generator, Space


@dataclass(frozen=True, eq=False)
class Found:
    """Distinct objects that a search ended at, best first."""

    objects: list[Any]
    scores: Vector


@dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search takes place: the space, what was observed (best first), and what may not be proposed again.

    `taken` are keys, `tried` where the objects lie, as far as they are known: what is closer to one of them than the
    space can set is no new object either. `repeats` are the keys of observed objects that may be measured again, though
    they are taken. `plate` says what else the next object of a batch must be, `rows` which rows of a pool are so;
    `whole` are the space and the observations without it.
    """

    space: Space
    observed: Sequence[Any]
    taken: frozenset[str] | set[str]
    rng: Generator
    tried: Places | None = None
    repeats: frozenset[str] = frozenset()
    plate: Plate | None = None
    rows: Rows | None = None
    whole: tuple[Space, Sequence[Any]] | None = None

    def free(self, x: Any) -> bool:
        """Whether the object may be proposed."""
        return bool(self.all_free([x])[0])

    def all_free(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of the objects may be proposed."""
        fresh = np.array([self.space.key(x) not in self.taken and self.permits(x) for x in objects], dtype=bool)
        return fresh & ~self.places.close(objects)

    def permits(self, x: Any) -> bool:
        """Whether the object fits on the plate, if there is one."""
        return self.plate is None or self.plate.allows(x)

    def sample(self, n: int) -> list[Any]:
        """Random objects, as many as there are up to `n` where only some rows of a pool are permitted."""
        if self.plate is not None and self.rows is not None:
            return self.rows.sample(n, self.plate, self.taken, self.rng)
        return self.space.sample(n, self.rng)

    @property
    def places(self) -> Places:
        """Where the tried objects lie."""
        return self.tried or Places.of(self.space)

    def without(self, objects: Sequence[Any]) -> SearchState:
        """The state when these objects are taken, too."""
        keyed = {self.space.key(x): x for x in objects}
        taken, repeats = self.taken | keyed.keys(), self.repeats - keyed.keys()
        state = replace(self, taken=taken, tried=self.places.add(objects), repeats=repeats)
        return state if self.plate is None else state.on(self.plate.after(keyed))

    def on(self, plate: Plate) -> SearchState:
        """The state in which the next object has to fit on the plate."""
        space, observed = self.whole or (self.space, self.observed)
        rows = self.rows or (Rows(space) if isinstance(space, Enumerable) else None)
        plate = plate if rows is None else rows.go_on(plate, self.taken)
        bound = plate.bind(space)
        return replace(
            self,
            space=bound,
            observed=plate.bring(observed, bound),
            tried=self.tried or Places.of(space),
            plate=plate,
            rows=rows,
            whole=(space, observed),
        )


class Search(ABC):
    """Finds the objects of a space that a scorer values most."""

    def ready(self, similarities: Sequence[Similarity]) -> None:
        """Make what will be needed whatever is learnt; an object that a similarity cannot compare is an error here."""
        return

    @abstractmethod
    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
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
    few, kept = len(order) if most is None else 2 * most, list[int]()
    # Of very many the best few are usually enough, and keys take time. What is kept of them stays when more follow.
    while True:
        kept = _distinct(objects, order[:few].tolist(), state)
        if most is None or len(kept) >= most or few >= len(order):
            return Found([objects[i] for i in kept[:most]], scores[kept[:most]])
        few *= 2


def _distinct(objects: Sequence[Any], order: Sequence[int], state: SearchState) -> list[int]:
    fresh: dict[str, int] = {}
    for i in order:
        fresh.setdefault(state.space.key(objects[i]), i)
    free = [i for key, i in fresh.items() if key not in state.taken and state.permits(objects[i])]
    return [free[i] for i in state.places.apart([objects[i] for i in free])]
