"""What members believe of a pool's rows: exactly for some, and as upper bounds for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.acquisitions import Care
from likewise.acquisition.scorer import Moments, Scoring
from likewise.model.committee import Committee, Member
from likewise.search.pool.scores import BLOCK, Chunk, Compared, Entries, Query, Rows, largest
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Matrix, Vector

# What the members of a committee believe of some rows, in double precision, and what that makes them worth.
#
# Means, and variances before anything is in flight, are computed once. What becomes pending later, such as the earlier
# picks of a batch, lowers the variances by one product with the scores that are at hand.


@dataclass(frozen=True, eq=False)
class PoolBeliefs:
    """Each committee's means and variances, one row per member, that pending objects do not change, and the chances."""

    entries: Entries
    moments: tuple[Moments, ...]
    log_chance: Vector | None

    @classmethod
    def of(cls, scorer: Scoring, entries: Entries) -> PoolBeliefs:
        """The beliefs of a scorer's committees about these rows."""
        moments = []
        for place, committee in enumerate(scorer.committees):
            rows, selves = entries.of(place)
            observed = {k: scores[:, : len(committee)] for k, scores in rows.items()}
            moments.append(committee.without_pending().moments(observed, selves))
        chance = None
        if scorer.feasibility is not None:
            chance = scorer.feasibility.score_rows(*entries.of(len(scorer.committees)))
        return cls(entries, tuple(moments), chance)

    def scores(self, scorer: Scoring, most: int, before: Vector) -> tuple[Vector, Vector]:
        """What each row is worth given the scorer's pending objects, and what it cannot exceed when more are.

        Rows that cannot be among the best `most`, beside those scored `before`, are left at −∞: a bound costs less than
        a score. Those of the highest bounds are scored first, as they say what the others have to exceed.
        """
        moments, known = self._moments(scorer), list(self.entries.known.values())
        ceiling = self._lower(scorer, scorer.bound_moments(moments, known))
        score, order = np.full(len(ceiling), -np.inf), np.argsort(-ceiling, kind="stable")
        for part in (order[: 2 * most], order[2 * most :]):
            top = largest(np.concatenate([before, score]), most)
            least = float(top.min()) if len(top) == most else -np.inf
            # In the precision that decides which rows are best.
            rows = np.sort(part[ceiling[part].astype(np.float32) >= np.float32(least)])
            if len(rows):
                score[rows] = self._exact(scorer, moments, known, rows)
                part_moments = [(means[:, rows], variances[:, rows]) for means, variances in moments]
                tight = scorer.bound_moments(part_moments, [values[rows] for values in known], care=Care.TIGHT)
                ceiling[rows] = self._lower(scorer, tight, rows)
        return score, ceiling

    def exact_scores(self, scorer: Scoring) -> Vector:
        """What each row is worth given the scorer's pending objects."""
        return self._exact(scorer, self._moments(scorer), list(self.entries.known.values()), slice(None))

    def _moments(self, scorer: Scoring) -> list[Moments]:
        """Each committee's means and variances, given what is pending."""
        pairs = enumerate(zip(scorer.committees, self.moments, strict=True))
        return [(mean, self._given_pending(place, committee, v)) for place, (committee, (mean, v)) in pairs]

    def _exact(self, scorer: Scoring, moments: Sequence[Moments], known: Sequence[Vector], few: Any) -> Vector:
        """The scores of some of the rows."""
        part_moments = [(means[:, few], variances[:, few]) for means, variances in moments]
        facts = [values[few] for values in known]
        entries = [self.entries.of(place) for place in range(len(moments))]
        rows = [{k: scores[few] for k, scores in mine.items()} for mine, _ in entries]
        selves = [{k: own[few] for k, own in theirs.items()} for _, theirs in entries]
        score = scorer.hide_known(scorer.score_moments(part_moments, facts), part_moments, rows, selves)
        return self._lower(scorer, score, few)

    def _lower(self, scorer: Scoring, score: Vector, few: Any = slice(None)) -> Vector:
        return score if self.log_chance is None else scorer.lower(score, self.log_chance[few])

    def _given_pending(self, place: int, committee: Committee, variances: Matrix) -> Matrix:
        if all(member.pending is None for member in committee.members):
            return variances
        self._compare(place, committee)
        return committee.lower(variances, committee.mix_scores(self.entries.of(place)[0]))

    def _compare(self, place: int, committee: Committee) -> None:
        """Compare with what has become pending; earlier picks come first, and their scores are kept."""
        scores, encodings = self.entries.scores, self.entries.encodings
        for k, gram in committee.waiting.items():
            mine = scores[place, k]
            if mine.shape[1] < len(gram):
                scores[place, k] = np.hstack([mine, gram.rows(encodings[k], mine.shape[1])])


# Upper bounds of means and variances at all rows, so that most objects of a pool never need exact ones.
#
#     V(x) = a·max(v, floor),   v = S(x, x) − S_x D S_xᵀ ≤ S(x, x)       for a positive definite treated matrix;
#
# and for a PSD similarity without treatment v never grows as observations are added, so that every value it had before,
# with the same parameters, is a bound. Where these are loose, a `Factor` bounds more tightly, at a fraction of the
# price of an exact value: for any P with P Pᵀ ≼ D
#
#     v ≤ S(x, x) − ‖S_x P‖².
#
# What objects in flight take from a variance has the same form, with the scores with those objects beside S_x.

Single = NDArray[np.float32]
# A member, by the place of its committee and its own.
Place = tuple[int, int]
# Values are kept in single precision, rounded up.
UP = np.float32(1.0 + 1e-6)
MOST_KEPT = 32
# Columns of a projection, and of one for which these are too few.
COLUMNS, FINE = 8, 32


def rounding(dtype: Any, weights: Matrix) -> Vector:
    """How far Σ_j w_j S_j in this precision may be from the exact sum, for each row of weights and scores of one."""
    return 8.0 * float(np.finfo(dtype).eps) * np.abs(weights).sum(axis=1)


def projection(member: Member, some: Matrix, own: Vector, *, fine: bool = False) -> Matrix:
    """Few rows Pᵀ with P Pᵀ ≼ D that suit objects whose scores, with the observed ones and their own, are like these.

    With rows Z of some objects and the leading eigenvectors V of Z D Zᵀ = V Λ Vᵀ, P = D Zᵀ V Λ^{-1/2}: what D sees of
    objects like those is what P sees of them. Any rows with the same ZᵀZ give the same, so that few stand for many.
    """
    some = np.asarray(np.linalg.qr(some, mode="r")) if len(some) > some.shape[1] else some
    seen = some @ member.regression.solution.operator
    levels, basis = np.linalg.eigh(seen @ some.T)
    # Where few would leave more than the variance itself to be explained, they do not tell much.
    fine = fine or bool(levels[:-COLUMNS].sum() > own.sum() - levels.sum())
    largest = np.argsort(-levels)[: FINE if fine else COLUMNS]
    largest = largest[levels[largest] > 1e-9 * levels.max(initial=1e-300)]
    return np.asarray((basis[:, largest] / np.sqrt(levels[largest])).T @ seen)


def squared_length(products: Any, slack: Vector) -> Any:
    """A lower bound of ‖S_x P‖² from rounded products, one row for each column of P, that are off by up to `slack`."""
    if not len(products):
        return 0.0
    sure = np.maximum(np.abs(products) - slack[:, None].astype(products.dtype), 0)
    # The sum of squares is rounded as well.
    return np.einsum("ij,ij->j", sure, sure) * (1.0 - 2.0 * len(sure) * float(np.finfo(products.dtype).eps))


@dataclass(eq=False)
class _MemberBounds:
    """Bounds of v under one member, and the noise ratio of each observation it was conditioned on."""

    ratios: Mapping[tuple[int, int], float]
    values: Single
    shrinking: bool
    # Whether nothing was known before.
    fresh: bool

    def holds(self, ratios: Mapping[tuple[int, int], float]) -> bool:
        """Whether the values are bounds for these observations as well."""
        return self.ratios.items() <= ratios.items() if self.shrinking else self.ratios == ratios


@dataclass(eq=False)
class Bounds:
    """What is known of the variances of `size` rows, member by member."""

    size: int
    # The votes of the members of which values are known from before.
    known: float = 0.0
    _kept: dict[Any, _MemberBounds] = field(default_factory=dict)

    def prepare(self, query: Query) -> None:
        """Forget the values that are no bounds any more."""
        self.known = 0.0
        current: dict[Any, _MemberBounds] = {}
        observed = [_counted(compared.observed) for compared in query.compared]
        for (c, _), member in members(query):
            key, ratios = _key(c, member, query), _ratios(member, observed[c])
            before = self._kept.pop(key, None)
            fresh = before is None or not before.holds(ratios)
            values = np.full(self.size, np.inf, dtype=np.float32) if before is None or fresh else before.values
            self.known += 0.0 if fresh else member.weight / len(query.scorer.committees)
            current[key] = _MemberBounds(ratios, values, member.regression.shrinking, fresh)
        shrinking = {key: kept for key, kept in self._kept.items() if kept.shrinking}
        # Last in, last out.
        last = list(shrinking)[max(0, len(current) + len(shrinking) - MOST_KEPT) :]
        self._kept = {key: shrinking[key] for key in last} | current

    def are_vain(self, query: Query) -> bool:
        """Whether no row has a bound, as nothing bounds the variances of some members that the scorer needs."""
        boundless = [
            place
            for place, member in members(query)
            if self._kept[_key(place[0], member, query)].fresh and not member.regression.bounded
        ]
        # One object stands for all: an infinite variance makes the bound of any infinite.
        variances = [np.ones((len(committee.members), 1)) for committee in query.scorer.committees]
        for c, i in boundless:
            variances[c][i] = np.inf
        moments = [(np.zeros_like(variance), variance) for variance in variances]
        return bool(boundless) and bool(
            np.isposinf(query.scorer.bound_moments(moments, [v[:1] for v in query.known])[0])
        )

    def scores(self, query: Query, chunk: Chunk, projections: Mapping[Place, Matrix], first: int, care: Care) -> Vector:
        """What no row of the chunk is worth more than; the chunk counts from row `first` of the pool."""
        moments = self._moments(query, chunk, projections)
        bounds = np.empty(chunk.size)
        for start in range(0, chunk.size, BLOCK):
            part = slice(start, min(start + BLOCK, chunk.size))
            exact = [(m[:, part].astype(np.float64), v[:, part].astype(np.float64)) for m, v in moments]
            begin = first + chunk.first
            known_here = [values[begin + part.start : begin + part.stop] for values in query.known]
            bounds[part] = query.scorer.bound_moments(exact, known_here, care=care)
        return bounds

    def _moments(self, query: Query, chunk: Chunk, projections: Mapping[Place, Matrix]) -> list[tuple[Matrix, Matrix]]:
        """Bounds of each member's means and variances, with what is pending, at all rows of the chunk."""
        committees = query.scorer.committees
        moments = [
            tuple(np.empty((2, len(committee.members), chunk.size), dtype=chunk.dtype)) for committee in committees
        ]
        for mix, compared, group in _groups(query):
            # Whatever the members of a mix need are sums over the same columns: one reading for all of them.
            parts = [_weights(member, len(compared.all), projections.get(place)) for place, member in group]
            weights = np.concatenate([part for three in parts for part in three])
            sums = chunk.sums(mix, weights, compared)
            selves = mix.scores({k: chunk.selves[compared.version(k)] for k in mix.used})
            slack = float(np.abs(selves).max(initial=1.0)) * rounding(chunk.dtype, weights)
            first = 0
            for ((c, i), member), three in zip(group, parts, strict=True):
                cuts = np.cumsum([first, *map(len, three)])
                mean, projected, pending = (slice(a, b) for a, b in pairwise(cuts))
                first = cuts[-1]
                regression = member.regression
                highest = sums[mean][0] + chunk.dtype(regression.prior_mean + slack[mean][0])
                moments[c][0][i] = np.clip(highest, *committees[c].reach(regression))
                less = squared_length(sums[projected], slack[projected])
                v: Any = self._variance(c, member, selves, query, chunk, less)
                v = v - squared_length(sums[pending], slack[pending])
                moments[c][1][i] = np.maximum(v, regression.treatment.floor) * (regression.spread * float(UP))
        return [(means, variances) for means, variances in moments]

    def _variance(self, c: int, member: Member, selves: Vector, query: Query, chunk: Chunk, less: Any) -> Single:
        """A bound of v before anything is pending, of which so much is known to be explained."""
        bounds = self._kept[_key(c, member, query)]
        values = bounds.values[chunk.first : chunk.first + chunk.size]
        if member.regression.bounded and (bounds.fresh or np.any(less)):
            v = selves - less
            np.minimum(values, v.astype(np.float32) * UP, out=values)
        return values

    def learn(self, query: Query, rows: Rows, variances: Sequence[Matrix]) -> None:
        """Keep the variances that were computed exactly, one row per member, without what is pending."""
        for (c, i), member in members(query):
            v = variances[c][i] / member.regression.spread
            # What is too large for a short number is bounded by infinity.
            with np.errstate(over="ignore"):
                self._kept[_key(c, member, query)].values[rows] = v.astype(np.float32) * UP


def members(query: Query) -> Iterator[tuple[Place, Member]]:
    """The members of the outcomes' committees, by their places."""
    for c, committee in enumerate(query.scorer.committees):
        for i, member in enumerate(committee.members):
            yield (c, i), member


def _groups(query: Query) -> list[tuple[Mix, Compared, list[tuple[Place, Member]]]]:
    """Members, also of several outcomes, whose scores are the same: one mix, one version of each similarity."""
    groups: dict[Any, tuple[Mix, Compared, list[tuple[Place, Member]]]] = {}
    for (c, i), member in members(query):
        compared = query.compared[c]
        key = member.mix, tuple(map(compared.version, member.mix.used)), compared.all
        groups.setdefault(key, (member.mix, compared, []))[2].append(((c, i), member))
    return list(groups.values())


def _weights(member: Member, width: int, projected: Matrix | None) -> tuple[Matrix, Matrix, Matrix]:
    """Weights of the columns whose sums are the mean, the projections, and what is pending explains."""
    none = np.zeros((0, width))

    def pad(rows: Matrix) -> Matrix:
        return np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]))])

    mean = pad(member.regression.weights[None])
    return (
        mean,
        none if projected is None else pad(projected),
        none if member.pending is None else member.pending.factor,
    )


def _key(c: int, member: Member, query: Query) -> Any:
    return c, member.mix, tuple(map(query.compared[c].version, member.mix.used)), member.ratio


def _counted(observed: Sequence[int]) -> list[tuple[int, int]]:
    """The number of each observation, and how often that has come before.

    >>> _counted([4, 7, 4])
    [(4, 0), (7, 0), (4, 1)]
    """
    seen: Counter[int] = Counter()
    counted = []
    for number in observed:
        counted.append((number, seen[number]))
        seen[number] += 1
    return counted


def _ratios(member: Member, observed: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """σ²/a of each observation; equal up to rounding is equal."""
    ratios = (member.regression.noise / member.regression.amplitude).tolist()
    # Most are the same, and digits take long to write.
    rounded = {ratio: float(f"{ratio:.9e}") for ratio in set(ratios)}
    return dict(zip(observed, map(rounded.__getitem__, ratios), strict=True))
