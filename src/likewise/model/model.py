"""The model of a study: a committee, fitted on a schedule and conditioned on all that was told since."""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.model.censoring import says_nothing
from likewise.model.committee import Committee
from likewise.model.fit import FitSettings, fit, recondition, rough_scores, suitable_transform, vote
from likewise.model.leave_one_out import leave_one_out_error
from likewise.model.outliers import NONE, block_shifts
from likewise.model.scores import Gram, GramCache, Treatments
from likewise.similarity.algebra import self_bounded
from likewise.similarity.base import Similarity, Vector

# What a study believes: a committee, fitted on a schedule and conditioned on what has been told since.
#
# Where the committee of the schedule errs more on observations left out than it did when it was fitted, it has not
# foreseen what was told since, and another is fitted at once; so it is where the values ask for another scale, and
# where many votes have moved.
#
# It depends on the observations and on what was told together alone, never on when it was asked, so that a study that
# was resumed believes what it would have believed otherwise. Only the work is remembered.
#
# What was told together is one event: the committee is fitted before it or after it, never on a part of it.
#
# What was told since the fit counts in the votes, too.
#
# Of a value that is only a limit, a site is made that stands for it (`censoring`). A limit that says nothing is left
# out.
#
# It is built on some of the observations where they are many, so that an ask stays quick however long the study is.
# Fitting costs O(t³). Every observation counts until there are `CONDITIONED_ON`; of more, the best half of that number
# stays, for that is where the optimum is, and the rest is drawn from all others at random, for the lie of the land.
# What is learnt (parameters, noises, votes) is learnt from `LEARNT_FROM` of them, chosen in the same way.
#
# The choice depends on nothing but the values and a lot that belongs to each object, so that it is the same in whatever
# order they were told; and it changes only when the committee is fitted anew, so that Gram matrices grow in between. Of
# what is left out once, nothing comes back, so that they never need a score again that was computed before.

LOG = logging.getLogger("likewise")

CONDITIONED_ON = 1000
LEARNT_FROM = 300
# A fit takes a tenth of a second until then. Fitted less often, told one by one, the means of 64 strings were up to
# 0.28 standard deviations from those of the same table told at once.
EVERY_EVENT_UNTIL = 100
GROWTH, LONGEST_WAIT = 1.03, 100
SETTLED_ON = 64
# A committee whose leave-one-out error has grown by so much since it was fitted is fitted anew.
DEGRADED = 1.1
# So is one whose votes have moved by such a share: others may be elected now.
MOVED = 0.15

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Data:
    """Observations; larger values are better, and extra noises are variances.

    Many are in the order they were told. Few, on all of which a committee is fitted, may be in any other.

    lots: a number from 0 to 1 that belongs to each object, whenever it is told; None draws one for each place.
    events: a number for each observation, the same for those that were told together; None: one by one.
    limits: of each whether its value is only a limit, and on which side (`censoring`); None: all are measured.
    blocks: of each the number of the block that it was measured in (`blocks`); None: there are no blocks.
    """

    objects: Sequence[Any]
    values: Vector
    extra_noise: Vector | None
    lots: Vector | None = None
    events: Index | None = None
    limits: Vector | None = None
    blocks: Index | None = None

    @property
    def drawn(self) -> Vector:
        """The lot of each observation."""
        return np.random.default_rng(0).random(len(self.values)) if self.lots is None else self.lots

    @property
    def ends(self) -> Sequence[int]:
        """How many observations there were after each event."""
        t = len(self.values)
        if self.events is None or not t:
            return range(1, t + 1)
        return [*(np.flatnonzero(np.diff(self.events)) + 1).tolist(), t]

    def part(self, index: Any) -> Data:
        """Some of the observations."""
        extra, lots, events, limits, blocks = (
            None if vectors is None else vectors[index]
            for vectors in (self.extra_noise, self.lots, self.events, self.limits, self.blocks)
        )
        limits = None if limits is None or not limits.any() else limits
        return Data([self.objects[i] for i in index.tolist()], self.values[index], extra, lots, events, limits, blocks)

    def same(self, other: Data) -> bool:
        """Whether they are the same observations."""
        pairs = ((self.extra_noise, other.extra_noise), (self.limits, other.limits), (self.blocks, other.blocks))
        return (
            np.array_equal(self.values, other.values)
            and all(_same(mine, theirs) for mine, theirs in pairs)
            and all(a is b for a, b in zip(self.objects, other.objects, strict=True))
            and list(self.ends) == list(other.ends)
        )


def _same(mine: Any, theirs: Any) -> bool:
    nothing = np.zeros(0)
    return np.array_equal(nothing if mine is None else mine, nothing if theirs is None else theirs)


class Selection(NamedTuple):
    """Observations by their place: those that the model is conditioned on, and those it learns from."""

    conditioned: Index
    learnt: Index


def select(data: Data) -> Selection:
    """The observations that count, of all in the order they were told.

    >>> some = Data([None] * 5000, np.arange(5000.0), None)
    >>> [len(part) for part in select(some.part(np.arange(20)))], [len(part) for part in select(some)]
    ([20, 20], [1041, 300])
    """
    fitted = last_fit(data.ends)
    before, fresh = data.part(np.arange(fitted)), np.arange(fitted, len(data.values))
    return Selection(np.concatenate([choose(before, CONDITIONED_ON), fresh]), choose(before, LEARNT_FROM))


def last_fit(ends: Iterable[int]) -> int:
    """How many observations there were when the committee was last fitted: at the end of an event.

    That is after every event at first, then whenever the data have grown by a share. `ends` are the numbers of
    observations after each event.

    >>> [last_fit(range(1, t + 1)) for t in (7, 100, 102, 103, 12_345)]
    [7, 100, 100, 103, 12259]
    >>> last_fit([10, 120, 121, 400])
    400
    """
    at = 0
    for end in ends:
        if end <= EVERY_EVENT_UNTIL or end >= at + min(int(np.ceil((GROWTH - 1.0) * at - 1e-9)), LONGEST_WAIT):
            at = end
    return at


def choose(data: Data, most: int) -> Index:
    """The places of the best half of `most`, and of as many drawn from the others, in order.

    >>> choose(Data([None] * 5, np.array([5.0, 1.0, 4.0, 3.0, 2.0]), None), 10).tolist()
    [0, 1, 2, 3, 4]
    """
    t = len(data.values)
    if t <= most:
        return np.arange(t)
    lots = data.drawn
    best = np.lexsort((lots, -data.values))[: most // 2]
    # Who has drawn a long lot is not drawn later either.
    rank = np.where(np.isin(np.arange(t), best), -1.0, lots)
    return np.sort(np.lexsort((data.values, rank))[:most])


@dataclass(eq=False)
class Model:
    """The similarities, and the committee for the observations so far."""

    similarities: tuple[Similarity, ...]
    settings: FitSettings = field(default_factory=FitSettings)
    # Those of another model of the same objects, where there are several outcomes.
    shared: GramCache | None = None
    grams: GramCache = field(init=False)
    _known: tuple[Data, Selection, Committee] | None = None
    _fitted: tuple[Data, Committee] | None = None
    _error: tuple[Committee, float] | None = None
    _settled: tuple[Similarity, ...] = ()

    def __post_init__(self) -> None:
        if self.shared is not None:
            self.grams, self.similarities = self.shared, self.shared.similarities
            return
        if self.settings.spectra != ("as_is",):
            self.similarities = tuple(map(self_bounded, self.similarities))
        self.grams = GramCache(self.similarities)

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        """A complaint where a similarity cannot compare these objects with one another and with a known one."""
        self.grams.encodings.meet([*known, *objects])

    def committee(
        self, data: Data, whole: Data | None = None, treatments: Treatments | None = None
    ) -> tuple[Committee, Selection]:
        """The committee for these observations, and which of them it is conditioned on.

        `whole` are the observations of all outcomes, which similarities are settled on, so that models share them;
        `treatments` are what the models of other outcomes have made of the same matrices.
        """
        treatments = Treatments() if treatments is None else treatments
        self._settle_with(data, whole)
        if self._known is None or not self._known[0].same(data):
            telling = np.flatnonzero(~says_nothing(data.values, data.limits))
            subset = data.part(telling) if len(telling) < len(data.values) else data
            subset = self._in_mean_block(subset)
            selection = select(subset)
            committee = self._condition(subset, selection, treatments)
            self._known = data, Selection(telling[selection.conditioned], telling[selection.learnt]), committee
        return self._known[2], self._known[1]

    def _settle_with(self, data: Data, whole: Data | None) -> None:
        """Settle similarities on these observations, or on those of all outcomes; what others gave is forgotten."""
        if whole is None:
            if self._known is None or not self._known[0].same(data):
                self.grams.settle(_settling_of(data))
            return
        self.grams.settle(_settling_of(whole))
        now = self.grams.settled
        if len(now) != len(self._settled) or not all(map(operator.is_, now, self._settled)):
            self._known, self._fitted, self._error, self._settled = None, None, None, now

    def _in_mean_block(self, data: Data) -> Data:
        """The observations without the shifts of their blocks, whose errors are known noise."""
        if data.blocks is None:
            return data
        some = choose(data, LEARNT_FROM)
        few, number = data.part(some), int(data.blocks.max()) + 1
        assert few.blocks is not None
        scores = rough_scores(self.grams.of(few.objects)) + self.settings.offset
        shifts, variances = block_shifts(scores, few.values, few.blocks, number, few.extra_noise)
        sizes = np.bincount(data.blocks[data.blocks != NONE], minlength=number)
        inside = np.flatnonzero(data.blocks != NONE)
        own, extra, values = data.blocks[inside], np.zeros(len(data.values)), data.values.copy()
        values[inside] -= shifts[own]
        extra[inside] = (sizes * variances)[own]
        noise = 0.0 if data.extra_noise is None else data.extra_noise
        return replace(data, values=values, extra_noise=extra + noise, blocks=None)

    def _condition(self, data: Data, selection: Selection, treatments: Treatments) -> Committee:
        fit = last_fit(data.ends)
        used = data.part(selection.conditioned)
        grams = self.grams.of(used.objects)
        places = np.searchsorted(selection.conditioned, selection.learnt)
        fitted = self._fit([gram.part(places) for gram in grams], used.part(places), treatments)
        committee = _on(fitted, grams, used, treatments)
        before = int(np.searchsorted(selection.conditioned, fit))
        if before == len(used.values):
            return committee
        places = choose(used, LEARNT_FROM)
        few, data = [gram.part(places) for gram in grams], used.part(places)
        # Another scale is another model: it would come with the next fit, and as a surprise.
        scale = type(committee.transform.unbounded)
        rescaled = suitable_transform(few, data.values, self.settings, data.limits) is not scale
        if rescaled or self._has_degraded(fitted, committee, used, before):
            return _on(self._fit_now(few, data, treatments), grams, used, treatments)
        votes = vote(_on(fitted, few, data))
        if 0.5 * float(np.sum(np.abs(votes - fitted.weights))) > MOVED:
            return _on(self._fit_now(few, data, treatments), grams, used, treatments)
        return _with_votes(committee, votes)

    def _has_degraded(self, fitted: Committee, now: Committee, used: Data, before: int) -> bool:
        """Whether the errors have grown since the fit, when there were the first `before` of the observations."""
        if self._error is None or self._error[0] is not fitted:
            self._error = fitted, leave_one_out_error(_first(fitted, now, used, before))
        return leave_one_out_error(now) > DEGRADED * self._error[1]

    def _fit(self, grams: Sequence[Gram], data: Data, treatments: Treatments) -> Committee:
        if self._fitted is None or not self._fitted[0].same(data):
            self._fitted = data, self._fit_now(grams, data, treatments)
        return self._fitted[1]

    def _fit_now(self, grams: Sequence[Gram], data: Data, treatments: Treatments) -> Committee:
        began = perf_counter()
        state = (data.values, data.extra_noise, data.limits)
        fitted = fit(grams, *state, settings=self.settings, treatments=treatments)
        LOG.debug("fitted %r in %.2f s", fitted, perf_counter() - began)
        return fitted


def _on(fitted: Committee, grams: Sequence[Gram], data: Data, treatments: Treatments | None = None) -> Committee:
    """The committee on these observations."""
    if len(fitted) == len(data.values) and all(map(operator.is_, fitted.objects, data.objects)):
        return fitted
    tuned = [gram.retune(similarity) for gram, similarity in zip(grams, fitted.similarities, strict=True)]
    return recondition(fitted, tuned, data.values, data.extra_noise, data.limits, treatments)


def _first(fitted: Committee, now: Committee, used: Data, n: int) -> Committee:
    """The committee as it was on the first `n` observations; a part of what it is now, where that can be had."""
    first = np.arange(n)
    then = used.part(first)
    # Where some values are limits, what stands for them depends on all the others.
    cut = [member.regression.first(n) if used.limits is None else None for member in now.members]
    members = [
        replace(member, regression=regression)
        for member, regression in zip(now.members, cut, strict=True)
        if regression is not None
    ]
    if len(members) < len(now.members):
        return _on(fitted, [gram.part(first) for gram in now.grams], then)
    # Its members have all that leaving out needs: matrices of scores would be copies for nothing.
    grams = tuple(replace(gram.lean(), objects=gram.objects[:n]) for gram in now.grams)
    return Committee(grams, tuple(members), fitted.transform, then.values, then.extra_noise, None)


def _with_votes(committee: Committee, votes: Vector) -> Committee:
    members = zip(committee.members, votes.tolist(), strict=True)
    return replace(committee, members=tuple(replace(member, weight=share) for member, share in members))


def _settling_of(data: Data) -> list[Any]:
    """The objects that settle similarities, of those that there were when the committee was last fitted."""
    return _settling(data.part(np.arange(last_fit(data.ends))))


def _settling(data: Data) -> list[Any]:
    """The objects that settle what similarities leave to the data: those of the shortest lots."""
    if len(data.values) < 2:
        return []
    return [data.objects[i] for i in np.argsort(data.drawn, kind="stable")[:SETTLED_ON].tolist()]
