"""The scores of all objects a study has compared, so that no two are ever compared again."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.model.gram import Gram
from likewise.similarity.base import Similarity, is_differentiable
from likewise.similarity.encodings.cache import EncodingCache

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
        known = zip(self.similarities, self.encodings.of(objects), strict=True)
        fitted = (similarity.fitted(encodings) for similarity, encodings in known)
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
            found = zip(self._settled or self.similarities, self.encodings.of(met), self.similarities, strict=True)
            self._whole = tuple(Gram.of(one, met, encodings, given.encoder) for one, encodings, given in found)
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
