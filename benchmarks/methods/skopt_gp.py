"""scikit-optimize: the optimiser behind `gp_minimize`, by ask and tell."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from skopt import Optimizer
from skopt.space import Categorical, Real

from benchmarks.methods.base import Method
from benchmarks.methods.features import Column, features
from benchmarks.tasks.base import Task, Vector


class SkoptOptimiser:
    """`Optimizer` with the defaults of `gp_minimize`: a Matérn GP, gp_hedge over LCB, EI and PI."""

    def __init__(self, task: Task, seed: int) -> None:
        self.features = features(task)
        dimensions = [_dimension(column) for column in self.features.columns]
        self.optimizer = Optimizer(
            dimensions,
            "GP",
            n_initial_points=task.initial,
            acq_func="gp_hedge",
            acq_optimizer="auto",
            random_state=seed,
        )

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.optimizer.tell([self.features.encode(x) for x in objects], [-float(s) for s in scores])

    def ask(self, n: int) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked = [self.optimizer.ask()] if n == 1 else self.optimizer.ask(n)
        return [self.features.decode(x) for x in asked]


def _dimension(column: Column) -> Any:
    return Categorical(range(column.levels)) if column.levels else Real(column.low, column.high)


SKOPT = Method(
    "skopt",
    lambda task: "Optimizer as in gp_minimize: GP, gp_hedge; batches: constant liar (cl_min); columns as for Optuna",
    ("scikit-optimize", "scikit-learn"),
    lambda task: True,
    SkoptOptimiser,
)
