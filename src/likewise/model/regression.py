"""Mean and variance from an object's scores with the observed ones, and from the influence of the observations.

    mean      μ(x) = m + Σ_i I_i(x) (y_i − m)                      (Eq. mean_influence)
    variance  V(x) = a · |S(x, x) − Σ_i I_i(x) S(x, x_i)|          (Eq. variance_influence; a floor instead of |·|
                                                                    where the spectrum is treated)

with I(x) = S_x D, prior mean m and amplitude a. For a PSD similarity this is Gaussian-process regression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from likewise.model.influence import Rotated, Singular, Solution, Spectral, add_diagonal, solve
from likewise.model.prediction import Prediction
from likewise.model.spectrum import Treatment, treat
from likewise.similarity.base import Matrix, Vector

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
        others = np.delete(np.arange(len(self)), i)
        definite = self.treatment.definite
        solution = solve(matrix[np.ix_(others, others)], definite=definite, singular=self.singular)
        row = matrix[i, others][None]
        mean = self.prior_mean + solution.influence(row) @ (self.values[others] - self.prior_mean)
        own = self.treatment.matrix[i, i]
        return float(mean[0]), float(own - solution.quadratic(row)[0])

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
