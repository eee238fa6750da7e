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

from likewise.acquisition.scoring import Scoring
from likewise.model.committee import Committee
from likewise.model.gram import Gram
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding, join, take
from likewise.similarity.encodings.sparse_features import GOLDEN, mixed

Rows = NDArray[np.intp]
Numbers = tuple[int, ...]
# A similarity and how often it has learnt: columns of scores belong to such.
Version = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Compared:
    """What the members of one committee compare with, by numbers: observed objects, then objects in flight.

    A similarity whose `versions` has changed has learnt new parameters: its columns are out of date. Committees that
    have the same version of one share its columns.
    """

    observed: Numbers
    pending: Numbers
    versions: Mapping[int, int]

    @cached_property
    def all(self) -> Numbers:
        """All numbers, in the order of a committee's rows."""
        return (*self.observed, *self.pending)

    def version(self, k: int) -> Version:
        """Similarity k with what it has learnt for this committee."""
        return k, self.versions[k]


@dataclass(frozen=True, eq=False)
class Query:
    """A scorer, the numbers of the objects its committees are conditioned on, and the rows that may not be proposed.

    `compared` has the numbers of each committee: those of the outcomes, and then that of the feasibility, if there is
    one. `known` is what is known of all rows of the pool without a model. Ties are broken by lots that depend on `seed`
    and row alone.
    """

    scorer: Scoring
    compared: tuple[Compared, ...]
    taken: Rows
    seed: int
    known: tuple[Vector, ...] = ()

    @property
    def committees(self) -> tuple[Committee, ...]:
        """The committees of the outcomes, then that of the feasibility."""
        chance = self.scorer.feasibility
        return (*self.scorer.committees, *(() if chance is None else chance.committees))

    @cached_property
    def users(self) -> dict[Version, list[int]]:
        """The similarities that are needed, with what they have learnt, and the places of the committees that do."""
        found: dict[Version, list[int]] = {}
        for place, (committee, compared) in enumerate(zip(self.committees, self.compared, strict=True)):
            for k in committee.used:
                found.setdefault(compared.version(k), []).append(place)
        return dict(sorted(found.items()))

    @property
    def used(self) -> tuple[int, ...]:
        """The similarities that are needed."""
        return tuple(sorted({k for k, _ in self.users}))

    def similarity(self, version: Version) -> Similarity:
        """A similarity with its parameters."""
        return self.committees[self.users[version][0]].grams[version[0]].similarity

    def needed(self, version: Version) -> Numbers:
        """The numbers whose columns are needed."""
        return tuple(dict.fromkeys(number for place in self.users[version] for number in self.compared[place].all))

    def encodings(self, version: Version, numbers: Sequence[int]) -> Encoding:
        """The encodings of these objects, in this order."""
        known = join([gram.encodings for gram, _ in self._grams(version) if len(gram)])
        return take(known, np.array(self._places(version, numbers), dtype=np.intp))

    def objects(self, version: Version, numbers: Sequence[int]) -> list[Any]:
        """These objects, in this order; what stands for them where they were not sent."""
        known = [x for gram, _ in self._grams(version) for x in gram.objects]
        return [known[place] for place in self._places(version, numbers)]

    def _grams(self, version: Version) -> list[tuple[Gram, Numbers]]:
        """The Gram matrices of a similarity, and the numbers of their objects."""
        return [(self.gram(place, version[0]), self.compared[place].all) for place in self.users[version]]

    def gram(self, place: int, k: int) -> Gram:
        """The Gram matrix of similarity k of a committee, with what is in flight."""
        committee = self.committees[place]
        return committee.waiting.get(k, committee.grams[k])

    def _places(self, version: Version, numbers: Sequence[int]) -> list[int]:
        order = [number for _, named in self._grams(version) for number in named]
        place = {number: i for i, number in enumerate(order)}
        return [place[number] for number in numbers]

    def extends(self, earlier: Query) -> bool:
        """Whether this is the earlier query with more pending or taken: then no row is worth more than it was."""
        return (
            len(self.compared) == len(earlier.compared)
            and all(map(_goes_on, self.compared, earlier.compared))
            and bool(np.isin(earlier.taken, self.taken).all())
            and self.scorer.extends(earlier.scorer)
        )

    def lots(self, rows: Rows) -> NDArray[np.uint64]:
        """A random number for each row, the same however the pool is divided."""
        return mixed((rows.astype(np.uint64) + np.uint64(1)) * GOLDEN + np.uint64(self.seed))

    def lean(self) -> Query:
        """The same query without what no partition needs: what is to be sent over a network."""
        return replace(self, scorer=self.scorer.lean())


def _goes_on(now: Compared, then: Compared) -> bool:
    return now.observed == then.observed and now.pending[: len(then.pending)] == then.pending


@dataclass(frozen=True, eq=False)
class Contenders:
    """The best rows with their scores, best first, and a bound that no other row exceeds, whatever becomes pending."""

    rows: Rows
    scores: Vector
    rest: float


@dataclass(frozen=True, eq=False)
class Entries:
    """What is known of some rows: their encodings by similarity, and their scores with others and with themselves.

    `scores` and `selves` are by the place of a committee and similarity; scores are those with the objects that the
    committee is compared with, in their order. `known` is what is known without a model.
    """

    encodings: dict[int, Encoding]
    scores: dict[tuple[int, int], Matrix]
    selves: dict[tuple[int, int], Vector]
    known: dict[int, Vector]

    def of(self, place: int) -> tuple[dict[int, Matrix], dict[int, Vector]]:
        """The scores of one committee, with others and with themselves, by similarity."""
        rows = {k: scores for (i, k), scores in self.scores.items() if i == place}
        return rows, {k: self.selves[place, k] for k in rows}


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


def largest(scores: Vector, most: int) -> Vector:
    """The largest scores, in no order."""
    return scores if len(scores) <= most else np.partition(scores, len(scores) - most)[len(scores) - most :]


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

    def whole(name: str) -> dict[Any, Encoding]:
        kept = [getattr(entries, name) for _, entries in parts]
        return {k: take(join([each[k] for each in kept]), order) for k in kept[0]}

    return Entries(**{name: whole(name) for name in Entries.__dataclass_fields__})
