"""Gaussian-process regression from scores: mean and variance of any object, before and after pending observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from likewise.model.prediction import Prediction
from likewise.model.solvers import Quadratics, Rotated, Singular, Solution, Spectral, add_diagonal, solve
from likewise.model.spectrum import Treatment, treat
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Matrix, Vector

# Mean and variance from an object's scores with the observed ones, and from the influence of the observations.
#
#     mean      μ(x) = m + Σ_i I_i(x) (y_i − m)                      (Eq. mean_influence)
#     variance  V(x) = a · |S(x, x) − Σ_i I_i(x) S(x, x_i)|          (Eq. variance_influence; a floor instead of |·|
#                                                                     where the spectrum is treated)
#
# with I(x) = S_x D, prior mean m and amplitude a. For a PSD similarity this is Gaussian-process regression.

# A noise of so small a share of the amplitude is none.
CERTAIN = 1e-3


@dataclass(frozen=True, eq=False)
class Regression:
    """What the observations say about an object, from its row S_x and its score S(x, x) with itself.

    `noise` holds the variance of each value; `psd` promises that the scores are positive semi-definite.
    """

    values: Vector
    noise: Vector
    treatment: Treatment
    solution: Solution
    amplitude: float = 1.0
    prior_mean: float = 0.0
    singular: Singular = "minimum_norm"
    psd: bool = False
    inflation: float = 1.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def spread(self) -> float:
        """The variance of an object of score one with itself: the amplitude, inflated as its errors ask for."""
        return self.amplitude * self.inflation

    def certain(self, share: float = CERTAIN) -> bool:
        """Whether a value, once measured, is as good as certain: noise is at most such a share of the amplitude."""
        return self.typical_noise <= share * self.amplitude

    @cached_property
    def typical_noise(self) -> float:
        """The median of the values' variances."""
        return float(np.median(self.noise))

    @cached_property
    def weights(self) -> Vector:
        """w with μ = m + S_x w."""
        return self.solved if self.treatment.plain else self.solution.weights(self.values - self.prior_mean)

    @cached_property
    def solved(self) -> Vector:
        """D(y − m)."""
        return self.solution.solve(self.values - self.prior_mean)

    @cached_property
    def fitted(self) -> Vector:
        """μ at the observed objects: their treated rows are those of the treated matrix."""
        return self.prior_mean + self.treatment.matrix @ self.solved

    def mean(self, rows: Matrix) -> Vector:
        """μ from the rows S_x."""
        return self.prior_mean + rows @ self.weights

    def variance(self, rows: Matrix, selves: Vector) -> Vector:
        """V from the rows S_x and the scores S(x, x)."""
        signed = self.treatment.selves(rows, selves) - self.solution.quadratic(rows)
        return self.spread * np.asarray(self.treatment.variance(signed))

    def covariance(self, rows: Matrix, scores: Matrix) -> Matrix:
        """Signed covariance K(x, x') − K_x D K_x'ᵀ (Eq. GP_variance; no |·| off the diagonal, errata 11).

        `scores` are those of the objects among themselves.
        """
        return self.spread * (self.treatment.among(rows, scores) - rows @ self.solution.operator @ rows.T)

    @property
    def bounded(self) -> bool:
        """Whether no variance is above a · S(x, x)."""
        return self.definite and (self.psd or self.treatment.within_selves)

    @property
    def definite(self) -> bool:
        """Whether D is positive semi-definite, so that what noise leaves in doubt about observed objects is known."""
        if not self.treatment.definite:
            return self.psd and self.solution.exact
        return self.solution.exact or self.singular == "minimum_norm"

    @property
    def shrinking(self) -> bool:
        """Whether variances can only fall as observations are added."""
        return self.psd and self.treatment.plain and self.bounded

    def leave_one_out(self) -> Prediction:
        """Mean and standard deviation at each observed object without its own value, in closed form.

        μ₋ᵢ = y_i − [D(y − m)]_i / D_ii and V₋ᵢ = a·(1/D_ii − ρ_i) with the noise ratio ρ = σ²/a. For a PSD similarity
        and for `as_is` this equals refitting without observation i; under a treatment that depends on the whole matrix
        it is the answer with value i withheld and the treated matrix kept for the others. Where the matrix without i is
        almost singular the closed form loses its digits, and the refit is done instead.
        """
        if not len(self):
            return Prediction.normal(np.zeros(0), np.zeros(0))
        ratio = self.noise / self.amplitude
        diagonal = np.array(self.solution.diagonal)
        # D_ii = det(M without i) / det(M): next to zero, M without i is singular.
        own = np.abs(np.diag(self.treatment.matrix) + ratio)
        scale = np.abs(diagonal) * np.maximum(own, np.finfo(float).tiny)
        shaky = np.ones(len(self), dtype=bool) if not self.solution.exact else scale < 1e-8
        safe = np.where(shaky, 1.0, diagonal)
        mean = self.values - self.solved / safe
        signed = 1.0 / safe - ratio
        if shaky.any():
            matrix = add_diagonal(self.treatment.matrix, ratio)
            for i in np.flatnonzero(shaky):
                mean[i], signed[i] = self._without(int(i), matrix)
        return Prediction.normal(mean, np.sqrt(self.spread * self.treatment.variance(signed)))

    def _without(self, i: int, matrix: Matrix) -> tuple[float, float]:
        """Mean and signed variance at observation i from the others, refitted with the treated matrix kept."""
        rest = np.delete(np.arange(len(self)), i)
        definite = self.treatment.definite
        solution = solve(matrix[np.ix_(rest, rest)], definite=definite, singular=self.singular)
        row = matrix[i, rest][None]
        mean = self.prior_mean + solution.influence(row) @ (self.values[rest] - self.prior_mean)
        diagonal = self.treatment.matrix[i, i]
        return float(mean[0]), float(diagonal - solution.quadratic(row)[0])

    def given(self, scores: Matrix, value: float, noise: float) -> Regression:
        """The same after one more observation, the last of these scores; O(t²) for PSD scores and for `as_is`."""
        t, kind = len(self), self.treatment.kind
        values, noises = np.append(self.values, value), np.append(self.noise, noise)
        if self.treatment.plain and (self.psd or not self.treatment.definite):
            solution = self.solution.grow(scores[t, :t], float(scores[t, t] + noise / self.amplitude))
            if solution is not None:
                treatment = type(self.treatment)(scores)
                return replace(self, values=values, noise=noises, treatment=treatment, solution=solution)
        treatment = treat(scores, kind, psd=self.psd)
        return regress(treatment, values, noises, self.amplitude, self.prior_mean, self.singular, self.psd)

    def first(self, n: int) -> Regression | None:
        """The same before all but the first `n` observations, where it can be had without computing anew."""
        solution = self.solution.first(n) if self.treatment.plain and self.psd else None
        if solution is None:
            return None
        treatment = type(self.treatment)(self.treatment.matrix[:n, :n])
        return replace(self, values=self.values[:n], noise=self.noise[:n], treatment=treatment, solution=solution)


def regress(
    treatment: Treatment,
    values: Vector,
    noise: Vector,
    amplitude: float = 1.0,
    prior_mean: float = 0.0,
    singular: Singular = "minimum_norm",
    psd: bool = False,
) -> Regression:
    """The regression of these values on a treated matrix of scores."""
    ratio = noise / amplitude
    eigen = treatment.eigen
    if eigen is not None and len(ratio) and np.all(ratio == ratio[0]) and _well(eigen.levels + ratio[0]):
        solution: Solution = Spectral(eigen.basis, eigen.signs, eigen.levels + ratio[0])
    else:
        definite = treatment.definite or psd
        solution = solve(add_diagonal(treatment.matrix, ratio), definite=definite, singular=singular)
        if treatment.rotation is not None:
            solution = Rotated(solution, treatment.rotation, solution.exact)
    return Regression(values, noise, treatment, solution, amplitude, prior_mean, singular, psd)


def _well(levels: Vector) -> bool:
    return bool(levels.min() > len(levels) * 10 * np.finfo(float).eps * levels.max())


# The variance after objects whose values are about to be known: suggestions in flight, and earlier picks of a batch.
#
# Their values are imputed by the mean, which leaves the mean as it is; the variance shrinks as if they were measured:
#
#     V'(x) = V(x) − C(x, P) [C(P, P) + εI]⁻¹ C(P, x),      C the posterior covariance.
#
# ε is a hair, not the noise: what is about to be known of an object should not be asked for again, however noisy. Noise
# leaves doubt about the best object so far, too. What is like it shares that doubt, and none of it is hope to find
# something better: for an improvement its true value is taken as known in the same way (`settle`). For a PSD similarity
# this is conditioning on P. Under a spectrum treatment the treatment of the observed matrix is kept.
#
# Members of one mix are asked side by side: what all of them say of the same rows is a few products, not a few for
# each.

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
class PendingPanel:
    """Regressions on one treated matrix, and what is about to be known to each of them, if anything is.

    >>> import likewise as lw
    >>> post = lw.condition(lw.RBF(1.0), [[0.0], [1.0]], [0.0, 1.0])
    >>> mean, variance = PendingPanel((post.regression,), (None,)).moments(np.array([[1.0, 0.6]]), np.ones(1))
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
        return Quadratics([regression.solution for regression in self.regressions])

    @cached_property
    def _weights(self) -> Matrix:
        return np.array([regression.weights for regression in self.regressions])

    @cached_property
    def _prior_means(self) -> Matrix:
        return np.array([[regression.prior_mean] for regression in self.regressions])

    @cached_property
    def _spreads(self) -> Matrix:
        return np.array([[regression.spread] for regression in self.regressions])

    @cached_property
    def _factor(self) -> Matrix | None:
        """The factors of all that is about to be known, one below the other."""
        factors = [waiting.factor for waiting in self.pending if waiting is not None]
        return np.vstack(factors) if factors else None

    @cached_property
    def _owners(self) -> Matrix:
        """Whose each row of the factors is: one row for each member, 1 where it is its own."""
        sizes = [0 if waiting is None else len(waiting.factor) for waiting in self.pending]
        return np.repeat(np.eye(len(sizes)), sizes, axis=1)

    @cached_property
    def _floors(self) -> Matrix:
        """The least variances; those of members to whom nothing is about to be known are as they are."""
        return np.array([[-np.inf if waiting is None else waiting.floor] for waiting in self.pending])

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


def panels(members: Sequence[tuple[Mix, Regression, Pending | None]]) -> list[tuple[Mix, slice, PendingPanel]]:
    """Members, of one mix side by side, as panels of one mix and one treatment, with their places."""
    found, first = [], 0
    for (mix, _), group in groupby(members, key=lambda member: (member[0], id(member[1].treatment))):
        _, regressions, pending = zip(*group, strict=True)
        found.append((mix, slice(first, first + len(regressions)), PendingPanel(regressions, pending)))
        first += len(regressions)
    return found


def known_values(regression: Regression, places: Sequence[int]) -> Matrix | None:
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
