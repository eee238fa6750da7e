"""Pools are scored whole: a partition, or several, say which rows are best, and a batch is picked among those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from likewise.acquisition.scorer import Scorer
from likewise.search.base import Found, Search, SearchState
from likewise.search.pool.contest import Contest
from likewise.search.pool.partition import PRECISE, Partition
from likewise.search.pool.query import Numbers, Partitions, Query, Rows, leading
from likewise.similarity.base import Similarity, Vector
from likewise.spaces.base import Enumerable
from likewise.spaces.pools.pool import Pool

# So many rows are compared again in double precision: for a batch, whose picks change the order of those that are left,
# and for one object.
CONTENDERS, FOREMOST = 512, 32


@dataclass(eq=False)
class _Numbers:
    """Objects by number: the same object has the same one in every query."""

    objects: list[Any] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)

    def of(self, objects: Sequence[Any]) -> Numbers:
        for x in objects:
            if id(x) not in self._places:
                self._places[id(x)] = len(self.objects)
                # Held, so that its identity stays its own.
                self.objects.append(x)
        return tuple(self._places[id(x)] for x in objects)


@dataclass(eq=False)
class ExhaustiveSearch(Search):
    """Scores every object of an enumerable space; equilibria are simply the best ones."""

    objects: Sequence[Any]
    row: Callable[[str], int | None]
    partitions: Partitions
    _numbers: _Numbers = field(default_factory=_Numbers)
    _similarities: dict[int, tuple[int, Similarity]] = field(default_factory=dict)
    _rows: dict[str, int | None] = field(default_factory=dict)
    _contest: tuple[Found, Contest] | None = None

    @classmethod
    def over(cls, space: Enumerable, key: Callable[[Any], str]) -> ExhaustiveSearch:
        """The search over all objects of a space; `key` names an object."""
        if isinstance(space, Pool):
            return cls(space.objects, space.row, _partitions(space))
        return cls(space.objects, _Places(space.objects, key), Partition.of(space.objects))

    def ready(self, similarities: Sequence[Similarity]) -> None:
        """Encode all objects by each similarity, once."""
        self.partitions.ready(dict(enumerate(similarities)))

    def equilibria(self, scorer: Scorer, state: SearchState) -> Found:
        return self._best(scorer, state, CONTENDERS)

    def foremost(self, scorer: Scorer, state: SearchState) -> Found:
        return self._best(scorer, state, FOREMOST)

    def _best(self, scorer: Scorer, state: SearchState, most: int) -> Found:
        query = self._query(scorer, state)
        best = self.partitions.contenders(query, most)
        if not len(best.rows):
            return Found([], best.scores)
        contest = Contest.between(best.rows, best.rest, self.partitions.entries(query, best.rows), query)
        return self._ranked(contest, contest.scores(scorer), query)

    def again(self, scorer: Scorer, state: SearchState, found: Found) -> Found:
        """A pending object only lowers scores, so the old ones are bounds: contenders alone are scored again."""
        if not found.objects:
            return found
        if self._contest is None or self._contest[0] is not found:
            return self.equilibria(scorer, state)
        contest = self._contest[1]
        scores = contest.scores(scorer)
        scores[np.isin(contest.rows, self._taken(state))] = -np.inf
        if scores.max(initial=-np.inf) < contest.rest:
            return self.equilibria(scorer, state)
        return self._ranked(contest, scores, self._query(scorer, state))

    def _ranked(self, contest: Contest, scores: Vector, query: Query) -> Found:
        order = leading(scores, contest.rows, query, len(scores))
        found = Found([self.objects[i] for i in contest.rows[order].tolist()], scores[order])
        self._contest = found, contest
        return found

    def _query(self, scorer: Scorer, state: SearchState) -> Query:
        chance = scorer.feasibility
        return Query(
            scorer,
            self._numbers.of(scorer.committee.grams[0].objects),
            () if chance is None else self._numbers.of(chance.committee.grams[0].objects),
            {k: self._version(k, gram.similarity) for k, gram in enumerate(scorer.committee.grams)},
            self._taken(state),
            int(state.rng.integers(1 << 62)),
        )

    def _version(self, k: int, similarity: Similarity) -> int:
        """A number that changes when the similarity has learnt new parameters."""
        version, known = self._similarities.get(k, (-1, None))
        if known is not similarity:
            version += 1
            self._similarities[k] = version, similarity
        return version

    def _taken(self, state: SearchState) -> Rows:
        for key in state.taken:
            if key not in self._rows:
                self._rows[key] = self.row(key)
        rows = (self._rows[key] for key in state.taken)
        return np.array(sorted(row for row in rows if row is not None), dtype=np.intp)


@dataclass(eq=False)
class _Places:
    """The places of objects in a list, by key."""

    objects: Sequence[Any]
    key: Callable[[Any], str]

    def __call__(self, key: str) -> int | None:
        return self._places.get(key)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {self.key(x): i for i, x in enumerate(self.objects)}


def _partitions(pool: Pool) -> Partitions:
    if pool.client is not None:
        from likewise.search.pool.cluster import ClusterPartitions

        return ClusterPartitions.over(pool)
    return Partition(pool.encodings, 0, len(pool), len(pool) <= PRECISE, pool.memory)
