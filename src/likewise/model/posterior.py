"""Mean and variance at any object, from the influence of the observations.

    mean      μ(x) = m + Σ_i I_i(x) (y_i − m)                      (Eq. mean_influence)
    variance  V(x) = a · |S(x, x) − Σ_i I_i(x) S(x, x_i)|          (Eq. variance_influence; a floor instead of |·|
                                                                    where the spectrum is treated)

with I(x) = S_x D, prior mean m and amplitude a. For a PSD similarity this is the posterior of a Gaussian process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import LikewiseError, SimilarityError
from likewise.model.gram import Gram
from likewise.model.influence import Rotated, Shared, Singular, Solution, Spectral, solve
from likewise.model.spectrum import Spectrum, Treatment, treat
from likewise.similarity.base import Matrix, Similarity, Vector, is_differentiable
from likewise.similarity.from_function import as_similarity

MomentsPullback = Callable[[Vector, Vector], tuple[Matrix, Vector]]


class Prediction(NamedTuple):
    """Mean and standard deviation, one entry per object."""

    mean: Vector
    std: Vector


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the observations say about any object. Immutable: `given` returns a new one."""

    gram: Gram
    values: Vector
    noise: Vector
    treatment: Treatment
    solution: Solution
    amplitude: float = 1.0
    prior_mean: float = 0.0
    singular: Singular = "minimum_norm"

    def __len__(self) -> int:
        return len(self.values)

    def mean(self, objects: Sequence[Any]) -> Vector:
        """μ(x) for each object."""
        return self.mean_of_rows(self._rows(objects)[0])

    def variance(self, objects: Sequence[Any]) -> Vector:
        """V(x) for each object."""
        return self.variance_of_rows(*self._rows(objects))

    def std(self, objects: Sequence[Any]) -> Vector:
        """√V(x) for each object."""
        return np.sqrt(self.variance(objects))

    def predict(self, objects: Sequence[Any]) -> Prediction:
        """Mean and standard deviation for each object."""
        rows, selves = self._rows(objects)
        return Prediction(self.mean_of_rows(rows), np.sqrt(self.variance_of_rows(rows, selves)))

    def influence(self, objects: Sequence[Any]) -> Matrix:
        """I(x) = S_x D for each object: the weight each observation carries in its mean (Eq. I_OP)."""
        return self.solution.influence(self._rows(objects)[0])

    def covariance(self, objects: Sequence[Any]) -> Matrix:
        """Signed covariance K(x, x') − K_x D K_x'ᵀ (Eq. GP_variance; no |·| off the diagonal, errata 11)."""
        encodings = self.gram.similarity.encode(objects)
        rows = self.gram.rows(encodings)
        if self.treatment.kind == "square":
            prior = rows @ rows.T
        else:
            prior = self.gram.similarity.between(encodings, encodings)
            prior = prior + self.treatment.shift * np.eye(len(prior))
        return self.amplitude * (prior - rows @ self.solution.operator @ rows.T)

    def gradients(self, objects: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """∇μ(x) and ∇V(x) in the vector of each object, for a differentiable similarity."""
        similarity = self.gram.similarity
        encodings = similarity.encode(objects)
        if not is_differentiable(similarity):
            raise SimilarityError(f"{similarity.name} has no gradient; search with moves instead of vectors")
        rows, pull_rows = similarity.linearise(encodings, self.gram.encodings)
        selves, pull_selves = similarity.linearise_within(encodings)
        ones, zeros = np.ones(len(selves)), np.zeros(len(selves))
        _, _, pull = self.linearise_rows(rows, selves)
        mean_weights, _ = pull(ones, zeros)
        row_weights, self_weights = pull(zeros, ones)
        return pull_rows(mean_weights), pull_rows(row_weights) + pull_selves(self_weights)

    def _rows(self, objects: Sequence[Any]) -> tuple[Matrix, Vector]:
        encodings = self.gram.similarity.encode(objects)
        return self.gram.rows(encodings), self.gram.selves(encodings)

    @cached_property
    def weights(self) -> Vector:
        """w with μ = m + S_x w."""
        return self.solution.weights(self.values - self.prior_mean)

    def mean_of_rows(self, rows: Matrix) -> Vector:
        """μ from the rows S_x."""
        return self.prior_mean + rows @ self.weights

    def variance_of_rows(self, rows: Matrix, selves: Vector, shared: Shared | None = None) -> Vector:
        """V from the rows S_x and the scores S(x, x)."""
        signed = self.treatment.selves(rows, selves) - self.solution.quadratic(rows, shared)
        return self.amplitude * np.asarray(self.treatment.variance(signed))

    def linearise_rows(self, rows: Matrix, selves: Vector) -> tuple[Vector, Vector, MomentsPullback]:
        """μ and V from the rows S_x and the scores S(x, x), and one step of the chain rule through them.

        The step takes ∂u/∂μ and ∂u/∂V at each object to ∂u/∂S_x and ∂u/∂S(x, x).
        """
        half = rows @ self.solution.operator
        signed = self.treatment.selves(rows, selves) - np.einsum("ij,ij->i", half, rows)

        def pull(mean_slope: Vector, variance_slope: Vector) -> tuple[Matrix, Vector]:
            slope = self.amplitude * variance_slope * self.treatment.variance_slope(signed)
            row_weights = mean_slope[:, None] * self.weights - (2.0 * slope)[:, None] * half
            if self.treatment.kind == "square":
                return row_weights + (2.0 * slope)[:, None] * rows, np.zeros_like(selves)
            return row_weights, slope

        return self.mean_of_rows(rows), self.amplitude * np.asarray(self.treatment.variance(signed)), pull

    def lean(self) -> Posterior:
        """What predicts from rows, without the matrices of scores behind it."""
        return replace(self, gram=self.gram.lean(encodings=False), treatment=self.treatment.lean())

    def leave_one_out(self) -> Prediction:
        """Mean and standard deviation at each observed object without its own value, in closed form.

        μ₋ᵢ = y_i − [D(y − m)]_i / D_ii and V₋ᵢ = a·(1/D_ii − ρ_i) with the noise ratio ρ = σ²/a. For a PSD similarity
        and for `as_is` this equals refitting without observation i; under a treatment that depends on the whole matrix
        it is the answer with value i withheld and the treated matrix kept for the others. Where the matrix without i is
        almost singular the closed form loses its digits, and the refit is done instead.
        """
        if not len(self):
            return Prediction(np.zeros(0), np.zeros(0))
        ratio = self.noise / self.amplitude
        diagonal = np.array(self.solution.diagonal)
        matrix = self.treatment.matrix + np.diag(ratio)
        # D_ii = det(M without i) / det(M): next to zero, M without i is singular.
        scale = np.abs(diagonal) * np.maximum(np.abs(np.diag(matrix)), np.finfo(float).tiny)
        shaky = np.ones(len(self), dtype=bool) if not self.solution.exact else scale < 1e-8
        safe = np.where(shaky, 1.0, diagonal)
        solved = self.solution.solve(self.values - self.prior_mean)
        mean = self.values - solved / safe
        signed = 1.0 / safe - ratio
        for i in np.flatnonzero(shaky):
            mean[i], signed[i] = self._without(int(i), matrix)
        return Prediction(mean, np.sqrt(self.amplitude * self.treatment.variance(signed)))

    def _without(self, i: int, matrix: Matrix) -> tuple[float, float]:
        """Mean and signed variance at observation i from the others, refitted with the treated matrix kept."""
        others = np.delete(np.arange(len(self)), i)
        solution = solve(
            matrix[np.ix_(others, others)], definite=self.treatment.kind != "as_is", singular=self.singular
        )
        row = matrix[i, others][None]
        mean = self.prior_mean + solution.influence(row) @ (self.values[others] - self.prior_mean)
        own = self.treatment.matrix[i, i]
        return float(mean[0]), float(own - solution.quadratic(row)[0])

    def given(self, x: Any, value: float, noise: float | None = None) -> Posterior:
        """The posterior after one more observation; O(t²) for a PSD similarity and for `as_is`."""
        sigma2 = float(np.mean(self.noise)) if noise is None and len(self) else (noise if noise is not None else 1e-2)
        _check_observations([x], np.array([value], dtype=float), np.array([sigma2]))
        gram = self.gram.grown([x])
        values, noises = np.append(self.values, float(value)), np.append(self.noise, sigma2)
        plain = self.treatment.rotation is None and not self.treatment.shift and self.treatment.kind != "square"
        growable = plain and (gram.similarity.psd or self.treatment.kind == "as_is")
        solution = None
        if growable:
            t = len(self)
            solution = self.solution.grown(gram.scores[t, :t], float(gram.scores[t, t] + sigma2 / self.amplitude))
        if solution is None:
            return posterior(
                gram,
                values,
                noises,
                self.treatment.kind,
                amplitude=self.amplitude,
                prior_mean=self.prior_mean,
                singular=self.singular,
            )
        treatment = Treatment(self.treatment.kind, gram.scores)
        return Posterior(gram, values, noises, treatment, solution, self.amplitude, self.prior_mean, self.singular)

    def given_all(self, objects: Sequence[Any], values: Sequence[float], noise: float | None = None) -> Posterior:
        """The posterior after a batch of observations."""
        after = self
        for x, value in zip(objects, values, strict=True):
            after = after.given(x, value, noise)
        return after


def posterior(
    gram: Gram,
    values: Vector,
    noise: Vector,
    spectrum: Spectrum = "clip",
    *,
    amplitude: float = 1.0,
    prior_mean: float = 0.0,
    singular: Singular = "minimum_norm",
) -> Posterior:
    """The posterior of observations whose scores are at hand."""
    treatment = treat(gram.scores, spectrum, psd=gram.similarity.psd)
    return treated_posterior(
        gram, values, noise, treatment, amplitude=amplitude, prior_mean=prior_mean, singular=singular
    )


def treated_posterior(
    gram: Gram,
    values: Vector,
    noise: Vector,
    treatment: Treatment,
    *,
    amplitude: float = 1.0,
    prior_mean: float = 0.0,
    singular: Singular = "minimum_norm",
) -> Posterior:
    """The posterior of observations whose scores are treated already."""
    ratio = noise / amplitude
    eigen = treatment.eigen
    if eigen is not None and len(ratio) and np.all(ratio == ratio[0]) and _well(eigen.levels + ratio[0]):
        solution: Solution = Spectral(eigen.basis, eigen.signs, eigen.levels + ratio[0])
    else:
        definite = treatment.kind != "as_is" or gram.similarity.psd
        solution = solve(treatment.matrix + np.diag(ratio), definite=definite, singular=singular)
        if treatment.rotation is not None:
            solution = Rotated(solution, treatment.rotation)
    return Posterior(gram, values, noise, treatment, solution, amplitude, prior_mean, singular)


def _well(levels: Vector) -> bool:
    return bool(levels.min() > len(levels) * 10 * np.finfo(float).eps * levels.max())


def _check_observations(objects: Sequence[Any], values: Vector, noise: Vector) -> None:
    """Refuse values that are not finite, and noises that are no variances, naming the object."""
    for x, value, sigma2 in zip(objects, values.tolist(), noise.tolist(), strict=True):
        if not isfinite(value):
            raise LikewiseError(f"the value of {x!r} is {value}; leave out observations without a finite value")
        if not (isfinite(sigma2) and sigma2 >= 0):
            raise LikewiseError(f"the noise of {x!r} is {sigma2}; it is a variance, finite and not negative")


def condition(
    similarity: Similarity | Callable[[Any, Any], float],
    objects: Sequence[Any],
    values: Sequence[float],
    noise: float | Sequence[float] = 1e-2,
    spectrum: Spectrum = "clip",
    *,
    amplitude: float = 1.0,
    prior_mean: float = 0.0,
    singular: Singular = "minimum_norm",
) -> Posterior:
    """The posterior of a similarity given observations: parameters as given, nothing learnt.

    `noise` is the variance σ² of the measurements, one for all or one for each.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> post = condition(RBF(1.0), [[0.0], [1.0]], [0.0, 1.0], noise=1e-6)
    >>> post.mean([[1.0]]).round(3).tolist()
    [1.0]
    """
    y = np.asarray(values, dtype=float)
    sigma2 = np.broadcast_to(np.asarray(noise, dtype=float), y.shape).astype(float)
    if y.ndim != 1 or len(y) != len(objects):
        raise LikewiseError(f"{len(objects)} objects need {len(objects)} values, not an array of shape {y.shape}")
    _check_observations(objects, y, sigma2)
    if not (np.isfinite(amplitude) and amplitude > 0):
        raise LikewiseError(f"the amplitude must be positive, not {amplitude}")
    gram = Gram.of(as_similarity(similarity), objects)
    return posterior(gram, y, sigma2, spectrum, amplitude=amplitude, prior_mean=prior_mean, singular=singular)
