"""The methods: each is told objects with their outcomes, and asked for the next ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import likewise as lw
from benchmarks.methods.analogical import face
from benchmarks.methods.features import features
from benchmarks.methods.uniform import RANDOM
from benchmarks.objectives.tasks import Several
from benchmarks.tasks.base import Matrix
from benchmarks.tasks.box import Box


class Optimiser(Protocol):
    """A search for a front."""

    def tell(self, objects: Sequence[Any], outcomes: Matrix) -> None: ...

    def ask(self, n: int) -> list[Any]: ...


class Ours:
    """A study with the task's goals, as a user would make it."""

    def __init__(self, task: Several, seed: int) -> None:
        self.face = face(task.base)
        limits = [f"c{i + 1}" for i in range(task.constraints)]
        self.names = [*task.objectives, *limits]
        reference = (task.signs * task.reference).tolist()
        self.study = lw.Study(
            self.face.space,
            objectives=dict(task.objectives),  # type: ignore[arg-type]
            constraints=dict.fromkeys(limits, lw.AtMost(0.0)),
            reference=dict(zip(task.objectives, reference, strict=True)),
            seed=seed,
        )
        self.asked: list[Any] = []

    def tell(self, objects: Sequence[Any], outcomes: Matrix) -> None:
        told = self.asked or [self.face.seen(x) for x in objects]
        for what, row in zip(told, outcomes.tolist(), strict=True):
            self.study.tell(what, dict(zip(self.names, row, strict=True)))
        self.asked = []

    def ask(self, n: int) -> list[Any]:
        self.asked = self.study.ask(n)
        return [self.face.known(s.object) for s in self.asked]


class Optuna:
    """A study in memory; what was measured in a suggestion's place is added as it is."""

    def __init__(self, task: Several, sampler: Any) -> None:
        import optuna

        self.features = features(task.base)
        self.task = task
        self.distributions = {
            c.name: optuna.distributions.CategoricalDistribution(list(range(c.levels)))
            if c.levels
            else optuna.distributions.FloatDistribution(c.low, c.high)
            for c in self.features.columns
        }
        self.study = optuna.create_study(directions=list(task.objectives.values()), sampler=sampler)
        self.pending: list[Any] = []

    def tell(self, objects: Sequence[Any], outcomes: Matrix) -> None:
        from optuna.trial import TrialState, create_trial

        for trial in self.pending:
            self.study.tell(trial, state=TrialState.FAIL)
        self.pending = []
        m = len(self.task.objectives)
        for x, row in zip(objects, outcomes.tolist(), strict=True):
            params = dict(zip(self.distributions, self.features.encode(x), strict=True))
            limits = {f"c{i + 1}": value for i, value in enumerate(row[m:])}
            told = {"constraints": limits} if limits else {}
            trial = create_trial(params=params, distributions=self.distributions, values=row[:m], **told)
            self.study.add_trial(trial)

    def ask(self, n: int) -> list[Any]:
        self.pending = [self.study.ask(self.distributions) for _ in range(n)]
        return [self.features.decode([trial.params[name] for name in self.distributions]) for trial in self.pending]


def _optuna(make: Callable[[Any, int, Several], Any]) -> Callable[[Several, int], Optimiser]:
    def start(task: Several, seed: int) -> Optimiser:
        import optuna
        import torch

        torch.set_num_threads(1)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        return Optuna(task, make(optuna.samplers, seed, task))

    return start


def _botorch(task: Several, seed: int) -> Optimiser:
    from benchmarks.objectives.botorch_fronts import FrontOptimiser

    return FrontOptimiser(task, seed)


def _baybe(task: Several, seed: int) -> Optimiser:
    from benchmarks.objectives.baybe_fronts import CampaignOptimiser

    return CampaignOptimiser(task, seed)


METHODS: Mapping[str, Callable[[Several, int], Optimiser]] = {
    "likewise": Ours,
    "random": lambda task, seed: RANDOM.start(task.base, seed),
    "optuna-tpe": _optuna(lambda s, seed, task: s.TPESampler(seed=seed)),
    "optuna-nsga2": _optuna(lambda s, seed, task: s.NSGAIISampler(seed=seed, population_size=10)),
    "botorch": _botorch,
    "optuna-gp": _optuna(
        lambda s, seed, task: s.GPSampler(seed=seed, deterministic_objective=isinstance(task.base, Box))
    ),
    "baybe": _baybe,
}
# Those that know no constraints on outcomes.
UNCONSTRAINED = ("baybe",)


def suits(method: str, task: Several) -> bool:
    """Whether the method can be given the task."""
    return not (task.constraints and method in UNCONSTRAINED)
