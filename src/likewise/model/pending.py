"""The variance after objects whose values are about to be known: suggestions in flight, and earlier picks of a batch.

Their values are imputed by the mean, which leaves the mean as it is; the variance shrinks as if they were measured:

    V'(x) = V(x) − C(x, P) [C(P, P) + εI]⁻¹ C(P, x),      C the posterior covariance.

ε is a hair, not the noise: what is about to be known of an object should not be asked for again, however noisy.
Noise leaves doubt about the best object so far, too. What is like it shares that doubt, and none of it is hope to find
something better: for an improvement its true value is taken as known in the same way (`settle`).
For a PSD similarity this is conditioning on P. Under a spectrum treatment the treatment of the observed matrix is kept.

Members of one mix are asked side by side: what all of them say of the same rows is a few products, not a few for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from likewise.model.influence import Quadratics
from likewise.model.regression import Regression
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.combine.mix import Mix

HAIR = 1e-6
# Takes ∂u/∂μ and ∂u/∂V, one row for each member, to ∂u/∂S_x and ∂u/∂S(x, x), added up over the members.
PanelPullback = Callable[[Matrix, Matrix], tuple[Matrix, Vector]]


@dataclass(frozen=True, eq=False)
class Pending:
    """A regression and what is about to be known: V(x) − V'(x) = a ‖F s‖² with `factor` F.

    s are the scores of x with the observed objects, and then with those in flight. `stds` are the √V of the latter.
    """

    regression: Regression
    factor: Matrix
    stds: Vector

    @classmethod
    def on(cls, regression: Regression, rows: Matrix, scores: Matrix, known: Matrix | None = None) -> Pending:
        """`rows` are the pending objects' scores with the observed ones, `scores` those among themselves.

        `known` is the factor of observed objects whose true values are taken as known before (`settle`).
        """
        t, p = len(regression), len(rows)
        before = np.zeros((0, t)) if known is None else known
        on_rows, on_scores = regression.treatment.pull_cross(rows, np.eye(p))
        shared = rows @ before.T
        across = np.hstack([on_rows - rows @ regression.solution.operator - shared @ before, on_scores])
        prior = regression.treatment.among(rows, scores)
        covariance = across @ np.hstack([rows, scores]).T
        root = _root(covariance, HAIR * max(float(np.mean(np.diag(prior))) if p else 0.0, 1e-300))
        stds = np.sqrt(regression.spread * np.maximum(np.diag(covariance), 0.0))
        return cls(regression, np.vstack([np.hstack([before, np.zeros((len(before), p))]), root.T @ across]), stds)

    @property
    def floor(self) -> float:
        """The least that V' can be."""
        return self.regression.spread * self.regression.treatment.floor


@dataclass(frozen=True, eq=False)
class Panel:
    """Regressions on one treated matrix, and what is about to be known to each of them, if anything is.

    >>> import likewise as lw
    >>> post = lw.condition(lw.RBF(1.0), [[0.0], [1.0]], [0.0, 1.0])
    >>> mean, variance = Panel((post.regression,), (None,)).moments(np.array([[1.0, 0.6]]), np.ones(1))
    >>> bool(mean[0, 0] == post.regression.mean(np.array([[1.0, 0.6]]))[0])
    True
    """

    regressions: Sequence[Regression]
    pending: Sequence[Pending | None]

    @property
    def _size(self) -> int:
        return len(self.regressions[0])

    @cached_property
    def _quadratics(self) -> Quadratics:
        return Quadratics([one.solution for one in self.regressions])

    @cached_property
    def _weights(self) -> Matrix:
        return np.array([one.weights for one in self.regressions])

    @cached_property
    def _prior_means(self) -> Matrix:
        return np.array([[one.prior_mean] for one in self.regressions])

    @cached_property
    def _spreads(self) -> Matrix:
        return np.array([[one.spread] for one in self.regressions])

    @cached_property
    def _factor(self) -> Matrix | None:
        """The factors of all that is about to be known, one below the other."""
        known = [one.factor for one in self.pending if one is not None]
        return np.vstack(known) if known else None

    @cached_property
    def _owners(self) -> Matrix:
        """Whose each row of the factors is: one row for each member, 1 where it is its own."""
        sizes = [0 if one is None else len(one.factor) for one in self.pending]
        return np.repeat(np.eye(len(sizes)), sizes, axis=1)

    @cached_property
    def _floors(self) -> Matrix:
        """The least variances; those of members to whom nothing is about to be known are as they are."""
        return np.array([[-np.inf if one is None else one.floor] for one in self.pending])

    def moments(self, rows: Matrix, selves: Vector) -> tuple[Matrix, Matrix]:
        """μ and V before anything is pending, one row for each member."""
        treatment = self.regressions[0].treatment
        signed = treatment.selves(rows, selves) - self._quadratics.values(rows)
        return self._means(rows), self._spreads * np.asarray(treatment.variance(signed))

    def _means(self, rows: Matrix) -> Matrix:
        return self._prior_means + self._weights @ rows.T

    def lower(self, variances: Matrix, rows: Matrix) -> Matrix:
        """V' from V, where something is pending."""
        if self._factor is None:
            return variances
        return np.maximum(variances - self._fall(rows @ self._factor.T), self._floors)

    def _fall(self, half: Matrix) -> Matrix:
        return self._spreads * (self._owners @ (half * half).T)

    def linearise(self, rows: Matrix, selves: Vector) -> tuple[Matrix, Matrix, PanelPullback]:
        """μ and V', and one step of the chain rule through them."""
        treatment, factor, spreads = self.regressions[0].treatment, self._factor, self._spreads
        observed = rows[:, : self._size]
        quadratic, pull_quadratic = self._quadratics.linearise(observed)
        signed = treatment.selves(observed, selves) - quadratic
        variances = spreads * np.asarray(treatment.variance(signed))
        half = None if factor is None else rows @ factor.T
        after = variances if half is None else variances - self._fall(half)

        def pull(in_mean: Matrix, in_variance: Matrix) -> tuple[Matrix, Vector]:
            in_variance = np.where(after > self._floors, in_variance, 0.0)
            slopes = spreads * in_variance * treatment.variance_slope(signed)
            on_own, on_selves = treatment.pull_selves(observed, slopes.sum(axis=0))
            on_observed = in_mean.T @ self._weights - pull_quadratic(slopes) + on_own
            if factor is None or half is None:
                return on_observed, on_selves
            on_rows = (half * ((-2.0 * spreads * in_variance).T @ self._owners)) @ factor
            on_rows[:, : self._size] += on_observed
            return on_rows, on_selves

        return self._means(observed), np.maximum(after, self._floors), pull


def panels(members: Sequence[tuple[Mix, Regression, Pending | None]]) -> list[tuple[Mix, slice, Panel]]:
    """Members, of one mix side by side, as panels of one mix and one treatment, with their places."""
    found, first = [], 0
    for (mix, _), group in groupby(members, key=lambda member: (member[0], id(member[1].treatment))):
        _, regressions, pending = zip(*group, strict=True)
        found.append((mix, slice(first, first + len(regressions)), Panel(regressions, pending)))
        first += len(regressions)
    return found


def settle(regression: Regression, places: Sequence[int]) -> Matrix | None:
    """The factor F of observed objects whose true values are taken as known; None where D says nothing of variances."""
    if not len(places) or not regression.bounded:
        return None
    covariance, across = _observed(regression, places)
    ratios = (regression.noise / regression.amplitude)[np.asarray(places, dtype=np.intp)]
    return _root(covariance, HAIR * max(float(ratios.mean()), 1e-300)).T @ across


def doubts(regression: Regression, places: Sequence[int]) -> Vector:
    """√V at observed objects: what noise leaves in doubt about their true values.

    0 where D says nothing of variances.
    """
    if not len(places) or not regression.definite:
        return np.zeros(len(places))
    signed = np.diag(_observed(regression, places)[0])
    return np.asarray(np.sqrt(regression.spread * np.maximum(signed, 0.0)))


def _observed(regression: Regression, places: Sequence[int]) -> tuple[Matrix, Matrix]:
    """C/a of observed objects among themselves, and what S_x is multiplied with to give their C/a with x.

    C(x, x_i) = a ρ_i I_i(x) with the noise ratio ρ = σ²/a, and C(x_i, x_j) = a (ρ_i δ_ij − ρ_i D_ij ρ_j).
    """
    index = np.asarray(places, dtype=np.intp)
    ratios = (regression.noise / regression.amplitude)[index]
    inverse, weights = regression.solution.columns(index)
    return np.diag(ratios) - ratios[:, None] * inverse[:, index] * ratios, ratios[:, None] * weights


def _root(covariance: Matrix, hair: float) -> Matrix:
    """[C + εI]^{-1/2}. An indefinite S leaves negative eigenvalues, which carry no information to condition on."""
    levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(basis / np.sqrt(np.maximum(levels, 0.0) + hair))
