"""Laws of the similarities of compositions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gmean

from likewise.errors import SimilarityError
from likewise.similarity.algebra import warped
from likewise.similarity.base import Similarity, is_differentiable
from likewise.similarity.kinds.compositions import Aitchison, Hellinger
from likewise.testing.similarities import check_similarity

relaxed = settings(max_examples=50, deadline=None)
ALL: list[Similarity] = [Hellinger(), Aitchison(), Aitchison(2.0), Aitchison([1.0, 2.0, 3.0, 4.0], zero=1e-4)]
parts = st.lists(st.floats(0, 10), min_size=4, max_size=4).filter(lambda x: sum(x) > 1e-3)


@pytest.mark.parametrize("similarity", [*ALL, warped(Hellinger(), 3.0), Hellinger() + Aitchison(1.0)], ids=repr)
def test_conformance(similarity: Similarity) -> None:
    rng = np.random.default_rng(0)
    objects = list(rng.dirichlet(np.ones(4), size=12) * rng.uniform(0.5, 2.0, size=(12, 1)) + 1e-3)
    assert is_differentiable(similarity)
    wrong = [[-0.1, 0.5, 0.5, 0.1], [0.0] * 4, [0.5, 0.5], [np.nan, 0.5, 0.2, 0.3], "alloy", None]
    check_similarity(similarity, objects, wrong=wrong)


@relaxed
@given(parts, parts, st.floats(1e-3, 1e3))
def test_the_unit_does_not_count(x: list[float], y: list[float], unit: float) -> None:
    for similarity in ALL:
        assert similarity(np.array(x) * unit, y) == pytest.approx(similarity(x, y), rel=1e-9, abs=1e-12)


@relaxed
@given(parts, parts)
def test_hellinger_is_one_minus_its_distance_squared(x: list[float], y: list[float]) -> None:
    p, q = np.array(x) / sum(x), np.array(y) / sum(y)
    distance = np.sqrt(0.5 * np.sum((np.sqrt(p) - np.sqrt(q)) ** 2))
    assert Hellinger()(x, y) == pytest.approx(1.0 - distance**2, abs=1e-12)


@relaxed
@given(parts, parts)
def test_aitchison_is_the_distance_of_log_ratios(x: list[float], y: list[float]) -> None:
    p, q = (np.array(z) / sum(z) + 0.01 for z in (x, y))
    distance = np.linalg.norm(np.log(p / gmean(p)) - np.log(q / gmean(q)))
    ratios = np.subtract.outer(np.log(p), np.log(p)) - np.subtract.outer(np.log(q), np.log(q))
    assert distance == pytest.approx(np.sqrt(np.sum(ratios**2) / 8), abs=1e-9)
    assert Aitchison(3.0, zero=0.01)(x, y) == pytest.approx(np.exp(-0.5 * distance**2 / 9), abs=1e-12)


def test_aitchison_ignores_a_change_of_units_of_a_part_but_for_zeros() -> None:
    x, y, scale = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1]), np.array([1.0, 5.0, 0.2])
    kernel = Aitchison(2.0, zero=1e-12)
    assert kernel(x * scale, y * scale) == pytest.approx(kernel(x, y), rel=1e-6)


@pytest.mark.parametrize("similarity", ALL, ids=repr)
def test_zero_parts_have_finite_scores_and_slopes_that_lead_inwards(similarity: Any) -> None:
    edge, inside = similarity.encode([[0.0, 0.4, 0.3, 0.3]]), similarity.encode([[0.4, 0.2, 0.2, 0.2]])
    scores, pull = similarity.linearise(edge, inside)
    slope = pull(np.ones((1, 1)))
    assert 0 < scores[0, 0] < 1
    assert np.all(np.isfinite(slope))
    assert slope[0, 0] > max(0.0, slope[0, 1:].max())


def test_a_wrong_composition_is_named() -> None:
    for similarity in ALL:
        with pytest.raises(SimilarityError, match=r"composition 1 is not one, part 2 is -0\.5"):
            similarity.encode([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, -0.5, 0.5]])
        with pytest.raises(SimilarityError, match="composition 0 is not one, all parts are zero"):
            similarity.encode([[0.0, 0.0, 0.0, 0.0]])
    for similarity in (Hellinger(), Aitchison()):
        with pytest.raises(SimilarityError, match="compositions of 2 and of 3 parts"):
            similarity([1.0, 1.0], [1.0, 1.0, 1.0])


@pytest.mark.parametrize("wrong", [{"zero": 0.0}, {"zero": -1.0}, {"lengthscale": 0.0}])
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SimilarityError, match="needs"):
        Aitchison(**wrong)


def test_a_study_learns_a_lengthscale_per_part() -> None:
    encoding = Aitchison().encode(np.random.default_rng(0).dirichlet(np.ones(4), size=5))
    parameter = Aitchison().parameters(encoding)["lengthscale"]
    assert parameter.value.shape == (4,)
    np.testing.assert_allclose(parameter.value, parameter.prior.mode)
