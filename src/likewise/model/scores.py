"""Scores of observed objects with each other and with others, each pair computed once.

The Gram matrix grows with the observations; a comparison holds some other objects' scores with them; treated matrices
are shared by outcomes that were measured of the same objects.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.model.spectrum import Spectrum, Treatment, treat
from likewise.similarity.algebra import Mix
from likewise.similarity.base import (
    NEW,
    OBSERVED,
    Differentiable,
    Matrix,
    Pullback,
    Similarity,
    Vector,
    check_no_distance,
    check_scores,
    check_selves,
    check_symmetric,
    is_differentiable,
)
from likewise.similarity.encoding import Encoding, EncodingCache, count_rows, join, take
from likewise.similarity.functions import object_key

# The matrix of scores S(x_i, x_j) of the observed objects. It grows with them and is never recomputed.

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
            return np.zeros((count_rows(encodings), 0))
        observed = take(self.encodings, slice(start, len(self))) if start else self.encodings
        return self.check(self.similarity.between(encodings, observed), objects, start)

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
    return [np.array(place) for place in places.values()]


# The scores of all objects a study has compared, so that no two are ever compared again.

MOST = 2500
# So many objects are compared in both orders, which shows a similarity that is not symmetric.
CHECKED = 8


@dataclass(eq=False)
class GramCache:
    """One Gram matrix per similarity, over every object met so far; those of any objects are taken out of it."""

    similarities: tuple[Similarity, ...]
    encodings: EncodingCache = field(init=False)
    _settled: tuple[Similarity, ...] = ()
    _settled_on: tuple[Any, ...] = ()
    _whole: tuple[Gram, ...] = ()
    _places: dict[int, int] = field(default_factory=dict)
    # Whether similarities that have gradients were computed in one block.
    _in_one_block: bool = True
    # The last answer: the outcomes of a study mostly ask for the same objects.
    _latest: tuple[Gram, ...] = ()

    def __post_init__(self) -> None:
        self.encodings = EncodingCache(self.similarities)

    def of(self, objects: Sequence[Any]) -> tuple[Gram, ...]:
        """The Gram matrices of these objects; scores are computed only for objects not met before."""
        if self._latest and same_sequence(objects, self._latest[0].objects):
            return self._latest
        new = self._unmet(objects)
        if len(self._places) + len(new) > MOST:
            self._whole, self._places = (), {}
            new = self._unmet(objects)
        if new:
            self._grow(new, objects)
        index = np.array([self._places[id(x)] for x in objects], dtype=np.intp)
        if self._in_one_block and np.array_equal(index, np.arange(len(self._places))):
            self._latest = self._whole
        else:
            self._latest = tuple(_exact(gram.part(index)) for gram in self._whole)
        return self._latest

    @property
    def settled(self) -> tuple[Similarity, ...]:
        """The similarities with what they leave to the data settled."""
        return self._settled

    def settle(self, objects: Sequence[Any]) -> None:
        """Settle what similarities leave to the data (median distances) on these objects."""
        if same_sequence(objects, self._settled_on):
            return
        before = self._settled or self.similarities
        # As given, because a similarity that is settled stays so.
        pairs = zip(self.similarities, self.encodings.of(objects), strict=True)
        fitted = (similarity.fitted(encodings) for similarity, encodings in pairs)
        self._settled = tuple(old if _same(new, old) else new for new, old in zip(fitted, before, strict=True))
        self._settled_on, self._latest = tuple(objects), ()
        if self._whole:
            self._whole = tuple(gram.retune(new) for gram, new in zip(self._whole, self._settled, strict=True))

    def _unmet(self, objects: Sequence[Any]) -> list[Any]:
        return list({id(x): x for x in objects if id(x) not in self._places}.values())

    def _grow(self, new: Sequence[Any], asked: Sequence[Any]) -> None:
        met = [*(self._whole[0].objects if self._whole else ()), *new]
        if len(met) > CHECKED and self._whole:
            # What is asked for as a whole would be computed in one block anyway.
            self._in_one_block = same_sequence(met, asked)
            known = zip(self._whole, self.encodings.of(new), strict=True)
            self._whole = tuple(
                gram.grow(new, encodings, in_one_block=self._in_one_block and is_differentiable(gram.similarity))
                for gram, encodings in known
            )
        else:
            encoded = zip(self._settled or self.similarities, self.encodings.of(met), self.similarities, strict=True)
            self._whole = tuple(Gram.of(one, met, encodings, given.encoder) for one, encodings, given in encoded)
            self._in_one_block = True
        self._places.update({id(x): len(self._places) + i for i, x in enumerate(new)})


def same_sequence(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether these are the same objects in the same order, and not only equal ones."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _same(new: Similarity, old: Similarity) -> bool:
    """Whether settling anew has come to the same, so that all scores stay as they are."""
    try:
        return bool(new == old)
    except ValueError:
        # Arrays among the parameters.
        return False


def _exact(gram: Gram) -> Gram:
    """The same scores to the last bit, however the matrix has grown.

    Matrix products round differently in blocks of different shapes, which a gradient trajectory would notice.
    Similarities that have gradients are quick to compute, so that they can be computed in one block.
    """
    return gram.recompute() if is_differentiable(gram.similarity) else gram


# Some objects compared with the observed ones, each pair once, for however many committees ask.
#
# The committees of several outcomes share encodings, and the scores of what none of them has learnt for itself.


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores of objects with the observed ones and with themselves, and one step of the chain rule through both."""

    rows: Matrix
    selves: Vector
    pull_rows: Pullback
    pull_selves: Pullback


@dataclass(frozen=True, eq=False)
class Slope:
    """Derivatives in the scores of a comparison."""

    of: LinearScores
    on_rows: Matrix
    on_selves: Vector


def pull_all(slopes: Sequence[Slope]) -> Matrix:
    """The derivatives in the objects; those in the same scores are added up first, which is linear."""
    together: dict[int, Slope] = {}
    for slope in slopes:
        met = together.get(id(slope.of))
        added = slope if met is None else Slope(slope.of, met.on_rows + slope.on_rows, met.on_selves + slope.on_selves)
        together[id(slope.of)] = added
    pulls = (s.of.pull_rows(s.on_rows) + s.of.pull_selves(s.on_selves) for s in together.values())
    return cast(Matrix, np.asarray(sum(pulls)))


@dataclass(eq=False)
class ObjectScores:
    """Objects, and what is known of them by the number of each similarity.

    What a similarity has learnt does not enter its encodings, so that these are the same for all committees.

    >>> import likewise as lw
    >>> gram = Gram.of(lw.RBF(1.0), [[0.0], [1.0]])
    >>> one = ObjectScores([[0.5]])
    >>> one.rows(0, gram) is one.rows(0, gram)
    True
    """

    objects: Sequence[Any]
    # By what made them, which is kept beside them so that nothing else takes its name.
    _encodings: dict[int, tuple[Similarity, Encoding]] = field(default_factory=dict)
    _rows: list[tuple[int, Gram, Matrix]] = field(default_factory=list)
    _linear: list[tuple[int, Gram, LinearScores]] = field(default_factory=list)
    _grown: list[tuple[int, Gram, Gram]] = field(default_factory=list)

    def encoding(self, gram: Gram) -> Encoding:
        """The encodings of the objects, which similarities of one encoder share."""
        encoder = gram.encoder
        if id(encoder) not in self._encodings:
            self._encodings[id(encoder)] = encoder, encoder.encode(self.objects)
        return self._encodings[id(encoder)][1]

    def encodings(self, grams: Mapping[int, Gram]) -> dict[int, Encoding]:
        """The encodings of the objects for each of several similarities."""
        return {k: self.encoding(gram) for k, gram in grams.items()}

    def rows(self, k: int, gram: Gram) -> Matrix:
        """The scores with the objects of a Gram matrix of similarity k."""
        rows = _met(self._rows, k, gram)
        if rows is None:
            rows = gram.rows(self.encoding(gram), objects=self.objects)
            self._rows.append((k, gram, rows))
        return rows

    def selves(self, k: int, gram: Gram) -> Vector:
        """The scores of the objects with themselves."""
        return gram.selves(self.encoding(gram), self.objects)

    def grow(self, k: int, gram: Gram) -> Gram:
        """A Gram matrix of similarity k with the objects."""
        grown = _met(self._grown, k, gram)
        if grown is None:
            grown = gram.grow(self.objects, self.encoding(gram))
            self._grown.append((k, gram, grown))
        return cast(Gram, grown)

    def linearise(self, k: int, gram: Gram) -> LinearScores:
        """The same scores of a similarity with gradients, and the chain rule."""
        linear = _met(self._linear, k, gram)
        if linear is None:
            similarity, encoding = cast(Differentiable, gram.similarity), self.encoding(gram)
            rows, pull_rows = similarity.linearise(encoding, gram.encodings)
            selves, pull_selves = similarity.linearise_within(encoding)
            gram.check(rows, self.objects)
            gram.check_selves(selves, self.objects)
            linear = LinearScores(rows, selves, pull_rows, pull_selves)
            self._linear.append((k, gram, linear))
        return linear


def _met(made: Sequence[tuple[int, Gram, Any]], k: int, gram: Gram) -> Any:
    """What was made of the same objects under the same similarity."""
    same = (found for i, other, found in made if i == k and (other is gram or gram.same(other)))
    return next(same, None)


# Treated matrices that outcomes share: where several were measured of the same objects, each is made once.


@dataclass(eq=False)
class Treatments:
    """The treatments that were made so far, by the Gram matrices and the mix that they are of.

    They are large: keep it no longer than the outcomes are fitted one after another.
    """

    # The matrices are kept beside the answer, so that none of another place in memory takes their name.
    _made: dict[Any, tuple[list[Matrix], Treatment]] = field(default_factory=dict)

    def of(self, grams: Sequence[Gram], mix: Mix, kind: Spectrum, *, psd: bool) -> Treatment:
        """The treatment of the mix's scores.

        >>> import likewise as lw
        >>> grams, made = [Gram.of(lw.RBF(1.0), [[0.0], [1.0]])], Treatments()
        >>> one, other = (made.of(grams, Mix((1.0,)), "krein", psd=True) for _ in range(2))
        >>> one is other
        True
        """
        compared = [grams[k].scores for k in mix.used]
        key = tuple(map(id, compared)), mix, kind, psd
        if key not in self._made:
            self._made[key] = compared, treat(mix_scores(grams, mix), kind, psd=psd)
        return self._made[key][1]


def mix_scores(grams: Sequence[Gram], mix: Mix) -> Matrix:
    """The mix's scores of the objects of these Gram matrices."""
    return np.asarray(mix.scores([gram.scores for gram in grams]))
