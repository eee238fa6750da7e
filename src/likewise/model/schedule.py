"""What a study believes: a committee, fitted on a schedule and conditioned on what has been told since.

Where the committee of the schedule errs more on observations left out than it did when it was fitted, it has not
foreseen what was told since, and another is fitted at once.

It depends on the observations and their order alone, never on when it was asked, so that a study that was resumed
believes what it would have believed otherwise. Only the work is remembered.

It is built on some of the observations where they are many, so that an ask stays quick however long the study is.
Fitting costs O(t³). Every observation counts until there are `CONDITIONED_ON`; of more, the best half of that number
stays, for that is where the optimum is, and the rest is drawn from all others at random, for the lie of the land. What
is learnt (parameters, noises, votes) is learnt from `LEARNT_FROM` of them, chosen in the same way.

The choice depends on nothing but the values in their order, so that a resumed study makes the same one; and it changes
only when the committee is fitted anew, so that Gram matrices grow in between. Of what is left out once, nothing comes
back, so that they never need a score again that was computed before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.model.committee import Committee
from likewise.model.fit import Settings, fit, recondition
from likewise.model.gram import Gram
from likewise.model.gram_cache import GramCache
from likewise.model.leave_one_out import leave_one_out_error
from likewise.similarity.base import Similarity, Vector

CONDITIONED_ON = 1000
LEARNT_FROM = 300
EVERY_TELL_UNTIL = 50
GROWTH, LONGEST_WAIT = 1.1, 100
# A committee whose leave-one-out error has grown by so much since it was fitted is fitted anew.
DEGRADED = 1.1

Index = NDArray[np.intp]


class Selection(NamedTuple):
    """Observations by their place: those that the model is conditioned on, and those it learns from."""

    conditioned: Index
    learnt: Index


def select(values: Vector) -> Selection:
    """The observations that count, of all values in the order they were told; larger values are better.

    >>> [len(part) for part in select(np.arange(20.0))], [len(part) for part in select(np.arange(5000.0))]
    ([20, 20], [1048, 300])
    """
    t = len(values)
    fitted = last_fit(t)
    fresh = np.arange(fitted, t)
    return Selection(
        np.concatenate([choose(values[:fitted], CONDITIONED_ON), fresh]), choose(values[:fitted], LEARNT_FROM)
    )


def last_fit(t: int) -> int:
    """When the committee was last fitted: at every tell at first, then whenever the data have grown by a tenth.

    >>> [last_fit(t) for t in (7, 50, 54, 55, 60, 12_345)]
    [7, 50, 50, 55, 55, 12252]
    """
    if t <= EVERY_TELL_UNTIL:
        return t
    at = EVERY_TELL_UNTIL
    while (following := at + min(int(np.ceil((GROWTH - 1.0) * at - 1e-9)), LONGEST_WAIT)) <= t:
        at = following
    return at


def choose(values: Vector, most: int) -> Index:
    """The places of the best half of `most`, and of as many drawn from the others, in order.

    >>> choose(np.array([5.0, 1.0, 4.0, 3.0, 2.0]), 10).tolist()
    [0, 1, 2, 3, 4]
    """
    t = len(values)
    if t <= most:
        return np.arange(t)
    best = np.argsort(-values, kind="stable")[: most // 2]
    # A lot for each place, the same in every process: who has drawn a long one is not drawn later either.
    lots = np.random.default_rng(0).random(t)
    lots[best] = -1.0
    return np.sort(np.argsort(lots, kind="stable")[:most])


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
    """The similarities, and the committee for the observations so far."""

    similarities: tuple[Similarity, ...]
    settings: Settings = field(default_factory=Settings)
    grams: GramCache = field(init=False)
    _known: tuple[Data, Selection, Committee] | None = None
    _fitted: tuple[Data, Committee] | None = None
    _error: tuple[Committee, float] | None = None

    def __post_init__(self) -> None:
        self.grams = GramCache(self.similarities)

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        """A complaint where a similarity cannot compare these objects with one another and with a known one."""
        self.grams.encodings.of([*known, *objects])

    def committee(self, data: Data) -> tuple[Committee, Selection]:
        """The committee for these observations, and which of them it is conditioned on."""
        if self._known is None or not self._known[0].same(data):
            selection = select(data.values)
            self._known = data, selection, self._condition(data, selection)
        return self._known[2], self._known[1]

    def _condition(self, data: Data, selection: Selection) -> Committee:
        fit = last_fit(len(data.values))
        self.grams.settle(data.objects[: _settling(fit)])
        used = data.part(selection.conditioned)
        grams = self.grams.of(used.objects)
        places = np.searchsorted(selection.conditioned, selection.learnt)
        fitted = self._fit([gram.part(places) for gram in grams], used.part(places))
        committee = _on(fitted, grams, used)
        before = int(np.searchsorted(selection.conditioned, fit))
        if before < len(used.values) and self._has_degraded(fitted, committee, grams, used, before):
            places = choose(used.values, LEARNT_FROM)
            committee = _on(self._fit_now([gram.part(places) for gram in grams], used.part(places)), grams, used)
        return committee

    def _has_degraded(self, fitted: Committee, now: Committee, grams: Sequence[Gram], used: Data, before: int) -> bool:
        """Whether the errors have grown since the fit, when there were the first `before` of the observations."""
        if self._error is None or self._error[0] is not fitted:
            first = np.arange(before)
            then = _on(fitted, [gram.part(first) for gram in grams], used.part(first))
            self._error = fitted, leave_one_out_error(then)
        return leave_one_out_error(now) > DEGRADED * self._error[1]

    def _fit(self, grams: Sequence[Gram], data: Data) -> Committee:
        if self._fitted is None or not self._fitted[0].same(data):
            self._fitted = data, self._fit_now(grams, data)
        return self._fitted[1]

    def _fit_now(self, grams: Sequence[Gram], data: Data) -> Committee:
        return fit(grams, data.values, data.extra_noise, settings=self.settings)


def _on(fitted: Committee, grams: Sequence[Gram], data: Data) -> Committee:
    """The committee on these observations, which hold those it was fitted on."""
    if len(fitted.grams[0]) == len(data.values):
        return fitted
    tuned = [gram.retune(own) for gram, own in zip(grams, fitted.similarities, strict=True)]
    return recondition(fitted, tuned, data.values, data.extra_noise)


def _settling(t: int) -> int:
    """How many of the first observations settle the similarities: twice as many whenever the data have doubled.

    >>> [_settling(t) for t in (1, 2, 3, 9, 5000)]
    [0, 2, 2, 8, 256]
    """
    return 0 if t < 2 else 1 << (min(t, LEARNT_FROM).bit_length() - 1)
