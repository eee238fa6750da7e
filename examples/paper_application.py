"""The paper's application: an expectation over Gaussians, by the paper's method, by GP-based BO and by the default.

The objects are Gaussians N(μ, σ²); the value of one is g(x) = E[f(ω)], estimated from samples, with f a Rastrigin
landscape whose best Gaussian is known. All methods begin with the same ten Gaussians. The paper's method compares
distributions by const − KL, as printed. GP-based BO, the paper's baseline, compares the numbers (μ, σ²) by a Gaussian
kernel. The default of likewise weighs several similarities of distributions by evidence.

    python examples/paper_application.py --out demo
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import likewise as lw

BUDGET, FIRST = 50, 10
MEAN, VARIANCE = (-3.0, 3.0), (0.01, 4.0)


def rastrigin(omega: np.ndarray, x: lw.Gaussian) -> np.ndarray:
    """The integrand, at many ω at once; its best Gaussian is N(0, least variance)."""
    return -np.sum(10.0 + omega**2 - 10.0 * np.cos(2 * np.pi * omega), axis=1)


def true_value(x: lw.Gaussian) -> float:
    """E[f(ω)] in closed form, to measure regret without noise."""
    mean, variance = np.asarray(x.mean), np.asarray(x.variance)
    waves = 10.0 * np.exp(-2 * np.pi**2 * variance) * np.cos(2 * np.pi * mean)
    return float(-np.sum(10.0 + mean**2 + variance - waves))


class GaussianProcessUCB:
    """GP-based Bayesian optimisation on numbers between `lower` and `upper`: the method that the paper starts from.

    A Gaussian process of mean 0 with the kernel exp(−‖x − x'‖²/2ℓ²) on the numbers in the unit cube, values brought to
    mean 0 and standard deviation 1. ℓ and the noise are those of highest evidence on a grid, with the amplitude that
    suits them best. The next point is the best of u = μ + κ√V found by L-BFGS from the best 8 of 500 random points.
    """

    def __init__(self, lower: Any, upper: Any, seed: int, kappa: float = 2.0) -> None:
        self.lower, self.width = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float) - lower
        self.rng, self.kappa = np.random.default_rng([seed, 2]), kappa

    def ask(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The next point after the measured ones, the rows of `x` with the values `y`."""
        unit, values = (x - self.lower) / self.width, (y - np.mean(y)) / (np.std(y) or 1.0)
        posterior = self._posterior(unit, values)
        starts = self.rng.uniform(size=(500, unit.shape[1]))
        worth = posterior.mean(starts) + self.kappa * posterior.std(starts)
        climbs = [self._climb(posterior, start) for start in starts[np.argsort(-worth)[:8]]]
        return self.lower + self.width * min(climbs, key=lambda climb: climb.fun).x

    def _posterior(self, x: np.ndarray, y: np.ndarray) -> Any:
        """The posterior at the lengthscale, noise and amplitude of highest evidence."""
        scales = np.geomspace(0.05, 4.0, 12) * np.sqrt(x.shape[1])
        fits = [(*evidence(x, y, scale, ratio), scale, ratio) for scale in scales for ratio in (1e-6, 1e-4, 1e-2, 1e-1)]
        _, amplitude, scale, ratio = max(fits)
        return lw.condition(lw.RBF(scale), x, y, noise=ratio * amplitude, amplitude=amplitude)

    def _climb(self, posterior: Any, start: np.ndarray) -> Any:
        def negative(x: np.ndarray) -> tuple[float, np.ndarray]:
            std = float(posterior.std([x])[0]) + 1e-12
            in_mean, in_variance = posterior.gradients([x])
            slope = in_mean[0] + self.kappa * in_variance[0] / (2 * std)
            return -float(posterior.mean([x])[0]) - self.kappa * std, -slope

        return minimize(negative, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(start))


def evidence(x: np.ndarray, y: np.ndarray, scale: float, ratio: float) -> tuple[float, float]:
    """The log evidence of a lengthscale and a noise ratio, with the amplitude at which it is highest, and that one."""
    squares = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
    root = np.linalg.cholesky(np.exp(-0.5 * squares / scale**2) + (ratio + 1e-8) * np.eye(len(x)))
    amplitude = float(np.mean(np.linalg.solve(root, y) ** 2)) + 1e-12
    return -0.5 * len(x) * np.log(amplitude) - float(np.sum(np.log(np.diag(root)))), amplitude


class OnNumbers:
    """GP-based BO on the numbers (μ, σ²) of Gaussians, with the study's `tell` and `ask`."""

    def __init__(self, space: lw.Gaussians, seed: int) -> None:
        # The space has two numbers for each entry of ω.
        d = self.d = space.dimension // 2
        lower, upper = np.repeat([MEAN[0], VARIANCE[0]], d), np.repeat([MEAN[1], VARIANCE[1]], d)
        self.process = GaussianProcessUCB(lower, upper, seed)
        self.numbers: list[np.ndarray] = []
        self.values: list[float] = []

    def tell(self, x: lw.Gaussian, measured: lw.Measurement) -> None:
        self.numbers.append(np.asarray(x))
        self.values.append(measured.value)

    def ask(self) -> lw.Gaussian:
        numbers = self.process.ask(np.array(self.numbers), np.array(self.values))
        return lw.Gaussian(numbers[: self.d], numbers[self.d :])


class InStudy:
    """A study of likewise, which proposes one Gaussian at a time."""

    def __init__(self, study: lw.Study) -> None:
        self.study = study

    def tell(self, x: lw.Gaussian, measured: lw.Measurement) -> None:
        self.study.tell(x, measured)

    def ask(self) -> lw.Gaussian:
        return self.study.ask()[0].object


def default(space: lw.Gaussians, seed: int) -> InStudy:
    return InStudy(lw.Study(space, seed=seed))


def paper(strategy: Any) -> Callable[[lw.Gaussians, int], InStudy]:
    """The paper's method as printed, by its own similarity."""

    def start(space: lw.Gaussians, seed: int) -> InStudy:
        similarity = lw.SymmetricKL(constant=space.divergence_bound())
        return InStudy(lw.Study(space, similarity, method=lw.Paper(strategy=strategy), seed=seed))

    return start


METHODS: dict[str, Callable[[lw.Gaussians, int], OnNumbers | InStudy]] = {
    "default of likewise": default,
    "paper, strategy 1 (const − KL)": paper("two_stage"),
    "paper, strategy 2 (const − KL)": paper("top"),
    "GP-based BO (UCB, Gaussian kernel)": OnNumbers,
}


def run(dimension: int, seeds: int, budget: int = BUDGET) -> dict[str, np.ndarray]:
    """Best true value after each evaluation, for each method and seed."""
    space = lw.Gaussians(mean=MEAN, variance=VARIANCE, dimension=dimension)
    objective = lw.Expectation(rastrigin, samples=2000)
    curves: dict[str, np.ndarray] = {}
    for name, start in METHODS.items():
        rows = []
        for seed in range(seeds):
            print(f"{name}, seed {seed} …", file=sys.stderr)
            method = start(space, seed)
            tried = list(space.sample(min(FIRST, budget), np.random.default_rng(seed)))
            for x in tried:
                method.tell(x, objective(x))
            while len(tried) < budget:
                tried.append(method.ask())
                method.tell(tried[-1], objective(tried[-1]))
            rows.append(np.maximum.accumulate([true_value(x) for x in tried]))
        curves[name] = np.array(rows)
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dimension", type=int, default=2)
    parser.add_argument("--budget", type=int, default=BUDGET, help=f"evaluations, the first {FIRST} at random")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    best = true_value(lw.Gaussian(np.zeros(options.dimension), np.full(options.dimension, VARIANCE[0])))
    print(f"Maximise E[Rastrigin] over Gaussians in {options.dimension} dimensions; the optimum is {best:.3f}.")
    print(f"{FIRST} random Gaussians, {options.budget} evaluations in all; mean of {options.seeds} seeds.\n")
    curves = run(options.dimension, options.seeds, options.budget)
    print(f"{'method':36s}{'best value':>12s}{'final regret':>14s}{'mean regret':>13s}")
    for name, rows in curves.items():
        regret = best - rows
        print(f"{name:36s}{rows[:, -1].mean():12.3f}{regret[:, -1].mean():14.3f}{regret[:, FIRST:].mean():13.3f}")
    print("\npaper: lw.Paper as printed (docs/paper.md). GP-based BO: GaussianProcessUCB in this example, on (μ, σ²).")
    print(
        "default: lw.Study(space), a committee of similarities weighted by evidence. Other tasks: docs/experiments.md."
    )
    print(f"Picture: {draw(curves, best, options.out / 'paper_application.png')}")


LOOKS = (("#000000", "-"), ("#CC79A7", "-"), ("#CC79A7", "--"), ("#0072B2", ":"))


def draw(curves: dict[str, np.ndarray], best: float, path: Path) -> Path:
    """Regret against evaluations, with the range over seeds."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, rows), (colour, style) in zip(curves.items(), LOOKS, strict=True):
        regret = best - rows
        steps = np.arange(1, rows.shape[1] + 1)
        axes.plot(steps, regret.mean(axis=0), style, color=colour, label=name, linewidth=2)
        axes.fill_between(steps, regret.min(axis=0), regret.max(axis=0), color=colour, alpha=0.12, linewidth=0)
    axes.axvline(FIRST, color="#999999", linewidth=0.8)
    axes.text(FIRST + 0.5, axes.get_ylim()[1] * 0.97, "suggestions begin", va="top", color="#555555", fontsize=8)
    axes.set(xlabel="evaluations", ylabel="regret", title="An expectation over Gaussians: regret of the best found")
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
