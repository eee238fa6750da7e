"""BoTorch's batches: the model of `botorch_box`, and n points climbed together."""

from __future__ import annotations

from botorch.acquisition import qLogExpectedImprovement, qUpperConfidenceBound
from botorch.models import SingleTaskGP
from torch import Tensor

from benchmarks.methods.base import Method, Optimiser
from benchmarks.methods.botorch_box import BoxOptimiser, Choice, together
from benchmarks.methods.botorch_gp import LIBRARIES
from benchmarks.tasks.base import Task
from benchmarks.tasks.box import Box

# κ² of the paper's κ = 2.
BETA = 4.0
SETTINGS = (
    "SingleTaskGP with default priors (RBF, a lengthscale per dimension), Normalize, Standardize, fit_gpytorch_mll; {}"
    ", all points together, by optimize_acqf(num_restarts=4, raw_samples=128, batch_limit=5, maxiter=200)"
)


def joint_log_ei(model: SingleTaskGP, best: Tensor, bounds: Tensor, n: int) -> Tensor:
    return together(qLogExpectedImprovement(model, best), bounds, n)


def joint_ucb(model: SingleTaskGP, best: Tensor, bounds: Tensor, n: int) -> Tensor:
    # The model's own units are those of the values: Standardize is undone in its posterior.
    return together(qUpperConfidenceBound(model, beta=BETA), bounds, n)


def _batches(name: str, acquisition: str, choose: Choice) -> Method:
    def start(task: Task, seed: int) -> Optimiser:
        assert isinstance(task, Box)
        return BoxOptimiser(task, seed, choose)

    settings = SETTINGS.format(acquisition)
    return Method(name, lambda task: settings, LIBRARIES, lambda task: isinstance(task, Box), start)


Q_LOG_EI = _batches("botorch-qlogei", "qLogExpectedImprovement", joint_log_ei)
Q_UCB = _batches("botorch-qucb", f"qUpperConfidenceBound(beta={BETA:g})", joint_ucb)
