"""The paper's application: an expectation over Gaussians, by similarity of distributions and by plain GP-based BO.

The objects are Gaussians N(μ, σ²); the value of one is g(x) = E[f(ω)], estimated from samples, with f a Rastrigin
landscape whose best Gaussian is known. Both methods see the same first ten Gaussians; likewise compares distributions,
plain GP-based BO compares the numbers (μ, σ²).

    python examples/paper_application.py --out demo
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import likewise as lw

BUDGET, FIRST = 50, 10


def rastrigin(omega: np.ndarray, x: lw.Gaussian) -> np.ndarray:
    """The integrand, at many ω at once; its best Gaussian is N(0, least variance)."""
    return -np.sum(10.0 + omega**2 - 10.0 * np.cos(2 * np.pi * omega), axis=1)


def true_value(x: lw.Gaussian) -> float:
    """E[f(ω)] in closed form, to measure regret without noise."""
    mean, variance = np.asarray(x.mean), np.asarray(x.variance)
    waves = 10.0 * np.exp(-2 * np.pi**2 * variance) * np.cos(2 * np.pi * mean)
    return float(-np.sum(10.0 + mean**2 + variance - waves))


METHODS = {
    "likewise, as it comes": lambda space: "auto",
    "the paper's const − KL": lambda space: lw.SymmetricKL(constant=space.divergence_bound()),
    "GP-based BO on (μ, σ²)": lambda space: lw.RBF(),
}


def run(dimension: int, seeds: int) -> dict[str, np.ndarray]:
    """Best true value after each evaluation, for each method and seed."""
    space = lw.Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=dimension)
    objective = lw.Expectation(rastrigin, samples=2000)
    curves: dict[str, np.ndarray] = {}
    for name, similarity in METHODS.items():
        rows = []
        for seed in range(seeds):
            print(f"{name}, seed {seed} …", file=sys.stderr)
            study = lw.Study(space, similarity(space), seed=seed)
            values = []
            for x in space.sample(FIRST, np.random.default_rng(seed)):
                study.tell(x, objective(x))
                values.append(true_value(x))
            while len(values) < BUDGET:
                suggestion = study.ask()[0]
                study.tell(suggestion, objective(suggestion.object))
                values.append(true_value(suggestion.object))
            rows.append(np.maximum.accumulate(values))
        curves[name] = np.array(rows)
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dimension", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    best = true_value(lw.Gaussian(np.zeros(options.dimension), np.full(options.dimension, 0.01)))
    print(f"Maximise E[Rastrigin] over Gaussians in {options.dimension} dimensions; the optimum is {best:.3f}.")
    print(f"{FIRST} random Gaussians, then {BUDGET - FIRST} suggestions; mean of {options.seeds} seeds.\n")
    curves = run(options.dimension, options.seeds)
    print(f"{'method':32s}{'best value':>12s}{'final regret':>14s}{'mean regret':>13s}")
    for name, rows in curves.items():
        regret = best - rows
        print(f"{name:32s}{rows[:, -1].mean():12.3f}{regret[:, -1].mean():14.3f}{regret[:, FIRST:].mean():13.3f}")
    picture = draw(curves, best, options.out / "paper_application.png")
    print(f"\nPicture: {picture}")


def draw(curves: dict[str, np.ndarray], best: float, path: Path) -> Path:
    """Regret against evaluations, with the range over seeds."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, rows), colour, style in zip(
        curves.items(), ["#0072B2", "#E69F00", "#555555"], ["-", "--", ":"], strict=True
    ):
        regret = best - rows
        steps = np.arange(1, rows.shape[1] + 1)
        axes.plot(steps, regret.mean(axis=0), style, color=colour, label=name, linewidth=2)
        axes.fill_between(steps, regret.min(axis=0), regret.max(axis=0), color=colour, alpha=0.15, linewidth=0)
    axes.axvline(FIRST, color="#999999", linewidth=0.8)
    axes.text(FIRST + 0.5, axes.get_ylim()[1] * 0.97, "suggestions begin", va="top", color="#555555", fontsize=8)
    axes.set(xlabel="evaluations", ylabel="regret", title="An expectation over Gaussians: regret of the best found")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
