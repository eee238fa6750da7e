"""A first batch, before there is anything to learn from: levels that were not tried, and objects unlike each other.

Records, such as the rows of a table, are picked one by one: of those that have the levels tried least
(`likewise.search.coverage`) the one that is least like all that is known or picked. Other objects have no levels, and
how alike they are decides alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.search.base import SearchState, best_distinct
from likewise.search.coverage import Coverage
from likewise.similarity import effort
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.combine.fixed import Fixed
from likewise.similarity.encodings.arrays import Encoding, count, join, take
from likewise.similarity.encodings.pieces import renumbered
from likewise.similarity.scores import check_scores, check_shape
from likewise.spaces.base import Enumerable, Generator, Indexed, Space

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
    others = _Others.of(similarities, known, state.space)
    listed = isinstance(state.space, Enumerable)
    if state.plate is None and (listed or not state.space.parts):
        return _pick(n, _draw(n, state, ROWS if listed else SOME), known, others, state.rng)
    picks: list[Any] = []
    while len(picks) < n:
        tried = [*known, *picks]
        drawn = _draw(1, state, SOME) if listed else _draw_balanced(tried, state)
        new = _pick(1, drawn, tried, others, state.rng)
        if not new:
            break
        picks, others, state = picks + new, others.add(new), state.without(new)
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
    each = [counts[part.key(level)] for level in part.objects]
    return [level for level, count in zip(part.objects, each, strict=True) if count == min(each)]


def _pick(n: int, drawn: list[Any], known: Sequence[Any], others: _Others, rng: Generator) -> list[Any]:
    """Up to `n` of the objects, one after another."""
    cover = Coverage.of(drawn, known)
    if not cover.factors:
        return _unlike(n, drawn[: min(SOME, max(FEW, 8 * n))], others)
    left, picks = np.arange(len(drawn)), list[Any]()
    while len(picks) < n and len(left):
        best = cover.best(left)
        few = best if len(best) <= FEW else rng.choice(best, FEW, replace=False)
        some = [drawn[i] for i in few.tolist()]
        place = few[np.argmin(others.closeness(some, others.encode(some)))]
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
        picked = [take(one, np.array([last])) for one in encoded]
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
        kept = tuple(one for one in similarities if not _is_twice(one, similarities))
        return cls(kept, (), (), space).add(objects)

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
            return tuple(one.encode(objects) for one in self.similarities)
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
        for one, x, y in zip(self.similarities, a, b, strict=True):
            found = one.between(x, y)
            check_scores(found, objects, others, signed=one.signed)
            effort.count(comparisons=found.size)
            total += found / np.sqrt(np.outer(_selves(one, x), _selves(one, y)))
        return total / len(self.similarities)


def _selves(similarity: Similarity, encodings: Encoding) -> Vector:
    selves = similarity.within(encodings)
    check_shape("within", selves, (count(encodings),))
    return np.maximum(selves, 1e-150)


def _is_twice(one: Similarity, others: Sequence[Similarity]) -> bool:
    return isinstance(one, Fixed) and any(one.inner is other for other in others)
