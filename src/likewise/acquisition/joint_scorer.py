"""A score for any object of a study of several outcomes: expected hypervolume improvement, and the chance of limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from likewise.acquisition.acquisitions import HOPELESS, TINY, Care, Slopes, Within, between_h
from likewise.acquisition.hypervolume import (
    EXACT,
    Front,
    Promise,
    bound_volume,
    hypervolume,
    is_nondominated,
    judge_draws,
    log_volume,
    reference_point,
)
from likewise.acquisition.scorer import (
    IMPROVEMENT,
    Certain,
    Comparisons,
    Known,
    Moments,
    Rows,
    ScoredOutcome,
    Scorer,
    Scoring,
    Selves,
    hide,
    margins_of,
    means_of,
    moved,
    moved_slope,
    noise_of,
    objects_of,
    places_of,
    same_members,
    wait,
)
from likewise.model.committee import Committee
from likewise.model.scores import ObjectScores, pull_all
from likewise.similarity.base import Matrix, Vector

# A score for any object of a study of several outcomes: how much of the front it pushes out, and whether it may.
#
#     u(x) = log EHVI(x) + Σ_c log P[outcome c keeps to its limits]
#
# EHVI is the expected hypervolume improvement (see `hypervolume`) on the scales of the models; with one objective it is
# expected improvement. As long as no measured object, and none in flight, is believed to keep to all limits, there is
# no front to push out: the chance leads, and u is the second term alone.

# So many points stand for the front where a whole pool is bounded.
COARSE = 4


@dataclass(frozen=True, eq=False)
class JointScorer(Scoring):
    """The score of several outcomes. `front` is None as long as nothing is believed to keep to the limits."""

    outcomes: tuple[ScoredOutcome, ...]
    certain: tuple[Certain, ...]
    reference: tuple[float, ...]
    front: Front | None
    directions: Matrix | None = None
    feasibility: Scorer | None = None
    # Of each outcome the variance of one more measurement to each member; zeros where beliefs are judged.
    noises: tuple[Matrix, ...] = ()
    # Of each outcome what an improvement has to exceed to each member, likewise.
    margins: tuple[Matrix, ...] = ()

    @classmethod
    def on(
        cls,
        outcomes: Sequence[ScoredOutcome],
        certain: Sequence[Certain] = (),
        feasibility: Scorer | None = None,
        directions: Matrix | None = None,
        *,
        settle: bool = True,
    ) -> JointScorer:
        """The scorer of these outcomes; `directions` are needed where there are more than three objectives.

        Without `settle` it has all the doubt that there is, which is enough to judge.
        """
        noises = tuple(noise_of(outcome.committee) for outcome in outcomes)
        margins = tuple(map(np.zeros_like, noises))
        before = cls(tuple(outcomes), tuple(certain), (), None, directions, feasibility, noises=noises, margins=margins)
        means, weights, _ = before._points()
        mixed = [w @ m for w, m in zip(weights, means, strict=True)]
        rule = reference_point(np.stack(mixed, axis=1))
        chosen = tuple(float(r) if np.isinf(lowest) else lowest for r, lowest in zip(rule, before._lowest, strict=True))
        scorer = replace(before, reference=chosen)._with_front()
        return scorer._settled() if settle else scorer

    @property
    def committees(self) -> tuple[Committee, ...]:
        return tuple(outcome.committee for outcome in self.outcomes)

    @property
    def known(self) -> tuple[Known, ...]:
        return tuple(outcome.values for outcome in self.certain)

    @property
    def _objectives(self) -> list[ScoredOutcome]:
        return [outcome for outcome in self.outcomes if outcome.objective]

    def _with_front(self) -> JointScorer:
        means, weights, kept = self._points()
        if not kept.any() and any(outcome.limits for outcome in self.outcomes):
            return replace(self, front=None)
        feasible = [mean[:, kept] for mean in means]
        if len(means) > EXACT and self.directions is not None:
            return replace(self, front=Front.along(feasible, weights, self.reference, self.directions))
        return replace(self, front=Front.of(feasible, weights, self.reference))

    def _settled(self) -> JointScorer:
        """Each objective with the points of the front taken as known: doubt that is shared with them is no hope.

        To a member of one objective the front is made of its own means, and of what is expected in the others.
        """
        if self.front is None:
            return self
        means, weights, kept = self._points()
        shared, mixed = np.flatnonzero(kept), [w @ m for w, m in zip(weights, means, strict=True)]
        outcomes, margins, places = list(self.outcomes), list(self.margins), self._places
        for j, i in enumerate(i for i, outcome in enumerate(self.outcomes) if outcome.objective):
            here = [[*mixed[:j], mean, *mixed[j + 1 :]] for mean in means[j]]
            fronts = [shared[is_nondominated(np.stack(each, axis=1)[shared])] for each in here]
            # What is in flight is about to be known in any case.
            committee = outcomes[i].committee
            places_known = [[place for k in front if (place := places[i][k]) < len(committee)] for front in fronts]
            outcomes[i] = replace(outcomes[i], committee=committee.settling(places_known))
            margins[i] = margins_of(committee, places_known)
        return replace(self, outcomes=tuple(outcomes), margins=tuple(margins))

    @property
    def _places(self) -> list[list[int]]:
        """Of each outcome the places of all objects that every outcome has measured or waits for."""
        places = [places_of(outcome.committee) for outcome in self.outcomes]
        shared = [x for x in places[0] if all(x in others for others in places[1:])]
        return [[own[x] for x in shared] for own in places]

    def _points(self) -> tuple[list[Matrix], list[Vector], Any]:
        """Each objective's means at all objects that every outcome has measured or waits for, and which may be."""
        places = self._places
        means, weights, kept = [], [], np.ones(len(places[0]), dtype=bool)
        for outcome, own in zip(self.outcomes, places, strict=True):
            here = means_of(outcome.committee)[:, own]
            if outcome.limits is not None:
                mixed = outcome.committee.weights @ here
                kept &= (mixed >= outcome.limits[0]) & (mixed <= outcome.limits[1])
            if outcome.objective:
                means.append(here)
                weights.append(outcome.committee.weights)
        objects = objects_of(self.outcomes[0].committee)
        for exact in self.certain:
            means.append(exact.scaled(exact.values([objects[i] for i in places[0]])))
            weights.append(np.ones(1))
        return means, weights, kept

    def score(self, objects: Sequence[Any]) -> Vector:
        rows, selves, moments = self._compare(ObjectScores(objects))
        score = self.score_moments(moments, [known(objects) for known in self.known])
        score = self.hide_known(score, moments, rows, selves)
        return score if self.feasibility is None else self.lower(score, self.feasibility.score(objects))

    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        total = self._log_chance(moments)
        if self.front is None:
            return total
        logs = [
            self._improvements(j, *objectives)[0] for j, objectives in enumerate(self._of_objectives(moments, known))
        ]
        return total + log_volume(self.front, logs)[0]

    def _of_objectives(self, moments: Sequence[Moments], known: Sequence[Vector]) -> list[Moments]:
        """Means of each objective less its margin, and how far one measurement moves them.

        Those of certain ones do not move.
        """
        parts = zip(moments, self.outcomes, self.margins, self.noises, strict=True)
        moved_moments = [(m - margin, moved(v, noise)) for (m, v), outcome, margin, noise in parts if outcome.objective]
        scaled = [exact.scaled(values) for exact, values in zip(self.certain, known, strict=True)]
        return moved_moments + [(values, np.zeros_like(values)) for values in scaled]

    def _improvements(self, j: int, means: Matrix, stds: Matrix) -> tuple[Matrix, Matrix]:
        """log g_j at each edge, and each member's share in it, of shape (members, edges, objects)."""
        edges = self._edges(j)[0]
        if j >= len(self._objectives):
            with np.errstate(divide="ignore"):
                return np.log(np.maximum(means - edges.T[0][:, None], 0.0)), np.ones((1, len(edges), means.shape[1]))
        scores = self._objectives[j].improvement.score(means[:, None], stds[:, None], edges.T[:, :, None])
        return self._average(j, scores)

    def _average(self, j: int, scores: Any) -> tuple[Matrix, Matrix]:
        """The mean over the members of log g_j at each edge, and each member's share in it."""
        shape = scores.shape
        average, shares = IMPROVEMENT.average(scores.reshape(shape[0], -1), self._edges(j)[1])
        return average.reshape(shape[1:]), shares.reshape(shape)

    def _edges(self, j: int) -> tuple[Matrix, Vector]:
        assert self.front is not None
        objectives = self._objectives
        return self.front.edges[j], objectives[j].committee.weights if j < len(objectives) else np.ones(1)

    def _log_chance(self, moments: Sequence[Moments]) -> Vector:
        """The logarithm of the chance that the limits are kept."""
        total = np.zeros(moments[0][0].shape[1])
        for (means, variances), outcome in zip(moments, self.outcomes, strict=True):
            if outcome.limits is not None:
                within = Within(*outcome.limits)
                total = (
                    total + within.average(within.score(means, np.sqrt(variances), 0.0), outcome.committee.weights)[0]
                )
        return total

    def _compare(self, comparison: ObjectScores) -> tuple[list[Rows], list[Selves], list[Moments]]:
        """Each committee's scores of objects with the observed ones and with themselves, and what it makes of them."""
        compared = [committee.compare(comparison) for committee in self.committees]
        moments = [committee.moments(*selves) for committee, selves in zip(self.committees, compared, strict=True)]
        return [rows for rows, _ in compared], [selves for _, selves in compared], moments

    def judge(self, comparison: ObjectScores) -> Promise:
        """What is to be said of objects: their chances, and how much of the front is expected to be gained."""
        # Beliefs have all the doubt that there is, and need not be measured.
        outcomes = tuple(replace(outcome, committee=outcome.committee.unsettled()) for outcome in self.outcomes)
        nothing = tuple(map(np.zeros_like, self.noises))
        return replace(self, outcomes=outcomes, noises=nothing, margins=nothing)._judge(comparison)

    def _judge(self, comparison: ObjectScores) -> Promise:
        objects, found = comparison.objects, self._compare(comparison)[2]
        # Votes add up to one but for rounding; a chance is no more.
        feasible = np.exp(np.minimum(self._log_chance(found), 0.0))
        if self.front is None:
            return Promise(feasible, feasible, np.zeros(len(feasible)))
        each = self._of_objectives(found, [known(objects) for known in self.known])
        if self.directions is not None:
            ceilings = [one.committee.ceiling for one in self._objectives] + [np.inf for _ in self.certain]
            lowest, reference = np.array(self._lowest), np.array(self.reference)
            return judge_draws(feasible, each, ceilings, *self._front_points(), lowest, reference)
        over = [self._chances_above(j, *moments) for j, moments in enumerate(each)]
        gain = log_volume(self.front, [self._improvements(j, *moments)[0] for j, moments in enumerate(each)])[0]
        enters = np.minimum(bound_volume(self.front, over, over), 1.0)
        return Promise(feasible, feasible * enters, feasible * np.exp(gain) / self._size)

    def _chances_above(self, j: int, means: Matrix, stds: Matrix) -> Matrix:
        """The chance that objective j lies above each edge."""
        edges, weights = self._edges(j)
        if j >= len(self._objectives):
            chances = (means > edges.T[0][:, None]).astype(float)
        else:
            above = ndtr((means[:, None] - edges.T[:, :, None]) / stds[:, None])
            reached = edges.T[:, :, None] >= self._objectives[j].improvement.top
            chances = np.einsum("m,mer->er", weights, np.where(reached, 0.0, above))
        # A reference that is only a rule keeps nothing off the front.
        chances[0] = chances[0] if np.isfinite(self._lowest[j]) else 1.0
        return chances

    @property
    def _lowest(self) -> list[float]:
        """Of each objective the reference that was given, above which the front begins; it has no end without one."""
        references = [objective.reference for objective in self._objectives] + [
            objective.reference for objective in self.certain
        ]
        return [-np.inf if reference is None else reference for reference in references]

    def _front_points(self) -> tuple[Matrix, list[Vector]]:
        """What is expected at the objects that may be, and each objective's votes."""
        means, weights, kept = self._points()
        return np.stack([w @ m for w, m in zip(weights, means, strict=True)], axis=1)[kept], weights

    @property
    def _size(self) -> float:
        """The hypervolume of the front; 1 where it has none."""
        return hypervolume(self._front_points()[0], np.array(self.reference)) or 1.0

    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.zeros(moments[0][0].shape[1])
            for (means, variances), outcome in zip(moments, self.outcomes, strict=True):
                if outcome.limits is not None:
                    within = Within(*outcome.limits)
                    total = total + within.average_bound(means, np.sqrt(variances), 0.0, outcome.committee.weights)
            if self.front is not None:
                total = total + self._bound_volume(self.front, self._of_objectives(moments, known), care)
            # What has no bound, as a variance has none, is scored in any case.
            return np.where(np.isnan(total), np.inf, total)

    def _bound_volume(self, front: Front, moments: Sequence[Moments], care: Care) -> Vector:
        """More than log EHVI, which grows with every mean and every standard deviation, as a volume is convex.

        It is so without ceilings, which only lower it; one objective alone has a bound that sees its ceiling.
        """
        front = front if care is Care.TIGHT else front.coarse(COARSE)
        outcomes = self.outcomes if len(moments) == 1 else tuple(scale.without_ceiling() for scale in self.outcomes)
        coarse = replace(self, outcomes=outcomes, front=front)
        highs, lows = zip(*(coarse._between(j, *pair) for j, pair in enumerate(moments)), strict=True)
        volume = bound_volume(front, highs, lows)
        bounds = np.log(np.maximum(volume, HOPELESS))
        # The table has an end; what lies beyond it is computed in logarithms, where it matters.
        far = volume < HOPELESS
        if far.any() and care is not Care.ROUGH:
            logs = [
                coarse._improvements(j, m[:, far], np.maximum(s[:, far], TINY))[0] for j, (m, s) in enumerate(moments)
            ]
            bounds[far] = log_volume(front, logs)[0]
        return bounds

    def _between(self, j: int, means: Matrix, stds: Matrix) -> tuple[Matrix, Matrix]:
        """Slightly more and slightly less than g_j at each edge."""
        edges, weights = self._edges(j)
        if j >= len(self._objectives):
            exact = np.maximum(means - edges.T[0][:, None], 0.0)
            return exact * (1.0 + 1e-9), exact * (1.0 - 1e-9)
        spread = np.maximum(stds, TINY)
        if len(self.reference) == 1:
            # Of one objective the ceiling bounds what is above an edge, whatever the doubt.
            more = self._objectives[j].improvement.more
            high = np.stack([weights @ more(means, stds, at[:, None]) for at in edges])
            return high, np.zeros_like(high)
        high, low = np.zeros((2, len(edges), means.shape[1]))
        for e, at in enumerate(edges):
            more, less = between_h((means - at[:, None]) / spread)
            high[e], low[e] = weights @ (spread * more), weights @ (spread * less)
        return high, low

    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        comparison = ObjectScores(objects)
        linearised = [committee.linearise(comparison) for committee in self.committees]
        moments = [(means, variances) for means, variances, _ in linearised]
        slopes = [(np.zeros_like(means), np.zeros_like(means)) for means, _ in moments]
        score = self._add_chances(moments, slopes) + self._add_volume(moments, slopes)

        def gradient() -> Matrix:
            each = zip(linearised, slopes, strict=True)
            return pull_all(
                [one for (_, _, pull), (in_mean, in_variance) in each for one in pull(in_mean, in_variance)]
            )

        if self.feasibility is None:
            return score, gradient
        log_chance, chance_gradient = self.feasibility.linearise(objects)
        return score + log_chance, lambda: gradient() + chance_gradient()

    def _add_chances(self, moments: Sequence[Moments], found: Sequence[Moments]) -> Vector:
        """The logarithm of the chance, whose slopes in the means and variances are added to those found."""
        total = np.zeros(moments[0][0].shape[1])
        for (mean, variance), outcome, (in_mean, in_variance) in zip(moments, self.outcomes, found, strict=True):
            if outcome.limits is not None:
                within = Within(*outcome.limits)
                slopes = within.slopes(mean, np.sqrt(variance), 0.0)
                average, shares = within.average(slopes.score, outcome.committee.weights)
                in_mean += shares * slopes.in_mean
                in_variance += shares * slopes.in_std * moved_slope(variance, 0.0)
                total = total + average
        return total

    def _add_volume(self, moments: Sequence[Moments], found: Sequence[Moments]) -> Any:
        """log EHVI, whose slopes in the means and variances are added to those found."""
        if self.front is None:
            return 0.0
        places = [i for i, outcome in enumerate(self.outcomes) if outcome.objective]
        each = self._of_objectives(moments, ())
        slopes = [self._slopes(j, *own) for j, own in enumerate(each)]
        logs, shares = zip(*(self._average(j, own.score) for j, own in enumerate(slopes)), strict=True)
        volume, in_logs = log_volume(self.front, logs)
        for i, share, in_log, own in zip(places, shares, in_logs, slopes, strict=True):
            in_mean, in_variance = found[i]
            in_mean += np.sum(share * in_log * own.in_mean, axis=1)
            in_spread = np.sum(share * in_log * own.in_std, axis=1)
            in_variance += in_spread * moved_slope(moments[i][1], self.noises[i])
        return volume

    def _slopes(self, j: int, means: Matrix, stds: Matrix) -> Slopes:
        """Each member's log g_j at each edge, and its derivatives."""
        at = self._edges(j)[0].T[:, :, None]
        return self._objectives[j].improvement.slopes(means[:, None], stds[:, None], at)

    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        return hide(score, self.committees, rows, selves)

    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        return score + log_chance

    def with_pending(self, objects: Sequence[Any]) -> JointScorer:
        """Less variance near these objects for every outcome, and their means on the front."""
        if not len(objects):
            return self
        comparisons: Comparisons = {}
        return replace(
            self, outcomes=tuple(wait(outcome, objects, comparisons) for outcome in self.outcomes)
        )._with_front()

    def extends(self, earlier: Scoring) -> bool:
        return (
            isinstance(earlier, JointScorer)
            and self.directions is None
            and (self.front is None) is (earlier.front is None)
            and self.reference == earlier.reference
            and self.feasibility is earlier.feasibility
            and same_members(self.committees, earlier.committees)
        )

    def lean(self) -> JointScorer:
        feasibility = None if self.feasibility is None else self.feasibility.lean()
        outcomes = tuple(replace(outcome, committee=outcome.committee.lean()) for outcome in self.outcomes)
        # What is certain comes with the rows.
        certain = tuple(replace(outcome, values=_absent) for outcome in self.certain)
        return replace(self, outcomes=outcomes, certain=certain, feasibility=feasibility)


def _absent(objects: Sequence[Any]) -> Vector:
    raise AssertionError("what is certain comes with the rows")
