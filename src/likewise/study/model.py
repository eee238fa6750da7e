"""What a study believes: Gram matrices that grow with the observations, and a committee reseated on a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.influence.committee import Committee
from likewise.influence.fitting import Settings, reseat, seat
from likewise.influence.gram import Gram
from likewise.similarity.base import Similarity, Vector

EVERY_TELL_UNTIL = 50
GROWTH = 1.1


@dataclass(eq=False)
class Model:
    """The likenesses, and the committee for the observations so far."""

    likenesses: tuple[Similarity, ...]
    settings: Settings = field(default_factory=Settings)
    _grams: tuple[Gram, ...] = ()
    _committee: Committee | None = None
    _seated_at: int = 0
    _settled_at: int = 0
    _values: Vector = field(default_factory=lambda: np.zeros(0))

    def committee(self, objects: Sequence[Any], values: Vector, extra_noise: Vector | None) -> Committee:
        """The committee for these observations; what is known of a prefix of them is kept."""
        t = len(objects)
        grown = self._grow(objects)
        known = self._committee
        if known is not None and not grown and np.array_equal(values, self._values):
            return known
        self._values = np.array(values)
        if known is None or self._due(t):
            self._settle(t)
            self._committee = seat(self._grams, values, extra_noise, settings=self.settings, previous=known)
            self._seated_at = t
        else:
            tuned = tuple(
                gram if gram.similarity is old.similarity else gram.tuned(old.similarity)
                for gram, old in zip(self._grams, known.grams, strict=True)
            )
            self._committee = reseat(known, tuned, values, extra_noise)
        return self._committee

    def _due(self, t: int) -> bool:
        return t <= EVERY_TELL_UNTIL or t >= GROWTH * self._seated_at or t < self._seated_at

    def _grow(self, objects: Sequence[Any]) -> bool:
        """Bring the Gram matrices up to these objects; whether they have changed."""
        known = self._grams[0].objects if self._grams else ()
        if self._grams and len(known) <= len(objects) and all(a is b for a, b in zip(known, objects, strict=False)):
            new = objects[len(known) :]
            self._grams = tuple(gram.grown(new) for gram in self._grams)
            return len(new) > 0
        self._grams = tuple(Gram.of(likeness, objects) for likeness in self.likenesses)
        self._committee, self._settled_at = None, 0
        return True

    def _settle(self, t: int) -> None:
        """Settle what likenesses leave to the data (median distances), again whenever the data have doubled."""
        if t < 2 or t < 2 * self._settled_at:
            return
        settled = [likeness.fitted(gram.encodings) for likeness, gram in zip(self.likenesses, self._grams, strict=True)]
        self._grams = tuple(
            gram if similarity is likeness else gram.tuned(similarity)
            for gram, similarity, likeness in zip(self._grams, settled, self.likenesses, strict=True)
        )
        self._settled_at = t
