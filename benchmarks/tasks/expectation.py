"""The paper's application: choose the Gaussian under which an integrand is largest on average.

The objects are x = (μ, σ²), diagonal Gaussians with μ in [−3, 3]ᵈ and σ² in [0.01, 4]ᵈ, and what is maximised is
g(x) = E_{ω ~ N(μ, σ²)} f(ω). All three g are computed to about ten digits without sampling: Rastrigin and the sine
ridge in closed form, Ackley by a series and one smooth integral in one dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import ive

from benchmarks.tasks.base import Matrix, Vector
from benchmarks.tasks.box import Gaussian

MEAN, VARIANCE = (-3.0, 3.0), (0.01, 4.0)
RIDGE_FREQUENCY, RIDGE_WIDTH = 2.0, 5.0
HARMONICS = np.arange(1, 25)
# The trapezium rule in log z converges exponentially; the ends carry less than 1e-12 of the integral.
LOG_Z = np.linspace(-30.0, np.log(9.0), 1500)

Expected = Callable[[Matrix, Matrix], Vector]


def rastrigin(mean: Matrix, variance: Matrix) -> Vector:
    """E of −Σ (10 + ω² − 10 cos 2πω): E ω² = μ² + σ², E cos 2πω = e^{−2π²σ²} cos 2πμ."""
    waves = 10 * np.exp(-2 * np.pi**2 * variance) * np.cos(2 * np.pi * mean)
    return -np.sum(10 + mean**2 + variance - waves, axis=1)


def sine_ridge(mean: Matrix, variance: Matrix) -> Vector:
    """E of sin(kt) e^{−t²/2c} along the ridge t = Σω/√d, with k = 2 and c = 5.

    t ~ N(m, v) with m = Σμ/√d and v = Σσ²/d, and E e^{ikt − t²/2c} is
    √(c/(c+v)) exp(−m²/2(c+v) − k²vc/2(c+v)) e^{ikmc/(c+v)}: its imaginary part is wanted.
    """
    k, c = RIDGE_FREQUENCY, RIDGE_WIDTH
    m, v = mean.sum(axis=1) / np.sqrt(mean.shape[1]), variance.mean(axis=1)
    size = np.sqrt(c / (c + v)) * np.exp(-(m**2 + k**2 * v * c) / (2 * (c + v)))
    return size * np.sin(k * m * c / (c + v))


def ackley(mean: Matrix, variance: Matrix) -> Vector:
    """E of 20 exp(−0.2 √(mean ω²)) + exp(mean cos 2πω) − 20 − e."""
    return 20 * _bowl(mean, variance) + _egg_box(mean, variance) - 20 - np.e


def _egg_box(mean: Matrix, variance: Matrix) -> Vector:
    """E Π exp(cos(2πω_j)/d), by e^{z cos θ} = I₀(z) + 2 Σ I_n(z) cos nθ in each dimension."""
    z = 1 / mean.shape[1]
    n = HARMONICS[:, None, None]
    waves = np.cos(2 * np.pi * n * mean) * np.exp(-2 * (np.pi * n) ** 2 * variance)
    # ive is e^{−z} I_n(z).
    series = ive(0, z) + 2 * np.einsum("k,kni->ni", ive(HARMONICS, z), waves)
    return np.prod(np.exp(z) * series, axis=1)


def _bowl(mean: Matrix, variance: Matrix) -> Vector:
    """E exp(−b √(‖ω‖²/d)), b = 0.2, as a mixture of Gaussian integrals.

    With z ~ N(0, 1), E e^{−cq/z²} = e^{−√(2cq)}; for 2c = b²/d and q = ‖ω‖² the expectation over ω goes inside:
    ∫ 2φ(z) Π_j (z²/(z² + 2cσ_j²))^{1/2} exp(−cμ_j²/(z² + 2cσ_j²)) dz over z > 0.
    """
    c = 0.2**2 / mean.shape[1] / 2
    z2 = np.exp(2 * LOG_Z)
    density = np.sqrt(2 / np.pi) * np.exp(-z2 / 2 + LOG_Z)
    weights = density * np.gradient(LOG_Z)
    weights[[0, -1]] /= 2
    total = np.zeros((len(mean), len(z2)))
    for m, v in zip(mean.T, variance.T, strict=True):
        spread = z2 + 2 * c * v[:, None]
        total += 0.5 * np.log(z2 / spread) - c * m[:, None] ** 2 / spread
    return np.exp(total) @ weights


INTEGRANDS: dict[str, Expected] = {"ackley": ackley, "rastrigin": rastrigin, "sine_ridge": sine_ridge}


@dataclass(frozen=True)
class OfParameters:
    """g as a function of the joined parameters (μ, σ²), in blocks that keep memory small."""

    expected: Expected
    block: int = 500

    def __call__(self, x: Matrix) -> Vector:
        d = x.shape[1] // 2
        starts = range(0, len(x), self.block)
        return np.concatenate([self.expected(b[:, :d], b[:, d:]) for b in (x[s : s + self.block] for s in starts)])


def best_value(integrand: str, d: int) -> float:
    """max g. Ackley and Rastrigin: the narrowest Gaussian at the origin, where every term is largest.

    The sine ridge depends on Σμ and Σσ² alone, so its optimum is among equal (μ_j, σ_j²): a grid, then locally.
    """
    g = OfParameters(INTEGRANDS[integrand])
    if integrand != "sine_ridge":
        return float(g(np.r_[np.zeros(d), np.full(d, VARIANCE[0])][None, :])[0])
    means, variances = (a.ravel() for a in np.meshgrid(np.linspace(*MEAN, 601), np.linspace(*VARIANCE, 40)))
    grid = np.c_[np.repeat(means[:, None], d, 1), np.repeat(variances[:, None], d, 1)]
    start = grid[np.argmax(g(grid))]
    bounds = [MEAN] * d + [VARIANCE] * d
    return -float(minimize(lambda x: -g(x[None, :])[0], start, bounds=bounds, method="L-BFGS-B", tol=1e-14).fun)


def expectation(d: int, integrand: str) -> Gaussian:
    """The expectation task of an integrand in `d` dimensions (2d parameters)."""
    lower = np.r_[np.full(d, MEAN[0]), np.full(d, VARIANCE[0])]
    upper = np.r_[np.full(d, MEAN[1]), np.full(d, VARIANCE[1])]
    function = OfParameters(INTEGRANDS[integrand])
    name = f"expectation{d}_{integrand}"
    return Gaussian(name, function, lower, upper, best_value(integrand, d), 1.0, budget=40)
