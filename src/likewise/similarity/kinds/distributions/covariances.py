"""Divergences of Gaussians with full covariances A and B, by closed forms, with their gradients in μ and in A.

Each function goes through the Gaussians of b and yields, for one of them, the column d(a_i, b_j), the gradients in the
means as rows, and those in A as symmetric matrices, so that memory stays proportional to the Gaussians of a alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from likewise.similarity.base import Matrix, Vector

Gaussians = tuple[Matrix, Matrix]
Columns = Iterator[tuple[Vector, Matrix, Matrix]]


def _inverses(matrices: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(matrices), dtype=float)


def _times(matrices: Matrix, vectors: Matrix) -> Matrix:
    return np.matmul(matrices, vectors[..., None])[..., 0]


def _diagonals(matrices: Matrix) -> Matrix:
    return np.diagonal(matrices, axis1=-2, axis2=-1)


def _squares(vectors: Matrix) -> Matrix:
    """p pᵀ of each row p."""
    return vectors[:, :, None] * vectors[:, None, :]


def _dots(left: Matrix, right: Matrix) -> Vector:
    return np.asarray(np.einsum("ik,ik->i", left, right))


def symmetric_kl(a: Gaussians, b: Gaussians) -> Columns:
    """¼ tr(A⁻¹B + AB⁻¹ − 2I) + ¼ δᵀ(A⁻¹ + B⁻¹)δ, δ = μ − μ'.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in symmetric_kl(point, (np.ones((1, 2)), 2.0 * np.eye(2)[None]))]
    [[1.0]]
    """
    (mean, A), (inverse, inverse_b) = a, (_inverses(a[1]), _inverses(b[1]))
    for mean_b, B, B_inverse in zip(*b, inverse_b, strict=True):
        away = mean - mean_b
        pressed = _times(inverse, away)
        traces = np.einsum("ikl,lk->i", inverse, B) + np.einsum("ikl,lk->i", A, B_inverse) - 2.0 * len(B)
        in_mean = 0.5 * (pressed + away @ B_inverse)
        in_covariance = 0.25 * (B_inverse - inverse @ B @ inverse - _squares(pressed))
        yield 0.25 * traces + 0.5 * _dots(away, in_mean), in_mean, in_covariance


def bhattacharyya(a: Gaussians, b: Gaussians) -> Columns:
    """⅛ δᵀM⁻¹δ + ½ log|M| − ¼ log|A| − ¼ log|B|, with M = (A + B)/2.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in bhattacharyya(point, (np.ones((1, 2)), np.eye(2)[None]))]
    [[0.25]]
    """
    volume, volume_b = np.linalg.slogdet(a[1])[1], np.linalg.slogdet(b[1])[1]
    own = 0.25 * _inverses(a[1])
    for (together, in_mean, in_covariance), B_volume in zip(_summed(a, b, 0.0, 0.25, 2.0), volume_b, strict=True):
        yield together - 0.25 * (volume + B_volume), in_mean, in_covariance - own


def _summed(a: Gaussians, b: Gaussians, square: float, weight: float, unit: float) -> Columns:
    """weight · δᵀM⁻¹δ + ½ log|M/unit|, with M = square · I + A + B."""
    mean, A = a
    for mean_b, B in zip(*b, strict=True):
        away, wide = mean - mean_b, square * np.eye(len(B)) + A + B
        inverse = _inverses(wide)
        pressed = _times(inverse, away)
        distances = weight * _dots(away, pressed) + 0.5 * np.linalg.slogdet(wide / unit)[1]
        yield distances, 2.0 * weight * pressed, 0.5 * inverse - weight * _squares(pressed)


def wasserstein2(a: Gaussians, b: Gaussians) -> Columns:
    """‖δ‖² + tr(A + B − 2 (B^½ A B^½)^½), whose gradient in A is I − B^½ (B^½ A B^½)^(−½) B^½.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in wasserstein2(point, (np.ones((1, 2)), 4.0 * np.eye(2)[None]))]
    [[4.0]]
    """
    mean, A = a
    values_b, vectors_b = np.linalg.eigh(b[1])
    for mean_b, B, values, vectors in zip(*b, values_b, vectors_b, strict=True):
        away, root = mean - mean_b, (vectors * np.sqrt(values)) @ vectors.T
        inner, axes = np.linalg.eigh(root @ A @ root)
        roots = np.sqrt(np.maximum(inner, np.finfo(float).tiny))
        spread = np.sum(_diagonals(A), axis=1) + np.trace(B) - 2.0 * roots.sum(axis=1)
        halved = root @ axes / np.sqrt(roots)[:, None, :]
        yield _dots(away, away) + spread, 2.0 * away, np.eye(len(B)) - halved @ halved.transpose(0, 2, 1)


def embedding(a: Gaussians, b: Gaussians, square: float) -> Columns:
    """½ δᵀM⁻¹δ + ½ log|M/ℓ²|, with M = ℓ²I + A + B and ℓ² the `square`.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in embedding(point, (np.full((1, 2), 2.0), np.eye(2)[None]), 2.0)]
    [[1.69314718056]]
    """
    return _summed(a, b, square, 0.5, square)
