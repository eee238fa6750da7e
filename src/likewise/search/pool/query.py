"""What a search asks of a partition of a pool, and what it gets back. Neither holds an object of the pool.

Rows are counted over the whole pool. Observed and pending objects are known by numbers, so that a partition sees which
columns of scores it has; a query brings the encodings of all of them, so that lost columns can be computed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scorer
from likewise.model.gram import Gram
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding, join, take
from likewise.similarity.encodings.sparse_features import GOLDEN, mixed

Rows = NDArray[np.intp]
Numbers = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Query:
    """A scorer, the numbers of the objects it is conditioned on, and the rows that may not be proposed.

    `pending` are the numbers of the scorer's objects in flight, `failures` those behind its feasibility. A similarity
    whose `versions` has changed has learnt new parameters: its columns are out of date. Ties are broken by lots that
    depend on `seed` and row alone.
    """

    scorer: Scorer
    numbers: Numbers
    pending: Numbers
    failures: Numbers
    versions: Mapping[int, int]
    taken: Rows
    seed: int

    @cached_property
    def compared(self) -> Numbers:
        """The numbers of the objects that members compare with: observed, then in flight."""
        return (*self.numbers, *self.pending)

    @property
    def used(self) -> tuple[int, ...]:
        """The similarities that are needed."""
        chance = self.scorer.feasibility
        return tuple(sorted({*self.scorer.committee.used, *(() if chance is None else chance.committee.used)}))

    def similarity(self, k: int) -> Similarity:
        """Similarity k with its parameters."""
        return self.scorer.committee.grams[k].similarity

    def needed(self, k: int) -> Numbers:
        """The numbers whose columns similarity k needs."""
        mine = self.compared if k in self.scorer.committee.used else ()
        chance = self.scorer.feasibility
        theirs = self.failures if chance is not None and k in chance.committee.used else ()
        return tuple(dict.fromkeys([*mine, *theirs]))

    def encodings(self, k: int, numbers: Sequence[int]) -> Encoding:
        """The encodings of these objects, in this order."""
        known = join([gram.encodings for gram, _ in self._grams(k) if len(gram)])
        return take(known, np.array(self._places(k, numbers), dtype=np.intp))

    def objects(self, k: int, numbers: Sequence[int]) -> list[Any]:
        """These objects, in this order; what stands for them where they were not sent."""
        known = [x for gram, _ in self._grams(k) for x in gram.objects]
        return [known[place] for place in self._places(k, numbers)]

    def _grams(self, k: int) -> list[tuple[Gram, Numbers]]:
        """The Gram matrices of similarity k, and the numbers of their objects."""
        committee, chance = self.scorer.committee, self.scorer.feasibility
        mine = (committee.waiting.get(k, committee.grams[k]), self.compared)
        return [mine] if chance is None else [mine, (chance.committee.grams[k], self.failures)]

    def _places(self, k: int, numbers: Sequence[int]) -> list[int]:
        # A similarity that no member uses is not compared with what is in flight.
        order = [number for gram, named in self._grams(k) for number in named[: len(gram)]]
        place = {number: i for i, number in enumerate(order)}
        return [place[number] for number in numbers]

    def extends(self, earlier: Query) -> bool:
        """Whether this is the earlier query with more pending or taken: then no row is worth more than it was."""
        now, then = self.scorer, earlier.scorer
        return (
            self.numbers == earlier.numbers
            and self.pending[: len(earlier.pending)] == earlier.pending
            and bool(np.isin(earlier.taken, self.taken).all())
            and now.acquisition == then.acquisition
            and now.feasibility is then.feasibility
            and [id(m.regression) for m in now.committee.members] == [id(m.regression) for m in then.committee.members]
        )

    def lots(self, rows: Rows) -> NDArray[np.uint64]:
        """A random number for each row, the same however the pool is divided."""
        return mixed((rows.astype(np.uint64) + np.uint64(1)) * GOLDEN + np.uint64(self.seed))

    def lean(self) -> Query:
        """The same query without what no partition needs: what is to be sent over a network."""
        return replace(self, scorer=self.scorer.lean())


@dataclass(frozen=True, eq=False)
class Contenders:
    """The best rows with their scores, best first, and a bound that no other row exceeds, whatever becomes pending."""

    rows: Rows
    scores: Vector
    rest: float


@dataclass(frozen=True, eq=False)
class Entries:
    """What is known of some rows: by similarity their encodings, and their scores with others and with themselves.

    `scores` are those with the observed objects and then with those in flight, `chances` those with the objects behind
    the feasibility, if there is one.
    """

    encodings: dict[int, Encoding]
    scores: dict[int, Matrix]
    selves: dict[int, Vector]
    chances: dict[int, Matrix]


class Partitions(Protocol):
    """A pool, whole or in parts, that answers queries. One `Partition` is such; so are many, with answers merged."""

    def ready(self, similarities: Mapping[int, Similarity]) -> None:
        """Encode every row by each similarity, of the number given, that has not done so."""
        ...

    def contenders(self, query: Query, most: int) -> Contenders:
        """The best `most` rows that are not taken."""
        ...

    def entries(self, query: Query, rows: Rows) -> Entries:
        """What is known of these rows, in their order and in double precision."""
        ...


def best_places(scores: Vector, rows: Rows, query: Query, most: int) -> Rows:
    """Places of the best scores, best first; those that single precision cannot tell apart are in order of their lots.

    Scores come from columns in single precision, whose rounding must not decide between equal objects.
    """
    rounded = scores.astype(np.float32)
    places = np.flatnonzero(rounded > -np.inf)
    if len(places) > most:
        edge = np.partition(rounded[places], len(places) - most)[len(places) - most]
        above, level = np.flatnonzero(rounded > edge), np.flatnonzero(rounded == edge)
        drawn = np.argsort(query.lots(rows[level]), kind="stable")[: most - len(above)]
        places = np.concatenate([above, level[drawn]])
    order = np.lexsort((query.lots(rows[places]), -rounded[places]))
    return np.asarray(places[order], dtype=np.intp)


def merge(answers: Sequence[Contenders], query: Query, most: int) -> Contenders:
    """The answer of all partitions together."""
    rows = np.concatenate([one.rows for one in answers])
    scores = np.concatenate([one.scores for one in answers])
    places = best_places(scores, rows, query, most)
    left = np.ones(len(rows), dtype=bool)
    left[places] = False
    rest = max([one.rest for one in answers] + scores[left].tolist())
    return Contenders(rows[places], scores[places], rest)


def join_entries(parts: Sequence[tuple[Rows, Entries]]) -> Entries:
    """Entries of several partitions, each with the places its rows have in the whole, as one."""
    if len(parts) == 1:
        return parts[0][1]
    order = np.argsort(np.concatenate([places for places, _ in parts]), kind="stable")

    def whole(name: str) -> dict[int, Encoding]:
        kept = [getattr(entries, name) for _, entries in parts]
        return {k: take(join([each[k] for each in kept]), order) for k in kept[0]}

    return Entries(**{name: whole(name) for name in Entries.__dataclass_fields__})
