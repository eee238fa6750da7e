"""Gaussians as objects: x = (μ, Σ), the paper's p(ω|x) = N(ω | μ, Σ) (Section 4).

Where Σ = diag(σ_i), the σ_i are variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.kinds.distributions import cholesky


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Gaussian:
    """N(mean, Σ): `variance` is the diagonal of Σ (one number: the same for all), or the covariance matrix Σ itself.

    A matrix that is diagonal is kept as its diagonal, so that equal distributions are equal objects. As an array it is
    its numbers, so that similarities of vectors can compare Gaussians too: (μ, σ), or (μ, the log-Cholesky coordinates
    of Σ) where Σ is a matrix.

    mean: the mean vector; one number in one dimension.

    >>> x = Gaussian(mean=[0.0, 1.0], variance=[[2.0, 0.0], [0.0, 3.0]])
    >>> x
    Gaussian(mean=[0.0, 1.0], variance=[2.0, 3.0])
    >>> x == Gaussian([0, 1], [2, 3]), np.asarray(x).tolist()
    (True, [0.0, 1.0, 2.0, 3.0])
    """

    mean: Vector
    variance: Vector | Matrix

    def __init__(self, mean: ArrayLike, variance: ArrayLike) -> None:
        centre = _numbers("mean", mean)
        spread = _numbers("variance", variance)
        if centre.ndim > 1 or not centre.size:
            raise SimilarityError(f"a Gaussian needs a mean that is one row of numbers, not shape {centre.shape}")
        centre = np.atleast_1d(centre)
        d = len(centre)
        spread = np.full(d, spread) if spread.ndim == 0 else spread
        if spread.shape not in ((d,), (d, d)):
            raise SimilarityError(
                f"a Gaussian with a mean of {d} numbers needs {d} variances or a {d} × {d} covariance, "
                f"not shape {spread.shape}"
            )
        _set(self, centre, _covariance(spread) if spread.ndim == 2 else _variances(spread))

    @property
    def dimension(self) -> int:
        """Number of entries of ω."""
        return len(self.mean)

    @property
    def diagonal(self) -> bool:
        """Whether the entries of ω are independent."""
        return self.variance.ndim == 1

    @property
    def covariance(self) -> Matrix:
        """Σ as a matrix."""
        return np.diag(self.variance) if self.diagonal else self.variance

    def sample(self, n: int, rng: np.random.Generator) -> Matrix:
        """`n` draws of ω, rows of shape (n, d): μ + Σ^½ ε, so that the same generator gives the same noise ε to all."""
        noise = rng.standard_normal((n, self.dimension))
        if self.diagonal:
            return self.mean + noise * np.sqrt(self.variance)
        return self.mean + noise @ np.linalg.cholesky(self.variance).T

    def log_density(self, omega: Matrix) -> Vector:
        """log p(ω|x) of each row of `omega`.

        >>> Gaussian(0.0, 1.0).log_density(np.zeros((1, 1))).round(4).tolist()
        [-0.9189]
        """
        away = omega - self.mean
        if self.diagonal:
            far, volume = away**2 @ (1.0 / self.variance), float(np.sum(np.log(self.variance)))
        else:
            far = np.einsum("nk,nk->n", away, np.linalg.solve(self.variance, away.T).T)
            volume = float(np.linalg.slogdet(self.variance)[1])
        return cast(Vector, -0.5 * (far + volume + self.dimension * np.log(2.0 * np.pi)))

    def score(self, omega: Matrix) -> Matrix:
        """∇ log p(ω|x) in the numbers of x for each row of `omega`: in Σ it is ½(Σ⁻¹δδᵀΣ⁻¹ − Σ⁻¹), δ = ω − μ."""
        precision = np.linalg.inv(self.covariance)
        pressed = (omega - self.mean) @ precision
        if self.diagonal:
            return np.hstack([pressed, 0.5 * (pressed**2 - np.diag(precision))])
        in_covariance = 0.5 * (pressed[:, :, None] * pressed[:, None, :] - precision)
        return np.hstack([pressed, cholesky.pull(self.variance, in_covariance)])

    def to_json(self) -> dict[str, Any]:
        """As JSON data; `from_json` reads it, so that a `Pool` of Gaussians can take the two."""
        return {"mean": self.mean.tolist(), "variance": self.variance.tolist()}

    @classmethod
    def from_json(cls, data: Any) -> Gaussian:
        """The Gaussian that `to_json` wrote."""
        return cls(data["mean"], data["variance"])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        spread = self.variance if self.diagonal else cholesky.to_numbers(self.variance[None])[0]
        return np.concatenate([self.mean, spread]).astype(dtype or float, copy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gaussian):
            return NotImplemented
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.variance, other.variance)

    def __hash__(self) -> int:
        return hash((self.mean.tobytes(), self.variance.tobytes()))

    def __repr__(self) -> str:
        return f"Gaussian(mean={self.mean.tolist()}, variance={self.variance.tolist()})"


def _set(x: Gaussian, mean: Vector, variance: Vector | Matrix) -> None:
    for name, value in (("mean", mean), ("variance", variance)):
        value.flags.writeable = False
        object.__setattr__(x, name, value)


def _numbers(what: str, values: ArrayLike) -> np.ndarray[Any, Any]:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise SimilarityError(f"a Gaussian's {what} is made of numbers, not {values!r}") from None
    if not np.all(np.isfinite(array)):
        raise SimilarityError(f"a Gaussian needs a finite {what}, not {values!r}")
    return array + 0.0  # −0 and 0 are equal, so they must share their bytes, which are hashed


def _variances(variance: Vector) -> Vector:
    if not np.all(variance > 0):
        raise SimilarityError(
            f"a Gaussian needs positive variances, not {variance.tolist()}; use a small one for an almost fixed entry"
        )
    return variance


def _covariance(matrix: Matrix) -> Vector | Matrix:
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise SimilarityError(f"a Gaussian needs a symmetric covariance, not {matrix.tolist()}")
    if not np.any(matrix - np.diag(np.diag(matrix))):
        return _variances(np.diag(matrix).copy())
    matrix = 0.5 * (matrix + matrix.T)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(matrix)[0]
        raise SimilarityError(
            f"a Gaussian needs a positive definite covariance; {matrix.tolist()} has the eigenvalue {lowest:.3g}; "
            "add a little to its diagonal"
        ) from None
    return matrix


def diagonal_gaussians(means: Matrix, variances: Matrix) -> list[Gaussian]:
    """One diagonal Gaussian for each row; the rows are checked together, which is quicker than one by one."""
    means, variances = np.array(means, dtype=float) + 0.0, np.array(variances, dtype=float)
    if not (np.all(np.isfinite(means)) and np.all(np.isfinite(variances)) and np.all(variances > 0)):
        return [Gaussian(mean, variance) for mean, variance in zip(means, variances, strict=True)]
    made = [object.__new__(Gaussian) for _ in means]
    for x, mean, variance in zip(made, means, variances, strict=True):
        _set(x, mean, variance)
    return made


def full_gaussians(means: Matrix, covariances: Matrix) -> list[Gaussian]:
    """One Gaussian for each mean and symmetric covariance matrix, checked together as in `diagonal_gaussians`."""
    means, covariances = np.array(means, dtype=float) + 0.0, np.array(covariances, dtype=float) + 0.0
    correlated = np.any(covariances * ~np.eye(means.shape[1], dtype=bool), axis=(1, 2))
    good = np.all(np.isfinite(means)) and np.all(np.isfinite(covariances))
    if not (good and np.all(np.linalg.eigvalsh(covariances) > 0)):
        correlated[:] = False
    made = [
        object.__new__(Gaussian) if quick else Gaussian(m, c)
        for m, c, quick in zip(means, covariances, correlated.tolist(), strict=True)
    ]
    for i in np.flatnonzero(correlated).tolist():
        _set(made[i], means[i], covariances[i])
    return made
