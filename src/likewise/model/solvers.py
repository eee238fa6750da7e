"""Influence I(x) = S_x D: how much each observation says about x, for any symmetric matrix M = S + σ²I.

D minimises ‖S_x − I M‖² (Eq. I_OP of the paper). Where M is invertible D = M⁻¹ (the paper's corollary). Where M is
singular the minimiser is not unique: the *basic* solution uses r_t independent rows B of M and zeros elsewhere, as the
paper does; the *minimum-norm* one is the pseudo-inverse, which is symmetric and does not depend on the order of the
observations. Both give the same projection I(x) M.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.errors import LikewiseError
from likewise.similarity.base import Matrix, Vector

Singular = Literal["minimum_norm", "basic"]
Index = NDArray[np.intp]


class Solution(ABC):
    """The matrix D, in a form that is cheap to apply and to grow.

    A spectrum treatment turns a row S_x into S_x R; where there is one it is folded in, so that all methods take the
    rows of scores as they are.
    """

    # Whether D is the inverse of M, and not a least-squares solution of a singular one.
    exact: bool = True

    @abstractmethod
    def influence(self, rows: Matrix) -> Matrix:
        """I(x) = S_x R D for each row."""

    @abstractmethod
    def weights(self, values: Vector) -> Vector:
        """R D · values: the mean is S_x times these."""

    @abstractmethod
    def quadratic(self, rows: Matrix) -> Vector:
        """S_x R D Rᵀ S_xᵀ for each row."""

    @property
    @abstractmethod
    def operator(self) -> Matrix:
        """R ½(D + Dᵀ) Rᵀ written out, the symmetric matrix of the quadratic form: what gradients and covariances need.

        D may be unsymmetric; a quadratic form sees its symmetric part alone.
        """

    @abstractmethod
    def solve(self, values: Vector) -> Vector:
        """D · values."""

    @abstractmethod
    def columns(self, index: Index) -> tuple[Matrix, Matrix]:
        """The columns of D of these observations, and those of R D, one row each."""

    @property
    @abstractmethod
    def diagonal(self) -> Vector:
        """The diagonal of D."""

    @property
    def log_determinant(self) -> float:
        """log |det M|."""
        return -float(np.linalg.slogdet(self.operator)[1])

    def grow(self, across: Vector, own: float) -> Solution | None:
        """D for M with one more row (across, own), in O(t²); None where that cannot be had."""
        return None

    def first(self, n: int) -> Solution | None:
        """D for the first `n` rows and columns of M, without computing anew; None where that cannot be had."""
        return None


@dataclass(frozen=True, eq=False)
class Cholesky(Solution):
    """D = (L Lᵀ)⁻¹ for a positive definite M; L⁻¹ may be at hand."""

    factor: Matrix
    inverted: Matrix | None = None

    def influence(self, rows: Matrix) -> Matrix:
        return linalg.cho_solve((self.factor, True), rows.T, check_finite=False).T if rows.size else rows

    def solve(self, values: Vector) -> Vector:
        return self.influence(values[None])[0]

    weights = solve

    def columns(self, index: Index) -> tuple[Matrix, Matrix]:
        inverse = self.influence(np.eye(len(self.factor))[index])
        return inverse, inverse

    def quadratic(self, rows: Matrix) -> Vector:
        half = linalg.solve_triangular(self.factor, rows.T, lower=True, check_finite=False) if rows.size else rows.T
        return np.einsum("ij,ij->j", half, half)

    @cached_property
    def half(self) -> Matrix:
        """L⁻¹."""
        if self.inverted is not None or not len(self.factor):
            return self.factor if self.inverted is None else self.inverted
        return np.asarray(linalg.lapack.dtrtri(self.factor, lower=1)[0])

    @cached_property
    def operator(self) -> Matrix:
        # D = L⁻ᵀ L⁻¹; where L⁻¹ is at hand that is half of the work.
        if "half" in self.__dict__ and len(self.factor):
            return _mirror(linalg.lapack.dlauum(self.half, lower=1)[0])
        return inverse(self.factor)

    @property
    def log_determinant(self) -> float:
        return 2.0 * float(np.sum(np.log(np.diag(self.factor))))

    @cached_property
    def diagonal(self) -> Vector:
        return np.einsum("ij,ij->j", self.half, self.half)

    def first(self, n: int) -> Solution | None:
        return Cholesky(self.factor[:n, :n], self.half[:n, :n])

    def grow(self, across: Vector, own: float) -> Solution | None:
        t = len(self.factor)
        edge = linalg.solve_triangular(self.factor, across, lower=True, check_finite=False) if t else across
        pivot = own - float(edge @ edge)
        if pivot <= 1e-12 * own:
            return None
        factor = np.zeros((t + 1, t + 1))
        factor[:t, :t], factor[t, :t], factor[t, t] = self.factor, edge, np.sqrt(pivot)
        return Cholesky(factor)


@dataclass(frozen=True, eq=False)
class Spectral(Solution):
    """D = U diag(1/λ) Uᵀ and R = U diag(s) Uᵀ, when the eigenvectors are at hand.

    Solutions with the same basis (one matrix, several noises) share the coordinates S_x U of a row, which are all the
    work there is (`Quadratics`).
    """

    basis: Matrix
    signs: Vector
    levels: Vector

    @cached_property
    def scale(self) -> Vector:
        """What the squared coordinates S_x U of a row count in the quadratic form."""
        return self.signs**2 / self.levels

    def influence(self, rows: Matrix) -> Matrix:
        return ((rows @ self.basis) * (self.signs / self.levels)) @ self.basis.T

    def weights(self, values: Vector) -> Vector:
        return self.basis @ (self.signs / self.levels * (values @ self.basis))

    def quadratic(self, rows: Matrix) -> Vector:
        return (rows @ self.basis) ** 2 @ self.scale

    @cached_property
    def operator(self) -> Matrix:
        return (self.basis * self.scale) @ self.basis.T

    def solve(self, values: Vector) -> Vector:
        return self.basis @ ((values @ self.basis) / self.levels)

    def columns(self, index: Index) -> tuple[Matrix, Matrix]:
        rows = self.basis[index] / self.levels
        return rows @ self.basis.T, (rows * self.signs) @ self.basis.T

    @property
    def log_determinant(self) -> float:
        return float(np.sum(np.log(self.levels)))

    @cached_property
    def diagonal(self) -> Vector:
        return self.basis**2 @ (1.0 / self.levels)


@dataclass(frozen=True, eq=False)
class Rotated(Solution):
    """Another solution, for rows that are first treated by R."""

    inner: Solution
    rotation: Matrix
    exact: bool = True

    def influence(self, rows: Matrix) -> Matrix:
        return self.inner.influence(rows @ self.rotation)

    def weights(self, values: Vector) -> Vector:
        return self.rotation @ self.inner.solve(values)

    def quadratic(self, rows: Matrix) -> Vector:
        return self.inner.quadratic(rows @ self.rotation)

    @cached_property
    def operator(self) -> Matrix:
        return self.rotation @ self.inner.operator @ self.rotation.T

    def solve(self, values: Vector) -> Vector:
        return self.inner.solve(values)

    def columns(self, index: Index) -> tuple[Matrix, Matrix]:
        found, _ = self.inner.columns(index)
        return found, found @ self.rotation.T

    @property
    def log_determinant(self) -> float:
        return self.inner.log_determinant

    @property
    def diagonal(self) -> Vector:
        return self.inner.diagonal


@dataclass(frozen=True, eq=False)
class Explicit(Solution):
    """D written out: for an indefinite M, or the least-squares solution of a singular one."""

    matrix: Matrix
    exact: bool = True

    def influence(self, rows: Matrix) -> Matrix:
        return rows @ self.matrix

    def solve(self, values: Vector) -> Vector:
        return self.matrix @ values

    weights = solve

    def columns(self, index: Index) -> tuple[Matrix, Matrix]:
        columns = self.matrix.T[index]
        return columns, columns

    def quadratic(self, rows: Matrix) -> Vector:
        return np.einsum("ij,ij->i", rows @ self.matrix, rows)

    @cached_property
    def operator(self) -> Matrix:
        return 0.5 * (self.matrix + self.matrix.T)

    @property
    def diagonal(self) -> Vector:
        return np.diag(self.matrix)

    def grow(self, across: Vector, own: float) -> Solution | None:
        if not self.exact:
            return None
        edge = self.matrix @ across
        pivot = own - float(across @ edge)
        # A small pivot means that M with the new row is almost singular: growing would amplify rounding.
        if abs(pivot) <= 1e-6 * (abs(own) + float(np.abs(across) @ np.abs(edge))):
            return None
        t = len(self.matrix)
        grown = np.empty((t + 1, t + 1))
        grown[:t, :t] = self.matrix + np.outer(edge, edge) / pivot
        grown[t, :t] = grown[:t, t] = -edge / pivot
        grown[t, t] = 1.0 / pivot
        return Explicit(grown)


@dataclass(frozen=True, eq=False)
class Quadratics:
    """The quadratic forms of several solutions, which those of one basis share the work of."""

    solutions: Sequence[Solution]

    @cached_property
    def _shared(self) -> tuple[Matrix, Matrix] | None:
        """The one basis of the solutions, and what each makes of squared coordinates; None where there is no such."""
        spectral = [solution for solution in self.solutions if isinstance(solution, Spectral)]
        if len(spectral) < len(self.solutions) or any(solution.basis is not spectral[0].basis for solution in spectral):
            return None
        return spectral[0].basis, np.array([solution.scale for solution in spectral])

    def values(self, rows: Matrix) -> Matrix:
        """The forms of each row, one row for each solution."""
        if self._shared is None:
            return np.array([solution.quadratic(rows) for solution in self.solutions])
        basis, scale = self._shared
        return scale @ ((rows @ basis) ** 2).T

    def linearise(self, rows: Matrix) -> tuple[Matrix, Callable[[Matrix], Matrix]]:
        """The same, and from derivatives in them to derivatives in the rows, added up over the solutions."""
        if self._shared is None:
            halves = [rows @ solution.operator for solution in self.solutions]

            def pull(slopes: Matrix) -> Matrix:
                each = zip(2.0 * slopes, halves, strict=True)
                return np.asarray(sum(slope[:, None] * half for slope, half in each))

            return np.array([np.einsum("ij,ij->i", half, rows) for half in halves]), pull
        basis, scale = self._shared
        coordinates = rows @ basis
        return scale @ (coordinates**2).T, lambda slopes: ((2.0 * slopes.T @ scale) * coordinates) @ basis.T


def inverse(factor: Matrix) -> Matrix:
    """M⁻¹ from the Cholesky factor of M.

    >>> inverse(np.array([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    if not len(factor):
        return factor
    return _mirror(linalg.lapack.dpotri(factor, lower=1)[0])


def _mirror(lower: Matrix) -> Matrix:
    """The symmetric matrix of a lower triangle, above which there are zeros."""
    full = lower + lower.T
    np.fill_diagonal(full, lower.diagonal())
    return full


def add_diagonal(matrix: Matrix, extra: float | Vector) -> Matrix:
    """M + diag(extra), without writing out a matrix of zeros.

    >>> add_diagonal(np.ones((2, 2)), 1.0).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    result = np.array(matrix)
    result.flat[:: len(result) + 1] += extra
    return result


def numerical_rank(magnitudes: Vector) -> int:
    """How many of these magnitudes, largest first, are more than rounding."""
    if not len(magnitudes) or magnitudes[0] == 0:
        return 0
    return int(np.sum(magnitudes > len(magnitudes) * 4 * np.finfo(float).eps * magnitudes[0]))


def basic_solution(matrix: Matrix) -> tuple[Matrix, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """D = Bᵀ(BBᵀ)⁻¹E for rows B chosen by pivoted QR (Theorem 2 of the paper), and the chosen rows.

    The pivoted factorisation of M is the QR of Bᵀ, so BBᵀ, whose condition is the square of B's, is never formed.

    >>> D, rows = basic_solution(np.ones((2, 2)))
    >>> np.round(np.array([1.0, 1.0]) @ D, 12).tolist(), len(rows)
    ([1.0, 0.0], 1)
    """
    q, r, pivots = linalg.qr(matrix, pivoting=True, check_finite=False)
    rank = numerical_rank(np.abs(np.diag(r)))
    chosen = pivots[:rank]
    solution = np.zeros_like(matrix)
    solution[:, chosen] = linalg.solve_triangular(r[:rank, :rank], q[:, :rank].T, check_finite=False).T
    return solution, chosen


def minimum_norm_solution(matrix: Matrix) -> Matrix:
    """D = M⁺, the pseudo-inverse.

    >>> np.round(np.array([1.0, 1.0]) @ minimum_norm_solution(np.ones((2, 2))), 12).tolist()
    [0.5, 0.5]
    """
    levels, basis = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(levels))
    largest = order[: numerical_rank(np.abs(levels[order]))]
    return (basis[:, largest] / levels[largest]) @ basis[:, largest].T


def solve(matrix: Matrix, *, definite: bool, singular: Singular = "minimum_norm") -> Solution:
    """The solution D for M = `matrix`, which `definite` promises to be positive (semi-)definite."""
    if singular not in ("minimum_norm", "basic"):
        raise LikewiseError(f"unknown solution {singular!r} for a singular matrix; choose minimum_norm or basic")
    t = len(matrix)
    if t == 0:
        return Cholesky(np.zeros((0, 0)))
    if definite:
        try:
            factor = linalg.cholesky(matrix, lower=True, check_finite=False)
        except linalg.LinAlgError:
            factor = None
        if factor is not None and factor.diagonal().min() ** 2 > t * 10 * np.finfo(float).eps * matrix.diagonal().max():
            return Cholesky(factor)
    levels, basis = np.linalg.eigh(matrix)
    magnitudes = np.sort(np.abs(levels))[::-1]
    if numerical_rank(magnitudes) == t:
        return Explicit((basis / levels) @ basis.T)
    if singular == "basic":
        return Explicit(basic_solution(matrix)[0], exact=False)
    return Explicit(minimum_norm_solution(matrix), exact=False)
