"""The geometric view: projection and rejection in feature space (Theorems 1 and 3 of the paper).

For a PSD kernel K̃ = K + σ²·1[same observation] has a feature map Φ̃. The influence p(x) holds the coefficients of the
projection of Φ̃(x) onto the span of the observed Φ̃(x_i), the mean is ⟨p, y⟩, and the variance is ‖R(x)‖² − σ² with the
rejection R(x) = Φ̃(x) − P(x). The paper prints ‖R‖ − σ and σ·1[·]; the squares are right (errata 1, 2).

For any symmetric S the *empirical* feature map Φ_e(x_i) = row i of S + σ²I takes the place of Φ̃, and the influence is
again the projection's coefficients (Theorem 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.model.gram import Gram
from likewise.similarity.base import Function, Matrix, Similarity, Vector
from likewise.similarity.from_function import as_similarity


def feature_map(kernel: Matrix) -> Matrix:
    """Features whose inner products are the entries of a PSD matrix: one row per object.

    >>> k = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> bool(np.allclose(feature_map(k) @ feature_map(k).T, k))
    True
    """
    levels, basis = np.linalg.eigh(kernel)
    return basis * np.sqrt(np.maximum(levels, 0.0))


def coefficients(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """p with P(x) = Σ_i p_i(x) Φ(x_i): the shortest least-squares solution, for one feature vector or one in each row.

    For the features of a PSD kernel p(x) = K_x K_σ⁻¹ (Theorem 1), for empirical ones it is the influence (Theorem 3).
    """
    rows = np.atleast_2d(np.asarray(features, dtype=float))
    found = np.linalg.lstsq(np.asarray(observed, dtype=float).T, rows.T, rcond=None)[0].T
    return np.asarray(found if np.ndim(features) == 2 else found[0], dtype=np.float64)


def project(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """P(x) = Σ_i p_i(x) Φ(x_i), the projection of Φ(x) onto the span of the observed Φ(x_i) (Theorems 1 and 3).

    `features` is Φ(x), or one in each row; `observed` has a Φ(x_i) in each row, by `empirical_features` for instance.

    >>> project(np.array([2.0, 3.0]), np.array([[1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    return np.asarray(coefficients(features, observed) @ np.asarray(observed, dtype=float))


def reject(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """R(x) = Φ(x) − P(x), what of Φ(x) the observed Φ(x_i) do not span (Theorem 1).

    For a PSD kernel with Φ̃ the variance is V(x) = ‖R(x)‖² − σ².

    features: Φ(x), or one in each row.
    observed: has a Φ(x_i) in each row.

    >>> reject(np.array([2.0, 3.0]), np.array([[1.0, 0.0]])).tolist()
    [0.0, 3.0]
    """
    return np.asarray(np.asarray(features, dtype=float) - project(features, observed))


def geometric_posterior(kernel: Matrix, values: Vector, noise: float) -> tuple[float, float]:
    """Mean ⟨p, y⟩ and variance ‖R‖² − σ² at the last object of a kernel matrix, from the others' values (Theorem 1).

    >>> k = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> mean, variance = geometric_posterior(k, np.array([2.0]), noise=1.0)
    >>> round(mean, 6), round(variance, 6)
    (0.5, 0.875)
    """
    features = feature_map(kernel + noise * np.eye(len(kernel)))
    rejection = reject(features[-1], features[:-1])
    return float(coefficients(features[-1], features[:-1]) @ values), float(rejection @ rejection - noise)


def empirical_features(
    similarity: Similarity | Function,
    observed: Sequence[Any],
    objects: Sequence[Any] | None = None,
    noise: float = 1e-2,
) -> Matrix:
    """Φ_e(x) = [S(x, x_i) + σ²·1[x is observation i]]_i, one row for each object.

    `similarity` is a similarity, or a plain function of two objects.
    `observed` are the observed objects x_i.
    `objects` are new ones, whose features are S_x; by default the observed ones, with the rows of S + σ²I.
    `noise` is the variance σ², in squared units of the values.

    >>> empirical_features(lambda x, y: min(x, y), [1.0, 2.0], noise=0.5).tolist()
    [[1.5, 1.0], [1.0, 2.5]]
    >>> empirical_features(lambda x, y: min(x, y), [1.0, 2.0], [3.0]).tolist()
    [[1.0, 2.0]]
    """
    gram = Gram.of(as_similarity(similarity), list(observed))
    if objects is None:
        return gram.scores + noise * np.eye(len(gram))
    return gram.rows(gram.similarity.encode(list(objects)))
