"""Laws of the similarities of permutations, and SciPy's opinion of them."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from examples.similarities.footrule import Footrule
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.permutations import Kendall, Mallows, Positions, Tours, as_permutations
from likewise.testing.similarities import check_similarity

ALL: list[Similarity] = [Kendall(), Mallows(0.3), Footrule(0.3), Positions(), Tours()]
relaxed = settings(max_examples=50, deadline=None)
orders = st.integers(2, 14).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=2, max_size=4))


def scores(similarity: Similarity, objects: Any, others: Any) -> Any:
    return similarity.between(similarity.encode(objects), similarity.encode(others))


def steps(tour: Any) -> set[frozenset[int]]:
    return {frozenset(step) for step in pairwise([*tour, tour[0]])}


@relaxed
@given(orders)
def test_kendall_is_the_tau_of_scipy(objects: list[list[int]]) -> None:
    found = scores(Kendall(), objects, objects)
    for i, p in enumerate(objects):
        for j, q in enumerate(objects):
            tau = kendalltau(np.argsort(p), np.argsort(q)).statistic
            assert found[i, j] == pytest.approx((1 + tau) / 2, abs=1e-12)


@relaxed
@given(orders)
def test_mallows_is_a_function_of_kendall(objects: list[list[int]]) -> None:
    expected = np.exp(-(1 - scores(Kendall(), objects, objects)) / 0.7)
    np.testing.assert_allclose(scores(Mallows(0.7), objects, objects), expected, rtol=1e-12)


@relaxed
@given(orders)
def test_footrule_positions_and_tours_as_defined(objects: list[list[int]]) -> None:
    p, q = objects[0], objects[1]
    n = len(p)
    moved = sum(abs(p.index(item) - q.index(item)) for item in range(n))
    assert Footrule(0.5)(p, q) == pytest.approx(np.exp(-moved / (n * n // 2) / 0.5))
    assert Positions()(p, q) == pytest.approx(sum(a == b for a, b in zip(p, q, strict=True)) / n)
    assert Tours()(p, q) == pytest.approx(len(steps(p) & steps(q)) / len(steps(p)))


@relaxed
@given(orders, st.integers(0, 13))
def test_a_tour_has_no_start_and_no_direction(objects: list[list[int]], turn: int) -> None:
    p, q = np.array(objects[0]), objects[1]
    same = Tours()(p, q)
    assert Tours()(np.roll(p, turn), q) == same
    assert Tours()(p[::-1], q) == same
    assert Tours()(np.roll(p[::-1], turn), p) == 1.0


@relaxed
@given(orders, st.randoms(use_true_random=False))
def test_renaming_the_items_changes_nothing(objects: list[list[int]], random: Any) -> None:
    names = list(range(len(objects[0])))
    random.shuffle(names)
    renamed = [[names[item] for item in p] for p in objects]
    for similarity in ALL:
        np.testing.assert_allclose(
            scores(similarity, renamed, renamed), scores(similarity, objects, objects), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("similarity", ALL, ids=lambda s: s.name)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_psd_on_all_permutations(similarity: Similarity, n: int) -> None:
    assert similarity.psd
    objects = list(permutations(range(n)))
    matrix = scores(similarity, objects, objects)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * len(objects)
    assert matrix.min() >= 0
    np.testing.assert_allclose(np.diag(matrix), similarity.within(similarity.encode(objects)), atol=1e-12)


@pytest.mark.parametrize(
    ("similarity", "psd"),
    [(Mallows(constant=1.0), True), (Mallows(constant=0.2), False), (Footrule(constant=1.0), False)],
)
def test_constants_are_declared_as_they_are(similarity: Similarity, psd: bool) -> None:
    assert similarity.psd is psd


@pytest.mark.parametrize("similarity", [*ALL, Mallows(), Footrule(constant=1.0)], ids=lambda s: s.name)
def test_conformance(similarity: Similarity) -> None:
    rng = np.random.default_rng(0)
    objects = [tuple(rng.permutation(20).tolist()) for _ in range(30)]
    check_similarity(similarity, objects, wrong=[tuple(range(19)), (0,) * 20, "order", None, 3.5])


@pytest.mark.parametrize("similarity", ALL, ids=lambda s: s.name)
def test_no_objects_have_no_scores(similarity: Similarity) -> None:
    assert scores(similarity, [], [(0, 1, 2)]).shape == (0, 1)
    assert scores(similarity, [(0, 1, 2)], []).shape == (1, 0)


def test_the_median_sets_the_lengthscale() -> None:
    objects = list(permutations(range(4)))
    for similarity in (Mallows(), Footrule()):
        encoding = similarity.encode(objects)
        distances = similarity.distances(encoding, encoding)
        fitted = similarity.fitted(encoding)
        assert isinstance(fitted, type(similarity))
        # Rounded to an eighth of an octave, so that a few more objects leave it as it is.
        assert abs(np.log2(fitted.lengthscale / np.median(distances[distances > 0]))) <= 1 / 16 + 1e-12


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([(0, 1, 2), (0, 1)], "permutation 1 has 2 items where the ones before it have 3"),
        ([(0, 1, 2), (0, 2, 2)], "permutation 1 repeats the item 2"),
        ([(0, 1, 3)], "permutation 0 has the item 3, outside 0 … 2"),
        ([(0, -1)], "permutation 0 has the item -1"),
        ([(0.0, 1.5)], "permutation 0 is not a sequence of whole numbers"),
        ([(0, 1), "ab"], "permutation 1 is not a sequence of whole numbers: 'ab'"),
        ([(0, 1), None], "permutation 1 is not a sequence"),
        ([[(0, 1), (1, 0)]], "permutation 0 is not a sequence"),
        ([()], "permutation 0 is empty"),
    ],
)
def test_a_wrong_object_is_named(objects: Any, message: str) -> None:
    for similarity in ALL:
        with pytest.raises(SimilarityError, match=message.replace("(", r"\(")):
            similarity.encode(objects)


@pytest.mark.parametrize("similarity", ALL, ids=lambda s: s.name)
def test_encodings_of_different_lengths_are_not_compared(similarity: Similarity) -> None:
    with pytest.raises(SimilarityError, match="permutations of 3 and of 4 items"):
        similarity((0, 1, 2), (0, 1, 2, 3))


def test_arrays_lists_and_tuples_are_alike() -> None:
    np.testing.assert_array_equal(as_permutations([np.array([1, 0]), (0, 1)]), [[1, 0], [0, 1]])
