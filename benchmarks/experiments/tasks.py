"""What is optimised in each experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.tasks import catalogue
from benchmarks.tasks.base import Matrix, Task, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.families import SPACES, family
from benchmarks.tasks.functions import ackley, levy, rosenbrock, schwefel
from benchmarks.tasks.pool import Pool
from benchmarks.tasks.table import Table, pool

# Functions with the bounds that everyone takes; each has its optimum 0.
FUNCTIONS: dict[str, tuple[Callable[[Matrix], Vector], float, float]] = {
    "ackley": (ackley, -32.768, 32.768),
    "levy": (levy, -10.0, 10.0),
    "rosenbrock": (rosenbrock, -5.0, 10.0),
    "schwefel": (schwefel, -500.0, 500.0),
}
DIMENSIONS = (10, 50, 100)
HIGH = tuple(f"{name}{d}" for name in FUNCTIONS for d in DIMENSIONS)
ONLY_SIMILARITY = ("strings", "series", "rises", "judgement")
# Eight batches of eight.
BATCHED = 64
FEW = 40


@lru_cache(maxsize=4)
def task(name: str) -> Task:
    """The task of this name; those of the suite have the suite's names, and begin with the same objects."""
    if name in HIGH:
        return _high(name)
    if name in SPACES:
        return family(name)
    if name in ONLY_SIMILARITY:
        return _pool(name)
    return catalogue.task(name)


def _high(name: str) -> Box:
    stem = name.rstrip("0123456789")
    function, low, high = FUNCTIONS[stem]
    d = int(name.removeprefix(stem))
    return Box(name, function, np.full(d, low), np.full(d, high), 0.0, -1.0, budget=BATCHED)


def _pool(name: str) -> Pool:
    """Pools whose objects are compared by a score that is not positive definite."""
    if name == "rises":
        return _rises(replace(_power_demand(), name=name))
    source = catalogue.task({"strings": "nasbench_macro", "series": "covid3month", "judgement": "esol"}[name])
    assert isinstance(source, Pool)
    return replace(source, name=name, budget=FEW)


def _power_demand() -> Pool:
    path = catalogue.data_folder() / "timeseries" / "italypowerdemand.csv"
    return pool("rises", Table(path, ("values",), "target", "series"), budget=FEW)


def _rises(days: Pool) -> Pool:
    """Days of power demand, of which the one with the steepest rise from one hour to the next is sought."""
    return replace(days, values=np.array([np.diff(day).max() for day in days.parts[0].values]))
