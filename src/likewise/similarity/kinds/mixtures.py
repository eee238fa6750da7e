"""Similarities of mixtures: distributions over objects of any kind that a ground similarity compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Wrapper
from likewise.similarity.base import Function, Matrix, Sensitivity, Similarity, Vector, numbered
from likewise.similarity.encoding import Encoding, Indices, join, take
from likewise.similarity.functions import DistanceSimilarity, object_key

# The encoding of mixtures: their objects, each encoded once by the ground similarity, and their weights.


@dataclass(frozen=True, eq=False)
class Support:
    """Different objects and their encodings by the ground similarity; mixtures encoded together share it."""

    keys: list[Any]
    encoding: Encoding


@dataclass(eq=False)
class WeightedSupport:
    """Places in a support, and the weights there: positive, of sum 1.

    It remembers its inner product with itself under the last ground similarity that was asked, as that is part of every
    comparison.
    """

    support: Support
    places: Indices
    weights: Vector
    own: tuple[Similarity, float] | None = None


Mixtures = list[WeightedSupport]


def encode_mixtures(ground: Similarity, objects: Sequence[Any]) -> Mixtures:
    """Mixtures over one support, whose objects are encoded once."""
    numbers: dict[Any, int] = {}
    atoms: list[Any] = []
    found: list[dict[int, float]] = []
    for number, mixture in enumerate(objects):
        weights: dict[int, float] = {}
        for x, weight in _pairs(mixture, number):
            key = object_key(x)
            place = numbers.setdefault(key, len(atoms))
            if place == len(atoms):
                atoms.append(x)
            weights[place] = weights.get(place, 0.0) + weight
        found.append(weights)
    try:
        support = Support(list(numbers), ground.encode(atoms) if atoms else None)
    except SimilarityError as error:
        raise SimilarityError(f"among the {len(atoms)} different objects of these mixtures, {error}") from error
    return [
        WeightedSupport(support, np.array(list(w), dtype=np.intp), np.array(list(w.values())) / sum(w.values()))
        for w in found
    ]


def _pairs(mixture: Any, number: int) -> list[tuple[Any, float]]:
    """The objects of positive weight, and their weights."""
    pairs = list(mixture.items()) if isinstance(mixture, Mapping) else mixture
    if not isinstance(pairs, Sequence) or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
        raise SimilarityError(
            f"object {number} is not a mixture: {mixture!r}; "
            "give a mapping from objects to weights, or pairs (object, weight)"
        )
    weighted = [(x, _weight(weight, x, number)) for x, weight in pairs]
    positive = [(x, weight) for x, weight in weighted if weight > 0]
    if not positive:
        raise SimilarityError(f"mixture {number} has no object of positive weight: {mixture!r}")
    return positive


def _weight(weight: Any, x: Any, number: int) -> float:
    try:
        value = float(weight)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value >= 0):
        raise SimilarityError(
            f"the weight of {x!r} in mixture {number} is {weight!r}; weights are finite numbers of 0 or more"
        )
    return value


def union(mixtures: Mixtures) -> tuple[Encoding, Any]:
    """The encodings of the different objects of these mixtures, and the sparse matrix of their weights."""
    from scipy import sparse

    numbers: dict[Any, int] = {}
    pieces: list[Encoding] = []
    place_of: dict[int, NDArray[np.intp]] = {}
    for support, used in _used(mixtures):
        fresh = [place for place in used if support.keys[place] not in numbers]
        numbers.update({support.keys[place]: len(numbers) + k for k, place in enumerate(fresh)})
        columns = place_of[id(support)] = np.zeros(len(support.keys), dtype=np.intp)
        columns[used] = [numbers[support.keys[place]] for place in used]
        if fresh:
            pieces.append(take(support.encoding, np.array(fresh)))
    sizes = [len(mixture.places) for mixture in mixtures]
    columns = np.concatenate([place_of[id(mixture.support)][mixture.places] for mixture in mixtures])
    weights = np.concatenate([mixture.weights for mixture in mixtures])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return join(pieces), sparse.csr_array((weights, columns, starts), shape=(len(mixtures), len(numbers)))


def _used(mixtures: Mixtures) -> list[tuple[Support, Indices]]:
    """Each support, with the places in it that occur."""
    places: dict[int, list[Indices]] = {}
    supports: dict[int, Support] = {}
    for mixture in mixtures:
        supports[id(mixture.support)] = mixture.support
        places.setdefault(id(mixture.support), []).append(mixture.places)
    return [(support, np.unique(np.concatenate(places[key]))) for key, support in supports.items()]


# Similarities of mixtures: distributions over objects of any kind that a ground similarity compares.
#
# A mixture is a mapping from objects to weights, or a sequence of pairs (object, weight): solvents and their volumes,
# samples of a population. Weights are non-negative; they are divided by their sum. With the weights as the rows of W_a
# and W_b, and the ground similarity K of the objects, all sums over pairs of objects are the product W_a K W_bᵀ.

# A matrix of ground similarities of more entries than this is computed in parts.
LARGEST = 4_000_000
SMALL = 64


def _inner(ground: Similarity, a: Mixtures, b: Mixtures) -> Matrix:
    """Σ_kl μ_ik K(k, l) ν_jl for mixtures μ_i of `a` and ν_j of `b`."""
    if not (a and b):
        return np.zeros((len(a), len(b)))
    (x, v), (y, w) = union(a), union(b)
    if v.shape[1] * w.shape[1] <= LARGEST or (len(a) == 1 and len(b) == 1):
        return np.asarray(w @ (v @ ground.between(x, y)).T).T
    if len(a) == 1:
        return _inner(ground, b, a).T
    half = len(a) // 2
    return np.concatenate([_inner(ground, a[:half], b), _inner(ground, a[half:], b)])


def _own(ground: Similarity, a: Mixtures) -> Vector:
    """⟨μ, μ⟩ of each mixture, computed once for each as long as the ground similarity stays."""
    new = [mixture for mixture in a if mixture.own is None or mixture.own[0] is not ground]
    for mixture, value in zip(new, _own_computed(ground, new) if new else (), strict=True):
        mixture.own = (ground, float(value))
    return np.array([mixture.own[1] for mixture in a if mixture.own])


def _own_computed(ground: Similarity, a: Mixtures) -> Vector:
    """Σ_kl μ_ik K(k, l) μ_il of each mixture; of all at once as far as they share objects."""
    x, w = union(a)
    needed = int(np.sum(np.diff(w.indptr) ** 2))
    if len(a) == 1 or w.shape[1] ** 2 <= max(SMALL**2, min(2 * needed, LARGEST)):
        return np.asarray(w.multiply(w @ ground.between(x, x)).sum(axis=1)).ravel()
    half = len(a) // 2
    return np.concatenate([_own_computed(ground, a[:half]), _own_computed(ground, a[half:])])


class _Ground(Wrapper):
    """A similarity of mixtures over a ground similarity."""

    kind = "mixtures"
    wraps = "ground"

    @property
    def name(self) -> str:
        return f"{type(self).__name__} of {self.wrapped.name}"

    def part_encoding(self, a: Mixtures, i: int) -> Encoding:
        return union(a)[0]

    def encode(self, objects: Sequence[Any]) -> Mixtures:
        return encode_mixtures(self.wrapped, objects)

    def _inner_sensitivity(self, a: Mixtures) -> Sensitivity:
        """⟨μ_i, μ_j⟩ of all pairs, and the map W ↦ Σ_ij W_ij ∂⟨μ_i, μ_j⟩/∂ log θ for the ground's parameters θ."""
        x, w = union(a)
        scores, pull = self.wrapped.sensitivity(x)
        inner = np.asarray(w @ (w @ scores).T).T

        def pull_inner(weights: Matrix) -> dict[str, Vector]:
            return numbered(pull(np.asarray(w.T @ (w.T @ weights.T).T)))

        return inner, pull_inner


class GroundDistance(_Ground, DistanceSimilarity):
    """One made from a distance of mixtures."""

    signed = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_scale()

    def fitted(self, a: Mixtures) -> Similarity:
        ground = self.wrapped.fitted(self.part_encoding(a, 0))
        return DistanceSimilarity.fitted(cast(DistanceSimilarity, self.rebuilt([ground])), a)


@dataclass(frozen=True)
class MeanEmbedding(_Ground):
    """⟨μ, ν⟩/√(⟨μ, μ⟩⟨ν, ν⟩), ⟨μ, ν⟩ = Σ_kl μ_k ν_l K(k, l): the cosine of two mixtures. PSD if the ground is.

    ground: how alike two components are: a similarity, or a plain function of two.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> blend = MeanEmbedding(RBF(1.0))
    >>> round(blend({0.0: 1, 1.0: 1}, {0.0: 3, 1.0: 1}), 4)
    0.9707
    """

    compares = "the mean of all pairs of parts"
    ground: Similarity | Function

    @property
    def psd(self) -> bool:
        return self.wrapped.psd

    def between(self, a: Mixtures, b: Mixtures) -> Matrix:
        return _inner(self.wrapped, a, b) / _norms(_own(self.wrapped, a))[:, None] / _norms(_own(self.wrapped, b))

    def within(self, a: Mixtures) -> Vector:
        return np.isfinite(_norms(_own(self.wrapped, a))).astype(float)

    def sensitivity(self, a: Mixtures) -> Sensitivity:
        inner, pull = self._inner_sensitivity(a)
        norms = _norms(np.diagonal(inner))
        scores = inner / norms[:, None] / norms

        def pull_scores(weights: Matrix) -> dict[str, Vector]:
            slopes = weights / norms[:, None] / norms
            pulled = weights * scores
            slopes[np.diag_indices_from(slopes)] -= 0.5 * (pulled.sum(axis=0) + pulled.sum(axis=1)) / norms**2
            return pull(slopes)

        return scores, pull_scores


def _norms(own: Vector) -> Vector:
    """√⟨μ, μ⟩, infinite where a signed ground similarity leaves nothing of the mixture, so that it is like no other."""
    return np.sqrt(np.where(own > 1e-12, own, np.inf))


@dataclass(frozen=True)
class MaximumMeanDiscrepancy(GroundDistance):
    """exp(−d/ℓ), d = ⟨μ, μ⟩ − 2⟨μ, ν⟩ + ⟨ν, ν⟩, the squared maximum mean discrepancy of two mixtures, at least 0.

    ⟨μ, ν⟩ = Σ_kl μ_k ν_l K(k, l). PSD if the ground similarity is, as d is then a squared distance; with a `constant`
    (constant − d) it need not be.

    ground: how alike two components are: a similarity, or a plain function of two.
    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> blend = MaximumMeanDiscrepancy(RBF(1.0), lengthscale=1.0)
    >>> round(blend({0.0: 1, 1.0: 1}, {0.0: 3, 1.0: 1}), 4)
    0.952
    """

    compares = "how far the means of the parts lie apart"
    ground: Similarity | Function
    lengthscale: float | None = None
    constant: float | None = None

    @property
    def psd(self) -> bool:
        return self.wrapped.psd and self.constant is None

    def distances(self, a: Mixtures, b: Mixtures) -> Matrix:
        own, other = _own(self.wrapped, a), _own(self.wrapped, b)
        return np.maximum(own[:, None] + other - 2.0 * _inner(self.wrapped, a, b), 0.0)

    def sensitivity(self, a: Mixtures) -> Sensitivity:
        inner, pull = self._inner_sensitivity(a)
        own = np.diagonal(inner)
        d = own[:, None] + own - 2.0 * inner
        distances = np.maximum(d, 0.0)

        def pull_scores(weights: Matrix) -> dict[str, Vector]:
            pulled = np.where(d > 0, weights * self.slopes(distances), 0.0)
            slopes = -2.0 * pulled
            slopes[np.diag_indices_from(slopes)] += pulled.sum(axis=0) + pulled.sum(axis=1)
            return pull(slopes)

        return self.scores(distances), pull_scores
