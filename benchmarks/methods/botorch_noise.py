"""BoTorch for noisy measurements and for records: qLogEI or qLogNEI of a batch, climbed together in a box."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from botorch.acquisition import qLogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf_mixed_alternating
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.methods.base import Method, Recommending
from benchmarks.methods.botorch_box import RAW_SAMPLES, RESTARTS, BoxOptimiser, together
from benchmarks.methods.botorch_gp import LIBRARIES
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box
from benchmarks.tasks.mixed import Mixed, Range

# Of a mixed model's fit, which goes on for hundreds of steps where the likelihood is flat.
STEPS = 100
SETTINGS = (
    "SingleTaskGP with default priors, Normalize, Standardize, fit_gpytorch_mll; {} of all points together by "
    "optimize_acqf(num_restarts=4, raw_samples=128, batch_limit=5, maxiter=200)"
)
MIXED_SETTINGS = (
    "MixedSingleTaskGP with default priors, Normalize of the numbers, Standardize, fit_gpytorch_mll of at most 100 "
    "steps; {} by optimize_acqf_mixed_alternating(num_restarts=4, raw_samples=128), points one after the other"
)


class _Improving:
    """What both optimisers share: the improvement that suits the noise, and the best measured object by its mean."""

    noisy: bool
    x: Tensor
    y: Tensor

    def _gain(self, model: SingleTaskGP) -> AcquisitionFunction:
        if self.noisy:
            return qLogNoisyExpectedImprovement(model, self.x, prune_baseline=True)
        return qLogExpectedImprovement(model, self.y.max())

    def _fitted(self) -> SingleTaskGP:
        raise NotImplementedError

    def _best(self) -> int:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            with torch.enable_grad():
                model = self._fitted()
            return int(model.posterior(self.x).mean.argmax())


class BoxImprovement(BoxOptimiser, _Improving):
    """All that was told in a box, and the next points together."""

    def __init__(self, task: Box, seed: int, noisy: bool) -> None:
        super().__init__(task, seed, lambda model, best, bounds, n: together(self._gain(model), bounds, n))
        self.noisy = noisy

    def recommend(self) -> Vector:
        return self.x[self._best()].numpy()


class MixedImprovement(_Improving):
    """All that was told of records, as numbers: choices by their places, logarithms where the scale is."""

    def __init__(self, task: Mixed, seed: int, noisy: bool) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.noisy, self.fields = noisy, task.fields
        self.x = torch.empty((0, len(task.fields)), dtype=torch.double)
        self.y = torch.empty((0, 1), dtype=torch.double)
        self.objects: list[Any] = []
        ends = [_ends(field) for field in task.fields.values()]
        self.bounds = torch.tensor(ends, dtype=torch.double).T
        self.choices = {i: list(range(len(f))) for i, f in enumerate(task.fields.values()) if isinstance(f, tuple)}
        self.whole = {
            i: [float(v) for v in range(int(f.low), int(f.high) + 1)]
            for i, f in enumerate(task.fields.values())
            if isinstance(f, Range) and f.whole
        }

    def tell(self, objects: Sequence[Mapping[str, Any]], scores: Vector) -> None:
        rows = [[_number(x[name], field) for name, field in self.fields.items()] for x in objects]
        self.x = torch.cat([self.x, torch.tensor(rows, dtype=torch.double)])
        self.y = torch.cat([self.y, torch.tensor(np.asarray(scores), dtype=torch.double)[:, None]])
        self.objects += objects

    def ask(self, n: int) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, _ = optimize_acqf_mixed_alternating(
                self._gain(self._fitted()),
                self.bounds,
                discrete_dims=self.whole,
                cat_dims=self.choices,
                q=n,
                raw_samples=RAW_SAMPLES,
                num_restarts=RESTARTS,
            )
        return [self._record(row) for row in found.detach().numpy()]

    def recommend(self) -> Any:
        return self.objects[self._best()]

    def _record(self, row: Vector) -> dict[str, Any]:
        return {name: _value(v, field) for v, (name, field) in zip(row, self.fields.items(), strict=True)}

    def _fitted(self) -> SingleTaskGP:
        numbers = [i for i in range(len(self.fields)) if i not in self.choices]
        model = MixedSingleTaskGP(
            self.x,
            self.y,
            cat_dims=list(self.choices),
            input_transform=Normalize(len(self.fields), indices=numbers, bounds=self.bounds),
            outcome_transform=Standardize(1),
        )
        likelihood = ExactMarginalLogLikelihood(model.likelihood, model)
        fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": STEPS}})
        return model


def _ends(field: Range | tuple[str, ...]) -> tuple[float, float]:
    if isinstance(field, Range):
        return _number(field.low, field), _number(field.high, field)
    return 0.0, len(field) - 1.0


def _number(value: Any, field: Range | tuple[str, ...]) -> float:
    if isinstance(field, Range):
        return float(np.log(value)) if field.log else float(value)
    return float(field.index(value))


def _value(number: float, field: Range | tuple[str, ...]) -> Any:
    if not isinstance(field, Range):
        return field[round(number)]
    if field.whole:
        return round(number)
    return float(np.clip(np.exp(number) if field.log else number, field.low, field.high))


def _improvement(name: str, acquisition: str, noisy: bool) -> Method:
    def start(task: Task, seed: int) -> Recommending:
        if isinstance(task, Mixed):
            return MixedImprovement(task, seed, noisy)
        assert isinstance(task, Box)
        return BoxImprovement(task, seed, noisy)

    def settings(task: Task) -> str:
        return (MIXED_SETTINGS if isinstance(task, Mixed) else SETTINGS).format(acquisition)

    return Method(name, settings, LIBRARIES, lambda task: isinstance(task, Box | Mixed), start)


Q_LOG_EI = _improvement("botorch-qlogei", "qLogExpectedImprovement", noisy=False)
Q_LOG_NEI = _improvement("botorch-qlognei", "qLogNoisyExpectedImprovement(prune_baseline=True)", noisy=True)
