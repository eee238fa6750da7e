"""Values that were measured together shift together: on one day, on one plate, by one person.

With the block k(i) of each observation, y_i = f(x_i) + b_k(i) + ε_i, and shifts b_k ~ N(0, aτ²) beside the amplitude a:

    y ~ N(0, aM),      M = S + ρI + τ²BBᵀ      and so      b̂ = τ²BᵀM⁻¹y,      cov b = a(τ²I − τ⁴BᵀM⁻¹B),

B the indicator of the blocks. S is the mean of all similarities before anything is learnt, with what all objects have
in common; noises ρ and shifts τ² are a few that the evidence weighs, no shift among them. A shift of all blocks
together cannot be told from the values themselves, so that shifts are those from the mean of all blocks. The values are
then brought to a mean block, y_i − b̂_k(i). The error of b̂_k, of variance v_k, is one error for all n_k values of a
block; as known noise each of them has n_k v_k, so that their mean has v_k.

That is two steps where a model of both at once would be one; in return nothing else of the model has to know of blocks.
What is predicted is the value in a mean block; a new block may be shifted, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.model.evidence import NOISE_PRIOR, cholesky, marginal_likelihood
from likewise.model.targets.transforms import Standardised
from likewise.similarity.base import Matrix, Vector

Index = NDArray[np.intp]

RATIOS = (1e-3, 1e-2, 1e-1, 5e-1)
SHIFTS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)
# The place of an observation that is in no block.
NONE = -1


def block_shifts(
    scores: Matrix, values: Vector, blocks: Index, number: int, extra: Vector | None = None
) -> tuple[Vector, Vector]:
    """The shift of each block, and the variance of that, on the scale of the values.

    blocks: the number of each observation's block, NONE where it has none; there are `number` blocks.

    >>> rng = np.random.default_rng(0)
    >>> same, day = np.ones((40, 40)) + np.eye(40), np.arange(40) % 2
    >>> shift, variance = block_shifts(same, rng.standard_normal(40) + 10.0 * day, day, 2)
    >>> bool(abs(shift[1] - shift[0] - 10.0) < 1.5)
    True
    """
    scale = Standardised.of(values)
    z = np.asarray(scale.forward(values))
    noise = np.zeros(len(z)) if extra is None else extra / scale.scale**2
    inside = (blocks[:, None] == np.arange(number)).astype(float)
    logs, means, variances = [], [], []
    for ratio in RATIOS:
        # Heavy tails, as for the noises of members.
        prior = -np.log1p(((np.log(ratio) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2)
        for shift in SHIFTS:
            log, mean, variance = _shifts(scores + np.diag(ratio + noise), z, inside, shift)
            logs.append(log + prior)
            means.append(mean)
            variances.append(variance)
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    mean = shares @ np.array(means)
    variance = shares @ (np.array(variances) + (np.array(means) - mean) ** 2)
    return scale.scale * mean, scale.scale**2 * variance


def _shifts(matrix: Matrix, z: Vector, inside: Matrix, shift: float) -> tuple[float, Vector, Vector]:
    """Log evidence, and mean and variance of each block's shift, where shifts have a variance."""
    factor = cholesky(matrix + shift * inside @ inside.T)
    half = linalg.solve_triangular(factor, np.column_stack([z, inside]), lower=True, check_finite=False)
    log_determinant = 2.0 * float(np.sum(np.log(np.diag(factor))))
    evidence = marginal_likelihood(float(half[:, 0] @ half[:, 0]), log_determinant, len(z))
    mean = shift * (half[:, 1:].T @ half[:, 0])
    covariance = evidence.amplitude * (shift * np.eye(len(mean)) - shift**2 * half[:, 1:].T @ half[:, 1:])
    about = np.eye(len(mean)) - 1.0 / len(mean)
    return evidence.log, about @ mean, np.maximum(np.diag(about @ covariance @ about), 0.0)
