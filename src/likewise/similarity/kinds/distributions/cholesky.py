"""Log-Cholesky coordinates of covariance matrices: any numbers are a covariance, and each covariance has its own.

Σ = LLᵀ with L lower triangular and positive on its diagonal. The coordinates are the logarithms of that diagonal, which
are half the logarithms of the variance of each entry given those before it, and then what L has below it, row by row.
"""

from __future__ import annotations

import numpy as np

from likewise.similarity.base import Matrix


def count(d: int) -> int:
    """How many coordinates a d × d covariance has: ½d(d + 1)."""
    return d * (d + 1) // 2


def to_numbers(covariances: Matrix) -> Matrix:
    """The coordinates of each matrix, shape (n, ½d(d + 1)).

    >>> to_numbers(np.array([[[1.0, 0.5], [0.5, 1.25]]])).tolist()
    [[0.0, 0.0, 0.5]]
    """
    roots = np.linalg.cholesky(covariances)
    rows, columns = np.tril_indices(roots.shape[1], -1)
    return np.hstack([np.log(np.diagonal(roots, axis1=1, axis2=2)), roots[:, rows, columns]])


def from_numbers(numbers: Matrix) -> Matrix:
    """The covariance at each row of coordinates, shape (n, d, d).

    >>> from_numbers(np.array([[0.0, 0.0, 0.5]])).tolist()
    [[[1.0, 0.5], [0.5, 1.25]]]
    """
    d = int(np.sqrt(2 * numbers.shape[1]))
    roots = np.zeros((len(numbers), d, d))
    rows, columns = np.tril_indices(d, -1)
    roots[:, np.arange(d), np.arange(d)] = np.exp(numbers[:, :d])
    roots[:, rows, columns] = numbers[:, d:]
    found = roots @ roots.transpose(0, 2, 1)
    return np.asarray(0.5 * (found + found.transpose(0, 2, 1)))


def pull(covariances: Matrix, gradient: Matrix) -> Matrix:
    """A symmetric gradient G in Σ as one in the coordinates: 2GL in L, times L_kk where its logarithm is meant."""
    roots = np.linalg.cholesky(covariances)
    in_roots = 2.0 * gradient @ roots
    rows, columns = np.tril_indices(in_roots.shape[1], -1)
    diagonal = np.diagonal(in_roots, axis1=1, axis2=2) * np.diagonal(roots, axis1=-2, axis2=-1)
    return np.hstack([diagonal, in_roots[:, rows, columns]])
