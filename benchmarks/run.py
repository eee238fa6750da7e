"""One run: a task, a method, a seed."""

from __future__ import annotations

import time
from statistics import median
from typing import Any, cast

import numpy as np

from benchmarks.commit import commit
from benchmarks.methods.base import Method, Optimiser, Recommending
from benchmarks.store import Run
from benchmarks.tasks.base import Task, Vector, generator


def run(task: Task, method: Method, seed: int, batch: int = 1) -> Run:
    """Tell the task's first objects, then ask and tell until the budget is spent.

    A round is a tell and the next ask, for some methods fit in one and some in the other. Its time is given on the
    clock and on the processor; the second does not depend on what else the machine does. Noisy tasks tell values with
    errors; the run's values are the true ones.
    """
    source = commit() if "likewise" in method.libraries else None
    optimiser = method.start(task, seed)
    objects = task.start(seed)
    values = list(task.score(objects))
    errors = _errors(task, seed)
    rounds: list[tuple[float, float]] = []
    while len(values) < task.initial + task.budget:
        n = min(batch, task.initial + task.budget - len(values))
        before = time.perf_counter(), time.process_time()
        objects = _round(optimiser, objects, _told(values, errors, objects), n)
        rounds.append((time.perf_counter() - before[0], time.process_time() - before[1]))
        values += list(task.score(objects))
    clock, processor = zip(*rounds, strict=True)
    best = None
    if errors.any():
        optimiser.tell(objects, _told(values, errors, objects))
        best = float(task.sign * task.score([cast(Recommending, optimiser).recommend()])[0])
    return Run([float(task.sign * v) for v in values], median(clock), median(processor), source, best)


def _errors(task: Task, seed: int) -> Vector:
    """The error of each measurement of a run, the same for all methods."""
    drawn = generator(f"errors of {task.name}", seed).standard_normal(task.initial + task.budget)
    # Tables are measured as they are.
    noise = getattr(task, "noise", 0.0)
    return drawn * noise * task.spread if noise else np.zeros_like(drawn)  # type: ignore[attr-defined]


def _told(values: list[float], errors: Vector, objects: list[Any]) -> Vector:
    """What is told of the last objects: their values with their errors."""
    last = slice(len(values) - len(objects), len(values))
    return np.asarray(values[last]) + errors[last]


def _round(optimiser: Optimiser, objects: list[Any], scores: Vector, n: int) -> list[Any]:
    optimiser.tell(objects, np.asarray(scores))
    asked = optimiser.ask(n)
    if len(asked) != n:
        raise RuntimeError(f"asked for {n} objects, got {len(asked)}")
    return asked
