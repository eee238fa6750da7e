"""What is done about negative eigenvalues of S, consistently for observed and for new objects.

With S = UΛUᵀ a treatment changes the matrix, the row S_x of a new object, and its score with itself:

    treatment   matrix           row                 self          variance
    krein       UΛ₊Uᵀ            S_x U w Uᵀ          S(x, x) + e   |v|, at most s     w = Λ₊/(Λ₊ + τ), τ = ¼|λ_min|
                                                                   where v < 0
    as_is       S                S_x                 S(x, x)       |v|
    clip        UΛ₊Uᵀ            S_x U 1[Λ>0] Uᵀ     S(x, x)       max(v, floor)
    flip        U|Λ|Uᵀ           S_x U sign(Λ) Uᵀ    S(x, x)       max(v, floor)

with e = Σ_k (S_x u_k)²/(|λ_k| + max(τ, s/100)) over the directions u_k without a positive eigenvalue, and s the mean of
the scores S(x_i, x_i).

The noise is added to the matrix afterwards. A PSD similarity needs no treatment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from likewise.errors import LikewiseError
from likewise.similarity.base import Matrix, Vector

Spectrum = Literal["krein", "as_is", "clip", "flip"]
FLOOR = 1e-10
# How far eigenvalues are believed, as a share of the largest negative one.
RIDGE = 0.25
# The least size of a direction without a positive eigenvalue, as a share of the typical score with oneself.
LEAST_NEGATIVE = 1e-2
# Scores below this are none.
LEAST_SCORE = 1e-200


class Eigen(NamedTuple):
    """Eigenvectors U of S, and the eigenvalues of the treated matrix and of R in that basis."""

    basis: Matrix
    levels: Vector
    signs: Vector


@dataclass(frozen=True, eq=False)
class Treatment:
    """A treated matrix of scores, and the same treatment of the rows and selves of new objects.

    `rotation` is the matrix R of row ↦ row R, None for the identity; `eigen` is kept where it was computed anyway.
    """

    kind: ClassVar[Spectrum]
    # Whether the treated matrix is positive semi-definite, and whether no variance is above the score with oneself.
    definite: ClassVar[bool] = True
    within_selves: ClassVar[bool] = True
    matrix: Matrix
    rotation: Matrix | None = None
    eigen: Eigen | None = None

    @classmethod
    def of(cls, scores: Matrix, psd: bool, doubt: float = 0.0) -> Self:
        """The treatment of a symmetric matrix of scores; `psd` promises that nothing needs to be done.

        `doubt` is the size of negative eigenvalues that are known of other objects.
        """
        return cls(scores)

    @property
    def decomposed(self) -> Self:
        """The same with the eigenvectors where they make sense: solutions for several noises share them."""
        return self

    @property
    def doubt(self) -> float:
        """The size of the negative eigenvalues, by which small positive ones of other objects are doubted."""
        return 0.0

    @property
    def plain(self) -> bool:
        """Whether rows and selves are as they were, so that more objects change nothing for those before."""
        return self.rotation is None

    def selves(self, rows: Matrix, selves: Vector) -> Vector:
        """Treated scores of new objects with themselves."""
        return selves

    def pull_selves(self, rows: Matrix, slopes: Vector) -> tuple[Any, Vector]:
        """From derivatives in the treated selves to derivatives in the rows and in the selves."""
        return 0.0, slopes

    def cross(self, rows: Matrix, others: Matrix, scores: Matrix) -> Matrix:
        """Treated scores between two sets of new objects, from the rows of both and the scores between them."""
        return scores

    def pull_cross(self, others: Matrix, slopes: Matrix) -> tuple[Any, Matrix]:
        """From derivatives in `cross` to derivatives in the rows and in the scores."""
        return 0.0, slopes

    def among(self, rows: Matrix, scores: Matrix) -> Matrix:
        """Treated scores among new objects."""
        return self.cross(rows, rows, scores)

    def variance(self, signed: Any) -> Any:
        """The variance from v = self − row D rowᵀ, which an indefinite S can make negative."""
        return np.maximum(signed, self.floor)

    def variance_slope(self, signed: Any) -> Any:
        """d variance / dv."""
        return (signed > self.floor).astype(float)

    @cached_property
    def typical(self) -> float:
        """The typical score of an object with itself."""
        return float(np.mean(np.abs(np.diag(self.matrix)))) if len(self.matrix) else 1.0

    @property
    def floor(self) -> float:
        """The least variance: a hair of the typical score of an object with itself."""
        return FLOOR * self.typical

    def lean(self) -> Self:
        """What new objects need of it: the typical score, and whether rows are rotated."""
        typical = np.array([[self.typical]])
        return replace(self, matrix=typical, rotation=None if self.rotation is None else typical, eigen=None)


class AsIs(Treatment):
    """The paper's: S as it is, and the absolute value of what should be a variance."""

    kind = "as_is"
    definite = False

    def variance(self, signed: Any) -> Any:
        return np.abs(signed)

    def variance_slope(self, signed: Any) -> Any:
        return np.sign(signed)


class ByEigenvalues(Treatment, ABC):
    """A treatment of negative eigenvalues, where there are any."""

    @classmethod
    def of(cls, scores: Matrix, psd: bool, doubt: float = 0.0) -> Self:
        if psd or not len(scores):
            return cls(scores)
        levels, basis = np.linalg.eigh(scores)
        if cls._is_whole(levels) and not doubt:
            return cls(scores, eigen=_whole(levels, basis))
        return cls.of_eigen(scores, levels, basis, doubt)

    @cached_property
    def decomposed(self) -> Self:
        if self.eigen is not None or not len(self.matrix):
            return self
        return replace(self, eigen=_whole(*np.linalg.eigh(self.matrix)))

    @classmethod
    def _is_whole(cls, levels: Vector) -> bool:
        """Whether a matrix with these eigenvalues needs no treatment."""
        return bool(levels[0] >= -tolerance(levels))

    @classmethod
    @abstractmethod
    def of_eigen(cls, scores: Matrix, levels: Vector, basis: Matrix, doubt: float = 0.0) -> Self:
        """The treatment of a matrix with these eigenvalues, some of them negative, and eigenvectors."""


class Clip(ByEigenvalues):
    """Directions of negative eigenvalues are left out."""

    kind: ClassVar[Spectrum] = "clip"
    below: ClassVar[float] = 0.0

    @classmethod
    def of_eigen(cls, scores: Matrix, levels: Vector, basis: Matrix, doubt: float = 0.0) -> Self:
        cut = tolerance(levels)
        signs = np.where(levels > cut, 1.0, np.where(levels < -cut, cls.below, 0.0))
        eigen = Eigen(basis, signs * levels, signs)
        return cls((basis * eigen.levels) @ basis.T, (basis * signs) @ basis.T, eigen=eigen)


@dataclass(frozen=True, eq=False)
class Krein(ByEigenvalues):
    """The positive part S₊ of S = S₊ − S₋, for observed and for new objects alike.

    On the observed objects S₊ is the clipped matrix. A new object's row is shrunk as if eigenvalues were uncertain by
    τ = ¼|λ_min|: those of the size of the negative ones say little. Its positive self score is S(x, x) + S₋(x, x), and
    S₋(x, x) is at least the energy of the row in the directions where S is not positive, by Cauchy–Schwarz.

    Where v is negative all the same, the row of the new object is too large for any kernel: it shows a negative
    direction of its own, of which the observed ones say nothing. Its size −v is the variance, as in the paper, up to a
    typical score with oneself.
    """

    kind = "krein"
    within_selves = False
    negative: Matrix | None = None
    ridge: float = 0.0

    @classmethod
    def _is_whole(cls, levels: Vector) -> bool:
        # A direction without a score of its own is not known to be positive: other objects may show that it is not.
        return bool(levels[0] > tolerance(levels))

    @classmethod
    def of_eigen(cls, scores: Matrix, levels: Vector, basis: Matrix, doubt: float = 0.0) -> Self:
        positive = levels > tolerance(levels)
        ridge = RIDGE * max(0.0, float(-levels[0]), doubt)
        clipped = np.maximum(levels, 0.0)
        signs = np.divide(clipped, clipped + ridge, out=np.zeros_like(clipped), where=positive)
        least = max(ridge, LEAST_NEGATIVE * float(np.mean(np.abs(np.diag(scores)))))
        below = basis[:, ~positive]
        # Without scores there is nothing to measure the rest by.
        negative = (below / (np.abs(levels[~positive]) + least)) @ below.T if least > LEAST_SCORE else None
        eigen = Eigen(basis, clipped, signs)
        return cls((basis * clipped) @ basis.T, (basis * signs) @ basis.T, eigen=eigen, negative=negative, ridge=ridge)

    @property
    def doubt(self) -> float:
        return self.ridge / RIDGE

    def variance(self, signed: Any) -> Any:
        return np.maximum(np.where(signed < 0.0, np.minimum(-signed, self.typical), signed), self.floor)

    def variance_slope(self, signed: Any) -> Any:
        beyond = (signed < -self.floor) & (signed > -self.typical)
        return (signed > self.floor).astype(float) - beyond.astype(float)

    def selves(self, rows: Matrix, selves: Vector) -> Vector:
        return selves if self.negative is None else selves + np.einsum("ij,ij->i", rows @ self.negative, rows)

    def pull_selves(self, rows: Matrix, slopes: Vector) -> tuple[Any, Vector]:
        return 0.0 if self.negative is None else (2.0 * slopes)[:, None] * (rows @ self.negative), slopes

    def cross(self, rows: Matrix, others: Matrix, scores: Matrix) -> Matrix:
        return scores if self.negative is None else scores + rows @ self.negative @ others.T

    def pull_cross(self, others: Matrix, slopes: Matrix) -> tuple[Any, Matrix]:
        return 0.0 if self.negative is None else slopes @ (others @ self.negative), slopes


class Flip(Clip):
    """Negative eigenvalues count as positive ones: others' treatment, to compare with."""

    kind = "flip"
    below = -1.0


TREATMENTS: dict[str, type[Treatment]] = {one.kind: one for one in (Krein, AsIs, Clip, Flip)}
SPECTRA: tuple[str, ...] = tuple(TREATMENTS)


def _whole(levels: Vector, basis: Matrix) -> Eigen:
    """The eigenvectors of a matrix that needs no treatment; what is below zero is rounding."""
    return Eigen(basis, np.maximum(levels, 0.0), np.ones(len(levels)))


def treat(scores: Matrix, spectrum: Spectrum = "krein", *, psd: bool = False, doubt: float = 0.0) -> Treatment:
    """The treatment of a symmetric matrix of scores; `psd` promises that nothing needs to be done.

    `doubt` is the size of negative eigenvalues that are known of other objects.

    >>> treat(np.array([[0.0, 1.0], [1.0, 0.0]]), "clip").matrix.round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    if spectrum not in TREATMENTS:
        raise LikewiseError(f"unknown spectrum treatment {spectrum!r}; choose one of {', '.join(SPECTRA)}")
    if np.max(np.abs(scores), initial=0.0) < LEAST_SCORE:
        scores = np.zeros_like(scores)
    return TREATMENTS[spectrum].of(scores, psd, doubt)


def tolerance(levels: Vector) -> float:
    """Eigenvalues below this are rounding."""
    return float(len(levels) * np.finfo(float).eps * np.max(np.abs(levels), initial=0.0))


def negative_share(levels: Vector) -> float:
    """How much of the spectrum is negative: Σ|λ₋| / Σ|λ|.

    >>> negative_share(np.array([-1.0, 3.0]))
    0.25
    """
    total = float(np.sum(np.abs(levels)))
    return float(-np.sum(levels[levels < -tolerance(levels)])) / total if total else 0.0
