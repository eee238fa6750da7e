"""The numbers of Gaussians between bounds, in which a `Gaussians` space is searched, for either kind of covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.kinds.distributions import cholesky
from likewise.similarity.kinds.distributions.gaussian import Gaussian, diagonal_gaussians, full_gaussians
from likewise.spaces.base import Generator
from likewise.spaces.box import Box

# Eigenvalues so close to their bounds are inside.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class DiagonalNumbers:
    """(μ, σ) of diagonal Gaussians, in a box whose variances are on a logarithmic scale."""

    lower: Vector
    upper: Vector
    least: Vector
    most: Vector

    @property
    def box(self) -> Box:
        """The box of the numbers."""
        d = len(self.lower)
        ends = [np.concatenate(pair) for pair in ((self.lower, self.least), (self.upper, self.most))]
        return Box(*ends, log=[False] * d + [True] * d)

    def draw(self, n: int, rng: Generator) -> Matrix:
        """The numbers of random members."""
        return np.array(self.box.sample(n, rng)).reshape(n, 2 * len(self.lower))

    def read(self, objects: Sequence[Any]) -> Matrix:
        """The numbers of Gaussians."""
        return np.array(objects, dtype=float).reshape(len(objects), 2 * len(self.lower))

    def make(self, numbers: Matrix) -> list[Gaussian]:
        """The Gaussians of these numbers."""
        d = len(self.lower)
        return diagonal_gaussians(numbers[:, :d], numbers[:, d:])

    def settle(self, numbers: Matrix) -> Matrix:
        """The numbers of the nearest members: those in the box are members."""
        return numbers

    def misfit(self, x: Gaussian) -> str | None:
        """What of this Gaussian's covariance does not belong into the space, beside the bounds of its numbers."""
        return None if x.diagonal else 'it has a full covariance; use Gaussians(…, covariance="full")'

    def divergence_bound(self) -> float:
        """D_SYM is convex in either variance, so that the largest is at bounds: for each dimension both variances
        least, ½w²/σ, or one least and one most, ¼(σ/σ' + σ'/σ − 2) + ¼w²(1/σ + 1/σ'), with w the range of the mean.
        """
        least, most, square = self.least, self.most, (self.upper - self.lower) ** 2
        apart = 0.25 * (least / most + most / least - 2.0) + 0.25 * square * (1.0 / least + 1.0 / most)
        return float(np.sum(np.maximum(0.5 * square / least, apart)))


@dataclass(frozen=True, eq=False)
class FullNumbers:
    """(μ, log-Cholesky coordinates of Σ) of Gaussians whose variances in every direction are between the bounds.

    With T = diag(√least), the eigenvalues of T⁻¹ΣT⁻¹ are between 1 and the ratio of the bounds, which is one for all
    entries. So are then the variances of the entries, alone and given others.
    """

    lower: Vector
    upper: Vector
    least: Vector
    most: Vector

    def __post_init__(self) -> None:
        ratios = self.most / self.least
        if not np.allclose(ratios, ratios[0], rtol=1e-9, atol=0.0):
            raise SpaceError(
                f"with full covariances the bounds of the variances need one ratio, not {ratios.tolist()}; "
                "give single numbers, or upper bounds that are one multiple of the lower ones"
            )

    @property
    def ratio(self) -> float:
        """The largest variance in units of the least one."""
        return float(self.most[0] / self.least[0])

    @property
    def box(self) -> Box:
        """The box of the numbers, in which no scale is logarithmic: the logarithms are numbers here."""
        rows = np.tril_indices(len(self.lower), -1)[0]
        reach = np.sqrt(self.most)[rows] if self.ratio > 1.0 + TOLERANCE else np.zeros(len(rows))
        lower = np.concatenate([self.lower, 0.5 * np.log(self.least), -reach])
        return Box(lower, np.concatenate([self.upper, 0.5 * np.log(self.most), reach]))

    def draw(self, n: int, rng: Generator) -> Matrix:
        """Eigenvalues alike on a logarithmic scale, in random directions."""
        d = len(self.lower)
        drawn = np.array(DiagonalNumbers(self.lower, self.upper, np.ones(d), np.full(d, self.ratio)).draw(n, rng))
        axes = np.linalg.qr(rng.standard_normal((n, d, d)))[0]
        return np.hstack([drawn[:, :d], self._numbers(axes, drawn[:, d:])])

    def read(self, objects: Sequence[Any]) -> Matrix:
        """The numbers of Gaussians, diagonal ones among them."""
        n, d = len(objects), len(self.lower)
        means = np.array([x.mean for x in objects], dtype=float).reshape(n, d)
        whole = np.array([x.covariance for x in objects], dtype=float).reshape(n, d, d)
        return np.hstack([means, cholesky.to_numbers(whole)])

    def make(self, numbers: Matrix) -> list[Gaussian]:
        """The Gaussians of these numbers."""
        d = len(self.lower)
        return full_gaussians(numbers[:, :d], cholesky.from_numbers(numbers[:, d:]))

    def settle(self, numbers: Matrix) -> Matrix:
        """The numbers with eigenvalues that are outside moved to their bounds."""
        d = len(self.lower)
        values, axes = self._eigen(cholesky.from_numbers(numbers[:, d:]))
        outside = np.any((values < 1.0 - TOLERANCE) | (values > self.ratio * (1.0 + TOLERANCE)), axis=1)
        settled = np.array(numbers)
        settled[outside, d:] = self._numbers(axes[outside], np.clip(values[outside], 1.0, self.ratio))
        return settled

    def misfit(self, x: Gaussian) -> str | None:
        """What of this Gaussian's covariance does not belong into the space, beside the bounds of its numbers."""
        values = self._eigen(x.covariance[None])[0][0]
        if values[0] >= 1.0 - TOLERANCE and values[-1] <= self.ratio * (1.0 + TOLERANCE):
            return None
        low, high = (f"{value:.4g}" for value in (values[0], values[-1]))
        return f"in units of the least variance, its variances are from {low} to {high}, outside [1, {self.ratio:.4g}]"

    def divergence_bound(self) -> float:
        """¼d(r + 1/r − 2) + ½Σw²/σ with r the ratio of the variances and w the ranges of the means.

        Each term is attained, though not both by one pair: the largest D_SYM is more than half of it.
        """
        apart = 0.25 * len(self.lower) * (self.ratio + 1.0 / self.ratio - 2.0)
        return float(apart + 0.5 * np.sum((self.upper - self.lower) ** 2 / self.least))

    def _eigen(self, covariances: Matrix) -> tuple[Matrix, Matrix]:
        units = np.sqrt(self.least)
        values, axes = np.linalg.eigh(covariances / np.multiply.outer(units, units))
        return values, axes

    def _numbers(self, axes: Matrix, values: Matrix) -> Matrix:
        """The log-Cholesky coordinates of T axes diag(values) axesᵀ T."""
        units = np.sqrt(self.least)
        whole = (axes * values[:, None, :]) @ axes.transpose(0, 2, 1) * np.multiply.outer(units, units)
        return cholesky.to_numbers(0.5 * (whole + whole.transpose(0, 2, 1)))
