"""The variance after objects whose values are not known yet: suggestions in flight, and earlier picks of a batch.

Their values are imputed by the mean, which leaves the mean as it is; the variance shrinks as if they were measured:

    V'(x) = V(x) − C(x, P) [C(P, P) + εI]⁻¹ C(P, x),      C the posterior covariance.

ε is a hair, not the noise: what is about to be known of an object should not be asked for again, however noisy.
For a PSD similarity this is conditioning on P. Under a spectrum treatment the treatment of the observed matrix is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.model.influence import Shared
from likewise.model.posterior import MomentsPullback, Posterior
from likewise.similarity.base import Matrix, Vector

HAIR = 1e-6


@dataclass(frozen=True, eq=False)
class Pending:
    """A posterior and the objects in flight. Rows have the columns of the observed objects first, then of those."""

    posterior: Posterior
    rows: Matrix
    slopes: Matrix
    root: Matrix

    @classmethod
    def on(cls, posterior: Posterior, rows: Matrix, scores: Matrix) -> Pending:
        """`rows` are the pending objects' scores with the observed ones, `scores` those among themselves."""
        post = posterior
        slopes = rows @ post.solution.operator
        prior = rows @ rows.T if post.treatment.kind == "square" else scores + post.treatment.shift * np.eye(len(rows))
        covariance = prior - slopes @ rows.T
        levels, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
        # An indefinite S leaves negative eigenvalues here as well; they carry no information to condition on.
        levels = np.maximum(levels, 0.0)
        hair = HAIR * max(float(np.mean(np.diag(prior))), 1e-300)
        return cls(post, rows, slopes, basis / np.sqrt(levels + hair))

    def mean_of_rows(self, rows: Matrix) -> Vector:
        """The mean, unchanged by what is pending."""
        return self.posterior.mean_of_rows(rows[:, : len(self.posterior)])

    def _covariance(self, rows: Matrix) -> Matrix:
        t = len(self.posterior)
        prior = rows[:, :t] @ self.rows.T if self.posterior.treatment.kind == "square" else rows[:, t:]
        return prior - rows[:, :t] @ self.slopes.T

    def variance_of_rows(self, rows: Matrix, selves: Vector, shared: Shared | None = None) -> Vector:
        """V'(x)."""
        before = self.posterior.variance_of_rows(rows[:, : len(self.posterior)], selves, shared)
        return self.lowered(before, rows)

    def lowered(self, before: Vector, rows: Matrix) -> Vector:
        """V' from V, when that is at hand."""
        half = self._covariance(rows) @ self.root
        after = before - self.posterior.amplitude * np.einsum("ij,ij->i", half, half)
        return np.maximum(after, self.posterior.amplitude * self.posterior.treatment.floor)

    def linearise_rows(self, rows: Matrix, selves: Vector) -> tuple[Vector, Vector, MomentsPullback]:
        """μ and V' from the rows, and one step of the chain rule through them."""
        t, post = len(self.posterior), self.posterior
        mean, before, pull_before = post.linearise_rows(rows[:, :t], selves)
        half = self._covariance(rows) @ self.root
        after = before - post.amplitude * np.einsum("ij,ij->i", half, half)
        floor = post.amplitude * post.treatment.floor

        def pull(mean_slope: Vector, variance_slope: Vector) -> tuple[Matrix, Vector]:
            slope = np.where(after > floor, variance_slope, 0.0)
            on_observed, on_selves = pull_before(mean_slope, slope)
            on_covariance = (-2.0 * post.amplitude * slope)[:, None] * (half @ self.root.T)
            on_observed = on_observed - on_covariance @ self.slopes
            if post.treatment.kind == "square":
                return np.hstack([on_observed + on_covariance @ self.rows, np.zeros_like(on_covariance)]), on_selves
            return np.hstack([on_observed, on_covariance]), on_selves

        return mean, np.maximum(after, floor), pull
