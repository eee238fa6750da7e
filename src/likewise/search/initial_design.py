"""A first batch, before there is anything to learn from: untried levels first, and objects unlike each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.search.base import SearchState, best_distinct
from likewise.similarity.algebra import Fixed
from likewise.similarity.base import Matrix, Similarity, Vector, check_scores, check_shape
from likewise.similarity.encoding import Encoding, count_rows, join, take
from likewise.similarity.parallel import renumbered
from likewise.spaces.base import Enumerable, Generator, Indexed, Space

# Which levels of the factors of a table or a record were tried, and which objects have those that were not.
#
# A factor is a part of the objects whose values recur: a ligand, a solvent, a switch, a temperature in steps, the
# branch of an object that is one of several. Its values are its levels. Before anything is known, each level is worth
# one look before any is worth two.

# Numbers of more different values than this are no levels: they are spread by how alike they are.
MOST_NUMBERS = 32
# The step of a path that stands for the branch itself.
BRANCH = object()

Codes = NDArray[np.intp]
Path = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor: the level of each candidate, and how often each level was tried."""

    path: Path
    levels: Mapping[Hashable, int]
    codes: Codes
    tried: Codes
    numeric: bool

    def count(self, objects: Sequence[Any]) -> Factor:
        """The factor with these objects tried, too; levels that no candidate has do not matter."""
        levels = [self.levels.get(_hashable(_value(x, self.path))) for x in objects]
        places = np.array([place for place in levels if place is not None], dtype=np.intp)
        return replace(self, tried=self.tried + np.bincount(places, minlength=len(self.levels)))

    def least(self, rows: Codes) -> int:
        """How often the level was tried that was tried least, of those that these candidates have."""
        return int(self.tried[self.codes[rows]].min())

    def need(self, rows: Codes) -> Codes:
        """What each of these candidates adds: nothing, or as much as there are levels that were tried as little.

        So the factor with the most levels left comes first where no object has a new level of every factor.
        """
        codes = self.codes[rows]
        least = self.tried[codes] == self.least(rows)
        return np.where(least, np.count_nonzero(np.bincount(codes[least])), 0)


@dataclass(frozen=True, eq=False)
class Coverage:
    """The factors of some candidates, with what was tried of them.

    >>> grid = [{"ligand": ligand, "base": base} for ligand in "ABC" for base in "xy"]
    >>> cover = Coverage.of(grid, known=[{"ligand": "A", "base": "x"}])
    >>> [grid[i] for i in cover.best(np.arange(6))]
    [{'ligand': 'B', 'base': 'y'}, {'ligand': 'C', 'base': 'y'}]
    """

    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, objects: Sequence[Any], known: Sequence[Any] = ()) -> Coverage:
        """The factors of these objects; those that are known count as tried."""
        return cls(tuple(_factors(objects))).count(known)

    def count(self, objects: Sequence[Any]) -> Coverage:
        """The same with these objects tried, too."""
        return Coverage(tuple(factor.count(objects) for factor in self.factors))

    def best(self, rows: Codes) -> Codes:
        """Of the candidates in these rows those that cover most.

        Names come before numbers, and a factor with levels never tried before one with levels tried once.
        """
        left = list(self.factors) if len(rows) else []
        while left:
            first = min((factor.numeric, factor.least(rows)) for factor in left)
            these = [factor for factor in left if (factor.numeric, factor.least(rows)) == first]
            need = np.sum([factor.need(rows) for factor in these], axis=0)
            rows, left = rows[need == need.max()], [factor for factor in left if factor not in these]
        return rows


def _factors(objects: Sequence[Any]) -> Iterator[Factor]:
    for path, values in _columns(objects, ()):
        levels: dict[Hashable, int] = {}
        try:
            codes = np.array([levels.setdefault(value, len(levels)) for value in values], dtype=np.intp)
        except TypeError:
            # Values that have no hash, such as arrays, are no levels.
            continue
        numeric = all(isinstance(value, Number) and not isinstance(value, bool) for value in levels)
        recur = 2 * len(levels) <= len(values) and (not numeric or len(levels) <= MOST_NUMBERS)
        if len(levels) > 1 and recur:
            yield Factor(path, levels, codes, np.zeros(len(levels), dtype=np.intp), numeric)


def _columns(objects: Sequence[Any], path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The parts of records, and of records within records; of objects of several branches, which branch it is."""
    if not len(objects) or not all(isinstance(x, Mapping) for x in objects):
        return
    names = objects[0].keys()
    if all(x.keys() == names for x in objects):
        for name in names:
            values = [x[name] for x in objects]
            yield (*path, name), values
            yield from _columns(values, (*path, name))
    elif all(len(x) == 1 for x in objects):
        yield (*path, BRANCH), [next(iter(x)) for x in objects]


def _value(x: Any, path: Path) -> Any:
    """What an object has at a path; None where it has no such part."""
    for name in path:
        if not isinstance(x, Mapping) or not x:
            return None
        x = next(iter(x)) if name is BRANCH else x.get(name)
    return x


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else None


# A first batch, before there is anything to learn from: levels that were not tried, and objects unlike each other.
#
# Records, such as the rows of a table, are picked one by one: of those that have the levels tried least
# (`likewise.search.initial_design`) the one that is least like all that is known or picked. Other objects have no
# levels, and how alike they are decides alone.

# Each pick is among few, to keep outliers from being all that is picked.
FEW = 64
# Where objects have no levels, a batch is picked among so many at most.
SOME = 1000
# Of a larger pool of records so many rows, drawn at random, are looked at for their levels.
ROWS = 10_000
# A part of so many values rarely repeats one by chance.
MOST_LEVELS = 1000


def spread(n: int, similarities: Sequence[Similarity], known: Sequence[Any], state: SearchState) -> list[Any]:
    """`n` distinct free objects: each has levels that were tried least, and is of those the least like all others.

    How alike two objects are is the mean of all similarities, each brought to a score of one with itself. On a plate,
    and where records cannot be listed, each object is drawn when those before it are known.
    """
    reference = _Others.of(similarities, known, state.space)
    listed = isinstance(state.space, Enumerable)
    if state.plate is None and (listed or not state.space.parts):
        return _pick(n, _draw(n, state, ROWS if listed else SOME), known, reference, state.rng)
    picks: list[Any] = []
    while len(picks) < n:
        tried = [*known, *picks]
        drawn = _draw(1, state, SOME) if listed else _draw_balanced(tried, state)
        new = _pick(1, drawn, tried, reference, state.rng)
        if not new:
            break
        picks, reference, state = picks + new, reference.add(new), state.without(new)
    return picks


def _draw(n: int, state: SearchState, rows: int) -> list[Any]:
    """Distinct free objects at random: some for each of `n` picks, and of records, whose levels may be rare, `rows`."""
    first = state.sample(1)
    records = bool(first) and isinstance(first[0], Mapping)
    most = min(rows, state.space.size) if records else min(SOME, max(FEW, 8 * n))
    return _free(state.sample(int(most)), state)


def _free(objects: list[Any], state: SearchState) -> list[Any]:
    return best_distinct(objects, state.rng.random(len(objects)), state).objects


def _draw_balanced(tried: Sequence[Any], state: SearchState) -> list[Any]:
    """Free records of a space that cannot be listed, with the levels of listed parts that were tried least.

    Where the space forbids such records, any of them.
    """
    rng, drawn = state.rng, state.sample(2 * FEW)
    least = {name: _least_tried(part, [x[name] for x in tried]) for name, part in _listed_parts(state.space).items()}
    columns = {name: [levels[i] for i in rng.integers(len(levels), size=len(drawn))] for name, levels in least.items()}
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    balanced = [{**x, **row} for x, row in zip(drawn, rows, strict=True)] if columns else []
    return _free(state.space.keep_allowed(balanced), state) or _free(drawn, state)


def _listed_parts(space: Space) -> dict[str, Any]:
    return {
        name: part
        for name, part in space.parts.items()
        if isinstance(part, Enumerable) and 1 < len(part.objects) <= MOST_LEVELS
    }


def _least_tried(part: Any, values: Sequence[Any]) -> list[Any]:
    """The values of a part that came up least."""
    counts = Counter(map(part.key, values))
    counts_of_levels = [counts[part.key(level)] for level in part.objects]
    return [
        level for level, count in zip(part.objects, counts_of_levels, strict=True) if count == min(counts_of_levels)
    ]


def _pick(n: int, drawn: list[Any], known: Sequence[Any], others: _Others, rng: Generator) -> list[Any]:
    """Up to `n` of the objects, one after another."""
    cover = Coverage.of(drawn, known)
    if not cover.factors:
        return _unlike(n, drawn[: min(SOME, max(FEW, 8 * n))], others)
    left, picks = np.arange(len(drawn)), list[Any]()
    while len(picks) < n and len(left):
        best = cover.best(left)
        best_rows = best if len(best) <= FEW else rng.choice(best, FEW, replace=False)
        candidates = [drawn[i] for i in best_rows.tolist()]
        place = best_rows[np.argmin(others.closeness(candidates, others.encode(candidates)))]
        new = [drawn[place]]
        picks, left, cover, others = picks + new, left[left != place], cover.count(new), others.add(new)
    return picks


def _unlike(n: int, drawn: list[Any], others: _Others) -> list[Any]:
    """Always the one that is least like all known and picked ones."""
    if len(drawn) <= 1:
        return drawn[:n]
    encoded, chosen = others.encode(drawn), list[int]()
    closest = others.closeness(drawn, encoded)
    while len(chosen) < min(n, len(drawn)):
        last = int(np.argmin(closest))
        picked = [take(encoding, np.array([last])) for encoding in encoded]
        chosen.append(last)
        closest = np.maximum(closest, others.scores(encoded, drawn, picked, [drawn[last]])[:, 0])
        closest[chosen] = np.inf
    return [drawn[i] for i in chosen]


@dataclass(frozen=True, eq=False)
class _Others:
    """What is known or picked already, encoded by each similarity: what new objects are to be unlike."""

    similarities: tuple[Similarity, ...]
    objects: tuple[Any, ...]
    encodings: tuple[Encoding, ...]
    space: Space

    @classmethod
    def of(cls, similarities: Sequence[Similarity], objects: Sequence[Any], space: Space) -> _Others:
        # One that is there as given and to be learnt compares the same as long as nothing is learnt.
        distinct = tuple(similarity for similarity in similarities if not _is_twice(similarity, similarities))
        return cls(distinct, (), (), space).add(objects)

    def add(self, objects: Sequence[Any]) -> _Others:
        """The same with more objects."""
        if not len(objects):
            return self
        more = self.encode(objects)
        grown = [join(pair) for pair in zip(self.encodings, more, strict=True)] if self.encodings else more
        return _Others(self.similarities, (*self.objects, *objects), tuple(grown), self.space)

    def encode(self, objects: Sequence[Any]) -> tuple[Encoding, ...]:
        """The encodings of some objects; a complaint about one of a pool's names its row in the pool."""
        try:
            return tuple(similarity.encode(objects) for similarity in self.similarities)
        except SimilarityError as error:
            if not isinstance(self.space, Indexed):
                raise
            place = self.space.index
            raise renumbered(error, lambda row: place(objects[row])) from error

    def closeness(self, objects: Sequence[Any], encoded: Sequence[Encoding]) -> Vector:
        """The score of each object with the one of the others that is most like it; −∞ where there are none."""
        if not self.objects:
            return np.full(len(objects), -np.inf)
        return np.asarray(self.scores(encoded, objects, self.encodings, self.objects).max(axis=1))

    def scores(
        self, a: Sequence[Encoding], objects: Sequence[Any], b: Sequence[Encoding], others: Sequence[Any]
    ) -> Matrix:
        """The mean of all similarities, each brought to a score of one with itself."""
        total = np.zeros((len(objects), len(others)))
        for similarity, x, y in zip(self.similarities, a, b, strict=True):
            scores = similarity.between(x, y)
            check_scores(scores, objects, others, signed=similarity.signed)
            total += scores / np.sqrt(np.outer(_selves(similarity, x), _selves(similarity, y)))
        return total / len(self.similarities)


def _selves(similarity: Similarity, encodings: Encoding) -> Vector:
    selves = similarity.within(encodings)
    check_shape("within", selves, (count_rows(encodings),))
    return np.maximum(selves, 1e-150)


def _is_twice(one: Similarity, others: Sequence[Similarity]) -> bool:
    return isinstance(one, Fixed) and any(one.inner is other for other in others)
