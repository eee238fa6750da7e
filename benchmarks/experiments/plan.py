"""Which runs each experiment has, the cheap ones first. Runs that are there are skipped."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.experiments.methods import method
from benchmarks.experiments.tasks import HIGH, ONLY_SIMILARITY, task
from benchmarks.run import run
from benchmarks.store import RESULTS as SUITE
from benchmarks.store import results_of
from benchmarks.tasks.catalogue import expectations
from benchmarks.tasks.families import SPACES

RESULTS = SUITE / "experiments"
# Of the suite: the same tasks, from the same first objects.
REUSED = {"paper": "paper-const-2", "likewise": "likewise", "botorch": "botorch", "random": "random"}


@dataclass(frozen=True)
class Experiment:
    """Tasks × methods, each method with its number of seeds; `reused` methods are read from the suite's results."""

    name: str
    tasks: tuple[str, ...]
    methods: Mapping[str, int]
    batch: int = 1
    reused: bool = False

    def runs(self, seeds: int | None = None) -> Iterator[tuple[str, str, int]]:
        """Task, method and seed; `seeds` for all methods in place of their own number. Seed by seed."""
        most = seeds or max(self.methods.values())
        for seed in range(most):
            for name, own in self.methods.items():
                if seed < (seeds or own):
                    yield from ((task_name, name, seed) for task_name in self.tasks)

    def contents(self, folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
        """The results of each task that has some, those of the suite among them."""
        found = {}
        for name in self.tasks:
            content = results_of(name, self.batch, folder).read()
            if self.reused:
                content = _joined(content, results_of(name, self.batch, folder.parent).read())
            if content:
                found[name] = content
        return found


def _joined(own: dict[str, Any], suite: Mapping[str, Any]) -> dict[str, Any]:
    """Own results, and those of the suite's methods that are not among them."""
    taken = {REUSED[name]: entry for name, entry in suite.get("methods", {}).items() if name in REUSED}
    return {**suite, **own, "methods": {**taken, **own.get("methods", {})}}


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "batches",
            HIGH,
            {
                "random": 5, "paper-1": 5, "paper-2": 5, "paper-1-std": 5, "paper-2-std": 5, "likewise": 5,
                "turbo-1": 3, "botorch-qucb": 3, "botorch-qlogei": 3,
            },
            batch=8,
        ),
        Experiment(
            "similarity",
            ONLY_SIMILARITY,
            {"random": 20, "paper": 10, "paper-std": 10, "likewise-given": 10, "cego-clip": 10, "cego-flip": 10},
        ),
        Experiment(
            "families",
            tuple(SPACES),
            {
                "random": 20, "likewise": 5, "paper-const-1": 5, "paper-const-2": 5, "paper-exp-1": 5, "paper-exp-2": 5,
                "gp-ucb": 5, "botorch": 5,
            },
        ),
        Experiment(
            "distributions",
            expectations(1, 2, 5, 10),
            {
                "paper-const-1": 5, "gp-ucb": 5, "paper-exp-1": 5, "paper-exp-2": 5, "airbo-like": 5,
                "paper-const-1-safe": 5, "paper-const-2-safe": 5, "paper-exp-1-safe": 5, "paper-exp-2-safe": 5,
            },
            reused=True,
        ),
    )
}  # fmt: skip


def run_missing(
    experiment: Experiment,
    seeds: int | None = None,
    methods: tuple[str, ...] = (),
    tasks: tuple[str, ...] = (),
    folder: Path = RESULTS,
) -> None:
    """Run what is missing of an experiment, and say how it went.

    `methods` and `tasks` keep those whose names begin so, all if empty.
    """
    for task_name, name, seed in experiment.runs(seeds):
        wanted = name.startswith(methods or ("",)) and task_name.startswith(tasks or ("",))
        results = results_of(task_name, experiment.batch, folder)
        if not wanted or results.has(name, seed):
            continue
        problem = task(task_name)
        optimiser = method(name, problem)
        results.check(problem, experiment.batch)
        try:
            done = run(problem, optimiser, seed, experiment.batch)
        except Exception:
            print(f"{task_name} {name} seed {seed} failed\n{traceback.format_exc()}", flush=True)
            continue
        results.add(problem, experiment.batch, optimiser, seed, done)
        best = (max if problem.sign > 0 else min)(done.values)
        print(f"{task_name} {name} seed {seed}: {best:.6g}, {done.cpu_seconds:.3g} s", flush=True)
