"""Similarities of vectors: RBF, Matérn, linear, cosine. All are PSD kernels, differentiable in objects and parameters.

An object is a sequence of numbers (or one number); its encoding is its row in an array of shape (n, d). In a study over
a `Box` these similarities compare the box's unit coordinates, so that a lengthscale is a fraction of the range.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    Linearised,
    LogNormal,
    Matrix,
    Normalised,
    Parameter,
    Sensitivity,
    Similarity,
    Vector,
    check_widths,
    positive_numbers,
)

Lengthscale = float | Sequence[float] | Vector | None


def lengthscale_prior(dimension: int) -> LogNormal:
    """Lengthscales grow with √d, so that distances between typical points stay comparable: location √2 + ½ log d.

    >>> round(lengthscale_prior(1).mode, 3), round(lengthscale_prior(4).mode, 3)
    (0.205, 0.41)
    """
    return LogNormal(np.sqrt(2.0) + 0.5 * np.log(dimension), np.sqrt(3.0))


def as_vectors(objects: Sequence[Any]) -> Matrix:
    """Objects as the rows of an array; a plain number is a vector of one, and a record of numbers one by its names.

    The numbers of a record stand in the order of the alphabet, so that all records have one order.

    >>> as_vectors([1.0, 2.0]).shape
    (2, 1)
    >>> as_vectors([{"b": 2.0, "a": 1.0}])
    array([[1., 2.]])
    """
    if len(objects) and isinstance(objects[0], Mapping):
        objects = [_in_order(number, x, objects[0]) for number, x in enumerate(objects)]
    try:
        array = np.asarray(objects, dtype=float)
    except (TypeError, ValueError):
        _blame(objects)
        raise
    if array.ndim <= 1:
        array = array.reshape(len(array), -1) if array.size else np.zeros((len(objects), 0))
    if array.ndim != 2 or not np.isfinite(array).all():
        _blame(objects)
    return array


def _in_order(number: int, x: Any, first: Mapping[Any, Any]) -> list[Any]:
    if not isinstance(x, Mapping) or x.keys() != first.keys():
        raise SimilarityError(
            f"object {number} has other names than the first, which has {', '.join(map(repr, first))}: {x!r}; "
            "give every object every name"
        )
    return [x[name] for name in sorted(first, key=str)]


def _blame(objects: Sequence[Any]) -> None:
    """Raise the error that names the first object that is no vector of finite numbers like the others."""
    width: int | None = None
    for number, x in enumerate(objects):
        try:
            row = np.atleast_1d(np.asarray(x, dtype=float))
        except (TypeError, ValueError):
            raise SimilarityError(f"object {number} is not a vector of numbers: {x!r}") from None
        if row.ndim != 1 or not np.all(np.isfinite(row)):
            raise SimilarityError(f"object {number} is not a vector of finite numbers: {x!r}")
        if width is not None and len(row) != width:
            raise SimilarityError(
                f"object {number} has {len(row)} numbers where the ones before it have {width}: {x!r}; "
                "vectors that are compared need one length"
            )
        width = len(row)


def check_vectors(a: Matrix, b: Matrix) -> None:
    """Refuse to compare vectors of different lengths; no vectors at all have none."""
    if len(a) and len(b):
        check_widths(a.shape[1], b.shape[1], "vectors", "numbers", "vectors that are compared need one length")


class VectorSimilarity(Similarity):
    """A PSD kernel on vectors."""

    kind = "vectors"
    psd = True

    def encode(self, objects: Sequence[Any]) -> Matrix:
        return as_vectors(objects)


class Stationary(Normalised):
    """A kernel k(r²) of the scaled squared distance r² = Σ_k (x_k − x'_k)² / ℓ_k² of the points of two objects."""

    psd = True
    lengthscale: Lengthscale

    def _points(self, a: Any) -> Matrix:
        """The points of encoded objects, as rows: those of vectors are the vectors."""
        return cast(Matrix, a)

    def _check_pair(self, a: Any, b: Any) -> None:
        check_vectors(a, b)

    def _prior(self, dimension: int) -> LogNormal:
        return lengthscale_prior(dimension)

    @abstractmethod
    def _profile(self, r2: Matrix) -> tuple[Matrix, Callable[[], Matrix]]:
        """k(r²), and its derivative in r² when asked for."""

    def __post_init__(self) -> None:
        if self.lengthscale is not None and not positive_numbers(self.lengthscale):
            raise SimilarityError(f"{self.name} needs positive lengthscales, not {self.lengthscale!r}")

    def _lengthscales(self, dimension: int) -> Vector:
        if self.lengthscale is None:
            return np.full(dimension, self._prior(max(dimension, 1)).mode)
        values = np.atleast_1d(np.asarray(self.lengthscale, dtype=float))
        if len(values) not in (1, dimension):
            raise SimilarityError(
                f"{self.name} has {len(values)} lengthscales for vectors of {dimension} numbers; "
                f"give one, or {dimension}"
            )
        return values if len(values) == dimension else np.full(dimension, values[0])

    def _scaled(self, a: Any) -> Matrix:
        points = self._points(a)
        return points / self._lengthscales(points.shape[1])

    def between(self, a: Any, b: Any) -> Matrix:
        self._check_pair(a, b)
        z = self._scaled(a)
        return self._profile(squared_distances(z, z if b is a else self._scaled(b)))[0]

    def parameters(self, a: Any) -> dict[str, Parameter]:
        d = self._points(a).shape[1]
        return {"lengthscale": Parameter(np.array(self._lengthscales(d)), self._prior(d))} if d else {}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return replace(self, lengthscale=values["lengthscale"]) if values else self  # type: ignore[type-var]

    def sensitivity(self, a: Any) -> Sensitivity:
        z = self._scaled(a)
        scores, slope = self._profile(squared_distances(z, z))

        def pull(weights: Matrix) -> dict[str, Vector]:
            # ∂r²/∂log ℓ_k = −2 (z_ik − z_jk)²; the square is expanded so that it is matrix products.
            m = weights * slope()
            cross = np.einsum("ik,ik->k", z, m @ z)
            squares = (m.sum(axis=1) + m.sum(axis=0)) @ z**2
            return {"lengthscale": -2.0 * (squares - 2.0 * cross)}

        return scores, pull

    def linearise(self, a: Any, b: Any) -> Linearised:
        self._check_pair(a, b)
        ell = self._lengthscales(self._points(a).shape[1])
        za, zb = self._points(a) / ell, self._points(b) / ell
        scores, slope = self._profile(squared_distances(za, zb))

        def pull(weights: Matrix) -> Matrix:
            m = weights * slope()
            return 2.0 * (m.sum(axis=1)[:, None] * za - m @ zb) / ell

        return scores, pull

    def linearise_within(self, a: Any) -> Linearised:
        points = self._points(a)
        return self.within(a), lambda weights: np.zeros_like(points)


def squared_distances(a: Matrix, b: Matrix) -> Matrix:
    """‖a_i − b_j‖², by one matrix product and centred so that little is lost to cancellation."""
    if a.shape[1] <= 3:
        total = np.zeros((len(a), len(b)))
        for k in range(a.shape[1]):
            total += np.subtract.outer(a[:, k], b[:, k]) ** 2
        return total
    same = a is b
    centre = np.add.reduce(b, axis=0) / len(b) if len(b) else 0.0
    a, b = a - centre, b - centre
    total = a @ b.T
    total *= -2.0
    total += np.einsum("ik,ik->i", a, a)[:, None]
    total += np.einsum("ik,ik->i", b, b)
    if same:
        np.fill_diagonal(total, 0.0)
    return np.maximum(total, 0.0, out=total)


class SquaredExponential(Stationary):
    """exp(−½ r²)."""

    # A power of it has another lengthscale.
    divisible = True

    def _profile(self, r2: Matrix) -> tuple[Matrix, Callable[[], Matrix]]:
        scores = np.exp(-0.5 * r2)
        return scores, lambda: -0.5 * scores


@dataclass(frozen=True, eq=False)
class RBF(SquaredExponential, VectorSimilarity):
    """exp(−½ r²), r² = Σ_k (x_k − x'_k)²/ℓ_k². PSD. One lengthscale, or one per dimension, or None: learnt.

    lengthscale: one, or one per dimension, in the units of the vectors; None (default) leaves it to the data.

    >>> round(RBF(lengthscale=1.0)([0.0, 0.0], [1.0, 0.0]), 4)
    0.6065
    """

    compares = "near in value, by a Gaussian kernel"
    lengthscale: Lengthscale = None


@dataclass(frozen=True, eq=False)
class Matern(Stationary, VectorSimilarity):
    """Matérn kernel of smoothness ½, 3/2 or 5/2. PSD in every dimension, as the distance is Euclidean.

    lengthscale: one, or one per dimension, in the units of the vectors; None (default) leaves it to the data.
    smoothness: 0.5, 1.5 or 2.5 (default); the larger, the smoother are the functions that it expects.

    >>> round(Matern(lengthscale=1.0, smoothness=0.5)([0.0], [1.0]), 4)
    0.3679
    """

    compares = "near in value, by a Matérn kernel"
    lengthscale: Lengthscale = None
    smoothness: float = 2.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothness not in (0.5, 1.5, 2.5):
            raise SimilarityError(f"Matern has smoothness 0.5, 1.5 or 2.5, not {self.smoothness}")

    @property
    def name(self) -> str:
        return f"Matern{int(2 * self.smoothness)}/2"

    def _profile(self, r2: Matrix) -> tuple[Matrix, Callable[[], Matrix]]:
        s = np.sqrt(2.0 * self.smoothness * r2)
        decay = -s
        np.exp(decay, out=decay)
        if self.smoothness == 0.5:
            return decay, lambda: -0.5 * decay / np.where(s > 0, s, np.inf)
        if self.smoothness == 1.5:
            return (1.0 + s) * decay, lambda: -1.5 * decay
        # In place, as memory takes longer than arithmetic: (1 + s (1 + s/3)) e^−s.
        scores = s / 3.0
        scores += 1.0
        scores *= s
        scores += 1.0
        scores *= decay
        return scores, lambda: -(5.0 / 6.0) * (1.0 + s) * decay


@dataclass(frozen=True)
class Linear(VectorSimilarity):
    """⟨x, x'⟩ + bias. PSD; may be negative.

    bias: a constant that is added; 0 by default.

    >>> Linear()([1.0, 2.0], [3.0, -1.0])
    1.0
    """

    compares = "inner product"
    bias: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bias) and self.bias >= 0):
            raise SimilarityError(f"Linear needs a non-negative bias to be PSD, not {self.bias}")

    signed = True

    def between(self, a: Matrix, b: Matrix) -> Matrix:
        check_vectors(a, b)
        return a @ b.T + self.bias

    def within(self, a: Matrix) -> Vector:
        return np.einsum("ik,ik->i", a, a) + self.bias

    def linearise(self, a: Matrix, b: Matrix) -> Linearised:
        return self.between(a, b), lambda weights: weights @ b

    def linearise_within(self, a: Matrix) -> Linearised:
        return self.within(a), lambda weights: 2.0 * weights[:, None] * a


@dataclass(frozen=True)
class Cosine(VectorSimilarity):
    """⟨x, x'⟩ / (‖x‖ ‖x'‖), and 0 where a vector is zero. PSD; may be negative.

    >>> Cosine()([1.0, 0.0], [1.0, 0.0])
    1.0
    """

    compares = "angle between vectors"
    signed = True

    @staticmethod
    def _directions(a: Matrix) -> tuple[Matrix, Vector]:
        norms = np.linalg.norm(a, axis=1)
        return a / np.where(norms > 0, norms, 1.0)[:, None], norms

    def between(self, a: Matrix, b: Matrix) -> Matrix:
        check_vectors(a, b)
        return self._directions(a)[0] @ self._directions(b)[0].T

    def within(self, a: Matrix) -> Vector:
        return (self._directions(a)[1] > 0).astype(float)

    def linearise(self, a: Matrix, b: Matrix) -> Linearised:
        check_vectors(a, b)
        (u, norms), (v, _) = self._directions(a), self._directions(b)
        scores = u @ v.T

        def pull(weights: Matrix) -> Matrix:
            flat = weights @ v - np.sum(weights * scores, axis=1)[:, None] * u
            return flat / np.where(norms > 0, norms, np.inf)[:, None]

        return scores, pull

    def linearise_within(self, a: Matrix) -> Linearised:
        return self.within(a), lambda weights: np.zeros_like(a)
