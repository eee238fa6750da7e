"""A stretch of a pool's rows: their encodings, and the columns of their scores with observed objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.search.pool.query import Compared, Entries, Query, Version
from likewise.search.pool.score_columns import WIDTH, Columns, Single
from likewise.similarity import effort
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
    """Rows `first` to `first + size` of the pool: encodings by similarity, scores by what it has learnt, too."""

    first: int
    size: int
    dtype: Any
    encodings: dict[int, Encoding | Filed] = field(default_factory=dict)
    selves: dict[Version, Vector] = field(default_factory=dict)
    columns: dict[Version, Columns] = field(default_factory=dict)
    # Where it is kept, once it has been moved to disk.
    folder: Path | None = None

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
        self.folder = folder
        for k, encoding in self.encodings.items():
            if not isinstance(encoding, Filed) and stored.storable(encoding):
                self.encodings[k] = Filed(stored.write(encoding, folder, f"{self.first}-{k}"), folder)
        for version, column in self.columns.items():
            column.spill(self._path(folder, version))

    def drop(self, version: Version) -> None:
        """Forget the columns of a similarity."""
        self.selves.pop(version, None)
        if version in self.columns:
            self.columns.pop(version).close()

    def begin(self, version: Version, similarity: Similarity) -> None:
        """Begin the columns of a similarity, on disk where the chunk is."""
        self.drop(version)
        path = None if self.folder is None else self._path(self.folder, version)
        self.columns[version] = Columns(self.size, self.dtype, path)
        self.selves[version] = similarity.within(self.encoding(version[0]))
        check_selves(self.selves[version], _Rows(self.first, self.size), signed=similarity.signed)

    def _path(self, folder: Path, version: Version) -> Path:
        return folder / f"{self.first}-{version[0]}-{version[1]}.columns"

    def grow(self, k: Version, query: Query, memory: int | None = None) -> None:
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

    def _compare(self, k: Version, query: Query, new: list[int]) -> None:
        others, encodings, similarity = query.encodings(k, new), self.encoding(k[0]), query.similarity(k)
        block = np.empty((len(new), self.size), dtype=self.dtype)
        step = max(BLOCK, SCORES // max(1, len(new)))
        for start in range(0, self.size, step):
            part = slice(start, min(start + step, self.size))
            scores = similarity.between(take(encodings, part), others)
            effort.count(comparisons=scores.size)
            names = _Rows(self.first + start, len(scores))
            check_scores(scores, names, query.objects(k, new), signed=similarity.signed)
            block[:, part] = scores.T
        self.columns[k].append(new, block)

    def sums(self, mix: Mix, weights: Matrix, compared: Compared) -> Single:
        """Σ_j w_ij S_j of the mix's scores S with the compared objects, in one reading of the columns."""
        return (self._linear if mix.power == 1.0 else self._warped)(mix, weights, compared)

    def _linear(self, mix: Mix, weights: Matrix, compared: Compared) -> Single:
        """Σ_j w_j (Σ_k c_k S_kj + offset), where no score has to be touched but to be multiplied."""
        total = np.zeros((len(weights), self.size), dtype=self.dtype)
        for k in mix.used:
            total += self.columns[compared.version(k)].sums(compared.all, weights * mix.weights[k])
        return total + (mix.offset * weights.sum(axis=1)[:, None]).astype(self.dtype)

    def _warped(self, mix: Mix, weights: Matrix, compared: Compared) -> Single:
        total = np.zeros((len(weights), self.size), dtype=self.dtype)
        for start in range(0, len(compared.all), WIDTH):
            numbers = compared.all[start : start + WIDTH]
            scores = {k: self.columns[compared.version(k)].of(numbers) for k in mix.used}
            for part in self._stretches():
                mixed = mix.scores({k: block[:, part] for k, block in scores.items()})
                total[:, part] += weights[:, start : start + WIDTH].astype(self.dtype) @ mixed
        return total

    def _stretches(self) -> Iterator[slice]:
        return (slice(start, start + BLOCK) for start in range(0, self.size, BLOCK))

    def entries(self, query: Query, rows: NDArray[np.intp], first: int, *, exact: bool = False) -> Entries:
        """What is known of some rows, counted from the first of the chunk; `exact` compares them again.

        `first` is the row of the pool from which the chunk's own numbers count.
        """
        encodings = {k: take(self.encoding(k), rows) for k in query.used}
        again, scores, selves = exact and self.dtype != np.float64, {}, {}
        # Committees that compare the same objects by the same similarity have the same scores.
        made: dict[Any, Matrix] = {}
        for version, places in query.users.items():
            for place in places:
                at, key = query.compared[place], (place, version[0])
                if (version, at.all) not in made:
                    gram = query.gram(*key)
                    found = gram.rows(encodings[version[0]]) if again else self.columns[version].at(rows, at.all)
                    made[version, at.all] = found
                scores[key], selves[key] = made[version, at.all], self.selves[version][rows]
        known = {i: values[first + self.first + rows] for i, values in enumerate(query.known)}
        return Entries(encodings, scores, selves, known)


@dataclass(frozen=True)
class _Rows(Sequence[Any]):
    """The names of rows of the pool from `first` on, for messages."""

    first: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        return Named(f"row {self.first + place} of the pool")
