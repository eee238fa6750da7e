"""The encodings of objects by several similarities, each made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.encodings.arrays import Encoding, count, join, take

if TYPE_CHECKING:
    from likewise.similarity.base import Similarity

# More objects than a model is conditioned on; beyond them it begins anew.
MOST = 5000


def share(
    similarities: Sequence[Similarity], key: Callable[[Similarity], Any] = id
) -> tuple[list[Similarity], list[int]]:
    """What encodes for these similarities, each once, and for each of them the place of its own among those.

    `key` says which encoders are the same.

    >>> from likewise.similarity.combine.fixed import fixed
    >>> from likewise.similarity.kinds.vectors import RBF
    >>> rbf = RBF()
    >>> share([rbf, RBF(), fixed(rbf)])[1]
    [0, 1, 0]
    """
    encoders: dict[Any, Similarity] = {}
    keys = [key(one.encoder) for one in similarities]
    for name, one in zip(keys, similarities, strict=True):
        encoders.setdefault(name, one.encoder)
    places = {name: k for k, name in enumerate(encoders)}
    return list(encoders.values()), [places[name] for name in keys]


@dataclass(eq=False)
class EncodingCache:
    """Encodings by each of several similarities. Objects are known by identity, so they must not change.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x, y = np.array([0.0]), np.array([1.0])
    >>> cache = EncodingCache((RBF(),))
    >>> _ = cache.of([x])
    >>> cache.of([y, x])[0].tolist()
    [[1.0], [0.0]]
    """

    similarities: tuple[Similarity, ...]
    _objects: list[Any] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    # One for each encoder, as similarities may share theirs.
    _encodings: list[Encoding] = field(default_factory=list)

    def of(self, objects: Sequence[Any]) -> list[Encoding]:
        """The encodings of these objects; a SimilarityError, and nothing is kept, where they cannot be compared."""
        self.meet(objects)
        index = np.array([self._places[id(x)] for x in objects], dtype=np.intp)
        if np.array_equal(index, np.arange(len(self._objects))):
            found = self._encodings
        else:
            found = [take(encoding, index) for encoding in self._encodings]
        return [found[k] for k in self._shared[1]]

    def meet(self, objects: Sequence[Any]) -> None:
        """Encode what was not met before; a SimilarityError, and nothing is kept, where it cannot be compared."""
        new = self._unmet(objects)
        if len(self._objects) + len(new) > MOST:
            self._objects, self._places, self._encodings = [], {}, []
            new = self._unmet(objects)
        if not new:
            return
        made = [checked(encoder, encoder.encode(new), len(new)) for encoder in self._shared[0]]
        if self._objects:
            made = [join(pair) for pair in zip(self._encodings, made, strict=True)]
        self._encodings = made
        self._places.update({id(x): len(self._objects) + i for i, x in enumerate(new)})
        self._objects += new

    @cached_property
    def _shared(self) -> tuple[list[Similarity], list[int]]:
        return share(self.similarities)

    def _unmet(self, objects: Sequence[Any]) -> list[Any]:
        return list({id(x): x for x in objects if id(x) not in self._places}.values())


def checked(encoder: Similarity, encoding: Encoding, n: int) -> Encoding:
    """The encoding of n objects; a SimilarityError where it is of another number of them."""
    try:
        size = count(encoding)
    except (TypeError, AttributeError, IndexError, StopIteration):
        size = -1
    if size != n:
        shown = f"{encoding!r:.80}" if size < 0 else f"the encodings of {size}"
        raise SimilarityError(
            f"`encode` of {encoder.name} gave {shown} for {n} objects; "
            "return an array, list or sparse matrix with one entry for each object, or a tuple of these"
        )
    return encoding
