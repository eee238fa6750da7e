"""Expectations over distributions that are not diagonal Gaussians: a Gamma family, and Gaussians with full covariances.

Both values have a closed form. The vectors of these tasks are the numbers in which the space of the distributions is
searched; what lies outside it is moved to the nearest member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln

import likewise as lw
from benchmarks.tasks.base import Matrix, Vector
from benchmarks.tasks.box import Box

FREQUENCY, DECAY, WIDTH = 4.0, 5.0, 3.0
BUDGETS = {"gamma": 20, "full_gaussian": 40}
# The best of climbs by Nelder and Mead from the best 20 of 2,000 random points.
OPTIMA = {"gamma": 0.7998123229822539, "full_gaussian": 1.2941007941737424}


@dataclass(frozen=True)
class Members(Box):
    """A box of the numbers of distributions, members of `space`."""

    space: Any = None

    def members(self, numbers: Sequence[Vector]) -> list[Any]:
        """The distributions of these numbers, or the nearest ones of the space."""
        return nearest(self.space, np.asarray(numbers, dtype=float))


def nearest(space: Any, numbers: Matrix) -> list[Any]:
    made = space.from_numbers(numbers)
    return list(space.from_vector(space.project(space.to_vector(made))))


def gamma_space() -> lw.Family:
    """Gamma distributions of shape a and scale θ."""
    return lw.Family(
        sample=lambda x, n, rng: x[1] * gammaincinv(x[0], rng.random(n)),
        log_density=lambda w, x: (x[0] - 1) * np.log(w) - w / x[1] - gammaln(x[0]) - x[0] * np.log(x[1]),
        score=lambda w, x: np.stack([np.log(w / x[1]) - digamma(x[0]), w / x[1] ** 2 - x[0] / x[1]], axis=1),
        parameters=lw.Box([1.0, 0.05], [30.0, 2.0]),
        name="Gamma",
    )


def gamma_value(x: Any) -> float:
    """E of sin(kω) e^{−ω/c}: the imaginary part of E e^{sω} = (1 − θs)^{−a} at s = ik − 1/c."""
    shape, scale = np.asarray(x)
    return float(np.imag((1.0 - scale * (1j * FREQUENCY - 1.0 / DECAY)) ** (-shape)))


def full_space() -> lw.Gaussians:
    return lw.Gaussians(mean=(-3.0, 3.0), variance=(0.05, 4.0), dimension=2, covariance="full")


def full_value(x: Any) -> float:
    """E of (ω₁ − ½)(ω₂ + 1) e^{−‖ω‖²/2c}, which gains from a correlation.

    The exponential makes N(m, C) of N(μ, Σ), C = (Σ⁻¹ + I/c)⁻¹ and m = CΣ⁻¹μ, with the weight
    |I + Σ/c|^{−½} exp(−½ μᵀ(Σ + cI)⁻¹μ).
    """
    mean, covariance, one = np.asarray(x.mean), np.asarray(x.covariance), np.eye(2)
    inverse = np.linalg.inv(covariance)
    c = np.linalg.inv(inverse + one / WIDTH)
    m = c @ inverse @ mean
    weight = np.exp(-0.5 * mean @ np.linalg.solve(covariance + WIDTH * one, mean))
    weight /= np.sqrt(np.linalg.det(one + covariance / WIDTH))
    return float(weight * (c[0, 1] + (m[0] - 0.5) * (m[1] + 1.0)))


SPACES: dict[str, tuple[Callable[[], Any], Callable[[Any], float]]] = {
    "gamma": (gamma_space, gamma_value),
    "full_gaussian": (full_space, full_value),
}


def family(name: str) -> Members:
    """The task of this name."""
    make, value = SPACES[name]
    space = make()
    box = space.parameters if isinstance(space, lw.Family) else space.box

    def values(numbers: Matrix) -> Vector:
        return np.array([value(x) for x in nearest(space, numbers)])

    lower, upper = np.asarray(box.lower, dtype=float), np.asarray(box.upper, dtype=float)
    return Members(name, values, lower, upper, OPTIMA[name], 1.0, budget=BUDGETS[name], space=space)
