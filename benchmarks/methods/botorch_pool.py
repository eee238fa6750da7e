"""BoTorch on a pool: a GP with a kernel for the kind of object, log-EI of every member."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper, _scaled_improvement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.methods.botorch_kernels import View, view
from benchmarks.tasks.base import Vector
from benchmarks.tasks.pool import Pool

CHUNK = 256


def settings(task: Pool) -> str:
    return (
        f"SingleTaskGP, Standardize, default noise prior, kernel: {_view(task).label}; fit_gpytorch_mll; "
        f"LogExpectedImprovement over the whole pool, posteriors in joint chunks of {CHUNK}; "
        "batches: qLogExpectedImprovement by optimize_acqf_discrete"
    )


class PoolOptimiser:
    """All that was told, and the next members by log-EI of a model fitted anew."""

    def __init__(self, task: Pool, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.view = _view(task)
        self.rows: list[int] = []
        self.y = torch.empty((0, 1), dtype=torch.double)

    def tell(self, objects: Sequence[int], scores: Vector) -> None:
        self.rows += objects
        self.y = torch.cat([self.y, torch.tensor(scores, dtype=torch.double)[:, None]])

    def ask(self, n: int) -> list[int]:
        left = np.setdiff1d(np.arange(len(self.view.inputs)), self.rows)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            with torch.enable_grad():
                model = self._fitted()
            if n == 1:
                return [int(left[torch.argmax(self._log_ei(model, self.view.inputs[left]))])]
            return self._batch(model, left, n)

    def _fitted(self) -> SingleTaskGP:
        model = SingleTaskGP(self.view.inputs[self.rows], self.y, covar_module=self.view.kernel())
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _log_ei(self, model: SingleTaskGP, inputs: Tensor) -> Tensor:
        """LogExpectedImprovement of each row; one posterior per chunk, as one per row takes ten times as long."""
        scores = []
        for chunk in inputs.split(CHUNK):
            posterior = model.posterior(chunk)
            sigma = posterior.variance[:, 0].clamp_min(1e-12).sqrt()
            u = _scaled_improvement(posterior.mean[:, 0], sigma, self.y.max(), True)
            scores.append(_log_ei_helper(u) + sigma.log())
        return torch.cat(scores)

    def _batch(self, model: SingleTaskGP, left: NDArray[np.int64], n: int) -> list[int]:
        choices = self.view.inputs[left]
        gain = qLogExpectedImprovement(model, self.y.max())
        found, _ = optimize_acqf_discrete(gain, n, choices, max_batch_size=CHUNK, return_acq_values=False)
        picked: list[int] = []
        for candidate in found:
            rows = left[(choices == candidate).all(dim=1).numpy()]
            picked.append(next(int(row) for row in rows if row not in picked))
        return picked


_VIEWS: dict[str, View] = {}


def _view(task: Pool) -> View:
    """Made once per task: fingerprints of a large pool take a minute."""
    if task.name not in _VIEWS:
        _VIEWS.clear()
        _VIEWS[task.name] = view(task)
    return _VIEWS[task.name]
