"""What is done about negative eigenvalues of S, consistently for observed and for new objects.

With S = UΛUᵀ a treatment changes the matrix, the row S_x of a new object, and its score with itself:

    treatment   matrix           row                 self          variance
    as_is       S                S_x                 S(x, x)       |v|
    clip        UΛ₊Uᵀ            S_x U 1[Λ>0] Uᵀ     S(x, x)       max(v, floor)
    flip        U|Λ|Uᵀ           S_x U sign(Λ) Uᵀ    S(x, x)       max(v, floor)
    shift       S + sI           S_x                 S(x, x) + s   max(v, floor)      s = max(0, −λ_min)
    square      S²               S_x S               S_x S_xᵀ      max(v, floor)

The noise is added to the matrix afterwards. A PSD similarity needs no treatment: clip, flip and shift leave it alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from likewise.errors import LikewiseError
from likewise.similarity.base import Matrix, Vector

Spectrum = Literal["as_is", "clip", "flip", "shift", "square"]
SPECTRA: tuple[str, ...] = get_args(Spectrum)
FLOOR = 1e-10


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

    kind: Spectrum
    matrix: Matrix
    rotation: Matrix | None = None
    shift: float = 0.0
    eigen: Eigen | None = None
    negative_share: float = 0.0

    def selves(self, rows: Matrix, selves: Vector) -> Vector:
        """Treated score of new objects with themselves."""
        if self.kind == "square":
            return np.einsum("ij,ij->i", rows, rows)
        return selves + self.shift if self.shift else selves

    def variance(self, signed: Any) -> Any:
        """The variance from v = self − row D rowᵀ, which an indefinite S can make negative."""
        return np.abs(signed) if self.kind == "as_is" else np.maximum(signed, self.floor)

    def variance_slope(self, signed: Any) -> Any:
        """d variance / dv."""
        return np.sign(signed) if self.kind == "as_is" else (signed > self.floor).astype(float)

    @cached_property
    def floor(self) -> float:
        """The least variance: a hair of the typical score of an object with itself."""
        return FLOOR * (float(np.mean(np.abs(np.diag(self.matrix)))) if len(self.matrix) else 1.0)

    def lean(self) -> Treatment:
        """What new objects need of it: the kind, the shift and the floor."""
        typical = np.array([[self.floor / FLOOR]])
        return Treatment(self.kind, typical, None if self.rotation is None else typical, self.shift)


def treat(scores: Matrix, spectrum: Spectrum = "clip", *, psd: bool = False) -> Treatment:
    """The treatment of a symmetric matrix of scores; `psd` promises that nothing needs to be done.

    >>> treat(np.array([[0.0, 1.0], [1.0, 0.0]]), "clip").matrix.round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    if spectrum not in SPECTRA:
        raise LikewiseError(f"unknown spectrum treatment {spectrum!r}; choose one of {', '.join(SPECTRA)}")
    if spectrum == "as_is" or not len(scores):
        return Treatment(spectrum, scores)
    if spectrum == "square":
        return Treatment("square", scores @ scores, rotation=scores)
    if psd:
        return Treatment(spectrum, scores)
    levels, basis = np.linalg.eigh(scores)
    return treat_decomposed(scores, levels, basis, spectrum)


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


def treat_decomposed(scores: Matrix, levels: Vector, basis: Matrix, spectrum: Spectrum) -> Treatment:
    """The treatment of a matrix whose eigenvalues and eigenvectors are at hand."""
    cut, share, ones = tolerance(levels), negative_share(levels), np.ones(len(levels))
    if levels[0] >= -cut and spectrum in ("clip", "flip", "shift"):
        return Treatment(spectrum, scores, eigen=Eigen(basis, np.maximum(levels, 0.0), ones))
    if spectrum == "shift":
        shift = float(-levels[0])
        eigen = Eigen(basis, levels + shift, ones)
        return Treatment("shift", scores + shift * np.eye(len(scores)), None, shift, eigen, share)
    below = 0.0 if spectrum == "clip" else -1.0
    signs = np.where(levels > cut, 1.0, np.where(levels < -cut, below, 0.0))
    eigen = Eigen(basis, signs * levels, signs)
    return Treatment(
        spectrum, (basis * eigen.levels) @ basis.T, (basis * signs) @ basis.T, eigen=eigen, negative_share=share
    )
