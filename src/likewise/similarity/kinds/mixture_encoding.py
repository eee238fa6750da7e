"""The encoding of mixtures: their objects, each encoded once by the ground similarity, and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding, Indices, join, take
from likewise.similarity.pairs import object_key


@dataclass(frozen=True, eq=False)
class Support:
    """Different objects and their encodings by the ground similarity; mixtures encoded together share it."""

    keys: list[Any]
    encoding: Encoding


@dataclass(eq=False)
class Mixture:
    """Places in a support, and the weights there: positive, of sum 1.

    It remembers its inner product with itself under the last ground similarity that was asked, as that is part of every
    comparison.
    """

    support: Support
    places: Indices
    weights: Vector
    own: tuple[Similarity, float] | None = None


Mixtures = list[Mixture]


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
        Mixture(support, np.array(list(w), dtype=np.intp), np.array(list(w.values())) / sum(w.values())) for w in found
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
