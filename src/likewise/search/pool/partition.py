"""A partition of a pool: it keeps encodings and scores from one ask to the next, and finds its best rows.

Means of all rows take one reading of the columns. Variances are bounded first (see `bounds`), exact ones computed in
decreasing order of the bound on the score, until the best found are certain. The answer is that of scoring every row.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.search.pool.bounds import Bounds, Projection
from likewise.search.pool.chunk import BLOCK, Chunk
from likewise.search.pool.query import Contenders, Entries, Query, Rows, joined, leading
from likewise.search.pool.score_columns import WIDTH
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encodings import encoding_files as stored
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.encodings.encoding_files import Filed
from likewise.spaces.pools.encodings import CHUNK

# Pools up to this size keep their scores in double precision, for which there is room.
PRECISE = 1 << 14
# Where this many times more rows may win than have been scored, tighter bounds are worth their price; they are made
# from a sample of those rows.
LOOSE, SAMPLE = 8, 256
# Below this share of votes, values known from before do not make bounds tight.
KNOWN = 0.9

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
    _versions: dict[int, int] = field(default_factory=dict)
    # Rows that were scored in the last ask, of which most may be best again.
    _likely: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
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
            starts = range(0, len(objects), CHUNK)
            return ([one.encode(objects[i : i + CHUNK]) for one in similarities] for i in starts)

        return cls(encoder, first, len(objects), (len(objects) if total is None else total) <= PRECISE, memory)

    def ready(self, similarities: Mapping[int, Similarity]) -> None:
        """Encode every row by each similarity, of the number given, that has not done so: all in one reading."""
        new = {k: one for k, one in similarities.items() if not all(k in chunk.encodings for chunk in self.chunks)}
        if not new:
            return
        for chunk, encodings in zip(self.chunks, self.encoder(list(new.values())), strict=True):
            chunk.encodings.update(zip(new, encodings, strict=True))
            self._afford(chunk)
            self._fit(chunk)

    def contenders(self, query: Query, most: int) -> Contenders:
        """The best `most` rows that are not taken."""
        self._prepare(query)
        # A similarity that has learnt makes old variances worthless, and bounds without them are loose.
        tight = len(self._likely) > 0 and self.bounds.known < KNOWN
        bounds = self._bounded(query, self._projections(query, self._likely) if tight else {})
        taken = query.taken - self.first
        bounds[taken[(taken >= 0) & (taken < self.size)]] = -np.inf
        rows, scores, rest = self._settled(bounds, query, most, tight)
        return Contenders(rows + self.first, scores, rest)

    def _bounded(self, query: Query, projections: Mapping[int, Projection]) -> Vector:
        """What no row is worth more than."""
        return np.concatenate([np.zeros(0), *(self._bound(chunk, query, projections) for chunk in self.chunks)])

    def entries(self, query: Query, rows: Rows) -> Entries:
        """What is known of these rows, in their order and in double precision."""
        self._prepare(query)
        return self._entries(query, np.asarray(rows, dtype=np.intp) - self.first, exact=True)

    def _prepare(self, query: Query) -> None:
        if self.memory is not None:
            # Similarities come and go with their votes; where memory is short, only those that have one keep columns.
            for k in [k for k in self._versions if k not in query.used]:
                del self._versions[k]
                for chunk in self.chunks:
                    chunk.drop(k)
        self.ready({k: query.similarity(k) for k in query.used})
        for k in query.used:
            changed = self._versions.get(k) != query.versions[k]
            # Until all chunks are ready, none is: an interruption must leave no columns of two versions.
            self._versions.pop(k, None)
            for chunk in self.chunks:
                if changed:
                    chunk.reset(k, query.similarity(k))
                chunk.grow(k, query, None if self.memory is None else self.memory // 8)
                self._fit(chunk)
            self._versions[k] = query.versions[k]
        self.bounds.prepare(query)

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

    def _bound(self, chunk: Chunk, query: Query, projections: Mapping[int, Projection]) -> Vector:
        """What no row of the chunk is worth more than, and a little more for the rounding of the means."""
        members = query.scorer.committee.members
        means, variances = np.empty((2, len(members), chunk.size), dtype=chunk.dtype)
        whole = slice(chunk.first, chunk.first + chunk.size)
        for mix, group in groupby(range(len(members)), key=lambda i: members[i].mix):
            places = list(group)
            # Means and projections of all members of a mix are sums over the same columns.
            weights = [members[i].regression.weights[None] for i in places]
            parts = [projections[i].rows for i in places if i in projections]
            sums = chunk.sums(mix, np.concatenate([*weights, *parts]), query)
            selves = mix.scores({k: chunk.selves[k] for k in mix.used})
            largest, first = float(np.abs(selves).max(initial=1.0)), len(places)
            for i, mean in zip(places, sums, strict=False):
                regression, explained = members[i].regression, None
                slack = largest * _rounding(chunk.dtype, regression.weights)
                means[i] = mean + chunk.dtype(regression.prior_mean + slack)
                if i in projections:
                    last = first + len(projections[i].rows)
                    explained, first = projections[i].explained(sums[first:last], largest), last
                variances[i] = self.bounds.variance(members[i], selves, query, whole, explained)
        bounds = np.empty(chunk.size)
        for start in range(0, chunk.size, BLOCK):
            part = slice(start, start + BLOCK)
            exact = means[:, part].astype(np.float64), variances[:, part].astype(np.float64)
            bounds[part] = query.scorer.bound_moments(*exact)
        return bounds

    def _settled(self, bounds: Vector, query: Query, most: int, tight: bool) -> tuple[Rows, Vector, float]:
        """The best rows, their exact scores, and the highest score or bound of all others."""
        rows, scores, ceilings = np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0)
        # What has no bound is scored in any case.
        first = step = 2 * most + int(np.isposinf(bounds).sum())
        while True:
            some = leading(bounds, np.arange(self.size) + self.first, query, step)
            if len(some):
                exact, ceiling = self._exact(query, some)
                rows, scores = np.concatenate([rows, some]), np.concatenate([scores, exact])
                ceilings, bounds[some] = np.concatenate([ceilings, ceiling]), -np.inf
            rest = float(bounds.max(initial=-np.inf))
            best = leading(scores, rows + self.first, query, most)
            if rest == -np.inf or (len(best) == most and scores[best[-1]] >= rest):
                break
            above = np.flatnonzero(bounds > (scores[best[-1]] if len(best) == most else -np.inf))
            step = min(2 * len(rows), len(above))
            # The second best rows often leave no others, though the first seemed to.
            if not tight and len(rows) > first and len(above) > LOOSE * len(rows):
                tight = True
                np.minimum(bounds, self._bounded(query, self._projections(query, above)), out=bounds)
        self._likely = rows if tight else rows[:0]
        left = np.ones(len(rows), dtype=bool)
        left[best] = False
        return rows[best], scores[best], max(rest, float(ceilings[left].max(initial=-np.inf)))

    def _projections(self, query: Query, rows: Rows) -> dict[int, Projection]:
        """A projection for every member that has bounds, made for rows like these."""
        some = self._entries(query, rows[:: -(-len(rows) // SAMPLE)]).scores
        members = {i: member for i, member in enumerate(query.scorer.committee.members) if member.regression.bounded}
        # Members of one mix see the same rows.
        seen = {r: Projection.condensed(r.scores(some)) for r in {member.mix for member in members.values()}}
        dtype = np.float64 if self.precise else np.float32
        return {i: Projection.of(member, seen[member.mix], dtype) for i, member in members.items()}

    def _exact(self, query: Query, rows: Rows) -> tuple[Vector, Vector]:
        """The scores of these rows, counted from the first of the partition, and what they cannot exceed later."""
        scores, ceilings = np.empty((2, len(rows)))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            scores[part], ceilings[part], before = scored(query, self._entries(query, rows[part]))
            self.bounds.learn(query, rows[part], before)
        return scores, ceilings

    def _entries(self, query: Query, rows: Rows, *, exact: bool = False) -> Entries:
        parts = []
        for number in np.unique(rows // CHUNK).tolist():
            places = np.flatnonzero(rows // CHUNK == number)
            chunk = self.chunks[number]
            parts.append((places, chunk.entries(query, rows[places] - chunk.first, exact=exact)))
        return joined(parts)


def scored(query: Query, entries: Entries) -> tuple[Vector, Vector, Matrix]:
    """Scores, what they cannot exceed when more is pending, and variances before anything is, one row per member."""
    scorer, committee = query.scorer, query.scorer.committee
    rows = dict(entries.scores)
    for k, gram in committee.waiting.items():
        rows[k] = np.hstack([rows[k], gram.rows(entries.encodings[k], len(committee))])
    means, before, after = committee.stages(rows, {k: entries.selves[k] for k in rows})
    score, ceiling = scorer.score_moments(means, after), scorer.bound_moments(means, after)
    if scorer.feasibility is None:
        return score, ceiling, before
    own = {k: entries.selves[k] for k in entries.chances}
    log_chance = scorer.feasibility.score_rows(entries.chances, own)
    return scorer.lower(score, log_chance), scorer.lower(ceiling, log_chance), before


def _rounding(dtype: Any, weights: Vector) -> float:
    """How far a mean in this precision may be from the exact one, for scores of one."""
    return 8.0 * float(np.finfo(dtype).eps) * float(np.abs(weights).sum())
