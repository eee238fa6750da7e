"""BoTorch over a large pool of fingerprints, with parameters that are given: the two ways its users have."""

from __future__ import annotations

import warnings

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper, _scaled_improvement
from botorch.models import SingleTaskGP
from gpytorch.kernels import ScaleKernel
from torch import Tensor

from benchmarks.methods.botorch_kernels import TanimotoKernel


def fixed_model(inputs: Tensor, values: Tensor, amplitude: float, noise: float) -> SingleTaskGP:
    """A GP with a Tanimoto kernel of this amplitude, this noise and mean zero; nothing is fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleTaskGP(
            inputs, values[:, None], covar_module=ScaleKernel(TanimotoKernel()), outcome_transform=None
        )
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
