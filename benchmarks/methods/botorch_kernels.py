"""Kernels for the parts of a pool's objects, as BoTorch's and GAUCHE's users would choose them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
import torch
from botorch.models.kernels import CategoricalKernel
from botorch.models.utils.gpytorch_modules import get_covar_module_with_dim_scaled_prior
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel, ScaleKernel
from torch import Tensor

from benchmarks.methods.features import codes, letters, of_one_length
from benchmarks.methods.fingerprints import descriptors, fingerprints, tanimoto
from benchmarks.tasks.base import Vector
from benchmarks.tasks.pool import Part, Pool

# Above this many molecules the matrix of all pairs is not kept, and rows are compared by their bits.
MATRIX_LIMIT = 6000
# The lengthscales of mixed inputs have no prior where they are categorical, and L-BFGS follows them towards infinity:
# 700 to 2,000 steps and 6 to 22 s a fit, for 0 to 0.7 nats of likelihood beyond what this many steps reach in 3 s.
MIXED_STEPS = 400
MATERN = "Matérn 5/2 (ARD), default priors"


class LookupKernel(Kernel):
    """A kernel whose matrix over all levels is known; inputs are levels. Inline: Tanimoto, computed once."""

    has_lengthscale = False

    def __init__(self, matrix: Tensor, **options: Any) -> None:
        super().__init__(**options)
        self.matrix = matrix

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **options: Any) -> Tensor:
        a, b = x1[..., 0].long(), x2[..., 0].long()
        return self.matrix[a, b] if diag else self.matrix[a[..., :, None], b[..., None, :]]


class TanimotoKernel(Kernel):
    """⟨a, b⟩ / (‖a‖² + ‖b‖² − ⟨a, b⟩) of fingerprints; inputs are bits."""

    has_lengthscale = False

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **options: Any) -> Tensor:
        if diag:
            return torch.ones(x1.shape[:-1], dtype=x1.dtype)
        common = x1 @ x2.transpose(-1, -2)
        either = x1.square().sum(-1)[..., :, None] + x2.square().sum(-1)[..., None, :] - common
        return common / either.clamp_min(1e-6)


@dataclass(frozen=True)
class View:
    """A pool as a model sees it: inputs by row, a fresh kernel per fit, the kernel in words, the fit's most steps."""

    inputs: Tensor
    kernel: Callable[[], Kernel]
    label: str
    steps: int | None = None


def view(task: Pool) -> View:
    """The pool's inputs and kernel, by its kind."""
    views = {"molecules": _molecules, "reaction": _reaction, "string": _string, "mixed": _mixed}
    return views.get(task.kind, _numbers)(task)


def described(task: Pool) -> View:
    """Molecules by their bits and by the descriptors likewise sees, the two kernels summed."""
    bits, numbers = _molecules(task), _tensor(descriptors(task.parts[0].values))
    n, d = bits.inputs.shape[1], numbers.shape[1]

    label = f"{bits.label} plus scaled Matérn 5/2 (ARD, default priors) on {d} descriptors, standardised"
    inputs = torch.cat([bits.inputs, numbers], dim=1)
    return View(inputs, lambda: bits.kernel() + ScaleKernel(_matern(d, n)), label)


def _molecules(task: Pool) -> View:
    bits = fingerprints(task.parts[0].values)
    label = "scaled Tanimoto on Morgan bits (radius 2, 2,048)"
    if len(bits) > MATRIX_LIMIT:
        return View(_tensor(bits), lambda: ScaleKernel(TanimotoKernel(active_dims=range(bits.shape[1]))), label)
    matrix = _tensor(tanimoto(bits))
    rows = _tensor(np.arange(len(bits))[:, None])
    return View(rows, lambda: ScaleKernel(LookupKernel(matrix, active_dims=(0,))), label)


def _reaction(task: Pool) -> View:
    parts = [part for part in task.parts if part.kind != "number"]
    numbers = [_unit(part) for part in task.parts if part.kind == "number"]
    columns = [np.unique(np.array(part.values), return_inverse=True) for part in parts]
    matrices = [
        _tensor(tanimoto(fingerprints(levels)) if part.kind == "molecule" else np.eye(len(levels)))
        for part, (levels, _) in zip(parts, columns, strict=True)
    ]

    def kernels() -> list[Kernel]:
        made: list[Kernel] = [LookupKernel(matrix, active_dims=(i,)) for i, matrix in enumerate(matrices)]
        return made + ([_matern(len(numbers), len(made))] if numbers else [])

    inputs = _tensor(np.stack([*(rows for _, rows in columns), *numbers], axis=1))
    if not parts:
        return View(inputs, lambda: _matern(len(numbers)), MATERN)
    if len(parts) == 1 and not numbers:
        return View(inputs, lambda: ScaleKernel(*kernels()), "scaled Tanimoto of the molecule")
    label = "sum of scaled Tanimoto per molecule and Matérn 5/2 on the numbers, plus their scaled product"
    return View(inputs, lambda: sum_and_product(kernels), label)


def sum_and_product(kernels: Callable[[], list[Kernel]]) -> Kernel:
    """Σ s_i k_i + s Π k_i, as in BoTorch's model of mixed inputs."""
    return ScaleKernel(reduce(mul, kernels())) + reduce(add, map(ScaleKernel, kernels()))


def _string(task: Pool) -> View:
    columns = [codes(column)[0] for column in letters(task.parts[0].values).T]
    inputs = np.stack(columns, axis=1)
    return View(_tensor(inputs), lambda: ScaleKernel(_categorical(len(columns))), "categorical per position (ARD)")


def _mixed(task: Pool) -> View:
    """The kernel of MixedSingleTaskGP."""
    categories = [codes(part.values)[0] for part in task.parts if part.kind != "number"]
    numbers = [_unit(part) for part in task.parts if part.kind == "number"]
    n, inputs = len(categories), _tensor(np.stack([*categories, *numbers], axis=1))
    if not numbers:
        return View(inputs, lambda: ScaleKernel(_categorical(n)), "categorical per part (ARD)", MIXED_STEPS)
    if not categories:
        return View(inputs, lambda: _rbf(len(numbers)), "RBF (ARD), default priors")

    def kernel() -> Kernel:
        added = ScaleKernel(_rbf(len(numbers), n) + ScaleKernel(_categorical(n)))
        return added + ScaleKernel(_rbf(len(numbers), n) * _categorical(n))

    label = "that of MixedSingleTaskGP: sum and product of categorical and RBF kernels (ARD)"
    return View(inputs, kernel, label, MIXED_STEPS)


def _numbers(task: Pool) -> View:
    if task.kind == "series":
        values = of_one_length(task.parts[0].values)
        columns = list(((values - values.min()) / (values.max() - values.min())).T)
    else:
        columns = [_unit(part) for part in task.parts]
    return View(_tensor(np.stack(columns, axis=1)), lambda: _matern(len(columns)), MATERN)


def _categorical(d: int) -> Kernel:
    """On the first `d` inputs."""
    return CategoricalKernel(ard_num_dims=d, active_dims=range(d), lengthscale_constraint=GreaterThan(1e-6))


def _rbf(d: int, first: int = 0) -> Kernel:
    return get_covar_module_with_dim_scaled_prior(ard_num_dims=d, active_dims=range(first, first + d))


def _matern(d: int, first: int = 0) -> Kernel:
    dims = range(first, first + d)
    return get_covar_module_with_dim_scaled_prior(ard_num_dims=d, active_dims=dims, use_rbf_kernel=False)


def _tensor(x: Any) -> Tensor:
    return torch.tensor(np.asarray(x), dtype=torch.double)


def _unit(part: Part) -> Vector:
    column = np.array(part.values, dtype=float)
    return (column - column.min()) / max(float(np.ptp(column)), 1e-12)
