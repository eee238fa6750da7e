"""A partition of a pool: it keeps encodings and scores from one ask to the next, and finds its best rows.

Means of all rows take one reading of the columns. Variances are bounded first (see `bounds`), and exact ones computed in
decreasing order of the bound on the score, until the best found are certain. The answer is that of scoring every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.search.bounds import Bounds
from likewise.search.chunk import BLOCK, Chunk
from likewise.search.question import Contenders, Entries, Question, Rows, joined, leading
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encoding import Encoding

# Rows of a chunk: its encodings and a few columns fit in memory on any machine.
CHUNK = 1 << 16
# Pools up to this size keep their scores in double precision, for which there is room.
PRECISE = 1 << 14

# The encodings of all rows by a similarity, one for each chunk.
Encoder = Callable[[Similarity], Sequence[Encoding]]


@dataclass(eq=False)
class Partition:
    """Rows `first` to `first + size` of a pool; `precise` keeps scores in double precision."""

    encoder: Encoder
    first: int
    size: int
    precise: bool
    chunks: list[Chunk] = field(init=False)
    bounds: Bounds = field(init=False)
    _versions: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        dtype = np.float64 if self.precise else np.float32
        self.chunks = [Chunk(start, min(CHUNK, self.size - start), dtype) for start in range(0, self.size, CHUNK)]
        self.bounds = Bounds(self.size)

    @classmethod
    def of(cls, objects: Sequence[Any], first: int = 0, *, total: int | None = None) -> Partition:
        """The partition of these objects, the first of which is row `first` of a pool of `total`."""

        def encoder(similarity: Similarity) -> list[Encoding]:
            return [similarity.encode(objects[i : i + CHUNK]) for i in range(0, len(objects), CHUNK)]

        return cls(encoder, first, len(objects), (len(objects) if total is None else total) <= PRECISE)

    def contenders(self, question: Question, most: int) -> Contenders:
        """The best `most` rows that are not taken."""
        self._prepare(question)
        bounds = np.concatenate([np.zeros(0), *(self._bound(chunk, question) for chunk in self.chunks)])
        taken = question.taken - self.first
        bounds[taken[(taken >= 0) & (taken < self.size)]] = -np.inf
        rows, scores, rest = self._settled(bounds, question, most)
        return Contenders(rows + self.first, scores, rest)

    def entries(self, question: Question, rows: Rows) -> Entries:
        """What is known of these rows, in their order."""
        self._prepare(question)
        return self._entries(question, np.asarray(rows, dtype=np.intp) - self.first)

    def _prepare(self, question: Question) -> None:
        for k in question.used:
            if not self.chunks or k not in self.chunks[0].encodings:
                for chunk, encoding in zip(self.chunks, self.encoder(question.similarity(k)), strict=True):
                    chunk.encodings[k] = encoding
            changed = self._versions.get(k) != question.versions[k]
            for chunk in self.chunks:
                if changed:
                    chunk.reset(k, question.similarity(k))
                chunk.grow(k, question)
            self._versions[k] = question.versions[k]
        self.bounds.prepare(question)

    def _bound(self, chunk: Chunk, question: Question) -> Vector:
        """What no row of the chunk is worth more than, and a little more for the rounding of the means."""
        members = question.scorer.committee.members
        means, bounds = chunk.means(question), np.empty(chunk.size)
        for start in range(0, chunk.size, BLOCK):
            part = slice(start, min(start + BLOCK, chunk.size))
            whole = slice(chunk.first + start, chunk.first + part.stop)
            variances, slack = np.empty((2, len(members), part.stop - start))
            for i, member in enumerate(members):
                selves = member.recipe.scores({k: chunk.selves[k][part] for k in member.recipe.used})
                variances[i] = self.bounds.variance(member, selves, question, whole)
                slack[i] = _rounding(means, member.posterior.weights) * np.abs(selves).max(initial=1.0)
            bounds[part] = question.scorer.bound_moments(means[:, part] + slack, variances)
        return bounds

    def _settled(self, bounds: Vector, question: Question, most: int) -> tuple[Rows, Vector, float]:
        """The best rows, their exact scores, and the highest score or bound of all others."""
        rows, scores, ceilings = np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0)
        # What has no bound is scored in any case.
        step = 2 * most + int(np.isposinf(bounds).sum())
        while True:
            some = leading(bounds, np.arange(self.size) + self.first, question, step)
            if len(some):
                exact, ceiling = self._exact(question, some)
                rows, scores = np.concatenate([rows, some]), np.concatenate([scores, exact])
                ceilings, bounds[some] = np.concatenate([ceilings, ceiling]), -np.inf
            rest = float(bounds.max(initial=-np.inf))
            best = leading(scores, rows + self.first, question, most)
            if rest == -np.inf or (len(best) == most and scores[best[-1]] >= rest):
                break
            step = 2 * len(rows)
        left = np.ones(len(rows), dtype=bool)
        left[best] = False
        return rows[best], scores[best], max(rest, float(ceilings[left].max(initial=-np.inf)))

    def _exact(self, question: Question, rows: Rows) -> tuple[Vector, Vector]:
        """The scores of these rows, counted from the first of the partition, and what they cannot exceed later."""
        scores, ceilings = np.empty((2, len(rows)))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            scores[part], ceilings[part], before = scored(question, self._entries(question, rows[part]))
            self.bounds.learn(question, rows[part], before)
        return scores, ceilings

    def _entries(self, question: Question, rows: Rows) -> Entries:
        parts = []
        for number in np.unique(rows // CHUNK).tolist():
            places = np.flatnonzero(rows // CHUNK == number)
            chunk = self.chunks[number]
            parts.append((places, chunk.entries(question, rows[places] - chunk.first)))
        return joined(parts)


def scored(question: Question, entries: Entries) -> tuple[Vector, Vector, Matrix]:
    """Scores, what they cannot exceed when more is pending, and variances before anything is, one row per member."""
    scorer, committee = question.scorer, question.scorer.committee
    rows = dict(entries.scores)
    if committee.waiting:
        for k in rows:
            extra = committee.grams[k].similarity.between(entries.encodings[k], committee.waiting[k])
            rows[k] = np.hstack([rows[k], extra])
    means, before, after = committee.stages(rows, {k: entries.selves[k] for k in rows})
    score, ceiling = scorer.score_moments(means, after), scorer.bound_moments(means, after)
    if scorer.feasibility is None:
        return score, ceiling, before
    own = {k: entries.selves[k] for k in entries.chances}
    log_chance = scorer.feasibility.score_rows(entries.chances, own)
    return scorer.lowered(score, log_chance), scorer.lowered(ceiling, log_chance), before


def _rounding(means: Any, weights: Vector) -> float:
    """How far a mean in this precision may be from the exact one, for scores of one."""
    return 8.0 * float(np.finfo(means.dtype).eps) * float(np.abs(weights).sum())
