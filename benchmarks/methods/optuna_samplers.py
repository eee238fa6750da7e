"""Optuna's tree-structured Parzen estimator and its Gaussian process, by ask and tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState, create_trial

from benchmarks.methods.base import Method
from benchmarks.methods.features import Column, features
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


class SamplerOptimiser:
    """A study in memory. Suggestions are dropped, and what was measured in their place is added as it is."""

    def __init__(self, task: Task, sampler: BaseSampler) -> None:
        self.features = features(task)
        self.distributions = {column.name: _distribution(column) for column in self.features.columns}
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.pending: list[optuna.Trial] = []

    def tell(self, objects: Sequence[Any], scores: Vector) -> None:
        for trial in self.pending:
            self.study.tell(trial, state=TrialState.FAIL)
        self.pending = []
        for x, score in zip(objects, scores, strict=True):
            params = dict(zip(self.distributions, self.features.encode(x), strict=True))
            self.study.add_trial(create_trial(params=params, distributions=self.distributions, value=float(score)))

    def ask(self, n: int) -> list[Any]:
        self.pending = [self.study.ask(self.distributions) for _ in range(n)]
        return [self.features.decode([trial.params[name] for name in self.distributions]) for trial in self.pending]


def _distribution(column: Column) -> BaseDistribution:
    if column.levels:
        return CategoricalDistribution(list(range(column.levels)))
    return FloatDistribution(column.low, column.high)


def _starter(sampler: Callable[[Task, int], BaseSampler]) -> Callable[[Task, int], SamplerOptimiser]:
    def start(task: Task, seed: int) -> SamplerOptimiser:
        import torch

        torch.set_num_threads(1)
        return SamplerOptimiser(task, sampler(task, seed))

    return start


def _tpe(task: Task, seed: int) -> BaseSampler:
    return TPESampler(seed=seed, constant_liar=True)


def _gp(task: Task, seed: int) -> BaseSampler:
    return GPSampler(seed=seed, deterministic_objective=isinstance(task, Box))


SEEN = "parts as numbers and categories (molecules, series: ten principal components), moved to the nearest free row"
TPE = Method(
    "optuna-tpe",
    lambda task: f"TPESampler, defaults, constant_liar; {SEEN}",
    ("optuna",),
    lambda task: True,
    _starter(_tpe),
)
GP = Method(
    "optuna-gp",
    lambda task: f"GPSampler, defaults, deterministic_objective on functions; {SEEN}",
    ("optuna", "torch"),
    lambda task: True,
    _starter(_gp),
)
