"""The evidence of an indefinite matrix: that of the absolute matrix, by another way of computing it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, linalg, stats

from likewise.model.evidence import AMPLITUDE_STRENGTH, evidences
from likewise.model.spectrum import treat

RATIOS = (0.01, 0.3)


def indefinite(seed: int, t: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((t, t))
    scores = root + root.T
    return scores / np.abs(scores).max(), rng.standard_normal(t)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("extra", [0.0, 0.2])
def test_the_evidence_as_is_is_that_of_the_absolute_matrix(seed: int, extra: float) -> None:
    """|M| as the root of M²; the amplitude's prior is integrated numerically."""
    t, nu = 4, AMPLITUDE_STRENGTH
    scores, values = indefinite(seed, t)
    known = np.full(t, extra)
    found = evidences(treat(scores, "as_is"), RATIOS, values, known)
    for ratio, evidence in zip(RATIOS, found, strict=True):
        # Known variances are shares of the amplitude, which the first of two rounds finds without them.
        first = scores + (ratio + extra) * np.eye(t)
        before = (nu + values @ np.linalg.solve(_absolute(first), values)) / (nu + t)
        absolute = _absolute(scores + (ratio + (extra / before if extra else 0.0)) * np.eye(t))
        assert evidence.amplitude == pytest.approx((nu + values @ np.linalg.solve(absolute, values)) / (nu + t))

        def density(log_a: float, absolute: np.ndarray = absolute) -> float:
            prior = stats.invgamma(nu / 2, scale=nu / 2).pdf(np.exp(log_a)) * np.exp(log_a)
            return float(prior * stats.multivariate_normal(np.zeros(t), np.exp(log_a) * absolute).pdf(values))

        assert evidence.log == pytest.approx(np.log(integrate.quad(density, -10, 15, limit=200)[0]), abs=1e-5)


def _absolute(matrix: np.ndarray) -> np.ndarray:
    return np.real(linalg.sqrtm(matrix @ matrix))


@pytest.mark.parametrize("kind", ["as_is", "krein", "clip"])
def test_the_amplitude_goes_with_the_unit_of_the_scores(kind: str) -> None:
    """Scores and noise a hundred times as large leave a hundredth of the quadratic form, indefinite or not."""
    t = 6
    scores, values = indefinite(3, t)

    def quadratic(size: float) -> float:
        (evidence,) = evidences(treat(size * scores, kind), (0.2 * size,), values, np.zeros(t))
        return evidence.amplitude * (t + AMPLITUDE_STRENGTH) - AMPLITUDE_STRENGTH

    assert quadratic(100.0) == pytest.approx(quadratic(1.0) / 100.0)


def test_a_singular_matrix_has_evidence() -> None:
    (evidence,) = evidences(treat(np.diag([1.0, 0.0, -1.0]), "as_is"), (0.0,), np.ones(3), np.zeros(3))
    assert np.isfinite(evidence.log)
    assert np.isfinite(evidence.amplitude)
