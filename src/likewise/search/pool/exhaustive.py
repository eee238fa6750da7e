"""Pools are scored whole: a partition finds its best rows, and a batch is picked among those of all partitions."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from likewise.acquisition.acquisitions import Care
from likewise.acquisition.scorer import Known, Scoring
from likewise.errors import SpaceError
from likewise.model.committee import Committee
from likewise.search.base import Found, Search, SearchState
from likewise.search.pool.bounds import Bounds, Place, PoolBeliefs, projection
from likewise.search.pool.scores import (
    BLOCK,
    WIDTH,
    Chunk,
    Compared,
    Contenders,
    Entries,
    Numbers,
    Partitions,
    Query,
    Rows,
    Version,
    best_places,
    join_entries,
    largest,
)
from likewise.similarity import encoding as stored
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encoding import Encoding, Filed
from likewise.spaces.base import Enumerable
from likewise.spaces.pool import Pool
from likewise.spaces.pool_encodings import CHUNK, shared_encoders

# A partition of a pool: it keeps encodings and scores from one ask to the next, and finds its best rows.
#
# One reading of the columns bounds what each row is worth (see `bounds`). Rows are then scored from the highest bound
# down (see `beliefs`) until the best are certain. The answer is that of scoring every row.

# Pools up to this size keep their scores in double precision, for which there is room.
PRECISE = 1 << 14
# Below this share of votes, values known from before do not make bounds tight; projections do, made from a sample of
# twice so many rows.
KNOWN, SAMPLE = 0.9, 128
# Bounds are loose if one of so many rows was scored and more than one of so many others may still be best.
TRIED, LOOSE = 32, 8
# Whether projections are to be fine, and with what care.
Step = tuple[bool, Care]
# What makes loose bounds tighter, from cheap to dear: what has become pending, finer projections, and more care.
STEPS: tuple[Step, ...] = ((False, Care.ROUGH), (True, Care.ROUGH), (False, Care.FAIR))

# The encodings of all rows by each similarity, one chunk after another.
Encoder = Callable[[Sequence[Similarity]], Iterable[Sequence[Encoding | Filed]]]


@dataclass(eq=False)
class Partition:
    """Rows `first` to `first + size` of a pool; `precise` keeps scores in double precision.

    Encodings and columns beyond `memory`, in bytes, are kept on disk.
    """

    encoder: Encoder
    first: int
    size: int
    precise: bool
    memory: int | None = None
    chunks: list[Chunk] = field(init=False)
    bounds: Bounds = field(init=False)
    _versions: set[Version] = field(default_factory=set)
    # Rows that were scored last, of which most may be best again.
    _likely: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    # The last query, and what no row is worth more than to those that extend it.
    _last: tuple[Query, Vector] | None = None
    _folder: Path | None = None

    def __post_init__(self) -> None:
        dtype = np.float64 if self.precise else np.float32
        self.chunks = [Chunk(start, min(CHUNK, self.size - start), dtype) for start in range(0, self.size, CHUNK)]
        self.bounds = Bounds(self.size)

    @classmethod
    def of(
        cls, objects: Sequence[Any], first: int = 0, *, total: int | None = None, memory: int | None = None
    ) -> Partition:
        """The partition of these objects, the first of which is row `first` of a pool of `total`."""

        def encoder(similarities: Sequence[Similarity]) -> Iterator[list[Encoding]]:
            encoders, own = shared_encoders(similarities, objects)
            for i in range(0, len(objects), CHUNK):
                encodings = [encoder.encode(objects[i : i + CHUNK]) for encoder in encoders]
                yield [encodings[k] for k in own]

        return cls(encoder, first, len(objects), (len(objects) if total is None else total) <= PRECISE, memory)

    def ready(self, similarities: Mapping[int, Similarity]) -> None:
        """Encode every row by each similarity, of the number given, that has not done so: all in one reading."""
        new = {
            k: similarity
            for k, similarity in similarities.items()
            if not all(k in chunk.encodings for chunk in self.chunks)
        }
        if not new:
            return
        for chunk, encodings in zip(self.chunks, self.encoder(list(new.values())), strict=True):
            chunk.encodings.update(zip(new, encodings, strict=True))
            self._afford(chunk)
            self._fit(chunk)

    def contenders(self, query: Query, most: int) -> Contenders:
        """The best `most` rows that are not taken."""
        self._prepare(query)
        self.bounds.prepare(query)
        bounds, tighter = self._first_bounds(query, most)
        taken = query.taken - self.first
        bounds[taken[(taken >= 0) & (taken < self.size)]] = -np.inf
        return self._settle(bounds, query, most, tighter)

    def entries(self, query: Query, rows: Rows) -> Entries:
        """What is known of these rows, in their order and in double precision."""
        self._prepare(query)
        return self._entries(query, np.asarray(rows, dtype=np.intp) - self.first, exact=True)

    def _prepare(self, query: Query) -> None:
        # Similarities come and go with their votes; where memory is short, only those that have one keep columns. What
        # has learnt since keeps none of before.
        for version in [v for v in self._versions if v not in query.users and self._is_over(v, query)]:
            self._versions.discard(version)
            for chunk in self.chunks:
                chunk.drop(version)
        self.ready({version[0]: query.similarity(version) for version in query.users})
        for version in query.users:
            changed = version not in self._versions
            # Until all chunks are ready, none is: an interruption must leave no columns of two versions.
            self._versions.discard(version)
            for chunk in self.chunks:
                if changed:
                    chunk.begin(version, query.similarity(version))
                chunk.grow(version, query, None if self.memory is None else self.memory // 8)
                self._fit(chunk)
            self._versions.add(version)

    def _is_over(self, version: Version, query: Query) -> bool:
        return self.memory is not None or version[0] in query.used

    def _afford(self, chunk: Chunk) -> None:
        """A complaint where not even one chunk fits in the budget, with as many columns as are read at once."""
        width = 8 if self.precise else 4
        least = sum(map(stored.nbytes, chunk.encodings.values())) + WIDTH * width * chunk.size
        if self.memory is not None and least > self.memory:
            raise SpaceError(
                f"memory={self.memory} bytes is too little for {chunk.size} objects at a time, which take {least}; "
                f"give the pool at least {-(-least // 1_000_000)} MB"
            )

    def _fit(self, latest: Chunk) -> None:
        """Move the latest chunk to disk when memory is used up: those before it stay, as all are read in every ask."""
        if self.memory is None or sum(chunk.nbytes for chunk in self.chunks) <= self.memory:
            return
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="likewise-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        latest.spill(self._folder)

    def _first_bounds(self, query: Query, most: int) -> tuple[Vector, Sequence[Step]]:
        """What no row is worth more than, and how that becomes tighter."""
        small = self.size <= 2 * most
        if self._last is not None and query.extends(self._last[0]):
            # No row is worth more than it was.
            return self._last[1].copy(), () if small else STEPS
        if small or self.bounds.are_vain(query):
            return np.full(self.size, np.inf), ()
        # A similarity that has learnt makes old variances worthless, and bounds without them are loose.
        projections = {} if self.bounds.known >= KNOWN else self._projections(query, self._likely)
        return self._bounds(query, projections, Care.ROUGH), STEPS[1:]

    def _tighten(self, bounds: Vector, query: Query, above: Rows, step: Step) -> Vector:
        """Tighter bounds, above all of the rows that may be best."""
        fine, care = step
        projections = self._projections(query, above, fine=True) if fine else {}
        return np.minimum(bounds, self._bounds(query, projections, care))

    def _bounds(self, query: Query, projections: Mapping[Place, Matrix], care: Care) -> Vector:
        parts = [self.bounds.scores(query, chunk, projections, self.first, care) for chunk in self.chunks]
        return np.concatenate(parts)

    def _projections(self, query: Query, likely: Rows, *, fine: bool = False) -> dict[Place, Matrix]:
        """A projection for every member that has bounds, made for rows like some of the likely ones and some others."""
        # By lot, for rows at equal distances have much in common where a pool lists all combinations.
        rng = np.random.default_rng(query.seed)
        drawn = [rng.choice(rows, min(SAMPLE, len(rows)), replace=False) for rows in (likely, np.arange(self.size))]
        sample = self._entries(query, np.unique(np.concatenate(drawn)))
        projections: dict[Place, Matrix] = {}
        for c, committee in enumerate(query.scorer.committees):
            rows, selves = sample.of(c)
            observed = {k: scores[:, : len(committee)] for k, scores in rows.items()}
            for i, member in enumerate(committee.members):
                if member.regression.bounded:
                    scores = member.mix.scores(selves)
                    projections[c, i] = projection(member, member.mix.scores(observed), scores, fine=fine)
        return projections

    def _settle(self, bounds: Vector, query: Query, most: int, tighter: Sequence[Step]) -> Contenders:
        """Score rows from the highest bound down until the best are certain.

        Where too many rows may be best, bounds become `tighter` step by step; after the last one all are scored.
        """
        every = np.arange(self.first, self.first + self.size)
        rows, scores, ceilings = np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0)
        # What has no bound is scored in any case.
        step = 2 * most + int(np.isposinf(bounds).sum())
        while True:
            some = np.sort(best_places(bounds, every, query, step))
            if len(some):
                exact, ceiling = self._score(query, some, scores, most)
                rows, scores = np.concatenate([rows, some]), np.concatenate([scores, exact])
                ceilings, bounds[some] = np.concatenate([ceilings, ceiling]), -np.inf
            best = best_places(scores, rows + self.first, query, most)
            least = scores[best[-1]] if len(best) == most else -np.inf
            above = np.flatnonzero(bounds > least)
            loose = len(rows) >= self.size // TRIED and len(above) > max(2 * len(rows), self.size // LOOSE)
            if loose and tighter:
                bounds, tighter = self._tighten(bounds, query, above, tighter[0]), tighter[1:]
                above, loose = np.flatnonzero(bounds > least), False
            if not len(above):
                break
            step = len(above) if loose else min(2 * len(rows), len(above))
        self._likely = rows
        left = np.ones(len(rows), dtype=bool)
        left[best] = False
        rest = max(bounds.max(initial=-np.inf), ceilings[left].max(initial=-np.inf))
        bounds[rows] = ceilings
        self._last = query, bounds
        return Contenders(rows[best] + self.first, scores[best], float(rest))

    def _score(self, query: Query, rows: Rows, before: Vector, most: int) -> tuple[Vector, Vector]:
        """The scores of these rows, counted from the first of the partition, and what they cannot exceed later.

        Rows that cannot be among the best `most`, beside those scored `before`, have a bound and no score.
        """
        scores, ceilings = np.empty((2, len(rows)))
        top = largest(before, most)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            beliefs = PoolBeliefs.of(query.scorer, self._entries(query, rows[part]))
            scores[part], ceilings[part] = beliefs.scores(query.scorer, most, top)
            top = largest(np.concatenate([top, scores[part]]), most)
            self.bounds.learn(query, rows[part], [variances for _, variances in beliefs.moments])
        return scores, ceilings

    def _entries(self, query: Query, rows: Rows, *, exact: bool = False) -> Entries:
        parts = []
        for number in np.unique(rows // CHUNK).tolist():
            places = np.flatnonzero(rows // CHUNK == number)
            chunk = self.chunks[number]
            parts.append((places, chunk.entries(query, rows[places] - chunk.first, self.first, exact=exact)))
        return join_entries(parts)


# Pools are scored whole: a partition, or several, say which rows are best, and a batch is picked among those.

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
    beliefs: PoolBeliefs
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
            ranked = short.rank(query, self.objects)
            if len(ranked.objects) and ranked.scores[0] >= short.rest:
                return ranked
        best = self.partitions.contenders(query, CONTENDERS if most is None else min(EACH * most, CONTENDERS))
        if not len(best.rows):
            self._vain = query
            return Found([], best.scores)
        beliefs = PoolBeliefs.of(scorer, self.partitions.entries(query, best.rows))
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
        observed = next(iter(committee.waiting.values()), committee.grams[0])
        numbers, t = self._numbers.of(observed.objects), len(committee)
        versions = {k: self._version(k, gram.similarity) for k, gram in enumerate(committee.grams)}
        return Compared(numbers[:t], numbers[t:], versions)

    def _version(self, k: int, similarity: Similarity) -> int:
        """A number that belongs to the similarity with the parameters it has learnt."""
        met = self._similarities.setdefault(k, [])
        number_found = next((number for number, known in met if known is similarity), None)
        if number_found is None:
            number_found = met[-1][0] + 1 if met else 0
            # Older ones do not come back.
            self._similarities[k] = [*met[1 - REMEMBERED :], (number_found, similarity)]
        return number_found

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
