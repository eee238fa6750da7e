"""Five families of distributions: each a sampler, a log-density and a space of parameters.

Samplers take uniform or normal numbers and turn them into draws, so that the draws of a similarity are evenly spread.
`demo` looks for the Gamma distribution under which an expectation is the largest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv, betaln, gammaincinv, gammaln, ndtri

import likewise as lw

Array = np.ndarray[Any, Any]


def gamma() -> lw.Family:
    """Gamma(shape, scale)."""
    return lw.Family(
        sample=lambda x, n, rng: x[1] * gammaincinv(x[0], rng.random(n)),
        log_density=lambda w, x: (x[0] - 1) * np.log(w) - w / x[1] - gammaln(x[0]) - x[0] * np.log(x[1]),
        parameters=lw.Box([0.5, 0.1], [9.0, 4.0], log=[0, 1]),
        name="Gamma",
    )


def beta() -> lw.Family:
    """Beta(a, b)."""
    return lw.Family(
        sample=lambda x, n, rng: betaincinv(x[0], x[1], rng.random(n)),
        log_density=lambda w, x: (x[0] - 1) * np.log(w) + (x[1] - 1) * np.log1p(-w) - betaln(x[0], x[1]),
        parameters=lw.Box([0.8, 0.8], [20.0, 20.0], log=[0, 1]),
        name="Beta",
    )


def dirichlet(parts: int = 3) -> lw.Family:
    """Dirichlet(α), by independent Gamma numbers that are divided by their sum."""

    def sample(x: Array, n: int, rng: np.random.Generator) -> Array:
        drawn = np.maximum(gammaincinv(x, rng.random((n, len(x)))), 1e-300)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

    def log_density(w: Array, x: Array) -> Array:
        return np.asarray(np.log(np.maximum(w, 1e-300)) @ (x - 1) + gammaln(x.sum()) - gammaln(x).sum())

    everywhere = lw.Box([0.8] * parts, [20.0] * parts, log=[True] * parts)
    return lw.Family(sample, log_density, everywhere, name="Dirichlet")


def categorical(values: int = 4) -> lw.Family:
    """One of a few values, by its probabilities."""

    def sample(x: Array, n: int, rng: np.random.Generator) -> Array:
        return np.minimum(np.searchsorted(np.cumsum(x), rng.random(n), side="right"), values - 1)

    def log_density(w: Array, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(x)[w])

    return lw.Family(sample, log_density, lw.Simplex(values), name="Categorical")


def mixture() -> lw.Family:
    """share · N(m₁, s₁²) + (1 − share) · N(m₂, s₂²): parameters share, m₁, m₂, s₁, s₂."""

    def sample(x: Array, n: int, rng: np.random.Generator) -> Array:
        first = rng.random(n) < x[0]
        return np.where(first, x[1], x[2]) + np.where(first, x[3], x[4]) * ndtri(rng.random(n))

    def log_density(w: Array, x: Array) -> Array:
        one, two = (-0.5 * ((w - m) / s) ** 2 - np.log(s) for m, s in ((x[1], x[3]), (x[2], x[4])))
        return np.asarray(np.logaddexp(np.log(x[0]) + one, np.log1p(-x[0]) + two) - 0.5 * np.log(2 * np.pi))

    ranges = lw.Box([0.05, -3, -3, 0.3, 0.3], [0.95, 3, 3, 2, 2], log=[3, 4])
    return lw.Family(sample, log_density, ranges, name="Mixture")


FAMILIES = (gamma, beta, dirichlet, categorical, mixture)


def demo(budget: int = 20) -> lw.Result:
    """The Gamma distribution under which E exp(−(ω − 3)²) is the largest."""
    value = lw.Expectation(lambda omega: np.exp(-((omega - 3) ** 2)))
    return lw.maximize(value, gamma(), budget=budget)


if __name__ == "__main__":
    print(demo())
