"""BoTorch on a pool: a GP with a kernel for the kind of object, log-EI of every member."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper, _scaled_improvement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.cholesky import psd_safe_cholesky
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.methods.botorch_kernels import LookupKernel, View, view
from benchmarks.tasks.base import Vector
from benchmarks.tasks.pool import Pool

Viewer = Callable[[Pool], View]
CHUNK = 256
# Above this many members, marginals are computed by hand, ROWS at a time, and batches picked among the CHOICES best.
LARGE, ROWS, CHOICES = 10_000, 1024, 2000


def settings(task: Pool, seen_by: Viewer = view) -> str:
    picked = "qLogExpectedImprovement by optimize_acqf_discrete"
    if len(task.values) > LARGE:
        scored = "marginals computed directly from the fitted kernel by a Cholesky factor"
        picked += f" among the {CHOICES:,} members of highest LogExpectedImprovement"
    else:
        scored = f"posteriors in joint chunks of {CHUNK}"
    seen = _view(task, seen_by)
    fitted = "fit_gpytorch_mll" + (f" of at most {seen.steps} steps" if seen.steps else "")
    return (
        f"SingleTaskGP, Standardize, default noise prior, kernel: {seen.label}; {fitted}; "
        f"LogExpectedImprovement over the whole pool, {scored}; batches: {picked}"
    )


class PoolOptimiser:
    """All that was told, and the next members by log-EI of a model fitted anew."""

    def __init__(self, task: Pool, seed: int, seen_by: Viewer = view) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.view = _view(task, seen_by)
        self.rows: list[int] = []
        self.y = torch.empty((0, 1), dtype=torch.double)

    def tell(self, objects: Sequence[int], scores: Vector) -> None:
        self.rows += objects
        self.y = torch.cat([self.y, torch.tensor(scores, dtype=torch.double)[:, None]])

    def ask(self, n: int) -> list[int]:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            with torch.enable_grad():
                model = self._fitted()
            if len(self.view.inputs) > LARGE:
                gain = self._log_ei(*marginals(model, self.view.inputs))
                gain[self.rows] = -torch.inf
                if n == 1:
                    return [int(gain.argmax())]
                # Measured rows come last, and are left out where fewer than CHOICES others remain.
                best = gain.argsort(descending=True, stable=True)[: min(CHOICES, len(gain) - len(self.rows))]
                return self._batch_among(model, best, n)
            left = np.setdiff1d(np.arange(len(self.view.inputs)), self.rows)
            if n == 1:
                return [int(left[self._joint_log_ei(model, self.view.inputs[left]).argmax()])]
            return self._batch(model, left, n)

    def _fitted(self) -> SingleTaskGP:
        model = SingleTaskGP(self.view.inputs[self.rows], self.y, covar_module=self.view.kernel())
        options = {"options": {"maxiter": self.view.steps}} if self.view.steps else {}
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model), optimizer_kwargs=options)
        return model

    def _joint_log_ei(self, model: SingleTaskGP, inputs: Tensor) -> Tensor:
        """LogExpectedImprovement of each row; one posterior per chunk, as one per row takes ten times as long."""
        posteriors = map(model.posterior, inputs.split(CHUNK))
        return torch.cat([self._log_ei(posterior.mean[:, 0], posterior.variance[:, 0]) for posterior in posteriors])

    def _log_ei(self, mean: Tensor, variance: Tensor) -> Tensor:
        sigma = variance.clamp_min(1e-12).sqrt()
        return _log_ei_helper(_scaled_improvement(mean, sigma, self.y.max(), True)) + sigma.log()

    def _batch(self, model: SingleTaskGP, left: NDArray[np.int64], n: int) -> list[int]:
        choices = self.view.inputs[left]
        gain = qLogExpectedImprovement(model, self.y.max())
        found, _ = optimize_acqf_discrete(gain, n, choices, max_batch_size=CHUNK, return_acq_values=False)
        return rows_of(found, choices, left)

    def _batch_among(self, model: SingleTaskGP, rows: Tensor, n: int) -> list[int]:
        """A batch out of these rows, by the same model over places in a table: its kernel's matrix, computed once."""
        kernel, t = model.covar_module, len(self.rows)
        points = torch.cat([model.train_inputs[0], self.view.inputs[rows]])
        matrix = torch.cat([kernel(some, points).to_dense() for some in points.split(ROWS)])
        places = torch.arange(len(points), dtype=torch.double)[:, None]
        tabled = SingleTaskGP(places[:t], self.y, likelihood=model.likelihood, covar_module=LookupKernel(matrix))
        tabled.mean_module = model.mean_module
        gain = qLogExpectedImprovement(tabled.eval(), self.y.max())
        found, _ = optimize_acqf_discrete(gain, n, places[t:], max_batch_size=CHUNK, return_acq_values=False)
        return [int(row) for row in rows[found[:, 0].long() - t]]


def marginals(model: SingleTaskGP, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """The posterior mean and variance of each row, as `model.posterior` has them, without the covariance of the rows.

    Variances k(x, x) are asked for one row at a time (a batch of single rows), for some kernels compute the whole
    matrix to find its diagonal.
    """
    model.eval()
    kernel, seen = model.covar_module, model.train_inputs[0]
    noise = model.likelihood.noise.expand(len(seen))
    root = psd_safe_cholesky(kernel(seen).to_dense() + noise.diag())
    residual = (model.train_targets - model.mean_module(seen))[:, None]
    weights = torch.cholesky_solve(residual, root)[:, 0]
    means, variances = [], []
    for rows in inputs.split(ROWS):
        cross = kernel(rows, seen).to_dense()
        explained = torch.linalg.solve_triangular(root, cross.T, upper=False).square().sum(0)
        means.append(model.mean_module(rows) + cross @ weights)
        variances.append(kernel(rows[:, None, :], diag=True)[:, 0] - explained)
    scale = model.outcome_transform
    return scale.means[0, 0] + scale.stdvs[0, 0] * torch.cat(means), scale.stdvs[0, 0] ** 2 * torch.cat(variances)


_VIEWS: dict[tuple[str, Viewer], View] = {}


def _view(task: Pool, seen_by: Viewer) -> View:
    """Made once per task: fingerprints of a large pool take a minute."""
    key = task.name, seen_by
    if key not in _VIEWS:
        _VIEWS.clear()
        _VIEWS[key] = seen_by(task)
    return _VIEWS[key]


def rows_of(found: Tensor, choices: Tensor, rows: NDArray[np.int64]) -> list[int]:
    """The rows of a pool that were found, out of the choices that stand in these rows; no row twice."""
    picked: list[int] = []
    for candidate in found:
        same = rows[(choices == candidate).all(dim=1).numpy()]
        picked.append(next(int(row) for row in same if row not in picked))
    return picked
