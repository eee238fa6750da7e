"""BoTorch: a Gaussian process for each outcome, and the noisy expected hypervolume improvement in logarithms."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf, optimize_acqf_discrete
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.methods.botorch_kernels import view
from benchmarks.methods.botorch_pool import rows_of
from benchmarks.objectives.tasks import Several
from benchmarks.tasks.base import Matrix
from benchmarks.tasks.pool import Pool

SAMPLES, RESTARTS, RAW, CHUNK = 128, 10, 512, 256


class FrontOptimiser:
    """All that was told, and the next objects by qLogNEHVI of models fitted anew."""

    def __init__(self, task: Several, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.task, base = task, task.base
        self.view = view(base) if isinstance(base, Pool) else None
        self.bounds = None if isinstance(base, Pool) else torch.tensor(np.stack([base.lower, base.upper]))
        self.objects: list[Any] = []
        self.y = torch.empty((0, len(task.objectives) + task.constraints), dtype=torch.double)

    def tell(self, objects: Sequence[Any], outcomes: Matrix) -> None:
        self.objects += objects
        signed = np.hstack([self.task.signed(outcomes), outcomes[:, len(self.task.objectives) :]])
        self.y = torch.cat([self.y, torch.tensor(signed, dtype=torch.double)])

    def ask(self, n: int) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._in_pool(n) if self.view is not None else self._in_box(n)

    def _in_box(self, n: int) -> list[Any]:
        inputs = torch.tensor(np.asarray(self.objects), dtype=torch.double)
        d = inputs.shape[1]
        models = [
            SingleTaskGP(inputs, y, input_transform=Normalize(d, bounds=self.bounds), outcome_transform=Standardize(1))
            for y in self.y.split(1, dim=1)
        ]
        gain = self._gain(models, inputs)
        found, _ = optimize_acqf(gain, self.bounds, q=n, num_restarts=RESTARTS, raw_samples=RAW, sequential=True)
        return list(found.detach().numpy())

    def _in_pool(self, n: int) -> list[Any]:
        assert self.view is not None
        inputs = self.view.inputs[self.objects]
        options = {"options": {"maxiter": self.view.steps}} if self.view.steps else {}
        models = [SingleTaskGP(inputs, y, covar_module=self.view.kernel()) for y in self.y.split(1, dim=1)]
        gain = self._gain(models, inputs, options)
        left = np.setdiff1d(np.arange(len(self.view.inputs)), self.objects)
        choices = self.view.inputs[left]
        with torch.no_grad():
            if n == 1:
                worth = torch.cat([gain(some[:, None, :]) for some in choices.split(CHUNK)])
                return [int(left[int(worth.argmax())])]
            found, _ = optimize_acqf_discrete(gain, n, choices, max_batch_size=CHUNK, return_acq_values=False)
        return rows_of(found, choices, left)

    def _gain(self, models: list[SingleTaskGP], inputs: Tensor, options: dict[str, Any] | None = None) -> Any:
        for model in models:
            mll = ExactMarginalLogLikelihood(model.likelihood, model)
            fit_gpytorch_mll(mll, optimizer_kwargs=options or {})
        m = len(self.task.objectives)
        limits = [lambda samples, i=i: samples[..., i] for i in range(m, m + self.task.constraints)]
        return qLogNoisyExpectedHypervolumeImprovement(
            ModelListGP(*models),
            ref_point=self.task.reference.tolist(),
            X_baseline=inputs,
            sampler=SobolQMCNormalSampler(torch.Size([SAMPLES])),
            prune_baseline=True,
            objective=IdentityMCMultiOutputObjective(outcomes=list(range(m))),
            constraints=limits or None,
        )
