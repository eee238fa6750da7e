"""GP-based Bayesian optimisation as the paper's second section has it; the code is that of the example."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.methods.base import Method, Optimiser
from benchmarks.tasks.base import Matrix, Task, Vector
from benchmarks.tasks.box import Box

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "paper_application.py"


@cache
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


class Points:
    """All that was told, and the next point of highest upper confidence bound."""

    def __init__(self, task: Box, seed: int) -> None:
        self.gp = example()["GaussianProcessUCB"](task.lower, task.upper, seed)
        self.x: Matrix = np.empty((0, task.dimension))
        self.y: Vector = np.empty(0)

    def tell(self, objects: Sequence[Vector], scores: Vector) -> None:
        self.x, self.y = np.vstack([self.x, np.asarray(objects)]), np.concatenate([self.y, scores])

    def ask(self, n: int) -> list[Vector]:
        assert n == 1, "one at a time"
        return [self.gp.ask(self.x, self.y)]


def _start(task: Task, seed: int) -> Optimiser:
    assert isinstance(task, Box)
    return Points(task, seed)


GP_UCB = Method(
    "gp-ucb",
    lambda task: (
        "GaussianProcessUCB of examples/paper_application.py: Gaussian kernel on the numbers in the unit cube, one "
        "lengthscale, noise and amplitude by evidence on a grid, values standardised, μ + 2√V by L-BFGS from 8 starts"
    ),
    ("likewise", "numpy", "scipy"),
    lambda task: isinstance(task, Box),
    _start,
)
