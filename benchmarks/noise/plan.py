"""Which tasks, with how much noise, in which batches, by whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.methods import method
from benchmarks.methods.base import Method
from benchmarks.store import RESULTS
from benchmarks.tasks.box import Box
from benchmarks.tasks.functions import FUNCTIONS
from benchmarks.tasks.mixed import RECORDS, Mixed

FOLDER = RESULTS / "noise"
BUDGET, NOISE, BATCH = 64, 0.1, 8


@dataclass(frozen=True)
class Setting:
    """How many objects are asked for at once, and the noise as a share of the values' spread."""

    batch: int
    noise: float


SETTINGS = {"batches": Setting(BATCH, 0.0), "noisy-batches": Setting(BATCH, NOISE), "noisy": Setting(1, NOISE)}
TASKS: dict[str, Box | Mixed] = {
    **{name: FUNCTIONS[name] for name in ("hartmann6", "ackley10", "levy10", "rosenbrock5")},
    **RECORDS,
}


def noisy(task: Box | Mixed, noise: float) -> Box | Mixed:
    """The task with noisy measurements, under a name that says so."""
    name = f"{task.name}-noise{noise:g}" if noise else task.name
    return replace(task, name=name, noise=noise, budget=BUDGET)


METHODS: dict[str, Callable[[float], Method]] = {
    "likewise": lambda noise: method("likewise"),
    "likewise-0.1": lambda noise: method("likewise-0.1"),
    "botorch": lambda noise: method("botorch-qlognei" if noise else "botorch-qlogei"),
}
