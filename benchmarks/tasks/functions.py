"""The functions everyone uses, minimised, with their usual bounds and their known optima."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.tasks.base import Matrix, Vector
from benchmarks.tasks.box import Box

HARTMANN_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])


def branin(x: Matrix) -> Vector:
    """(x₂ − 5.1 x₁²/4π² + 5 x₁/π − 6)² + 10 (1 − 1/8π) cos x₁ + 10."""
    a, b = x.T
    ridge = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return ridge**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def hartmann6(x: Matrix) -> Vector:
    """−Σ_i α_i exp(−Σ_j A_ij (x_j − P_ij)²)."""
    return -np.exp(-np.einsum("ij,nij->ni", HARTMANN_A, (x[:, None, :] - HARTMANN_P) ** 2)) @ HARTMANN_ALPHA


def ackley(x: Matrix) -> Vector:
    """−20 exp(−0.2 √(mean x²)) − exp(mean cos 2πx) + 20 + e."""
    return (
        -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2, axis=1))) - np.exp(np.mean(np.cos(2 * np.pi * x), axis=1)) + 20 + np.e
    )


def levy(x: Matrix) -> Vector:
    """sin² πw₁ + Σ_{i<d} (w_i − 1)² (1 + 10 sin²(πw_i + 1)) + (w_d − 1)² (1 + sin² 2πw_d), w = 1 + (x − 1)/4."""
    w = 1 + (x - 1) / 4
    inner, last = w[:, :-1], w[:, -1]
    return (
        np.sin(np.pi * w[:, 0]) ** 2
        + np.sum((inner - 1) ** 2 * (1 + 10 * np.sin(np.pi * inner + 1) ** 2), axis=1)
        + (last - 1) ** 2 * (1 + np.sin(2 * np.pi * last) ** 2)
    )


def rosenbrock(x: Matrix) -> Vector:
    """Σ_{i<d} 100 (x_{i+1} − x_i²)² + (1 − x_i)²."""
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def styblinski(x: Matrix) -> Vector:
    """½ mean(x⁴ − 16x² + 5x): the optimum is far from the middle."""
    return 0.5 * np.mean(x**4 - 16 * x**2 + 5 * x, axis=1)


def schwefel(x: Matrix) -> Vector:
    """418.98 − mean(x sin √|x|): the optimum is near a corner, and no trend leads there."""
    return 418.98288727243374 - np.mean(x * np.sin(np.sqrt(np.abs(x))), axis=1)


def _cube(name: str, function: Callable[[Matrix], Vector], d: int, low: float, high: float, optimum: float) -> Box:
    return Box(name, function, np.full(d, low), np.full(d, high), optimum, -1.0)


FUNCTIONS = {
    task.name: task
    for task in (
        Box("branin", branin, np.array([-5.0, 0.0]), np.array([10.0, 15.0]), 0.39788735772973816, -1.0),
        _cube("hartmann6", hartmann6, 6, 0.0, 1.0, -3.3223680114155147),
        _cube("ackley10", ackley, 10, -32.768, 32.768, 0.0),
        _cube("levy10", levy, 10, -10.0, 10.0, 0.0),
        _cube("rosenbrock5", rosenbrock, 5, -5.0, 10.0, 0.0),
        _cube("ackley50", ackley, 50, -32.768, 32.768, 0.0),
        _cube("ackley100", ackley, 100, -32.768, 32.768, 0.0),
        _cube("levy50", levy, 50, -10.0, 10.0, 0.0),
        _cube("levy100", levy, 100, -10.0, 10.0, 0.0),
        _cube("styblinski10", styblinski, 10, -5.0, 5.0, -39.16616570377142),
        _cube("styblinski50", styblinski, 50, -5.0, 5.0, -39.16616570377142),
        _cube("schwefel20", schwefel, 20, -500.0, 500.0, 0.0),
        _cube("schwefel50", schwefel, 50, -500.0, 500.0, 0.0),
    )
}
