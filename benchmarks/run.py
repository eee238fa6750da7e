"""One run: a task, a method, a seed."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.commit import commit
from benchmarks.methods.base import Method, Optimiser
from benchmarks.store import Run
from benchmarks.tasks.base import Task, Vector


def run(task: Task, method: Method, seed: int, batch: int = 1) -> Run:
    """Tell the task's first objects, then ask and tell until the budget is spent.

    A round is a tell and the next ask, for some methods fit in one and some in the other. Its time is given on the
    clock and on the processor; the second does not depend on what else the machine does.
    """
    source = commit() if "likewise" in method.libraries else None
    optimiser = method.start(task, seed)
    objects = task.start(seed)
    values = list(scores := task.score(objects))
    rounds: list[tuple[float, float]] = []
    while len(values) < task.initial + task.budget:
        n = min(batch, task.initial + task.budget - len(values))
        before = time.perf_counter(), time.process_time()
        objects = _round(optimiser, objects, scores, n)
        rounds.append((time.perf_counter() - before[0], time.process_time() - before[1]))
        values += list(scores := task.score(objects))
    clock, processor = zip(*rounds, strict=True)
    return Run([float(task.sign * v) for v in values], median(clock), median(processor), source)


def _round(optimiser: Optimiser, objects: list[Any], scores: Vector, n: int) -> list[Any]:
    optimiser.tell(objects, np.asarray(scores))
    asked = optimiser.ask(n)
    if len(asked) != n:
        raise RuntimeError(f"asked for {n} objects, got {len(asked)}")
    return asked
