"""A score for any object: the committee's members score it, and their scores are averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.base import Acquisition, Care
from likewise.acquisition.confidence import LeastKnown
from likewise.acquisition.measurement import TINY, margins_of, moved, moved_slope, noise_of
from likewise.acquisition.outcome import means_of
from likewise.acquisition.scoring import Moments, Rows, Scoring, Selves, hide, same_members
from likewise.errors import StudyError
from likewise.model.committee import Committee
from likewise.model.comparison import Comparison, pull_all
from likewise.model.gram import same_objects
from likewise.similarity.base import Matrix, Vector

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
        means, variances, pull = self.committee.linearise(Comparison(objects))
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
        return float(self._score_learnt(*committee.moments(*committee.compare(Comparison([x]))))[0])

    def score_repeats(self) -> Vector:
        """What one more measurement of each observed object is worth.

        A repeat of what a member believes is the best pays if it falls behind the runner-up, as one of the runner-up
        does if that gets ahead: by symmetry both are worth the same. What is settled is worth nothing.
        """
        committee, t = self.committee.unsettled(), len(self.committee)
        known = {k: committee.waiting.get(k, committee.grams[k]).scores[:t] for k in committee.used}
        means, variances = committee.moments(known, {k: np.diagonal(scores) for k, scores in known.items()})
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
