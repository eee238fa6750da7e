"""The whole list of runs, in the order in which they are worth having. Runs that are there are skipped."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.methods import CONTROLS, METHODS, OF_NOISE, PEERS, method
from benchmarks.run import run
from benchmarks.store import RESULTS, Results, results_of
from benchmarks.tasks.catalogue import FIVE, LARGE, MOLECULES, QAP, SMALL, expectations, outline, task


@dataclass(frozen=True)
class Job:
    """One run to have."""

    task: str
    method: str
    seed: int
    batch: int = 1


@dataclass(frozen=True)
class Stage:
    """Tasks × methods × seeds, method by method."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: range
    batch: int = 1

    def jobs(self) -> Iterator[Job]:
        for name in self.methods:
            for task_name in self.tasks:
                yield from (Job(task_name, name, seed, self.batch) for seed in self.seeds)


EXPECTATIONS = expectations(1, 2, 5, 10)
STRINGS = ("nasbench_macro",)
# Where BoTorch takes less than half a second an ask.
QUICK = ("branin", "photoswitch", "esol", "freesolv_max", "freesolv_min", "crossed_barrel", "covid3month")
# The paper's claim about batches in high dimension: TwoStage and TopScore against Sequential, on functions whose
# optimum is in the middle of the box and on others.
BATCHES = ("likewise-sequential", "likewise-twostage", "likewise-topscore")
HIGH = (
    "ackley10", "ackley50", "ackley100", "levy10", "levy50", "levy100",
    "styblinski10", "styblinski50", "schwefel20", "schwefel50",
)  # fmt: skip

# Twenty seeds; ten for what takes longer than half a second an ask; five on large pools and where a run takes minutes.
# Every method suits its tasks here.
PEER_STAGES = (
    Stage((*FIVE, *SMALL), ("random", "optuna-tpe", "optuna-gp"), range(20)),
    Stage((*FIVE, *SMALL), ("botorch",), range(10)),
    Stage(QUICK, ("botorch",), range(20)),
    Stage(QAP, ("ga", "random", "optuna-tpe"), range(20)),
    Stage(STRINGS, ("ga",), range(20)),
    Stage(EXPECTATIONS, ("random", "optuna-tpe"), range(20)),
    Stage(EXPECTATIONS, ("botorch",), range(10)),
    Stage(EXPECTATIONS, ("optuna-gp",), range(20)),
    Stage(expectations(1, 2), ("botorch",), range(20)),
    Stage(LARGE, ("random", "optuna-tpe", "optuna-gp", "botorch"), range(5)),
    Stage(("tfbind8",), ("ga",), range(5)),
    Stage(("ackley50",), ("random", "optuna-tpe", "optuna-gp"), range(20)),
    Stage(("ackley50",), ("botorch",), range(10)),
    Stage(SMALL, ("random", "optuna-tpe"), range(20), batch=8),
    Stage(STRINGS, ("ga",), range(20), batch=8),
    Stage(LARGE, ("random", "optuna-tpe"), range(5), batch=8),
    Stage(HIGH, ("random", "optuna-tpe"), range(8), batch=8),
    Stage(SMALL, ("botorch",), range(10), batch=8),
    Stage((*FIVE, *SMALL), ("skopt",), range(10)),
    Stage(LARGE, ("botorch",), range(5), batch=8),
    Stage((*LARGE, "ackley50"), ("skopt",), range(5)),
    Stage(HIGH, ("botorch",), range(5), batch=8),
)


CONTROL_STAGES = (
    Stage(tuple(name for name in MOLECULES if name in SMALL), ("likewise-fingerprints",), range(20)),
    Stage(tuple(name for name in MOLECULES if name in SMALL), ("botorch-descriptors",), range(10)),
    Stage(tuple(name for name in MOLECULES if name in LARGE), CONTROLS, range(5)),
)


def own_stages(name: str) -> tuple[Stage, ...]:
    """The runs of likewise, of the paper's method, of single similarities, or of a batch strategy."""
    batches = Stage(_suited(name, HIGH), (name,), range(8), batch=8)
    if name in BATCHES:
        return (batches,)
    most = _suited(name, (*FIVE, *SMALL, *QAP, *EXPECTATIONS, "ackley50"))
    small, large = _suited(name, SMALL), _suited(name, LARGE)
    return (
        Stage(most, (name,), range(8)),
        Stage(most, (name,), range(20)),
        Stage(large, (name,), range(5)),
        Stage(small, (name,), range(20), batch=8),
        Stage(large, (name,), range(5), batch=8),
        batches,
    )


def _suited(name: str, tasks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(task_name for task_name in tasks if method(name).suits(outline(task_name)))


def jobs(methods: tuple[str, ...], only: tuple[str, ...] = ()) -> list[Job]:
    """Every run of these methods, first things first; `only` keeps the tasks whose name begins so."""
    own = [name for name in methods if name not in (*PEERS, *CONTROLS, *OF_NOISE)]
    stages = [*PEER_STAGES, *(stage for name in own for stage in own_stages(name)), *CONTROL_STAGES]
    listed = dict.fromkeys(job for stage in stages for job in stage.jobs() if job.method in methods)
    return [job for job in listed if not only or job.task.startswith(only)]


def missing(
    there: Mapping[str, Mapping[str, Collection[int]]], methods: tuple[str, ...] = tuple(METHODS)
) -> dict[str, dict[tuple[int, int], list[str]]]:
    """By method, how many runs there are and how many are planned, with the tasks for which that is so.

    `there` holds the seeds of each file and method.
    """
    planned: dict[tuple[str, str], set[int]] = {}
    for job in jobs(methods):
        planned.setdefault((job.method, results_of(job.task, job.batch).path.stem), set()).add(job.seed)
    short: dict[str, dict[tuple[int, int], list[str]]] = {}
    for (name, file), seeds in planned.items():
        done = len(seeds & set(there.get(file, {}).get(name, ())))
        if done < len(seeds):
            short.setdefault(name, {}).setdefault((done, len(seeds)), []).append(file)
    return short


def run_jobs(listed: list[Job], folder: Path = RESULTS, again: bool = False) -> None:
    """Run what is missing. A run that fails is reported, and the next one begins."""
    for number, job in enumerate(listed, 1):
        results = results_of(job.task, job.batch, folder)
        results.check(outline(job.task), job.batch, facts=False)
        if again or not results.has(job.method, job.seed):
            print(f"{number}/{len(listed)} {run_job(job, results)}", flush=True)


def run_job(job: Job, results: Results) -> str:
    """Run one job, store it, and say in a line how it went."""
    problem, optimiser = task(job.task), method(job.method)
    results.check(problem, job.batch)
    label = f"{job.task} {job.method} seed {job.seed} batch {job.batch}"
    try:
        done = run(problem, optimiser, job.seed, job.batch)
    except Exception:
        return f"{label} failed\n{traceback.format_exc()}"
    results.add(problem, job.batch, optimiser, job.seed, done)
    best = (max if problem.sign > 0 else min)(done.values)
    return f"{label}: {best:.6g}, {done.seconds:.3g} s"
