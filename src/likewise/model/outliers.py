"""Values that stand out: far from all others, or shifted together as a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.model.evidence import NOISE_PRIOR, cholesky, marginal_likelihood
from likewise.model.transforms import NORMAL, Standardised
from likewise.similarity.base import Matrix, Vector

# Values far from all others: a hit, or a slipped decimal. They are named, and stay in the model.
#
# On a scale that is straight near the middle and logarithmic far from it,
#
#     z = asinh((y − median) / spread),   spread by the median distance from the median,
#
# a value is far if no other is as near to it as the farthest two of the others are to one another. Heavy tails have
# others on the way to their end, and a search that crowds around the best has its early tries. Nothing but values is
# looked at, so that it costs little and says the same to everybody.

Index = NDArray[np.intp]

# Of fewer values nobody can say which is the odd one.
FEWEST = 8
# Slips are few: of more values than this share the distribution has a tail.
MOST_SHARE = 0.1


def far_values(values: Vector, stated: NDArray[np.bool_] | None = None) -> Index:
    """The places of the values that are far from all others, in order.

    `stated` says which values were told with their standard deviation: whoever knows how wrong a value may be has
    looked at it, and it is not named.

    >>> far_values(np.array([50.0, 61.0, 8971.0, 40.0, 55.0, 62.0, 47.0, 58.0])).tolist()
    [2]
    """
    none = np.zeros(0, dtype=np.intp)
    if len(values) < FEWEST:
        return none
    centre = np.median(values)
    spread = NORMAL * float(np.median(np.abs(values - centre)))
    if not 0.0 < spread < np.inf:
        return none
    z = np.arcsinh(values / spread - centre / spread)
    order = np.argsort(z, kind="stable")
    steps = np.concatenate([[np.inf], np.diff(z[order]), [np.inf]])
    nearest = np.empty(len(z))
    nearest[order] = np.minimum(steps[:-1], steps[1:])
    # Those that prove to have company count among the others.
    far, before = np.argsort(-np.abs(z), kind="stable")[: max(1, int(MOST_SHARE * len(z)))], -1
    while len(far) != before:
        before, far = len(far), far[nearest[far] > np.ptp(np.delete(z, far))]
    return np.sort(far if stated is None else far[~stated[far]])


def describe(x: Any, value: float) -> str:
    """What is said of a value that is far from all others.

    >>> describe("CCO", 8971.0)
    "8971 for 'CCO' is far from all other values: a hit, or a slip"
    """
    return f"{value:.6g} for {x!r} is far from all other values: a hit, or a slip"


# Values that were measured together shift together: on one day, on one plate, by one person.
#
# With the block k(i) of each observation, y_i = f(x_i) + b_k(i) + ε_i, and shifts b_k ~ N(0, aτ²) beside the amplitude
# a:
#
#     y ~ N(0, aM),      M = S + ρI + τ²BBᵀ      and so      b̂ = τ²BᵀM⁻¹y,      cov b = a(τ²I − τ⁴BᵀM⁻¹B),
#
# B the indicator of the blocks. S is the mean of all similarities before anything is learnt, with what all objects have
# in common; noises ρ and shifts τ² are a few that the evidence weighs, no shift among them. A shift of all blocks
# together cannot be told from the values themselves, so that shifts are those from the mean of all blocks. The values
# are then brought to a mean block, y_i − b̂_k(i). The error of b̂_k, of variance v_k, is one error for all n_k values
# of a block; as known noise each of them has n_k v_k, so that their mean has v_k.
#
# That is two steps where a model of both at once would be one; in return nothing else of the model has to know of
# blocks. What is predicted is the value in a mean block; a new block may be shifted, too.

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
