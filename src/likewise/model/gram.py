"""The matrix of scores S(x_i, x_j) of the observed objects. It grows with them and is never recomputed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.similarity import effort
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding, count, join, take
from likewise.similarity.pairs import object_key
from likewise.similarity.scores import NEW, OBSERVED, check_no_distance, check_scores, check_selves, check_symmetric

Groups = list[NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Gram:
    """Objects, their encodings and the scores between them.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> Gram.of(RBF(1.0), [[0.0], [1.0]]).grow([[2.0]]).scores.shape
    (3, 3)
    """

    similarity: Similarity
    objects: tuple[Any, ...]
    encodings: Encoding
    scores: Matrix
    # What made the encodings before anything was learnt, where several similarities share it.
    encoded_by: Similarity | None = None

    @classmethod
    def of(
        cls,
        similarity: Similarity,
        objects: Sequence[Any],
        encodings: Encoding = None,
        encoded_by: Similarity | None = None,
    ) -> Gram:
        """The scores of these objects, whose encodings may be at hand."""
        return cls(similarity, (), None, np.zeros((0, 0)), encoded_by).grow(objects, encodings)

    @property
    def encoder(self) -> Similarity:
        """What encodes further objects; parameters do not enter encodings, so that any will do."""
        return self.similarity.encoder if self.encoded_by is None else self.encoded_by

    def __len__(self) -> int:
        return len(self.objects)

    def grow(self, objects: Sequence[Any], new: Encoding = None, *, in_one_block: bool = False) -> Gram:
        """The Gram matrix with further objects, whose encodings may be at hand; only their rows are computed.

        `in_one_block` computes all scores, which rounds them all alike. New ones are checked: finite, symmetric,
        non-negative, and no distances.
        """
        if not len(objects) and self.encodings is not None:
            return self
        new = self.encoder.encode(objects) if new is None else new
        t, signed = len(self), self.similarity.signed
        encodings = join([self.encodings, new]) if t else new
        everything = self.objects + tuple(objects)
        # One call for all of them: where a comparison is many small steps, those of one take as long as those of many.
        every = self.similarity.between(encodings, encodings) if in_one_block else None
        fresh = self.similarity.between(new, encodings) if every is None else every[t:]
        check_scores(fresh, objects, everything, signed=signed)
        effort.count(comparisons=fresh.size)
        check_symmetric(fresh[:, t:], objects)
        scores = self._with_rows(fresh) if every is None else _symmetric(every)
        if not signed:
            check_no_distance(scores[:, t:], np.diagonal(scores), everything, objects)
        return Gram(self.similarity, everything, encodings, scores, self.encoded_by)

    def _with_rows(self, fresh: Matrix) -> Matrix:
        """The scores with those of further objects, with all others and with one another."""
        t, n = len(self), fresh.shape[1]
        scores = np.empty((n, n))
        scores[:t, :t] = self.scores
        scores[t:, :t] = fresh[:, :t]
        scores[:t, t:] = fresh[:, :t].T
        scores[t:, t:] = _symmetric(fresh[:, t:])
        return scores

    def part(self, index: NDArray[np.intp]) -> Gram:
        """The Gram matrix of some of the objects, in this order."""
        if np.array_equal(index, np.arange(len(self))):
            return self
        objects = tuple(self.objects[i] for i in index.tolist())
        encodings, scores = take(self.encodings, index), self.scores[np.ix_(index, index)]
        return Gram(self.similarity, objects, encodings, scores, self.encoded_by)

    def same(self, other: Gram) -> bool:
        """Whether these are the same objects under the same similarity."""
        alike = self.similarity is other.similarity and len(self) == len(other)
        return alike and all(map(operator.is_, self.objects, other.objects))

    def retune(self, similarity: Similarity) -> Gram:
        """The same objects under the same similarity with other parameters, which do not enter the encodings."""
        if similarity is self.similarity:
            return self
        return replace(self, similarity=similarity).recompute()

    def recompute(self) -> Gram:
        """The same scores, computed in one block."""
        scores = self.similarity.between(self.encodings, self.encodings)
        return replace(self, scores=_symmetric(scores))

    def lean(self) -> Gram:
        """The similarity and the encodings, without objects and scores."""
        return replace(self, objects=(OBSERVED,) * len(self), scores=np.zeros((0, 0)))

    def rows(self, encodings: Encoding, start: int = 0, objects: Sequence[Any] | None = None) -> Matrix:
        """S_x for each encoded object: its scores with the observed ones, or with those from `start` on.

        They are checked as those of observed objects are; `objects`, where they are at hand, name what is wrong.
        """
        if start >= len(self):
            return np.zeros((count(encodings), 0))
        observed = take(self.encodings, slice(start, len(self))) if start else self.encodings
        rows = self.similarity.between(encodings, observed)
        effort.count(comparisons=np.size(rows))
        return self.check(rows, objects, start)

    def check(self, rows: Matrix, objects: Sequence[Any] | None = None, start: int = 0) -> Matrix:
        """Scores with the observed objects from `start` on, refused where they are not what scores must be."""
        names = (NEW,) * np.shape(rows)[0] if objects is None else objects
        check_scores(rows, names, self.objects[start:], signed=self.similarity.signed)
        return rows

    def selves(self, encodings: Encoding, objects: Sequence[Any] | None = None) -> Vector:
        """S(x, x) for each encoded object, checked as rows are."""
        return self.check_selves(self.similarity.within(encodings), objects)

    def check_selves(self, selves: Vector, objects: Sequence[Any] | None = None) -> Vector:
        """Scores of objects with themselves, refused where they are not what scores must be."""
        check_selves(selves, (NEW,) * len(selves) if objects is None else objects, signed=self.similarity.signed)
        return selves


def _symmetric(scores: Matrix) -> Matrix:
    return 0.5 * (scores + scores.T)


def same_objects(objects: Sequence[Any]) -> Groups:
    """The places of each different object.

    >>> same_objects(["a", "b", "a"])
    [array([0, 2]), array([1])]
    """
    places: dict[Any, list[int]] = {}
    for i, x in enumerate(objects):
        places.setdefault(object_key(x), []).append(i)
    return [np.array(found) for found in places.values()]
