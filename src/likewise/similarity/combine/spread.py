"""How much the values of each branch vary: the accuracies of one classifier by 0.5, those of another by 0.005.

With values y_i of branch b_i normal about one mean m with the variances v_b, and log v_b normal about 0 with the
standard deviation τ, the most plausible v_b and m have

    m = Σ_i y_i/v_b(i) / Σ_i 1/v_b(i)        ½ Σ_{i in b} (y_i − m)²/v_b = ½ n_b + log(v_b)/τ².

A branch without values has v_b = 1, as the values have a spread of about one.
"""

from __future__ import annotations

import numpy as np

from likewise.similarity.base import LogNormal, Vector
from likewise.similarity.encodings.arrays import Indices

# Most standard deviations of two branches differ by a factor of two or less, unless the data say otherwise.
SCALE = 1.0
# Its mode is 1.
SPREAD_PRIOR = LogNormal(SCALE**2, SCALE)
ROUNDS, STEPS = 8, 20
# Values of a branch that are all equal have no logarithm of a spread.
LEAST = 1e-12


def spreads(which: Indices, values: Vector, branches: int) -> Vector:
    """v_b of each branch, from standardised values and which branch each is of.

    >>> found = spreads(np.array([0, 0, 0, 1, 1, 1]), np.array([1.1, 1.0, 0.9, -4.0, 2.0, -1.0]), 3)
    >>> found.round(2).tolist()
    [0.25, 4.72, 1.0]
    """
    logs, sizes = np.zeros(branches), np.bincount(which, minlength=branches)
    for _ in range(ROUNDS):
        shares = np.exp(-logs)[which]
        away = (values - shares @ values / shares.sum()) ** 2
        squares = np.bincount(which, away, minlength=branches) + LEAST * sizes
        for _ in range(STEPS):
            # Newton's, no farther than one at a time: the slope falls steeply below the root.
            pull = 0.5 * squares * np.exp(-logs)
            slope = pull - 0.5 * sizes - logs / SCALE**2
            logs = logs + np.clip(slope / (pull + 1.0 / SCALE**2), -1.0, 1.0)
    return np.exp(logs)
