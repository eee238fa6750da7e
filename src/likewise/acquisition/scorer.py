"""A score for any object of a study of one outcome: the committee's members score it, and the scores are averaged.

With it: what searches ask of any scorer, how far one noisy measurement moves the mean, Thompson draws, and scores per
unit of cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.acquisitions import HAIR, Acquisition, Care, LeastKnown, LogExpectedImprovement
from likewise.errors import LikewiseError, StudyError
from likewise.model.committee import Committee, Member
from likewise.model.evidence import AMPLITUDE_STRENGTH, misfit_share
from likewise.model.regression import Regression, doubts
from likewise.model.scores import ObjectScores, pull_all, same_objects
from likewise.similarity.base import Matrix, Similarity, Vector, check_scores
from likewise.similarity.encoding import Encoding

# What searches ask of a score: what objects are worth, from what one committee or several believe of them.

# Means and variances, one row per member.
Moments = tuple[Matrix, Matrix]
Rows = Mapping[int, Matrix]
Selves = Mapping[int, Vector]
# What is known of objects without a model, one number for each.
Known = Callable[[Sequence[Any]], Vector]


class Scoring(ABC):
    """The worth of any object.

    `feasibility` scores the logarithm of the chance that an object can be measured at all.
    """

    feasibility: Scorer | None

    @property
    @abstractmethod
    def committees(self) -> tuple[Committee, ...]:
        """The committees whose beliefs count, one for each outcome."""

    @property
    def known(self) -> tuple[Known, ...]:
        """What is known of an object without a model; its numbers are handed to the methods below."""
        return ()

    @property
    def differentiable(self) -> bool:
        """Whether the score has a gradient in the objects' vectors."""
        chance = self.feasibility
        committees = (*self.committees, *(() if chance is None else chance.committees))
        return not self.known and all(committee.differentiable for committee in committees)

    @abstractmethod
    def score(self, objects: Sequence[Any]) -> Vector:
        """The worth of each object."""

    @abstractmethod
    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        """The worth of each object, and its gradient in the object's vector when asked for."""

    @abstractmethod
    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        """The worth of objects of which each committee's means and variances are at hand."""

    @abstractmethod
    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        """What no object of these means and of variances up to these is worth more than, whatever its chance."""

    @abstractmethod
    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        """The scores without those of objects that are known already, if under another name.

        `moments`, `rows` and `selves` are each committee's. Where nothing is noisy, an object that no similarity can
        tell from a measured one is not worth measuring.
        """

    @abstractmethod
    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        """The score lowered by the logarithms of the chances that the objects can be measured."""

    @abstractmethod
    def with_pending(self, objects: Sequence[Any]) -> Self:
        """The score when these objects are in flight, too."""

    @abstractmethod
    def extends(self, earlier: Scoring) -> bool:
        """Whether this is the earlier one with more in flight: then no object is worth more than it was."""

    @abstractmethod
    def lean(self) -> Self:
        """What scores rows, without the matrices behind it."""


def same_members(now: Sequence[Committee], then: Sequence[Committee]) -> bool:
    """Whether committees have the same members, whatever is in flight."""
    mine, theirs = ([[id(m.regression) for m in one.members] for one in each] for each in (now, then))
    return mine == theirs


def hide(score: Vector, committees: Sequence[Committee], rows: Sequence[Rows], selves: Sequence[Selves]) -> Vector:
    """Scores of −∞ for objects that every committee is sure to know already."""
    if not all(committee.noiseless for committee in committees):
        return score
    same = [c.identical(row, own) for c, row, own in zip(committees, rows, selves, strict=True)]
    return np.where(np.logical_and.reduce(same), -np.inf, score)


# An outcome as a score sees it: its committee with what is to be done with it, and what it has met so far.

IMPROVEMENT = LogExpectedImprovement()
# Of some objects, by their identities.
Comparisons = dict[tuple[int, ...], ObjectScores]


@dataclass(frozen=True, eq=False)
class ScoredOutcome:
    """An outcome with a model: whether it is an objective, and its limits, if any, both on the model's scale.

    `reference` is what is no improvement any more, where the user has said so.
    """

    committee: Committee
    objective: bool
    limits: tuple[float, float] | None = None
    reference: float | None = None

    @property
    def improvement(self) -> LogExpectedImprovement:
        """What is expected beyond a value of this outcome."""
        return IMPROVEMENT.under(self.committee.ceiling)

    def without_ceiling(self) -> ScoredOutcome:
        """The outcome with values that may be anything."""
        committee = self.committee
        return replace(self, committee=replace(committee, transform=committee.transform.unbounded))


@dataclass(frozen=True, eq=False)
class Certain:
    """An objective that is known without a model: larger is better, in units of `scale`."""

    values: Known
    scale: float
    reference: float | None = None

    def scaled(self, values: Vector) -> Matrix:
        """The values as the means of one member."""
        return np.asarray(values, dtype=float)[None] / self.scale


def objects_of(committee: Committee) -> tuple[Any, ...]:
    """The observed objects, then those in flight."""
    waiting = next(iter(committee.waiting.values()), None)
    return committee.objects if waiting is None else waiting.objects


def places_of(committee: Committee) -> dict[int, int]:
    return {id(x): i for i, x in enumerate(objects_of(committee))}


def means_of(committee: Committee) -> Matrix:
    """Each member's mean at the observed objects, then at those in flight, of values that are not above the ceiling.

    What is in flight is still in doubt: of its values those above the ceiling lower the mean, E[min(f, c)].
    """
    means, ceiling = committee.observed_means(), committee.ceiling
    if committee.waiting:
        pending = committee.pending_means()
        if np.isfinite(ceiling):
            pending = pending - np.exp(IMPROVEMENT.score(pending, np.maximum(committee.pending_stds(), HAIR), ceiling))
        means = np.hstack([means, pending])
    return np.minimum(means, IMPROVEMENT.under(ceiling).top)


def wait(one: ScoredOutcome, objects: Sequence[Any], made: Comparisons | None = None) -> ScoredOutcome:
    """The outcome when these objects are in flight, but for those that it has already.

    `made` are the comparisons that other outcomes have made of the same objects.
    """
    met = places_of(one.committee)
    new = [x for x in objects if id(x) not in met]
    once = ObjectScores(new) if made is None else made.setdefault(tuple(map(id, new)), ObjectScores(new))
    return replace(one, committee=one.committee.with_pending(new, once))


# How far one measurement moves the mean: what an improvement can be found by, however much is in doubt.
#
# One value of noise σ² at an object of variance V moves its mean by a normal of standard deviation
#
#     s = V/√(V + σ²),      ds/dV = (V/2 + σ²)/(V + σ²)^{3/2},
#
# which is √V without noise. Where noise hides more than is in doubt, one more value tells little.

TINY = np.finfo(float).tiny
# An improvement has to exceed such a share of the doubt about the best.
DOUBT = 0.5


def noise_of(committee: Committee) -> Matrix:
    """The variance of one more measurement to each member, one row each."""
    regressions = [member.regression for member in committee.members]
    return np.array([[regression.typical_noise * regression.inflation] for regression in regressions])


def margins_of(committee: Committee, places: Sequence[Sequence[int]]) -> Matrix:
    """What an improvement on these observed objects has to exceed, for each member its own places, one row each.

    Between measured objects a mean is always a little higher somewhere. Without noise that is to be gained; with noise
    it is gained by measuring there only if it is more than a share of the doubt that noise leaves about the best. To
    members to which a value, once measured, is as good as certain there is none. Where objects do not vary smoothly
    there is nothing between them, and what is no kernel may take for noise in what its twins differ: it has none there.
    """
    smooth, each = committee.differentiable, zip((m.regression for m in committee.members), places, strict=True)

    def doubt(one: Regression, own: Sequence[int]) -> float:
        counts = own and not one.certain() and (smooth or one.bounded)
        return float(doubts(one, own).mean()) if counts else 0.0

    return DOUBT * np.array([[doubt(one, own)] for one, own in each])


def moved(variances: Matrix, noise: Any) -> Matrix:
    """s from V and σ².

    >>> moved(np.array([4.0, 4.0]), np.array([0.0, 12.0])).tolist()
    [2.0, 1.0]
    """
    with np.errstate(over="ignore"):
        return np.sqrt(variances) / np.sqrt(1.0 + noise / np.maximum(variances, TINY))


def moved_slope(variances: Matrix, noise: Any) -> Matrix:
    """ds/dV; 0 where V is 0: there its root has no derivative, and the mean alone counts."""
    total = np.where(variances > 0, variances + noise, 1.0)
    return np.where(variances > 0, (0.5 * variances + noise) / total / np.sqrt(total), 0.0)


# A score for any object: the committee's members score it, and their scores are averaged.

# How many times as steeply a chance falls where it is too small to be taken: more than any difference of log scores, as
# what is known to be no improvement may have −1e9.
STEEP = 1e12
# An object is settled if its variance is so many times that of a measured value or less, and what is hoped for beyond
# the best is less than such a share of its standard deviation. Together that is an improvement by one such deviation.
SURE, WORTH = 4.0, 0.3
# That is for members to which noise is at most such a share of the amplitude.
CERTAIN = 1e-4
# To others an object is settled beside what is in flight if its standard deviation, and what is hoped for beyond the
# best, are at most such a share of the noise's: it would take a hundred measurements to tell them apart.
TOLD_APART = 0.1


class _Lowered(NamedTuple):
    """A score weighed by a chance, and its derivatives in the score and in the chance's logarithm."""

    score: Vector
    in_score: Vector
    in_log_chance: Vector


@dataclass(frozen=True, eq=False)
class Scorer(Scoring):
    """An acquisition on a committee.

    `incumbents` is what is to be improved on, one for each member: what that member believes is the best so far, on
    the model's scale. `feasibility` scores the logarithm of the chance that an object can be measured at all.
    """

    committee: Committee
    acquisition: Acquisition
    incumbents: Vector
    feasibility: Scorer | None = None
    # Whether only what is new has a worth: a chance is everyone's.
    novel: bool = True
    # Of a chance: its logarithm below which an object is proposed only where nothing better can be.
    least: float = -np.inf
    # What an improvement has to exceed, one row for each member.
    margins: Matrix | float = 0.0

    @classmethod
    def on(cls, committee: Committee, acquisition: Acquisition, feasibility: Scorer | None = None) -> Scorer:
        """The scorer whose incumbents are the largest means at the observed objects, not the luckiest measurement."""
        means, acquisition = means_of(committee), acquisition.under(committee.ceiling)
        if not acquisition.noise_aware:
            return cls(committee, acquisition, means.max(axis=1), feasibility)
        places = means.argmax(axis=1)[:, None].tolist()
        margins, settled = margins_of(committee, places), committee.settling(places)
        return cls(settled, acquisition, means.max(axis=1), feasibility, margins=margins)

    @property
    def committees(self) -> tuple[Committee, ...]:
        return (self.committee,)

    @property
    def _best(self) -> Matrix:
        return self.incumbents[:, None]

    def _counted(self, means: Matrix) -> Matrix:
        """Means as an improvement counts them, which has to be told from the best where there is noise."""
        return means - self.margins if self.acquisition.noise_aware else means

    def score(self, objects: Sequence[Any]) -> Vector:
        """The worth of each object."""
        encodings = self.committee.encode(objects)
        score = self.score_rows(self.committee.rows(encodings, objects), self.committee.selves(encodings, objects))
        return score if self.feasibility is None else self.lower(score, self.feasibility.score(objects))

    def score_rows(self, rows: Mapping[int, Matrix], selves: Mapping[int, Vector]) -> Vector:
        """The worth of objects whose scores with the observed ones are at hand."""
        moments = [self.committee.moments(rows, selves)]
        return self.hide_known(self.score_moments(moments), moments, [rows], [selves])

    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        if not self.novel:
            return score
        settled = self._settled(*moments[0])
        if self.committee.waiting:
            # Twins are told apart by nothing that is compared, and may differ all the same.
            blurred = self._settled(*moments[0], noisy=True) & ~self.committee.identical(rows[0], selves[0])
            settled = settled | blurred
        return np.where(settled, -np.inf, hide(score, self.committees, rows, selves))

    def _settled(self, means: Matrix, variances: Matrix, *, noisy: bool = False) -> NDArray[np.bool_]:
        """Which objects most votes know almost as well as measured ones, and as no improvement.

        They differ from measured ones in nothing that matters. To members that see noise one more value near the best
        is worth something. They have a say (`noisy`) where something is in flight: what noise cannot tell from it would
        be the same measurement twice.
        """
        certain = np.array([[member.regression.certain(CERTAIN)] for member in self.committee.members])
        sure, worth = np.where(certain, SURE, TOLD_APART**2), np.where(certain, WORTH, TOLD_APART)
        better = np.minimum(means, self.committee.ceiling) - self._best > worth * np.sqrt(self._noise)
        settled = (certain | noisy) & (variances <= sure * self._noise) & ~better
        return np.asarray(self.committee.weights @ settled > 0.5)

    def anywhere(self) -> Scorer:
        """The score of what is least known: for where nothing is worth anything."""
        return replace(self.by(LeastKnown()), novel=False)

    def by(self, acquisition: Acquisition) -> Scorer:
        """The score by another acquisition: one that is not aware of noise has all the doubt that there is."""
        committee = self.committee if acquisition.noise_aware else self.committee.unsettled()
        return replace(self, acquisition=acquisition.under(committee.ceiling), committee=committee)

    @cached_property
    def _noise(self) -> Matrix:
        return noise_of(self.committee)

    def _spread(self, variances: Matrix) -> Matrix:
        """How far a value may lie from its mean, or, for an improvement, how far one measurement moves the mean."""
        return moved(variances, self._noise) if self.acquisition.noise_aware else np.sqrt(variances)

    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        ((means, variances),) = moments
        scores = self._checked(means, self.acquisition.score(self._counted(means), self._spread(variances), self._best))
        return self.acquisition.average(scores, self.committee.weights)[0]

    def _checked(self, means: Matrix, scores: Any) -> Any:
        """The scores of an acquisition, which may be the user's, refused where they are no numbers."""
        if np.shape(scores) != means.shape or np.isnan(scores).any():
            name = type(self.acquisition).__name__
            shown = f"{scores!r:.80}" if np.shape(scores) != means.shape else "NaN"
            raise StudyError(
                f"the acquisition {name} gave {shown} for means of shape {means.shape}; "
                "return a number for each mean, −inf for what is worth nothing"
            )
        return scores

    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        ((means, variances),) = moments
        with np.errstate(over="ignore", invalid="ignore"):
            counted, spread = self._counted(means), self._spread(variances)
            return self.acquisition.average_bound(counted, spread, self._best, self.committee.weights, care)

    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        """The worth of each object, and its gradient in the object's vector when asked for.

        The gradient is one pullback from the score through members and similarities to the object.
        """
        means, variances, pull = self.committee.linearise(ObjectScores(objects))
        slopes = self.acquisition.slopes(self._counted(means), self._spread(variances), self._best)
        score, shares = self.acquisition.average(self._checked(means, slopes.score), self.committee.weights)

        def gradient() -> Matrix:
            noise = self._noise if self.acquisition.noise_aware else 0.0
            return pull_all(pull(shares * slopes.in_mean, shares * slopes.in_std * moved_slope(variances, noise)))

        if self.feasibility is None:
            return score, gradient
        log_chance, chance_gradient = self.feasibility.linearise(objects)
        low = self._lower(score, log_chance)
        return low.score, lambda: low.in_score[:, None] * gradient() + low.in_log_chance[:, None] * chance_gradient()

    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        return self._lower(score, log_chance).score

    def _lower(self, score: Vector, log_chance: Vector) -> _Lowered:
        """The score times the chance; where it is no improvement, an object that fails counts as the worst value.

        log u + log c for a logarithmic score log u, and c·u + (1 − c)·min(u, worst) for another score u. Below the
        least chance that is taken, c falls far more steeply: once the best that can be measured is known, whatever
        improves on it lies where objects fail, and would be asked for again and again.
        """
        assert self.feasibility is not None
        below = np.minimum(0.0, log_chance - self.feasibility.least)
        log_chance, steep = log_chance + STEEP * below, np.where(below < 0, 1.0 + STEEP, 1.0)
        if self.acquisition.logarithmic:
            return _Lowered(score + log_chance, np.ones_like(score), steep)
        # What is hidden stays so, whatever its chance.
        hidden, chance = np.isneginf(score), np.exp(log_chance)
        score = np.where(hidden, 0.0, score)
        worst = np.minimum(score, self.committee.targets.min())
        in_score = np.where(score > worst, chance, 1.0)
        lowered = np.where(hidden, -np.inf, chance * score + (1.0 - chance) * worst)
        return _Lowered(lowered, in_score, steep * chance * (score - worst))

    def with_pending(self, objects: Sequence[Any]) -> Scorer:
        """The scorer when these objects are in flight, too: less variance near them, and their means to be beaten.

        Each member's incumbent rises to its own mean: one that expects more of them than the others do would otherwise
        see an improvement at the same place again.
        """
        if not len(objects):
            return self
        committee = self.committee.with_pending(objects)
        incumbents = np.maximum(self.incumbents, means_of(committee)[:, len(committee) :].max(axis=1))
        return replace(self, committee=committee, incumbents=incumbents)

    def score_measurement(self, x: Any) -> float:
        """What one measurement of a new object is worth, beside one more of a measured object."""
        committee = self.committee.unsettled()
        return float(self._score_learnt(*committee.moments(*committee.compare(ObjectScores([x]))))[0])

    def score_repeats(self) -> Vector:
        """What one more measurement of each observed object is worth.

        A repeat of what a member believes is the best pays if it falls behind the runner-up, as one of the runner-up
        does if that gets ahead: by symmetry both are worth the same. What is settled is worth nothing.
        """
        committee, t = self.committee.unsettled(), len(self.committee)
        columns = {k: committee.waiting.get(k, committee.grams[k]).scores[:t] for k in committee.used}
        means, variances = committee.moments(columns, {k: np.diagonal(scores) for k, scores in columns.items()})
        # Values of one object are one object's: it is not its own runner-up.
        groups = same_objects(committee.objects)
        places = np.concatenate([np.full(len(group), i) for i, group in enumerate(groups)])
        first = np.array([group[0] for group in groups])
        settled = self._settled(means[:, first], variances[:, first])
        if len(first) > 1:
            means = np.minimum(means, np.sort(means[:, first], axis=1)[:, -2:-1])
        scores = np.empty(t)
        learnt = np.where(settled, -np.inf, self._score_learnt(means[:, first], variances[:, first]))
        scores[np.concatenate(groups)] = learnt[places]
        return scores

    def _score_learnt(self, means: Matrix, variances: Matrix) -> Vector:
        """The score of how far one measurement moves the mean, whatever the acquisition."""
        scores = self.acquisition.score(means, np.maximum(moved(variances, self._noise), TINY), self._best)
        return self.acquisition.average(scores, self.committee.weights)[0]

    def extends(self, earlier: Scoring) -> bool:
        return (
            isinstance(earlier, Scorer)
            and self.acquisition == earlier.acquisition
            and self.feasibility is earlier.feasibility
            and same_members(self.committees, earlier.committees)
        )

    def lean(self) -> Scorer:
        feasibility = None if self.feasibility is None else self.feasibility.lean()
        return replace(self, committee=self.committee.lean(), feasibility=feasibility)


# Thompson sampling: one draw from the posterior at a set of objects; the best object of the draw is the suggestion.


def draw(committee: Committee, objects: Sequence[Any], n: int, rng: np.random.Generator) -> Matrix:
    """`n` joint draws of the values of these objects on the model's scale, each from a member chosen by its vote."""
    chosen = rng.choice(len(committee.members), size=n, p=committee.weights)
    draws = np.empty((n, len(objects)))
    encodings = committee.encode(objects)
    rows = committee.without_pending().rows(encodings, objects)
    among = {k: _among(committee.grams[k].similarity, encoding, objects) for k, encoding in encodings.items()}
    for i in np.unique(chosen).tolist():
        mix, regression, mask = committee.members[i].mix, committee.members[i].regression, chosen == i
        mixed = mix.scores(rows)
        covariance = regression.covariance(mixed, mix.scores(among))
        draws[mask] = draw_normal(regression.mean(mixed), covariance, int(mask.sum()), rng)
    return draws


def _among(similarity: Similarity, encodings: Encoding, objects: Sequence[Any]) -> Matrix:
    scores = similarity.between(encodings, encodings)
    check_scores(scores, objects, objects, signed=similarity.signed)
    return scores


def draw_normal(mean: Vector, covariance: Matrix, n: int, rng: np.random.Generator) -> Matrix:
    """Draws from N(mean, covariance); what an indefinite similarity leaves negative in the covariance is clipped.

    >>> draw_normal(np.zeros(2), np.eye(2), 3, np.random.default_rng(0)).shape
    (3, 2)
    """
    levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = basis * np.sqrt(np.maximum(levels, 0.0))
    return mean + rng.standard_normal((n, len(mean))) @ root.T


# Values of several objects drawn together, as the committee believes them.

NO_ZERO = 1e-300


def draw_values(committee: Committee, objects: Sequence[Any], n: int, rng: np.random.Generator) -> Matrix:
    """`n` joint draws of the true values of these objects, one row each, on the user's scale; larger is better.

    Each draw is of a member chosen by its vote, with Student's t for its amplitude and, with the share of its `misfit`,
    with what it takes for noise. So every column has the distribution that `Committee.predict` gives.
    """
    alone = committee.without_pending()
    chosen = rng.choice(len(alone.members), size=n, p=alone.weights / alone.weights.sum())
    encodings = alone.encode(objects)
    rows, selves = alone.rows(encodings, objects), alone.selves(encodings, objects)
    among = {k: alone.grams[k].similarity.between(encoding, encoding) for k, encoding in encodings.items()}
    draws, freedom = np.empty((n, len(objects))), len(alone) + AMPLITUDE_STRENGTH
    widen = np.sqrt(freedom / rng.chisquare(freedom, size=n))
    for i in np.unique(chosen).tolist():
        mix, member, mask = alone.members[i].mix, alone.members[i], chosen == i
        mixed = mix.scores(rows)
        mean = np.clip(member.regression.mean(mixed), *alone.reach(member.regression))
        covariance = _covariance(member, mixed, mix.scores(selves), mix.scores(among))
        away = draw_normal(np.zeros(len(objects)), covariance, int(mask.sum()), rng)
        draws[mask] = mean + widen[mask, None] * _with_misfit(member, away, rng)
    return np.asarray(alone.transform.backward(draws))


def _covariance(member: Member, rows: Matrix, selves: Any, among: Matrix) -> Matrix:
    """The covariance of the objects, whose diagonal is the variance that is believed of each."""
    signed = member.regression.covariance(rows, among)
    deviations = np.sqrt(np.maximum(np.diag(signed), NO_ZERO))
    believed = np.sqrt(np.maximum(member.regression.variance(rows, selves), 0.0))
    return np.asarray(np.clip(signed / np.outer(deviations, deviations), -1.0, 1.0) * np.outer(believed, believed))


def _with_misfit(member: Member, away: Matrix, rng: np.random.Generator) -> Matrix:
    """What a member cannot explain belongs to the objects in some of the draws, to each its own."""
    noise = member.ratio * member.regression.amplitude
    belongs = rng.random(len(away)) < misfit_share(np.array([noise]))[0]
    return away + np.where(belongs[:, None], np.sqrt(noise) * rng.standard_normal(away.shape), 0.0)


# Worth for money: a score per unit of what an object costs, of those that can still be afforded.


@dataclass(frozen=True, eq=False)
class Priced(Scoring):
    """log u(x) − log cost(x) where cost(x) is not more than what is `left`, and −∞ elsewhere.

    Where it does not divide, log u(x) of those that can be afforded.
    """

    inner: Scoring
    costs: Known
    left: float
    divides: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.inner, Scorer) and not self.inner.acquisition.logarithmic:
            raise LikewiseError(
                f"{self.inner.acquisition!r} is no gain that could be divided by a cost; "
                "leave acquisition out, or give LogExpectedImprovement()"
            )

    @property
    def feasibility(self) -> Scorer | None:  # type: ignore[override]
        return self.inner.feasibility

    @property
    def committees(self) -> tuple[Committee, ...]:
        return self.inner.committees

    @property
    def known(self) -> tuple[Known, ...]:
        return (*self.inner.known, self.costs)

    def score(self, objects: Sequence[Any]) -> Vector:
        return self._per_cost(self.inner.score(objects), self.costs(objects))

    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        raise AssertionError("a cost has no gradient")

    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        return self._per_cost(self.inner.score_moments(moments, known[:-1]), known[-1])

    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        return self._per_cost(self.inner.bound_moments(moments, known[:-1], care=care), known[-1])

    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        return self.inner.hide_known(score, moments, rows, selves)

    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        return self.inner.lower(score, log_chance)

    def with_pending(self, objects: Sequence[Any]) -> Priced:
        return replace(self, inner=self.inner.with_pending(objects))

    def spend(self, objects: Sequence[Any]) -> Priced:
        """What is left when these objects are bought, which are then in flight."""
        return replace(self.with_pending(objects), left=self.left - float(np.sum(self.costs(objects))))

    def log_gains(self, objects: Sequence[Any], scores: Vector) -> Vector:
        """log u(x) of objects with these scores."""
        return scores + self._divisor(self.costs(objects))

    def extends(self, earlier: Scoring) -> bool:
        return (
            isinstance(earlier, Priced)
            and self.divides == earlier.divides
            and self.costs == earlier.costs
            and self.left <= earlier.left
            and self.inner.extends(earlier.inner)
        )

    def lean(self) -> Priced:
        return replace(self, inner=self.inner.lean(), costs=_absent)

    def _per_cost(self, score: Vector, costs: Vector) -> Vector:
        # A hair more, so that what costs exactly what is left can be afforded.
        return np.where(costs <= self.left * (1.0 + 1e-12), score - self._divisor(costs), -np.inf)

    def _divisor(self, costs: Vector) -> Vector:
        return np.log(costs) if self.divides else np.zeros_like(costs)


def _absent(objects: Sequence[Any]) -> Vector:
    raise AssertionError("costs come with the rows")
