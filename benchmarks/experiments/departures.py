"""`python -m benchmarks.experiments.departures`: what some departures of docs/paper.md are worth, in small studies.

Functions are drawn from the model itself (RBF, boxes of width 10, a lengthscale of 2 in two dimensions that grows as
√d), so that the model is right and what is measured is the search: how much of a batch EQ fills, and how often a start
far from all observations finds a higher u₂. Then, in the paper's application, regret by the noise that is given, and
how many trajectories climb and rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize

import likewise as lw
from benchmarks.experiments.methods import similarity
from benchmarks.experiments.tasks import task
from benchmarks.methods.analogical import face, own
from benchmarks.run import run
from benchmarks.tables import markdown
from benchmarks.tasks.base import Matrix, Task, Vector
from benchmarks.tasks.expectation import INTEGRANDS, expectation

WIDTH, BATCH, STUDIES, STARTS = 10.0, 8, 10, 30
# Bases of a random function drawn from the Gaussian process.
WAVES = 200
NOISES = (1e-4, 1e-2, 1.0)
TASKS = ("expectation1_ackley", "expectation2_sine_ridge", "branin")
SEEDS = 3


@dataclass(frozen=True)
class Drawn:
    """A random function whose covariance is RBF's, and a study of the paper's method with `n` of its values."""

    study: lw.Study
    method: lw.Paper
    lengthscale: float

    @staticmethod
    def of(d: int, n: int, strategy: Any, seed: int) -> Drawn:
        rng = np.random.default_rng([d, n, seed])
        lengthscale = float(np.sqrt(2.0 * d))
        slopes, phases = rng.normal(size=(WAVES, d)) / lengthscale, rng.uniform(0, 2 * np.pi, WAVES)
        x = rng.uniform(0, WIDTH, (n, d))
        y = np.sqrt(2.0 / WAVES) * np.cos(x @ slopes.T + phases).sum(axis=1)
        method = lw.Paper(strategy=strategy)
        study = lw.Study(lw.Box(np.zeros(d), np.full(d, WIDTH)), lw.RBF(lengthscale), method=method, seed=seed)
        study.tell_many(list(zip(x, y.tolist(), strict=True)))
        return Drawn(study, method, lengthscale)


def filled(d: int, n: int, strategy: str) -> float:
    """The share of a batch of eight that is filled at random."""
    batches = [Drawn.of(d, n, strategy, seed).study.ask(BATCH) for seed in range(STUDIES)]
    return float(np.mean([bool(s.notes.get("filled")) for batch in batches for s in batch]))


def missed(d: int, n: int) -> float:
    """The share of studies in which climbs from random starts find a u₂ higher by a hundredth than any of EQ."""
    return float(np.mean([_misses(Drawn.of(d, n, "top", seed), d, seed) for seed in range(STUDIES)]))


def _misses(drawn: Drawn, d: int, seed: int) -> bool:
    found = drawn.method.trajectories(drawn.study)
    values = [trial.value for trial in drawn.study.trials]
    objects = [trial.object for trial in drawn.study.trials]
    post = lw.condition(lw.RBF(drawn.lengthscale), objects, values, noise=drawn.method.noise, spectrum="as_is")
    starts = np.random.default_rng(seed).uniform(0, WIDTH, (STARTS, d))
    negative = partial(_negative, post, drawn.method.kappa)
    climbs = [minimize(negative, x, jac=True, method="L-BFGS-B", bounds=[(0, WIDTH)] * d).fun for x in starts]
    return -min(climbs) > float(np.max(found.u2)) + 0.01


def _negative(post: Any, kappa: float, x: Vector) -> tuple[float, Matrix]:
    std = float(post.std([x])[0]) + 1e-12
    in_mean, in_variance = post.gradients([x])
    return -float(post.mean([x])[0]) - kappa * std, -(in_mean[0] + kappa * in_variance[0] / (2 * std))


def regret(name: str, noise: float) -> float:
    """Final regret of the paper's second strategy with this noise; the values have none."""
    problem = task(name)
    options = {"method": lw.Paper(noise=noise, strategy="top")}
    method = own("paper", "", lambda made: {**options, "similarity": similarity(made)})
    return float(np.mean([_final(problem, run(problem, method, seed).values) for seed in range(SEEDS)]))


def _final(problem: Task, values: list[float]) -> float:
    best, median = problem.facts.best, problem.facts.median
    return (best - max(problem.sign * value for value in values)) / (best - median)


def climbs(d: int, n: int, integrand: str) -> tuple[float, float]:
    """Of the trajectories of u₂ by const − KL, the shares that end above their start, and that come to rest."""
    problem, shares = replace(expectation(d, integrand), initial=n), []
    for seed in range(SEEDS):
        seen = face(problem)
        method = lw.Paper(strategy="top")
        study = lw.Study(seen.space, similarity(problem), method=method, seed=seed)
        numbers = problem.start(seed)
        study.tell_many([(seen.seen(x), y) for x, y in zip(numbers, problem.score(numbers).tolist(), strict=True)])
        found, scorer = method.trajectories(study), study.predict
        u2 = [np.asarray(p.mean) + method.kappa * np.asarray(p.std) for p in map(scorer, (found.starts, found.ends))]
        shares.append((np.mean(u2[1] > u2[0]), np.mean(found.converged)))
    above, rest = np.mean(shares, axis=0)
    return float(above), float(rest)


def main() -> None:
    rows = [
        [str(d), str(n), f"{filled(d, n, 'two_stage'):.0%}", f"{filled(d, n, 'top'):.0%}", f"{missed(d, n):.0%}"]
        for d in (2, 6, 20)
        for n in (20, 50)
    ]
    heads = ["dimensions", "observations", "filled, strategy 1", "filled, strategy 2", "a fresh start finds more"]
    print(markdown(heads, rows) + "\n", flush=True)
    by_noise = [[name, *(f"{regret(name, noise):.3f}" for noise in NOISES)] for name in TASKS]
    print(markdown(["final regret", *(f"σ² = {noise:g}" for noise in NOISES)], by_noise) + "\n", flush=True)
    print("trajectories of u₂ that end above their start, and that rest within 200 steps:\n")
    cases = [(d, n) for d in (1, 2, 5) for n in (10, 30)]
    ends = [[str(d), str(n), *("{:.0%}, {:.0%}".format(*climbs(d, n, name)) for name in INTEGRANDS)] for d, n in cases]
    print(markdown(["dimensions", "observations", *INTEGRANDS], ends))


if __name__ == "__main__":
    main()
