"""The variance after objects whose values are not known yet: suggestions in flight, and earlier picks of a batch.

Their values are imputed by the mean, which leaves the mean as it is; the variance shrinks as if they were measured:

    V'(x) = V(x) − C(x, P) [C(P, P) + εI]⁻¹ C(P, x),      C the posterior covariance.

ε is a hair, not the noise: what is about to be known of an object should not be asked for again, however noisy.
For a PSD similarity this is conditioning on P. Under a spectrum treatment the treatment of the observed matrix is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.model.regression import MomentsPullback, Regression
from likewise.similarity.base import Matrix, Vector

HAIR = 1e-6


@dataclass(frozen=True, eq=False)
class Pending:
    """A regression and the objects in flight. Rows have the columns of the observed objects first, then of those."""

    regression: Regression
    rows: Matrix
    slopes: Matrix
    root: Matrix

    @classmethod
    def on(cls, regression: Regression, rows: Matrix, scores: Matrix) -> Pending:
        """`rows` are the pending objects' scores with the observed ones, `scores` those among themselves."""
        slopes = rows @ regression.solution.operator
        prior = regression.treatment.among(rows, scores)
        covariance = prior - slopes @ rows.T
        levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
        # An indefinite S leaves negative eigenvalues here as well; they carry no information to condition on.
        levels = np.maximum(levels, 0.0)
        hair = HAIR * max(float(np.mean(np.diag(prior))), 1e-300)
        return cls(regression, rows, slopes, basis / np.sqrt(levels + hair))

    @property
    def factor(self) -> Matrix:
        """F with V(x) − V'(x) = a ‖F s‖², s the scores of x with the observed objects and then with those in flight."""
        on_rows, on_scores = self.regression.treatment.pull_cross(self.rows, np.eye(len(self.rows)))
        return self.root.T @ np.hstack([on_rows - self.slopes, on_scores])

    def lower(self, before: Vector, rows: Matrix) -> Vector:
        """V' from V."""
        return np.maximum(before - self._fall(self._half(rows)), self._floor)

    def linearise(self, rows: Matrix, selves: Vector) -> tuple[Vector, Vector, MomentsPullback]:
        """μ, which is unchanged by what is pending, and V' from the rows, and one step of the chain rule."""
        t, treatment = len(self.regression), self.regression.treatment
        mean, before, pull_before = self.regression.linearise(rows[:, :t], selves)
        half = self._half(rows)
        after = before - self._fall(half)

        def pull(mean_slope: Vector, variance_slope: Vector) -> tuple[Matrix, Vector]:
            slope = np.where(after > self._floor, variance_slope, 0.0)
            on_observed, on_selves = pull_before(mean_slope, slope)
            on_covariance = (-2.0 * self.regression.spread * slope)[:, None] * (half @ self.root.T)
            on_rows, on_scores = treatment.pull_cross(self.rows, on_covariance)
            return np.hstack([on_observed - on_covariance @ self.slopes + on_rows, on_scores]), on_selves

        return mean, np.maximum(after, self._floor), pull

    def _half(self, rows: Matrix) -> Matrix:
        """C(x, P) [C(P, P) + εI]^{-1/2}."""
        t = len(self.regression)
        prior = self.regression.treatment.cross(rows[:, :t], self.rows, rows[:, t:])
        return (prior - rows[:, :t] @ self.slopes.T) @ self.root

    def _fall(self, half: Matrix) -> Vector:
        return self.regression.spread * np.einsum("ij,ij->i", half, half)

    @property
    def _floor(self) -> float:
        return self.regression.spread * self.regression.treatment.floor
