"""What a study believes: a committee, seated on a schedule and conditioned on what has been told since.

Where the committee of the schedule errs more on observations left out than it did when it was seated, it has not
foreseen what was told since, and another is seated at once.

It depends on the observations and their order alone, never on when it was asked, so that a study that was resumed
believes what it would have believed otherwise. Only the work is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.model.committee import Committee
from likewise.model.fit import Settings, reseat, seat
from likewise.model.gram import Gram
from likewise.model.gram_cache import Grams, picked
from likewise.model.leave_one_out import left_out_error
from likewise.model.selection import LEARNT_FROM, Selection, chosen, last_seating, select
from likewise.similarity.base import Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding, join

# A committee whose leave-one-out error has grown by so much since it was seated is seated anew.
DEGRADED = 1.1


@dataclass(frozen=True, eq=False)
class Data:
    """Observations in the order they were told; larger values are better, and extra noises are variances."""

    objects: Sequence[Any]
    values: Vector
    extra_noise: Vector | None

    def part(self, index: Any) -> Data:
        """Some of the observations."""
        extra = None if self.extra_noise is None else self.extra_noise[index]
        return Data([self.objects[i] for i in index.tolist()], self.values[index], extra)

    def same(self, other: Data) -> bool:
        """Whether they are the same observations."""
        mine, theirs = (np.zeros(0) if data.extra_noise is None else data.extra_noise for data in (self, other))
        return (
            np.array_equal(self.values, other.values)
            and np.array_equal(mine, theirs)
            and all(a is b for a, b in zip(self.objects, other.objects, strict=True))
        )


@dataclass(eq=False)
class Model:
    """The likenesses, and the committee for the observations so far."""

    likenesses: tuple[Similarity, ...]
    settings: Settings = field(default_factory=Settings)
    grams: Grams = field(init=False)
    _known: tuple[Data, Selection, Committee] | None = None
    _seated: tuple[Data, Committee] | None = None
    _error: tuple[Committee, float] | None = None
    _first: tuple[Any, list[Encoding]] | None = None

    def __post_init__(self) -> None:
        self.grams = Grams(self.likenesses)

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        """A complaint where a likeness cannot compare these objects with one another and with a known one."""
        if known and (self._first is None or self._first[0] is not known[0]):
            self._first = known[0], [likeness.encode(known[:1]) for likeness in self.likenesses]
        for k, likeness in enumerate(self.likenesses):
            first = [self._first[1][k]] if known and self._first is not None else []
            join([*first, likeness.encode(objects)])

    def committee(self, data: Data) -> tuple[Committee, Selection]:
        """The committee for these observations, and which of them it is conditioned on."""
        if self._known is None or not self._known[0].same(data):
            selection = select(data.values)
            self._known = data, selection, self._conditioned(data, selection)
        return self._known[2], self._known[1]

    def _conditioned(self, data: Data, selection: Selection) -> Committee:
        seating = last_seating(len(data.values))
        self.grams.settle(data.objects[: _settling(seating)])
        used = data.part(selection.conditioned)
        grams = self.grams.of(used.objects)
        places = np.searchsorted(selection.conditioned, selection.learnt)
        seated = self._seat([picked(gram, places) for gram in grams], used.part(places))
        committee = _on(seated, grams, used)
        before = int(np.searchsorted(selection.conditioned, seating))
        if before < len(used.values) and self._degraded(seated, committee, grams, used, before):
            places = chosen(used.values, LEARNT_FROM)
            committee = _on(self._seat_now([picked(gram, places) for gram in grams], used.part(places)), grams, used)
        return committee

    def _degraded(self, seated: Committee, now: Committee, grams: Sequence[Gram], used: Data, before: int) -> bool:
        """Whether the errors have grown since the seating, when there were the first `before` of the observations."""
        if self._error is None or self._error[0] is not seated:
            first = np.arange(before)
            then = _on(seated, [picked(gram, first) for gram in grams], used.part(first))
            self._error = seated, left_out_error(then)
        return left_out_error(now) > DEGRADED * self._error[1]

    def _seat(self, grams: Sequence[Gram], data: Data) -> Committee:
        if self._seated is None or not self._seated[0].same(data):
            self._seated = data, self._seat_now(grams, data)
        return self._seated[1]

    def _seat_now(self, grams: Sequence[Gram], data: Data) -> Committee:
        return seat(grams, data.values, data.extra_noise, settings=self.settings)


def _on(seated: Committee, grams: Sequence[Gram], data: Data) -> Committee:
    """The committee on these observations, which hold those it was seated on."""
    if len(seated.grams[0]) == len(data.values):
        return seated
    tuned = [_like(gram, own.similarity) for gram, own in zip(grams, seated.grams, strict=True)]
    return reseat(seated, tuned, data.values, data.extra_noise)


def _like(gram: Gram, similarity: Similarity) -> Gram:
    return gram if gram.similarity is similarity else gram.tuned(similarity)


def _settling(t: int) -> int:
    """How many of the first observations settle the likenesses: twice as many whenever the data have doubled.

    >>> [_settling(t) for t in (1, 2, 3, 9, 5000)]
    [0, 2, 2, 8, 256]
    """
    return 0 if t < 2 else 1 << (min(t, LEARNT_FROM).bit_length() - 1)
