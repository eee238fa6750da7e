"""The geometric view: projection and rejection in feature space (Theorems 1 and 3 of the paper).

For a PSD kernel K̃ = K + σ²·1[same observation] has a feature map Φ̃. The influence p(x) holds the coefficients of the
projection of Φ̃(x) onto the span of the observed Φ̃(x_i), the mean is ⟨p, y⟩, and the variance is ‖R(x)‖² − σ² with the
rejection R(x) = Φ̃(x) − P(x). The paper prints ‖R‖ − σ and σ·1[·]; the squares are right (errata 1, 2).

For any symmetric S the *empirical* feature map Φ_e(x_i) = row i of S + σ²I takes the place of Φ̃, and the influence is
again the projection's coefficients (Theorem 3).
"""

from __future__ import annotations

import numpy as np

from likewise.similarity.base import Matrix, Vector


def feature_map(kernel: Matrix) -> Matrix:
    """Features whose inner products are the entries of a PSD matrix: one row per object.

    >>> k = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> bool(np.allclose(feature_map(k) @ feature_map(k).T, k))
    True
    """
    levels, basis = np.linalg.eigh(kernel)
    return basis * np.sqrt(np.maximum(levels, 0.0))


def project(feature: Vector, observed: Matrix) -> tuple[Vector, Vector, Vector]:
    """Coefficients p, projection P = Σ p_i Φ̃(x_i) and rejection R = Φ̃(x) − P of a feature vector (Theorem 1)."""
    coefficients = np.asarray(np.linalg.lstsq(observed.T, feature, rcond=None)[0], dtype=np.float64)
    projection = coefficients @ observed
    return coefficients, projection, feature - projection


def geometric_posterior(kernel: Matrix, values: Vector, noise: float) -> tuple[float, float]:
    """Mean ⟨p, y⟩ and variance ‖R‖² − σ² at the last object of a kernel matrix, from the others' values (Theorem 1).

    >>> k = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> mean, variance = geometric_posterior(k, np.array([2.0]), noise=1.0)
    >>> round(mean, 6), round(variance, 6)
    (0.5, 0.875)
    """
    features = feature_map(kernel + noise * np.eye(len(kernel)))
    coefficients, _, rejection = project(features[-1], features[:-1])
    return float(coefficients @ values), float(rejection @ rejection - noise)


def empirical_features(scores: Matrix, noise: float) -> Matrix:
    """Φ_e(x_i) for the observed objects: the rows of S + σ²I."""
    return scores + noise * np.eye(len(scores))
