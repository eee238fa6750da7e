"""Similarity of anything a function turns into a vector: texts, images, whatever has an embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Through
from likewise.similarity.base import Function, Matrix, Similarity, Vector
from likewise.similarity.encoding import Encoding
from likewise.similarity.functions import object_key
from likewise.similarity.kinds.vectors import Cosine

# Numbers in the vectors that are kept, some 64 MB: those of 5,000 objects with an embedding of 1,536 numbers.
KEPT = 1 << 23


@dataclass(eq=False)
class _VectorCache:
    """The vectors of the objects seen last, those that were not used for longest let go where they are too many.

    It holds the objects, so that an identity stays theirs.
    """

    found: dict[Any, tuple[Any, Vector]] = field(default_factory=dict)
    width: int | None = None

    def find(self, key: Any) -> Vector | None:
        """The vector of an object, which is thereby the one used last."""
        known = self.found.pop(key, None)
        if known is None:
            return None
        self.found[key] = known
        return known[1]

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process begins without them: sending all vectors would take longer than making a few.
        return _VectorCache, ()

    def add(self, key: Any, x: Any, given: Any) -> Vector:
        """Keep the vector of an object."""
        try:
            vector = np.array(given, dtype=float)
        except (TypeError, ValueError):
            raise SimilarityError(f"the embedding of {x!r} is not a vector of numbers: {given!r}") from None
        if vector.ndim != 1 or not vector.size or not np.all(np.isfinite(vector)):
            raise SimilarityError(
                f"the embedding of {x!r} is not a vector of finite numbers (its shape is {vector.shape}): {given!r}"
            )
        if self.width not in (None, len(vector)):
            raise SimilarityError(
                f"the embedding of {x!r} has {len(vector)} numbers where others have {self.width}; "
                "the function must give vectors of one length"
            )
        self.width = len(vector)
        self.found[key] = (x, vector)
        while len(self.found) > 1 and len(self.found) * self.width > KEPT:
            self.found.pop(next(iter(self.found)), None)
        return vector


@dataclass(frozen=True, eq=False)
class Embedded(Through):
    """similarity(f(x), f(x')) with a function f from objects to vectors, called once for each object.

    With `batch` the function gets a list of the objects that are new and returns one vector for each, in their order.
    Of very many objects, 64 MB of vectors are kept, and those of others are asked for again where they come back.
    PSD if the similarity of vectors is; the cosine, which is the default, may be negative.

    function: from an object to its vector, or with `batch` from a list of objects to one vector for each.
    similarity: how alike two vectors are; the cosine by default.

    >>> letters = Embedded(lambda text: [text.count(letter) for letter in "abc"])
    >>> round(letters("abba", "cab"), 4)
    0.8165
    """

    function: Callable[[Any], Any]
    wraps = "similarity"
    similarity: Similarity | Function = field(default_factory=Cosine)
    batch: bool = False
    _vectors: _VectorCache = field(default_factory=_VectorCache, repr=False)

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} of {getattr(self.function, '__name__', type(self.function).__name__)}"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.wrapped.encode(list(self.vectors(objects)))

    def vectors(self, objects: Sequence[Any]) -> Matrix:
        """The vectors of the objects, one row each."""
        keys = [object_key(x) for x in objects]
        held = {key: known for key in keys if (known := self._vectors.find(key)) is not None}
        new = {key: x for key, x in zip(keys, objects, strict=True) if key not in held}
        for (key, x), vector in zip(new.items(), self._embedded(list(new.values())), strict=True):
            held[key] = self._vectors.add(key, x, vector)
        rows = [held[key] for key in keys]
        return np.array(rows, dtype=float).reshape(len(rows), self._vectors.width or 0)

    def _embedded(self, new: list[Any]) -> Iterable[Any]:
        # One at a time, so that the vectors before an error are kept.
        return self._batched(new) if self.batch else (self._called(x) for x in new)

    def _batched(self, new: list[Any]) -> list[Any]:
        found = self.function(new) if new else []
        if not hasattr(found, "__len__") or len(found) != len(new):
            count = f"{len(found)} vectors" if hasattr(found, "__len__") else repr(found)
            raise SimilarityError(
                f"the embedding of {len(new)} objects gave {count}; with batch=True the function takes a list "
                f"and returns one vector for each, the first of {new[0]!r}"
            )
        return list(found)

    def _called(self, x: Any) -> Any:
        try:
            return self.function(x)
        except Exception as error:
            error.add_note(f"while embedding {x!r}")
            raise
