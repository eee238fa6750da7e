"""The variance after objects whose values are about to be known: suggestions in flight, and earlier picks of a batch.

Their values are imputed by the mean, which leaves the mean as it is; the variance shrinks as if they were measured:

    V'(x) = V(x) − C(x, P) [C(P, P) + εI]⁻¹ C(P, x),      C the posterior covariance.

ε is a hair, not the noise: what is about to be known of an object should not be asked for again, however noisy.
Noise leaves doubt about the best object so far, too. What is like it shares that doubt, and none of it is hope to find
something better: for an improvement its true value is taken as known in the same way (`settle`).
For a PSD similarity this is conditioning on P. Under a spectrum treatment the treatment of the observed matrix is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.model.regression import MomentsPullback, Regression
from likewise.similarity.base import Matrix, Vector

HAIR = 1e-6


@dataclass(frozen=True, eq=False)
class Pending:
    """A regression and what is about to be known: V(x) − V'(x) = a ‖F s‖² with `factor` F.

    s are the scores of x with the observed objects, and then with those in flight.
    """

    regression: Regression
    factor: Matrix

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
        return cls(regression, np.vstack([np.hstack([before, np.zeros((len(before), p))]), root.T @ across]))

    def lower(self, before: Vector, rows: Matrix) -> Vector:
        """V' from V."""
        return np.maximum(before - self._fall(rows @ self.factor.T), self._floor)

    def linearise(self, rows: Matrix, selves: Vector) -> tuple[Vector, Vector, MomentsPullback]:
        """μ, which is unchanged by what is pending, and V' from the rows, and one step of the chain rule."""
        t = len(self.regression)
        mean, before, pull_before = self.regression.linearise(rows[:, :t], selves)
        half = rows @ self.factor.T
        after = before - self._fall(half)

        def pull(mean_slope: Vector, variance_slope: Vector) -> tuple[Matrix, Vector]:
            slope = np.where(after > self._floor, variance_slope, 0.0)
            on_observed, on_selves = pull_before(mean_slope, slope)
            on_rows = (-2.0 * self.regression.spread * slope)[:, None] * (half @ self.factor)
            on_rows[:, :t] += on_observed
            return on_rows, on_selves

        return mean, np.maximum(after, self._floor), pull

    def _fall(self, half: Matrix) -> Vector:
        return self.regression.spread * np.einsum("ij,ij->i", half, half)

    @property
    def _floor(self) -> float:
        return self.regression.spread * self.regression.treatment.floor


def settle(regression: Regression, places: Sequence[int]) -> Matrix | None:
    """The factor F of observed objects whose true values are taken as known; None where D says nothing of variances.

    C(x, x_i) = a ρ_i I_i(x) with the noise ratio ρ = σ²/a, and C(x_i, x_j) = a (ρ_i δ_ij − ρ_i D_ij ρ_j).
    """
    if not len(places) or not regression.bounded:
        return None
    ratios, ones = (regression.noise / regression.amplitude)[places], np.eye(len(regression))[places]
    inverse = np.array([regression.solution.solve(one)[places] for one in ones])
    covariance = np.diag(ratios) - ratios[:, None] * inverse * ratios
    across = ratios[:, None] * np.array([regression.solution.weights(one) for one in ones])
    return _root(covariance, HAIR * max(float(ratios.mean()), 1e-300)).T @ across


def _root(covariance: Matrix, hair: float) -> Matrix:
    """[C + εI]^{-1/2}. An indefinite S leaves negative eigenvalues, which carry no information to condition on."""
    levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(basis / np.sqrt(np.maximum(levels, 0.0) + hair))
