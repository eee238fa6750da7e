"""BoTorch over a large pool of fingerprints, with parameters that are given: the two ways its users have."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper, _scaled_improvement
from botorch.models import SingleTaskGP
from gpytorch.kernels import Kernel, ScaleKernel
from torch import Tensor


class BitsKernel(Kernel):
    """Tanimoto of rows of zeros and ones, whose squared norms are their sums: no copy of the inputs is made."""

    has_lengthscale = False

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **options: Any) -> Tensor:
        if diag:
            return torch.ones(x1.shape[:-1], dtype=x1.dtype)
        common = x1 @ x2.transpose(-1, -2)
        return common / (x1.sum(-1)[..., :, None] + x2.sum(-1)[..., None, :] - common).clamp_min(1e-6)


def fixed_model(inputs: Tensor, values: Tensor, amplitude: float, noise: float) -> SingleTaskGP:
    """A GP with a Tanimoto kernel of this amplitude, this noise and mean zero; nothing is fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleTaskGP(inputs, values[:, None], covar_module=ScaleKernel(BitsKernel()), outcome_transform=None)
    model.covar_module.outputscale = amplitude
    model.likelihood.noise = noise
    model.mean_module.initialize(constant=0.0)
    return model.eval()


def log_ei(model: SingleTaskGP, inputs: Tensor, best: Tensor, joint: bool) -> Tensor:
    """Log-EI of each row: one posterior per row, as the acquisition has it, or one joint posterior for all."""
    with torch.no_grad():
        if not joint:
            return LogExpectedImprovement(model, best)(inputs[:, None, :])
        posterior = model.posterior(inputs)
        sigma = posterior.variance[:, 0].clamp_min(1e-12).sqrt()
        return _log_ei_helper(_scaled_improvement(posterior.mean[:, 0], sigma, best, True)) + sigma.log()
