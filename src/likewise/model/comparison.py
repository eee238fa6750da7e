"""Some objects compared with the observed ones, each pair once, for however many committees ask.

The committees of several outcomes share encodings, and the scores of what none of them has learnt for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from likewise.model.gram import Gram
from likewise.similarity import effort
from likewise.similarity.base import Differentiable, Matrix, Pullback, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores of objects with the observed ones and with themselves, and one step of the chain rule through both."""

    rows: Matrix
    selves: Vector
    pull_rows: Pullback
    pull_selves: Pullback


@dataclass(frozen=True, eq=False)
class Slope:
    """Derivatives in the scores of a comparison."""

    of: Linear
    on_rows: Matrix
    on_selves: Vector


def pull_all(slopes: Sequence[Slope]) -> Matrix:
    """The derivatives in the objects; those in the same scores are added up first, which is linear."""
    together: dict[int, Slope] = {}
    for one in slopes:
        met = together.get(id(one.of))
        added = one if met is None else Slope(one.of, met.on_rows + one.on_rows, met.on_selves + one.on_selves)
        together[id(one.of)] = added
    found = (s.of.pull_rows(s.on_rows) + s.of.pull_selves(s.on_selves) for s in together.values())
    return cast(Matrix, np.asarray(sum(found)))


@dataclass(eq=False)
class Comparison:
    """Objects, and what is known of them by the number of each similarity.

    What a similarity has learnt does not enter its encodings, so that these are the same for all committees.

    >>> import likewise as lw
    >>> gram = Gram.of(lw.RBF(1.0), [[0.0], [1.0]])
    >>> one = Comparison([[0.5]])
    >>> one.rows(0, gram) is one.rows(0, gram)
    True
    """

    objects: Sequence[Any]
    # By what made them, which is kept beside them so that nothing else takes its name.
    _encodings: dict[int, tuple[Similarity, Encoding]] = field(default_factory=dict)
    _rows: list[tuple[int, Gram, Matrix]] = field(default_factory=list)
    _linear: list[tuple[int, Gram, Linear]] = field(default_factory=list)
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
        found = _met(self._rows, k, gram)
        if found is None:
            found = gram.rows(self.encoding(gram), objects=self.objects)
            self._rows.append((k, gram, found))
        return found

    def selves(self, k: int, gram: Gram) -> Vector:
        """The scores of the objects with themselves."""
        return gram.selves(self.encoding(gram), self.objects)

    def grow(self, k: int, gram: Gram) -> Gram:
        """A Gram matrix of similarity k with the objects."""
        found = _met(self._grown, k, gram)
        if found is None:
            found = gram.grow(self.objects, self.encoding(gram))
            self._grown.append((k, gram, found))
        return cast(Gram, found)

    def linearise(self, k: int, gram: Gram) -> Linear:
        """The same scores of a similarity with gradients, and the chain rule."""
        found = _met(self._linear, k, gram)
        if found is None:
            similarity, encoding = cast(Differentiable, gram.similarity), self.encoding(gram)
            rows, pull_rows = similarity.linearise(encoding, gram.encodings)
            effort.count(comparisons=rows.size)
            selves, pull_selves = similarity.linearise_within(encoding)
            gram.check(rows, self.objects)
            gram.check_selves(selves, self.objects)
            found = Linear(rows, selves, pull_rows, pull_selves)
            self._linear.append((k, gram, found))
        return found


def _met(made: Sequence[tuple[int, Gram, Any]], k: int, gram: Gram) -> Any:
    """What was made of the same objects under the same similarity."""
    same = (found for i, other, found in made if i == k and (other is gram or gram.same(other)))
    return next(same, None)
