"""Scores of a pool's rows with observed objects: what is asked of them, and how they are kept, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scoring
from likewise.model.committee import Committee
from likewise.model.scores import Gram
from likewise.similarity import encoding as stored
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Matrix, Named, Similarity, Vector, check_scores, check_selves
from likewise.similarity.encoding import Encoding, Filed, join, take
from likewise.similarity.features import GOLDEN, mixed

# What a search asks of a partition of a pool, and what it gets back. Neither holds an object of the pool.
#
# Rows are counted over the whole pool. Observed and pending objects are known by numbers, so that a partition sees
# which columns of scores it has; a query brings the encodings of all of them, so that lost columns can be computed
# again.

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
        users: dict[Version, list[int]] = {}
        for place, (committee, compared) in enumerate(zip(self.committees, self.compared, strict=True)):
            for k in committee.used:
                users.setdefault(compared.version(k), []).append(place)
        return dict(sorted(users.items()))

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
        encodings = join([gram.encodings for gram, _ in self._grams(version) if len(gram)])
        return take(encodings, np.array(self._places(version, numbers), dtype=np.intp))

    def objects(self, version: Version, numbers: Sequence[int]) -> list[Any]:
        """These objects, in this order; what stands for them where they were not sent."""
        objects = [x for gram, _ in self._grams(version) for x in gram.objects]
        return [objects[place] for place in self._places(version, numbers)]

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
    rows = np.concatenate([answer.rows for answer in answers])
    scores = np.concatenate([answer.scores for answer in answers])
    places = best_places(scores, rows, query, most)
    left = np.ones(len(rows), dtype=bool)
    left[places] = False
    rest = max([answer.rest for answer in answers] + scores[left].tolist())
    return Contenders(rows[places], scores[places], rest)


def join_entries(parts: Sequence[tuple[Rows, Entries]]) -> Entries:
    """Entries of several partitions, each with the places its rows have in the whole, as one."""
    if len(parts) == 1:
        return parts[0][1]
    order = np.argsort(np.concatenate([places for places, _ in parts]), kind="stable")

    def whole(name: str) -> dict[Any, Encoding]:
        arrays = [getattr(entries, name) for _, entries in parts]
        return {k: take(join([each[k] for each in arrays]), order) for k in arrays[0]}

    return Entries(**{name: whole(name) for name in Entries.__dataclass_fields__})


# Scores of many objects with numbered ones: one column for each number, appended and never moved.
#
# Columns are kept as blocks of shape (columns, rows), in memory or in one file on disk, which is mapped while it is
# read.

Single = NDArray[Any]
# Narrow blocks are put together up to this width, for a product with many thin blocks is slower than with a few.
WIDTH = 32
# Rows are close together where this many times as many span them.
CLOSE = 2


@dataclass(eq=False)
class ScoreColumns:
    """The columns of one similarity for some rows of a pool.

    >>> columns = ScoreColumns(rows=2, dtype=np.float32)
    >>> columns.append([7, 9], np.array([[0.5, 0.25], [1.0, 0.0]]))
    >>> columns.missing([9, 8, 7]), columns.of([9]).tolist(), columns.at(np.array([1]), [9, 7]).tolist()
    ([8], [[1.0, 0.0]], [[0.0, 0.25]])
    """

    rows: int
    dtype: Any
    path: Path | None = None
    places: dict[int, int] = field(default_factory=dict)
    _blocks: list[Single] = field(default_factory=list)

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Those of the numbers that have no column."""
        return [number for number in numbers if number not in self.places]

    @property
    def nbytes(self) -> int:
        """What is held in memory."""
        return sum(block.nbytes for block in self._blocks)

    def append(self, numbers: Sequence[int], block: Matrix) -> None:
        """New columns, one row of `block` for each number."""
        start = len(self.places)
        added = np.asarray(block, dtype=self.dtype, order="C")
        if self.path is not None:
            with self.path.open("ab") as file:
                added.tofile(file)
        elif self._blocks and len(self._blocks[-1]) + len(added) <= WIDTH:
            self._blocks[-1] = np.concatenate([self._blocks[-1], added])
        else:
            self._blocks.append(added)
        self.places.update(zip(numbers, range(start, start + len(numbers)), strict=True))

    def spill(self, path: Path) -> None:
        """Move to disk."""
        if self.path is None:
            with path.open("wb") as file:
                for block in self._blocks:
                    block.tofile(file)
            self.path, self._blocks = path, []

    def only(self, numbers: Iterable[int]) -> ScoreColumns:
        """The columns of those numbers alone; the others are removed with their file."""
        columns = ScoreColumns(self.rows, self.dtype, None if self.path is None else self.path.with_suffix(".kept"))
        wanted = [number for number in numbers if number in self.places]
        for start in range(0, len(wanted), WIDTH):
            columns.append(wanted[start : start + WIDTH], self.of(wanted[start : start + WIDTH]))
        if self.path is not None and columns.path is not None:
            columns.path.touch()
            columns.path = columns.path.replace(self.path)
            self.path = None
        self.close()
        return columns

    def close(self) -> None:
        """Forget the columns, and their file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.places, self._blocks = {}, []

    def blocks(self) -> Iterator[Single]:
        """All columns, in order; of those on disk one block at a time is mapped."""
        if self.path is None:
            yield from self._blocks
        else:
            for first in range(0, len(self.places), WIDTH):
                yield self._map(first, min(WIDTH, len(self.places) - first))

    def _map(self, first: int, count: int) -> Single:
        assert self.path is not None
        offset = first * self.rows * np.dtype(self.dtype).itemsize
        mapped = np.memmap(self.path, dtype=self.dtype, mode="r", offset=offset, shape=(count, self.rows))
        return mapped.view(np.ndarray)

    def of(self, numbers: Sequence[int]) -> Single:
        """The columns of these numbers, one row each: a view where they lie side by side."""
        places = [self.places[number] for number in numbers]
        if places == list(range(places[0], places[0] + len(places))):
            return self._stretch(places[0], len(places))
        return np.concatenate([self._stretch(place, 1) for place in places])

    def _stretch(self, first: int, count: int) -> Single:
        if self.path is not None:
            return self._map(first, count)
        parts, start = [], 0
        for block in self._blocks:
            parts.append(block[max(0, first - start) : max(0, first + count - start)])
            start += len(block)
        held = [part for part in parts if len(part)]
        return held[0] if len(held) == 1 else np.concatenate(held)

    def sums(self, numbers: Sequence[int], weights: Matrix) -> Single:
        """Σ_j w_ij S_j over the numbered columns for each row of weights, in one reading of them."""
        ordered = np.zeros((len(self.places), len(weights)))
        # A number that comes twice, an object measured twice, has both its weights.
        np.add.at(ordered, [self.places[number] for number in numbers], weights.T)
        single = np.ascontiguousarray(ordered.T, dtype=self.dtype)
        total = np.zeros((len(weights), self.rows), dtype=self.dtype)
        first = 0
        for block in self.blocks():
            part = single[:, first : first + len(block)]
            first += len(block)
            if part.any():
                # One product with a vector reads faster than one with a matrix of one row.
                total += part @ block if len(part) > 1 else (part[0] @ block)[None]
        return total

    def at(self, rows: NDArray[np.intp], numbers: Sequence[int]) -> Matrix:
        """The scores of some rows with these numbers, of shape (rows, numbers)."""
        if not len(numbers):
            return np.zeros((len(rows), 0))
        places = [self.places[number] for number in numbers]
        # Rows in order that lie close together are copied as a whole, which is several times faster than one by one.
        first, last = int(rows[0]), int(rows[-1]) + 1
        close = last - first <= CLOSE * len(rows) and bool(np.all(rows[1:] > rows[:-1]))
        cut = slice(first, last) if close else rows
        scores = np.empty((len(self.places), last - first if close else len(rows)))
        start = 0
        for block in self.blocks():
            scores[start : start + len(block)] = block[:, cut]
            start += len(block)
        if places != list(range(len(places))):
            scores = scores[places]
        scores = scores[: len(places)]
        return scores.T if not close or last - first == len(rows) else scores.T[rows - first]


# A stretch of a pool's rows: their encodings, and the columns of their scores with observed objects.

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
    columns: dict[Version, ScoreColumns] = field(default_factory=dict)
    # Where it is kept, once it has been moved to disk.
    folder: Path | None = None

    def encoding(self, k: int) -> Encoding:
        """The encodings of similarity k, mapped if they are on disk."""
        encoding = self.encodings[k]
        return encoding.read() if isinstance(encoding, Filed) else encoding

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
        self.columns[version] = ScoreColumns(self.size, self.dtype, path)
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
        entries: dict[Any, Matrix] = {}
        for version, places in query.users.items():
            for place in places:
                at, key = query.compared[place], (place, version[0])
                if (version, at.all) not in entries:
                    gram = query.gram(*key)
                    found = gram.rows(encodings[version[0]]) if again else self.columns[version].at(rows, at.all)
                    entries[version, at.all] = found
                scores[key], selves[key] = entries[version, at.all], self.selves[version][rows]
        known_values = {i: values[first + self.first + rows] for i, values in enumerate(query.known)}
        return Entries(encodings, scores, selves, known_values)


@dataclass(frozen=True)
class _Rows(Sequence[Any]):
    """The names of rows of the pool from `first` on, for messages."""

    first: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        return Named(f"row {self.first + place} of the pool")
