"""Pools are scored whole: a partition, or several, say which rows are best, and a batch is picked among those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from likewise.acquisition.scoring import Known, Scoring
from likewise.model.committee import Committee
from likewise.search.base import Found, Search, SearchState
from likewise.search.pool.beliefs import Beliefs
from likewise.search.pool.partition import PRECISE, Partition
from likewise.search.pool.query import Compared, Numbers, Partitions, Query, Rows, best_places
from likewise.similarity import effort
from likewise.similarity.base import Similarity, Vector
from likewise.spaces.base import Enumerable
from likewise.spaces.pools.pool import Pool

# So many rows are compared again in double precision, at most and for each object that is wanted: picks of a batch
# change the order of those that are left.
CONTENDERS, EACH = 512, 64
# Similarities with what they have learnt, of each the last ones: more than any study has outcomes.
REMEMBERED = 64


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
class _Shortlist:
    """The best rows of a pool, what is believed of them, and a bound on the scores of all others, to the last query."""

    rows: Rows
    rest: float
    beliefs: Beliefs
    query: Query

    def rank(self, query: Query, objects: Sequence[Any]) -> Found:
        """The objects of the list that are not taken, best first, to a query that extends the last one."""
        self.query = query
        scores = np.where(np.isin(self.rows, query.taken), -np.inf, self.beliefs.exact_scores(query.scorer))
        order = best_places(scores, self.rows, query, len(scores))
        return Found([objects[i] for i in self.rows[order].tolist()], scores[order])


@dataclass(eq=False)
class ExhaustiveSearch(Search):
    """Scores every object of an enumerable space; equilibria are simply the best ones."""

    objects: Sequence[Any]
    row: Callable[[str], int | None]
    partitions: Partitions
    _numbers: _Numbers = field(default_factory=_Numbers)
    _similarities: dict[int, list[tuple[int, Similarity]]] = field(default_factory=dict)
    _known: dict[Known, Vector] = field(default_factory=dict)
    _shortlist: _Shortlist | None = None
    # The last query to which no object was worth anything.
    _vain: Query | None = None

    @classmethod
    def over(cls, space: Enumerable, key: Callable[[Any], str]) -> ExhaustiveSearch:
        """The search over all objects of a space; `key` names an object."""
        if isinstance(space, Pool):
            return cls(space.objects, cache(space.row), _partitions(space))
        return cls(space.objects, _finder(space.objects, key), Partition.of(space.objects))

    def ready(self, similarities: Sequence[Similarity]) -> None:
        """Encode all objects by each similarity, once."""
        self.partitions.ready(dict(enumerate(similarities)))

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        """The best objects. A pending object only lowers scores: the best of the last ones may be the best of all."""
        query, short = self._query(scorer, state), self._shortlist
        if self._vain is not None and query.extends(self._vain):
            return Found([], np.zeros(0))
        if most is not None and short is not None and query.extends(short.query):
            found = short.rank(query, self.objects)
            if len(found.objects) and found.scores[0] >= short.rest:
                return found
        effort.count(objects=len(self.objects))
        best = self.partitions.contenders(query, CONTENDERS if most is None else min(EACH * most, CONTENDERS))
        if not len(best.rows):
            self._vain = query
            return Found([], best.scores)
        beliefs = Beliefs.of(scorer, self.partitions.entries(query, best.rows))
        self._shortlist = _Shortlist(best.rows, best.rest, beliefs, query)
        return self._shortlist.rank(query, self.objects)

    def _query(self, scorer: Scoring, state: SearchState) -> Query:
        chance = scorer.feasibility
        committees = (*scorer.committees, *(() if chance is None else chance.committees))
        self._known = {facts: self._of_all(facts) for facts in scorer.known}
        compared = tuple(map(self._compared, committees))
        values = tuple(self._known.values())
        return Query(scorer, compared, self._taken(state), int(state.rng.integers(1 << 62)), values)

    def _compared(self, committee: Committee) -> Compared:
        whole = next(iter(committee.waiting.values()), committee.grams[0])
        numbers, t = self._numbers.of(whole.objects), len(committee)
        versions = {k: self._version(k, gram.similarity) for k, gram in enumerate(committee.grams)}
        return Compared(numbers[:t], numbers[t:], versions)

    def _version(self, k: int, similarity: Similarity) -> int:
        """A number that belongs to the similarity with the parameters it has learnt."""
        met = self._similarities.setdefault(k, [])
        found = next((number for number, known in met if known is similarity), None)
        if found is None:
            found = met[-1][0] + 1 if met else 0
            # Older ones do not come back.
            self._similarities[k] = [*met[1 - REMEMBERED :], (found, similarity)]
        return found

    def _of_all(self, facts: Known) -> Vector:
        """What is known of every object without a model, computed once for queries that follow one another."""
        return self._known[facts] if facts in self._known else facts(self.objects)

    def _taken(self, state: SearchState) -> Rows:
        found = map(self.row, state.taken)
        rows = np.array(sorted(row for row in found if row is not None), dtype=np.intp)
        if state.plate is None or state.rows is None:
            return rows
        return np.union1d(rows, np.flatnonzero(~state.rows.allowed(state.plate, state.taken)))


def _finder(objects: Sequence[Any], key: Callable[[Any], str]) -> Callable[[str], int | None]:
    """What gives the place of an object in a list by its key; all keys are made when the first is asked for."""
    places = cache(lambda: {key(x): i for i, x in enumerate(objects)})
    return lambda wanted: places().get(wanted)


def _partitions(pool: Pool) -> Partitions:
    if pool.client is not None:
        from likewise.search.pool.cluster import ClusterPartitions

        return ClusterPartitions.over(pool)
    return Partition(pool.encodings, 0, len(pool), len(pool) <= PRECISE, pool.memory)
