"""Objects of different widths are refused with both widths named, whichever comes first and whoever compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples.similarities.footrule import Footrule
from examples.similarities.jensen_shannon import GeometricJensenShannon, JensenShannon
from examples.similarities.samples import SampleWasserstein, SlicedWasserstein

import likewise as lw
from likewise.errors import SimilarityError
from likewise.model.scores import Gram
from likewise.similarity.algebra import fixed
from likewise.similarity.base import Similarity, is_differentiable
from likewise.similarity.coordinates import Coordinates, Rescaled

Make = Callable[[int], Any]
UNIT = Coordinates.spanning(np.zeros(2), np.ones(2), np.zeros(2, dtype=bool))


def vector(width: int) -> list[float]:
    return [1.0 + k for k in range(width)]


def gaussian(width: int) -> lw.Gaussian:
    return lw.Gaussian(np.zeros(width), 1.0)


def correlated(width: int) -> lw.Gaussian:
    return lw.Gaussian(np.zeros(width), np.eye(width) + 0.5)


def sample(width: int) -> Any:
    return np.arange(4.0 * width).reshape(4, width)


def bits(width: int) -> Any:
    return np.arange(width) % 2


def permutation(width: int) -> tuple[int, ...]:
    return tuple(range(width))


VECTORS = [lw.RBF(), lw.Matern(), lw.Linear(), lw.Cosine(), fixed(lw.RBF()), lw.MinMax()]
VECTORS += [lw.Hellinger(), lw.Aitchison(), lw.RBF() + lw.Linear(), lw.warped(lw.Matern() * lw.RBF(), 2)]
GAUSSIANS = [lw.Bhattacharyya, lw.GaussianEmbedding, lw.SymmetricKL, lw.Wasserstein2, GeometricJensenShannon]
CASES: list[tuple[Similarity, Make, int, int]] = [
    *((similarity, vector, 2, 3) for similarity in VECTORS),
    *((similarity, vector, 1, 2) for similarity in VECTORS),
    *((similarity, vector, 5, 4) for similarity in VECTORS),
    *((kind(), gaussian, 1, 2) for kind in (*GAUSSIANS, JensenShannon)),
    *((kind(full=True), correlated, 2, 3) for kind in GAUSSIANS),
    *((kind(), sample, 2, 3) for kind in (SampleWasserstein, SlicedWasserstein)),
    *((kind(), sample, 1, 2) for kind in (SampleWasserstein, SlicedWasserstein)),
    *((kind(), bits, 3, 2) for kind in (lw.Jaccard, lw.Dice, lw.Overlap, lw.Hamming)),
    *((kind(), bits, 60, 70) for kind in (lw.Jaccard, lw.Dice, lw.Overlap, lw.Hamming)),
    *((kind(), permutation, 4, 5) for kind in (lw.Kendall, lw.Mallows, Footrule, lw.Positions, lw.Tours)),
    *((kind(), sample, 1, 2) for kind in (lw.SoftDTW, lw.GlobalAlignmentKernel)),
    (lw.MeanEmbedding(lw.RBF()), lambda width: [(vector(width), 1.0)], 2, 3),
    (lw.Parts(a=lw.RBF()), lambda width: {"a": vector(width)}, 2, 3),
]


@pytest.mark.parametrize(("similarity", "make", "one", "other"), CASES, ids=[case[0].name for case in CASES])
def test_different_widths_are_refused(similarity: Similarity, make: Make, one: int, other: int) -> None:
    a, b = similarity.encode([make(one)]), similarity.encode([make(other)])
    ways: list[Callable[[Any, Any], Any]] = [similarity.between]
    if is_differentiable(similarity):
        ways.append(similarity.linearise)
    for way in ways:
        with pytest.raises(SimilarityError, match=f"of {one} and of {other} .* cannot be compared"):
            way(a, b)
        with pytest.raises(SimilarityError, match=f"of {other} and of {one} .* cannot be compared"):
            way(b, a)


@pytest.mark.parametrize(("similarity", "make", "one", "other"), CASES, ids=[case[0].name for case in CASES])
def test_an_observation_of_another_width_is_refused(similarity: Similarity, make: Make, one: int, other: int) -> None:
    with pytest.raises(SimilarityError, match="cannot be compared"):
        Gram.of(similarity, [make(one)]).grow([make(other)])


@pytest.mark.parametrize("similarity", VECTORS, ids=lambda similarity: similarity.name)
def test_a_prediction_for_another_width_is_refused(similarity: Similarity) -> None:
    post = lw.condition(similarity, [vector(2), [2.0, 1.0]], [0.0, 1.0])
    with pytest.raises(SimilarityError, match=r"of 1 and of 2 .* cannot be compared"):
        post.mean([[0.1]])


@pytest.mark.parametrize("width", [1, 3])
def test_other_coordinates_have_a_width_too(width: int) -> None:
    with pytest.raises(SimilarityError, match=f"of {width} and of 2 numbers"):
        Rescaled(lw.RBF(), UNIT).encode([vector(width)])
