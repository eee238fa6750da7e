"""TuRBO-1: one trust region, Thompson sampling, a Gaussian process of BoTorch's.

After Eriksson, Pearce, Gardner, Turner and Poloczek, "Scalable global optimization via local Bayesian optimization",
NeurIPS 2019. In the unit cube a box of base length L lies around the best point, its sides in proportion to the
lengthscales. Candidates in it differ from the best point in a random part of the dimensions; for each point of the
batch one function is drawn from the posterior, and picks one of them. L doubles after some batches that improved,
halves after some that did not, and a new region begins where L gets too small.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.generation import MaxPosteriorSampling
from botorch.models import SingleTaskGP
from gpytorch.constraints import Interval
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor
from torch.quasirandom import SobolEngine

from benchmarks.methods.base import Method, Optimiser
from benchmarks.methods.botorch_gp import LIBRARIES
from benchmarks.tasks.base import Task, Vector
from benchmarks.tasks.box import Box

# The paper's numbers.
LENGTH, LEAST, MOST = 0.8, 0.5**7, 1.6
SUCCESSES, PERTURBED = 3, 20
# The paper has 5,000 at most; a draw costs the cube of their number, and 2,000 take a sixth of the time.
CANDIDATES_PER_DIMENSION, MOST_CANDIDATES = 100, 2000
IMPROVES = 1e-3
SETTINGS = (
    "one trust region, L = 0.8 in [0.5⁷, 1.6], 3 successes, ⌈max(4/n, d/n)⌉ failures; SingleTaskGP with Matérn-5/2, a "
    "lengthscale per dimension; Thompson sampling on min(100 d, 2000) Sobol points, 20 dimensions perturbed on average"
)


@dataclass
class Region:
    """The trust region: its length, and the batches in a row that improved or did not."""

    failures_allowed: int
    length: float = LENGTH
    successes: int = 0
    failures: int = 0

    def update(self, improved: bool) -> None:
        self.successes, self.failures = (self.successes + 1, 0) if improved else (0, self.failures + 1)
        if self.successes == SUCCESSES:
            self.length, self.successes = min(2 * self.length, MOST), 0
        elif self.failures == self.failures_allowed:
            self.length, self.failures = self.length / 2, 0


class Turbo:
    """All that was told to the present region, in the unit cube."""

    def __init__(self, task: Box, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.lower, self.width = task.lower, task.upper - task.lower
        self.d, self.first = task.dimension, task.initial
        self._begin()

    def _begin(self) -> None:
        self.x = torch.empty((0, self.d), dtype=torch.double)
        self.y = torch.empty((0, 1), dtype=torch.double)
        self.region: Region | None = None

    def tell(self, objects: Sequence[Vector], scores: Vector) -> None:
        new = torch.tensor(scores, dtype=torch.double)[:, None]
        if self.region is not None:
            best = float(self.y.max())
            self.region.update(float(new.max()) > best + IMPROVES * abs(best))
        self.x = torch.cat([self.x, torch.tensor((np.asarray(objects) - self.lower) / self.width)])
        self.y = torch.cat([self.y, new])
        if self.region is not None and self.region.length < LEAST:
            self._begin()

    def ask(self, n: int) -> list[Vector]:
        if len(self.y) < self.first:
            # A new region begins with new points; only restarts come here.
            picked = SobolEngine(self.d, scramble=True).draw(n, dtype=torch.double)
        else:
            if self.region is None:
                self.region = Region(ceil(max(4.0 / n, self.d / n)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                picked = self._sampled(self._fitted(), self.region.length, n)
        return list(self.lower + picked.numpy() * self.width)

    def _fitted(self) -> SingleTaskGP:
        y = (self.y - self.y.mean()) / self.y.std().clamp_min(1e-12)
        kernel = ScaleKernel(MaternKernel(2.5, ard_num_dims=self.d, lengthscale_constraint=Interval(0.005, 4.0)))
        likelihood = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
        model = SingleTaskGP(self.x, y, covar_module=kernel, likelihood=likelihood, outcome_transform=None)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _sampled(self, model: SingleTaskGP, length: float, n: int) -> Tensor:
        """For each of the `n` points, the best candidate under one draw of the posterior."""
        centre = self.x[self.y.argmax()]
        scales = model.covar_module.base_kernel.lengthscale.squeeze().detach()
        scales = scales / scales.log().mean().exp()
        low, high = (torch.clamp(centre + side * scales * length / 2, 0.0, 1.0) for side in (-1, 1))
        count = min(CANDIDATES_PER_DIMENSION * self.d, MOST_CANDIDATES)
        drawn = SobolEngine(self.d, scramble=True).draw(count, dtype=torch.double)
        changed = torch.rand(count, self.d) <= min(PERTURBED / self.d, 1.0)
        still = torch.where(changed.sum(dim=1) == 0)[0]
        changed[still, torch.randint(0, self.d, (len(still),))] = True
        candidates = torch.where(changed, low + (high - low) * drawn, centre)
        with torch.no_grad():
            return MaxPosteriorSampling(model, replacement=False)(candidates, num_samples=n)


def _start(task: Task, seed: int) -> Optimiser:
    assert isinstance(task, Box)
    return Turbo(task, seed)


TURBO = Method("turbo-1", lambda task: SETTINGS, LIBRARIES, lambda task: isinstance(task, Box), _start)
