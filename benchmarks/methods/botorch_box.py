"""BoTorch on a box: SingleTaskGP with its defaults, and an acquisition climbed from many starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.tasks.base import Vector
from benchmarks.tasks.box import Box

# Of a batch: the tutorials have 10 and 512; these take a third of the time.
RESTARTS, RAW_SAMPLES = 4, 128
SETTINGS = (
    "SingleTaskGP with default priors (RBF, a lengthscale per dimension), Normalize, Standardize, fit_gpytorch_mll; "
    "LogExpectedImprovement by optimize_acqf(num_restarts=10, raw_samples=512); batches: qLogExpectedImprovement, all "
    "points together, by optimize_acqf(num_restarts=4, raw_samples=128, batch_limit=5, maxiter=200)"
)


Choice = Callable[[SingleTaskGP, Tensor, Tensor, int], Tensor]


def log_ei(model: SingleTaskGP, best: Tensor, bounds: Tensor, n: int) -> Tensor:
    """The point of highest log-EI, or the `n` points whose joint improvement is highest."""
    if n > 1:
        return together(qLogExpectedImprovement(model, best), bounds, n)
    return optimize_acqf(LogExpectedImprovement(model, best), bounds, q=1, num_restarts=10, raw_samples=512)[0]


def together(gain: AcquisitionFunction, bounds: Tensor, n: int) -> Tensor:
    """The `n` points whose joint worth is highest."""
    options = {"batch_limit": 5, "maxiter": 200}
    return optimize_acqf(gain, bounds, q=n, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES, options=options)[0]


class BoxOptimiser:
    """All that was told, and the next points that `choose` finds in a model fitted anew.

    `choose` is given the model, the best value, the bounds and the number of points.
    """

    def __init__(self, task: Box, seed: int, choose: Choice = log_ei) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.choose = choose
        self.bounds = torch.tensor(np.stack([task.lower, task.upper]), dtype=torch.double)
        self.x = torch.empty((0, task.dimension), dtype=torch.double)
        self.y = torch.empty((0, 1), dtype=torch.double)

    def tell(self, objects: Sequence[Vector], scores: Vector) -> None:
        self.x = torch.cat([self.x, torch.tensor(np.asarray(objects), dtype=torch.double)])
        self.y = torch.cat([self.y, torch.tensor(scores, dtype=torch.double)[:, None]])

    def ask(self, n: int) -> list[Vector]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.choose(self._fitted(), self.y.max(), self.bounds, n)
        return list(found.detach().numpy())

    def _fitted(self) -> SingleTaskGP:
        d = self.x.shape[1]
        model = SingleTaskGP(
            self.x, self.y, input_transform=Normalize(d, bounds=self.bounds), outcome_transform=Standardize(1)
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model
