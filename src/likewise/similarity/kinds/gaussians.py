"""Gaussians as objects, x = (μ, Σ), and how alike two of them are (Section 4 of the paper).

Divergences have closed forms, with gradients in μ and in log-Cholesky coordinates of Σ.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import SimilarityError
from likewise.similarity.base import Linearised, Matrix, Similarity, Vector, check_positive, check_widths
from likewise.similarity.encoding import Encoding, count_rows, take
from likewise.similarity.functions import FITTED_ON, DistanceSimilarity, median_distance
from likewise.similarity.kinds.vectors import squared_distances

# Log-Cholesky coordinates of covariance matrices: any numbers are a covariance, and each covariance has its own.
#
# Σ = LLᵀ with L lower triangular and positive on its diagonal. The coordinates are the logarithms of that diagonal,
# which are half the logarithms of the variance of each entry given those before it, and then what L has below it, row
# by row.


def cholesky_count(d: int) -> int:
    """How many coordinates a d × d covariance has: ½d(d + 1)."""
    return d * (d + 1) // 2


def covariance_to_numbers(covariances: Matrix) -> Matrix:
    """The coordinates of each matrix, shape (n, ½d(d + 1)).

    >>> covariance_to_numbers(np.array([[[1.0, 0.5], [0.5, 1.25]]])).tolist()
    [[0.0, 0.0, 0.5]]
    """
    roots = np.linalg.cholesky(covariances)
    rows, columns = np.tril_indices(roots.shape[1], -1)
    return np.hstack([np.log(np.diagonal(roots, axis1=1, axis2=2)), roots[:, rows, columns]])


def covariance_from_numbers(numbers: Matrix) -> Matrix:
    """The covariance at each row of coordinates, shape (n, d, d).

    >>> covariance_from_numbers(np.array([[0.0, 0.0, 0.5]])).tolist()
    [[[1.0, 0.5], [0.5, 1.25]]]
    """
    d = int(np.sqrt(2 * numbers.shape[1]))
    roots = np.zeros((len(numbers), d, d))
    rows, columns = np.tril_indices(d, -1)
    roots[:, np.arange(d), np.arange(d)] = np.exp(numbers[:, :d])
    roots[:, rows, columns] = numbers[:, d:]
    found = roots @ roots.transpose(0, 2, 1)
    return np.asarray(0.5 * (found + found.transpose(0, 2, 1)))


def pull_covariance(covariances: Matrix, gradient: Matrix) -> Matrix:
    """A symmetric gradient G in Σ as one in the coordinates: 2GL in L, times L_kk where its logarithm is meant."""
    roots = np.linalg.cholesky(covariances)
    in_roots = 2.0 * gradient @ roots
    rows, columns = np.tril_indices(in_roots.shape[1], -1)
    diagonal = np.diagonal(in_roots, axis1=1, axis2=2) * np.diagonal(roots, axis1=-2, axis2=-1)
    return np.hstack([diagonal, in_roots[:, rows, columns]])


# Divergences of Gaussians with full covariances A and B, by closed forms, with their gradients in μ and in A.
#
# Each function goes through the Gaussians of b and yields, for one of them, the column d(a_i, b_j), the gradients in
# the means as rows, and those in A as symmetric matrices, so that memory stays proportional to the Gaussians of a
# alone.

Gaussians = tuple[Matrix, Matrix]
Columns = Iterator[tuple[Vector, Matrix, Matrix]]


def _inverses(matrices: Matrix) -> Matrix:
    return np.asarray(np.linalg.inv(matrices), dtype=float)


def _times(matrices: Matrix, vectors: Matrix) -> Matrix:
    return np.matmul(matrices, vectors[..., None])[..., 0]


def _diagonals(matrices: Matrix) -> Matrix:
    return np.diagonal(matrices, axis1=-2, axis2=-1)


def _squares(vectors: Matrix) -> Matrix:
    """p pᵀ of each row p."""
    return vectors[:, :, None] * vectors[:, None, :]


def _dots(left: Matrix, right: Matrix) -> Vector:
    return np.asarray(np.einsum("ik,ik->i", left, right))


def symmetric_kl(a: Gaussians, b: Gaussians) -> Columns:
    """¼ tr(A⁻¹B + AB⁻¹ − 2I) + ¼ δᵀ(A⁻¹ + B⁻¹)δ, δ = μ − μ'.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in symmetric_kl(point, (np.ones((1, 2)), 2.0 * np.eye(2)[None]))]
    [[1.0]]
    """
    (mean, A), (inverse, inverse_b) = a, (_inverses(a[1]), _inverses(b[1]))
    for mean_b, B, B_inverse in zip(*b, inverse_b, strict=True):
        away = mean - mean_b
        pressed = _times(inverse, away)
        traces = np.einsum("ikl,lk->i", inverse, B) + np.einsum("ikl,lk->i", A, B_inverse) - 2.0 * len(B)
        in_mean = 0.5 * (pressed + away @ B_inverse)
        in_covariance = 0.25 * (B_inverse - inverse @ B @ inverse - _squares(pressed))
        yield 0.25 * traces + 0.5 * _dots(away, in_mean), in_mean, in_covariance


def bhattacharyya(a: Gaussians, b: Gaussians) -> Columns:
    """⅛ δᵀM⁻¹δ + ½ log|M| − ¼ log|A| − ¼ log|B|, with M = (A + B)/2.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in bhattacharyya(point, (np.ones((1, 2)), np.eye(2)[None]))]
    [[0.25]]
    """
    volume, volume_b = np.linalg.slogdet(a[1])[1], np.linalg.slogdet(b[1])[1]
    own = 0.25 * _inverses(a[1])
    for (together, in_mean, in_covariance), B_volume in zip(_summed(a, b, 0.0, 0.25, 2.0), volume_b, strict=True):
        yield together - 0.25 * (volume + B_volume), in_mean, in_covariance - own


def _summed(a: Gaussians, b: Gaussians, square: float, weight: float, unit: float) -> Columns:
    """weight · δᵀM⁻¹δ + ½ log|M/unit|, with M = square · I + A + B."""
    mean, A = a
    for mean_b, B in zip(*b, strict=True):
        away, wide = mean - mean_b, square * np.eye(len(B)) + A + B
        inverse = _inverses(wide)
        pressed = _times(inverse, away)
        distances = weight * _dots(away, pressed) + 0.5 * np.linalg.slogdet(wide / unit)[1]
        yield distances, 2.0 * weight * pressed, 0.5 * inverse - weight * _squares(pressed)


def wasserstein2(a: Gaussians, b: Gaussians) -> Columns:
    """‖δ‖² + tr(A + B − 2 (B^½ A B^½)^½), whose gradient in A is I − B^½ (B^½ A B^½)^(−½) B^½.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in wasserstein2(point, (np.ones((1, 2)), 4.0 * np.eye(2)[None]))]
    [[4.0]]
    """
    mean, A = a
    values_b, vectors_b = np.linalg.eigh(b[1])
    for mean_b, B, values, vectors in zip(*b, values_b, vectors_b, strict=True):
        away, root = mean - mean_b, (vectors * np.sqrt(values)) @ vectors.T
        inner, axes = np.linalg.eigh(root @ A @ root)
        roots = np.sqrt(np.maximum(inner, np.finfo(float).tiny))
        spread = np.sum(_diagonals(A), axis=1) + np.trace(B) - 2.0 * roots.sum(axis=1)
        halved = root @ axes / np.sqrt(roots)[:, None, :]
        yield _dots(away, away) + spread, 2.0 * away, np.eye(len(B)) - halved @ halved.transpose(0, 2, 1)


def embedding(a: Gaussians, b: Gaussians, square: float) -> Columns:
    """½ δᵀM⁻¹δ + ½ log|M/ℓ²|, with M = ℓ²I + A + B and ℓ² the `square`.

    >>> point = np.zeros((1, 2)), np.eye(2)[None]
    >>> [d.round(12).tolist() for d, *_ in embedding(point, (np.full((1, 2), 2.0), np.eye(2)[None]), 2.0)]
    [[1.69314718056]]
    """
    return _summed(a, b, square, 0.5, square)


# Gaussians as objects: x = (μ, Σ), the paper's p(ω|x) = N(ω | μ, Σ) (Section 4).
#
# Where Σ = diag(σ_i), the σ_i are variances.


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
        return np.hstack([pressed, pull_covariance(self.variance, in_covariance)])

    def to_json(self) -> dict[str, Any]:
        """As JSON data; `from_json` reads it, so that a `Pool` of Gaussians can take the two."""
        return {"mean": self.mean.tolist(), "variance": self.variance.tolist()}

    @classmethod
    def from_json(cls, data: Any) -> Gaussian:
        """The Gaussian that `to_json` wrote."""
        return cls(data["mean"], data["variance"])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        spread = self.variance if self.diagonal else covariance_to_numbers(self.variance[None])[0]
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


# What similarities of Gaussians share: how they are encoded, and what their gradients are in.
#
# Diagonal Gaussians are encoded as rows (μ, σ) and have gradients in these numbers, in this order. With `full=True` a
# similarity compares whole covariance matrices (`covariances.py`); gradients are then in μ and in the log-Cholesky
# coordinates of Σ (`cholesky.py`). A `Gaussians` space says which of the two its members need.


class GaussianSimilarity(Similarity):
    """A similarity of Gaussians made from a function d of two of them that has a closed form, with its gradient."""

    kind = "Gaussians"
    full: bool = False

    @abstractmethod
    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        """d(a_i, b_j), and the map W ↦ Σ_j W_ij ∇d(a_i, b_j) in (μ, σ), for rows (μ, σ)."""

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        """For each b_j: d(a_i, b_j) and its gradients in a_i's μ and Σ, for whole covariances."""
        raise NotImplementedError  # pragma: no cover

    @property
    def _for_full(self) -> str:
        """What to use for full covariances."""
        return f"{self.name}(full=True)"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        self._check(objects)
        n, d = len(objects), objects[0].dimension if len(objects) else 0
        means = np.array([x.mean for x in objects], dtype=float).reshape(n, d)
        if self.full:
            return means, np.array([x.covariance for x in objects], dtype=float).reshape(n, d, d)
        return np.hstack([means, np.array([x.variance for x in objects], dtype=float).reshape(n, d)])

    def _check(self, objects: Sequence[Any]) -> None:
        d = objects[0].dimension if len(objects) and isinstance(objects[0], Gaussian) else 0
        for number, x in enumerate(objects):
            # Trajectories encode thousands of Gaussians an ask: one test for what is as it should be.
            if isinstance(x, Gaussian) and len(x.mean) == d and (self.full or x.variance.ndim == 1):
                continue
            if not isinstance(x, Gaussian):
                raise SimilarityError(f"{self.name} compares Gaussians; object {number} is {x!r}")
            if x.dimension != d:
                raise SimilarityError(
                    f"object {number} is a Gaussian of {x.dimension} dimensions where the first one has {d}: {x!r}; "
                    "Gaussians that are compared need one dimension"
                )
            raise SimilarityError(
                f"object {number} has a full covariance: {x!r}; use {self._for_full}, or give variances alone"
            )

    def _linearised(self, a: Encoding, b: Encoding) -> Linearised:
        if not (count_rows(a) and count_rows(b)):
            return np.zeros((count_rows(a), count_rows(b))), lambda weights: np.zeros((count_rows(a), self._width(a)))
        width, other = self._dimension(a), self._dimension(b)
        check_widths(width, other, "Gaussians", "dimensions", "Gaussians that are compared need one dimension")
        distances, pull = self._from_columns(a, b) if self.full else self._diagonal(a, b)
        return np.maximum(distances, 0.0), pull

    def _from_columns(self, a: Gaussians, b: Gaussians) -> Linearised:
        def pull(weights: Matrix) -> Matrix:
            in_mean, in_covariance = np.zeros_like(a[0]), np.zeros_like(a[1])
            for w, (_, mean, covariance) in zip(weights.T, self._columns(a, b), strict=True):
                in_mean += w[:, None] * mean
                in_covariance += w[:, None, None] * covariance
            return np.hstack([in_mean, pull_covariance(a[1], in_covariance)])

        return np.stack([distances for distances, *_ in self._columns(a, b)], axis=1), pull

    def _dimension(self, a: Encoding) -> int:
        return int(a[0].shape[1]) if self.full else int(a.shape[1]) // 2

    def _width(self, a: Encoding) -> int:
        d = self._dimension(a)
        return d + cholesky_count(d) if self.full else 2 * d


class GaussianDivergence(GaussianSimilarity, DistanceSimilarity):
    """A similarity made from a divergence of Gaussians, which is zero for equal ones."""

    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        return self._linearised(a, b)[0]

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        distances, pull = self._linearised(a, b)
        return self.scores(distances), lambda weights: pull(weights * self.slopes(distances))


def split(a: Matrix) -> tuple[Matrix, Matrix]:
    """Means and variances of rows (μ, σ)."""
    d = a.shape[1] // 2
    return a[:, :d], a[:, d:]


# How alike two Gaussians are, by divergences that have closed forms (Section 4 of the paper).
#
# The forms of diagonal Gaussians are here; those of whole covariance matrices are in `covariances.py`.

# Factors that are multiplied before a logarithm is taken of their product, which is far dearer.
AT_ONCE = 8


@dataclass(frozen=True)
class SymmetricKL(GaussianDivergence):
    """constant − D_SYM, the paper's similarity, or exp(−D_SYM/ℓ). Neither is PSD.

    D_SYM = ½KL(p‖p') + ½KL(p'‖p) = ¼Σ(σ/σ' + σ'/σ − 2) + ¼Σ(μ − μ')²(1/σ + 1/σ'), which is zero for equal Gaussians
    (the printed sum lacks the −2, so its constant is this one plus d/2). D_SYM is unbounded: in a `Gaussians` space
    `divergence_bound` is the smallest constant that keeps constant − D_SYM non-negative, and a study there uses no
    smaller one.
    ∇_μ D_SYM = ½(μ − μ')(1/σ + 1/σ') and ∇_σ D_SYM = ¼(1/σ' − σ'/σ²) − ¼(μ − μ')²/σ²; the last term is printed with
    the other sign.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.
    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> SymmetricKL(constant=2.0)(Gaussian(0.0, 1.0), Gaussian(1.0, 1.0))
    1.5
    """

    compares = "symmetric Kullback–Leibler divergence"
    lengthscale: float | None = None
    constant: float | None = None
    full: bool = False

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        # 2 KL(p‖p') + log-ratio = Σ (σ + (μ − μ')²)/σ' − 1, expanded so that it is one matrix product each way.
        (mean, variance), (mean_b, variance_b) = split(a), split(b)
        centre = mean_b.mean(axis=0)
        mean, mean_b = mean - centre, mean_b - centre
        left = np.hstack([moments(mean, variance), precisions(mean, variance)])
        right = np.hstack([precisions(mean_b, variance_b), moments(mean_b, variance_b)])

        def pull(weights: Matrix) -> Matrix:
            w = weights.sum(axis=1)[:, None]
            shift = w * mean - weights @ mean_b
            pressed = mean * (weights @ (1.0 / variance_b)) - weights @ (mean_b / variance_b)
            spread = weights @ (variance_b + mean_b**2) + w * mean**2 - 2.0 * mean * (weights @ mean_b)
            in_variance = 0.25 * (weights @ (1.0 / variance_b) - spread / variance**2)
            return np.hstack([0.5 * (shift / variance + pressed), in_variance])

        return 0.25 * (left @ right.T) - 0.5 * mean.shape[1], pull

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return symmetric_kl(a, b)


def moments(mean: Matrix, variance: Matrix | float) -> Matrix:
    """One factor of Σ (σ + (μ − μ')²)/σ', whose other one is `precisions`."""
    return np.hstack([variance + mean**2, -2.0 * mean, np.ones((len(mean), 1))])


def precisions(mean: Matrix, variance: Matrix) -> Matrix:
    """The other factor of Σ (σ + (μ − μ')²)/σ', in (μ', σ')."""
    return np.hstack([1.0 / variance, mean / variance, np.sum(mean**2 / variance, axis=1, keepdims=True)])


def summed(a: Matrix, b: Matrix, square: float, weight: float, unit: Callable[[int], Any]) -> Linearised:
    """weight · Σ (μ − μ')²/s + ½ Σ log(s/unit), with s = square + σ + σ', and its gradient in rows (μ, σ)."""
    (mean, variance), (mean_b, variance_b) = split(a), split(b)
    d = mean.shape[1]

    def both(k: int) -> Any:
        return np.add.outer(square + variance[:, k], variance_b[:, k])

    total, volume = np.zeros((len(a), len(b))), np.ones((len(a), len(b)))
    for k in range(d):
        s = both(k)
        total += 2.0 * weight * np.subtract.outer(mean[:, k], mean_b[:, k]) ** 2 / s
        s /= unit(k)
        volume *= s
        if (k + 1) % AT_ONCE == 0 or k == d - 1:
            total += np.log(volume)
            volume.fill(1.0)

    def pull(weights: Matrix) -> Matrix:
        gradient = np.empty((len(a), 2 * d))
        for k in range(d):
            s = both(k)
            pressed = np.subtract.outer(mean[:, k], mean_b[:, k]) / s
            gradient[:, k] = 2.0 * weight * np.einsum("ij,ij->i", weights, pressed)
            gradient[:, d + k] = np.einsum("ij,ij->i", weights, 0.5 / s - weight * pressed**2)
        return gradient

    return 0.5 * total, pull


@dataclass(frozen=True)
class Bhattacharyya(GaussianDivergence):
    """∫√(p p') dω = exp(−D_B), the overlap of two Gaussians, in (0, 1]. PSD: an inner product of √p and √p'.

    D_B = Σ ¼(μ − μ')²/(σ + σ') + ½ log((σ + σ')/2) − ¼ log σ − ¼ log σ'. It has no scale to settle: how local it is,
    a warp says.

    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> round(Bhattacharyya()(Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)), 4)
    0.6065
    """

    compares = "overlap of two Gaussians"
    full: bool = False
    lengthscale = 1.0
    constant = None

    psd = True

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        # The logarithms are of the ratios of the variances' arithmetic to their geometric means.
        roots, roots_b = np.sqrt(split(a)[1]), np.sqrt(split(b)[1])
        distances, pull = summed(a, b, 0.0, 0.25, lambda k: 2.0 * np.multiply.outer(roots[:, k], roots_b[:, k]))

        def pull_all(weights: Matrix) -> Matrix:
            gradient = pull(weights)
            gradient[:, roots.shape[1] :] -= 0.25 * weights.sum(axis=1)[:, None] / roots**2
            return gradient

        return distances, pull_all

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return bhattacharyya(a, b)


@dataclass(frozen=True)
class Wasserstein2(GaussianDivergence):
    """exp(−W²/ℓ) or constant − W², with W the 2-Wasserstein distance: how far mass must move.

    The *square* is used: it is smooth where Gaussians meet. W² = ‖μ − μ'‖² + Σ(√σ − √σ')² is a squared Euclidean
    distance, so exp(−W²/ℓ) is PSD for diagonal Gaussians; it is not for full covariances, where
    W² = ‖μ − μ'‖² + tr(Σ + Σ' − 2(Σ'^½ Σ Σ'^½)^½).

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.
    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> Wasserstein2(constant=10.0)(Gaussian(0.0, 1.0), Gaussian(2.0, 4.0))
    5.0
    """

    compares = "how far mass must move"
    lengthscale: float | None = None
    constant: float | None = None
    full: bool = False

    @property
    def psd(self) -> bool:
        return self.constant is None and not self.full

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        d = a.shape[1] // 2
        points, points_b = (np.hstack([x[:, :d], np.sqrt(x[:, d:])]) for x in (a, b))

        def pull(weights: Matrix) -> Matrix:
            gradient = 2.0 * (weights.sum(axis=1)[:, None] * points - weights @ points_b)
            gradient[:, d:] *= 0.5 / points[:, d:]
            return gradient

        return squared_distances(points, points_b), pull

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return wasserstein2(a, b)


# How alike two Gaussians are for whoever takes expectations under them.
#
#     k(x, x') = E exp(−½‖ω − ω'‖²/ℓ²),  ω ~ x and ω' ~ x' independent
#              = |I + (Σ + Σ')/ℓ²|^(−½) exp(−½ δᵀ(ℓ²I + Σ + Σ')⁻¹δ),  δ = μ − μ',
#
# the inner product of the two mean embeddings. If an integrand f is a draw from a Gaussian process with the RBF kernel,
# this is the covariance of E_x f and E_x' f: a measured expectation tells of f where the Gaussian has its mass, narrow
# Gaussians vary more than wide ones, and what a wide one averages over the narrow ones within it resolve.


@dataclass(frozen=True)
class GaussianEmbedding(GaussianSimilarity):
    """E exp(−½‖ω − ω'‖²/ℓ²) for ω and ω' drawn from either Gaussian: the covariance of two expectations. PSD.

    ℓ is how far one has to go for the integrand to change. A `lengthscale` of None is settled as the median distance of
    the observed Gaussians' means in a study (of a mean to its Gaussian's draws where all means are one), and is 1
    elsewhere.

    full: whether covariance matrices are compared, and not variances alone; False by default, as they cost more.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> wide, narrow = Gaussian(0.0, 4.0), Gaussian(0.0, 0.01)
    >>> alike = GaussianEmbedding(lengthscale=1.0)
    >>> [round(alike(*pair), 3) for pair in ((narrow, narrow), (narrow, wide), (wide, wide))]
    [0.99, 0.447, 0.333]
    """

    compares = "how alike expectations under them are"
    lengthscale: float | None = None
    full: bool = False

    def __post_init__(self) -> None:
        check_positive(self.name, "lengthscale", self.lengthscale)

    psd = True

    @property
    def _square(self) -> float:
        return (self.lengthscale or 1.0) ** 2

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return np.asarray(np.exp(-self._linearised(a, b)[0]))

    def within(self, a: Encoding) -> Vector:
        return self.linearise_within(a)[0]

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        exponents, pull = self._linearised(a, b)
        scores = np.exp(-exponents)
        return scores, lambda weights: pull(-weights * scores)

    def linearise_within(self, a: Encoding) -> Linearised:
        """|I + 2Σ/ℓ²|^(−½), whose logarithm has the derivative −(ℓ²I + 2Σ)⁻¹ in Σ."""
        if self.full:
            both = self._square * np.eye(a[0].shape[1]) + 2.0 * a[1]
            logs = np.linalg.slogdet(both / self._square)[1]
        else:
            both = self._square + 2.0 * split(a)[1]
            logs = np.log(both / self._square).sum(axis=1)
        scores = np.exp(-0.5 * logs)

        def pull(weights: Vector) -> Matrix:
            slope = -weights * scores
            if not self.full:
                return np.hstack([np.zeros_like(both), slope[:, None] / both])
            return np.hstack([np.zeros_like(a[0]), pull_covariance(a[1], slope[:, None, None] * np.linalg.inv(both))])

        return scores, pull

    def fitted(self, a: Encoding) -> Similarity:
        if self.lengthscale is not None or not count_rows(a):
            return self
        few = take(a, slice(0, FITTED_ON))
        means, spread = (
            (few[0], np.trace(few[1], axis1=1, axis2=2)) if self.full else (split(few)[0], split(few)[1].sum(1))
        )
        square = median_distance(squared_distances(means, means), otherwise=float(np.median(spread)))
        return replace(self, lengthscale=square**0.5)

    def _diagonal(self, a: Matrix, b: Matrix) -> Linearised:
        """−log k and its gradient; with s = ℓ² + σ + σ' it is ½Σ log(s/ℓ²) + ½Σ(μ − μ')²/s."""
        return summed(a, b, self._square, 0.5, lambda k: self._square)

    def _columns(self, a: Gaussians, b: Gaussians) -> Columns:
        return embedding(a, b, self._square)
