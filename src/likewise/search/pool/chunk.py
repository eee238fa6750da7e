"""A stretch of a pool's rows: their encodings, and the columns of their scores with observed objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.search.pool.query import Entries, Query
from likewise.search.pool.score_columns import WIDTH, Columns, Single
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.combine.mix import Mix
from likewise.similarity.encodings import encoding_files as stored
from likewise.similarity.encodings.arrays import Encoding, take
from likewise.similarity.encodings.encoding_files import Filed
from likewise.similarity.scores import Named, check_scores, check_selves

# Rows that are handled at once, and scores that are made at once: what stays in cache.
BLOCK, SCORES = 4096, 1 << 16


@dataclass(eq=False)
class Chunk:
    """Rows `first` to `first + size` of the pool; everything is kept by similarity."""

    first: int
    size: int
    dtype: Any
    encodings: dict[int, Encoding | Filed] = field(default_factory=dict)
    selves: dict[int, Vector] = field(default_factory=dict)
    columns: dict[int, Columns] = field(default_factory=dict)

    def encoding(self, k: int) -> Encoding:
        """The encodings of similarity k, mapped if they are on disk."""
        found = self.encodings[k]
        return found.read() if isinstance(found, Filed) else found

    @property
    def nbytes(self) -> int:
        """What is held in memory."""
        columns = sum(column.nbytes for column in self.columns.values())
        return columns + sum(map(stored.nbytes, self.encodings.values()))

    def spill(self, folder: Path) -> None:
        """Move to disk what can be moved."""
        for k, encoding in self.encodings.items():
            if not isinstance(encoding, Filed) and stored.storable(encoding):
                self.encodings[k] = Filed(stored.write(encoding, folder, f"{self.first}-{k}"), folder)
        for k, column in self.columns.items():
            column.spill(folder / f"{self.first}-{k}.columns")

    def drop(self, k: int) -> None:
        """Forget the columns of similarity k."""
        if k in self.columns:
            self.columns.pop(k).close()

    def reset(self, k: int, similarity: Similarity) -> None:
        """Start similarity k anew, with other parameters."""
        path = self.columns[k].path if k in self.columns else None
        self.drop(k)
        self.columns[k] = Columns(self.size, self.dtype, path)
        self.selves[k] = similarity.within(self.encoding(k))
        check_selves(self.selves[k], _Rows(self.first, self.size), signed=similarity.signed)

    def grow(self, k: int, query: Query, memory: int | None = None) -> None:
        """Compare with the objects that have no column yet; where most columns are of others, forget those.

        New columns are made in groups that take no more than `memory`.
        """
        needed = query.needed(k)
        if len(self.columns[k].places) > 2 * len(needed) + WIDTH:
            self.columns[k] = self.columns[k].only(needed)
        new = self.columns[k].missing(needed)
        size = self.size * np.dtype(self.dtype).itemsize
        group = len(new) if memory is None else max(WIDTH, memory // max(1, size))
        for start in range(0, len(new), max(1, group)):
            self._compare(k, query, new[start : start + group])

    def _compare(self, k: int, query: Query, new: list[int]) -> None:
        others, encodings, similarity = query.encodings(k, new), self.encoding(k), query.similarity(k)
        block = np.empty((len(new), self.size), dtype=self.dtype)
        step = max(BLOCK, SCORES // max(1, len(new)))
        for start in range(0, self.size, step):
            part = slice(start, min(start + step, self.size))
            scores = similarity.between(take(encodings, part), others)
            names = _Rows(self.first + start, len(scores))
            check_scores(scores, names, query.objects(k, new), signed=similarity.signed)
            block[:, part] = scores.T
        self.columns[k].append(new, block)

    def sums(self, mix: Mix, weights: Matrix, query: Query) -> Single:
        """Σ_j w_ij S_j of the mix's scores S with the compared objects, in one reading of the columns."""
        return (self._linear if mix.power == 1.0 else self._warped)(mix, weights, query)

    def _linear(self, mix: Mix, weights: Matrix, query: Query) -> Single:
        """Σ_j w_j (Σ_k c_k S_kj + offset), where no score has to be touched but to be multiplied."""
        total = np.zeros((len(weights), self.size), dtype=self.dtype)
        for k in mix.used:
            total += self.columns[k].sums(query.compared, weights * mix.weights[k])
        return total + (mix.offset * weights.sum(axis=1)[:, None]).astype(self.dtype)

    def _warped(self, mix: Mix, weights: Matrix, query: Query) -> Single:
        total = np.zeros((len(weights), self.size), dtype=self.dtype)
        for start in range(0, len(query.compared), WIDTH):
            numbers = query.compared[start : start + WIDTH]
            scores = {k: self.columns[k].of(numbers) for k in mix.used}
            for part in self._stretches():
                mixed = mix.scores({k: block[:, part] for k, block in scores.items()})
                total[:, part] += weights[:, start : start + WIDTH].astype(self.dtype) @ mixed
        return total

    def _stretches(self) -> Iterator[slice]:
        return (slice(start, start + BLOCK) for start in range(0, self.size, BLOCK))

    def entries(self, query: Query, rows: NDArray[np.intp], *, exact: bool = False) -> Entries:
        """What is known of some rows, counted from the first of the chunk; `exact` compares them again."""
        committee, chance = query.scorer.committee, query.scorer.feasibility
        encodings = {k: take(self.encoding(k), rows) for k in query.used}
        selves = {k: self.selves[k][rows] for k in query.used}
        theirs = {} if chance is None else {k: chance.committee.grams[k] for k in chance.committee.used}
        if exact and self.dtype != np.float64:
            mine = {k: committee.waiting.get(k, committee.grams[k]) for k in committee.used}
            scores = {k: gram.rows(encodings[k]) for k, gram in mine.items()}
            return Entries(encodings, scores, selves, {k: gram.rows(encodings[k]) for k, gram in theirs.items()})
        scores = {k: self.columns[k].at(rows, query.compared) for k in committee.used}
        return Entries(encodings, scores, selves, {k: self.columns[k].at(rows, query.failures) for k in theirs})


@dataclass(frozen=True)
class _Rows(Sequence[Any]):
    """The names of rows of the pool from `first` on, for messages."""

    first: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        return Named(f"row {self.first + place} of the pool")
