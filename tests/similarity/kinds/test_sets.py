"""Sets, bits and counts against Python's own sets and NumPy's minima."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.errors import SimilarityError
from likewise.similarity import features as bits
from likewise.similarity import features as hashed
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.sets import Dice, Jaccard, MinMax, Overlap

sets = st.lists(st.frozensets(st.sampled_from(["a", "b", ("c", 1), 2, 3.5, None]), max_size=5), min_size=1, max_size=6)


class Colour(Enum):
    RED = 1
    BLUE = 2


def scores(like: Similarity, objects: list[object]) -> np.ndarray:
    a = like.encode(objects)
    return like.between(a, a)


def plain(like: Similarity, x: frozenset[object], y: frozenset[object]) -> float:
    if not x or not y:
        return float(x == y)
    whole = {"Jaccard": len(x | y), "Dice": (len(x) + len(y)) / 2, "Overlap": min(len(x), len(y))}[like.name]
    return len(x & y) / whole


@pytest.mark.parametrize("like", [Jaccard(), Dice(), Overlap()])
@given(objects=sets)
def test_set_similarities_are_those_of_pythons_sets(like: Similarity, objects: list[frozenset[object]]) -> None:
    expected = [[plain(like, x, y) for y in objects] for x in objects]
    np.testing.assert_allclose(scores(like, list(objects)), expected, atol=1e-12)
    np.testing.assert_allclose(scores(like, [sorted(x, key=repr) * 2 for x in objects]), expected, atol=1e-12)


@pytest.mark.parametrize("like", [Jaccard(), Dice(), Overlap()])
@given(rows=arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 150))))
@settings(max_examples=40)
def test_bit_vectors_are_the_sets_of_their_bits(like: Similarity, rows: np.ndarray) -> None:
    expected = scores(like, [frozenset(np.flatnonzero(row).tolist()) for row in rows])
    np.testing.assert_allclose(scores(like, list(rows)), expected, atol=1e-12)
    np.testing.assert_allclose(scores(like, list(rows.astype(float))), expected, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 9000), (9000, 2), (30, 40), (1100, 1050)])
def test_intersections_by_counting_and_by_products_agree_with_unpacked_bits(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.random((n, 130)) < 0.3, rng.random((m, 130)) < 0.3
    found = bits.packed_intersections(bits.packed(a), bits.packed(b))
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.T.astype(np.float32))
    np.testing.assert_array_equal(bits.packed_sizes(bits.packed(a)), a.sum(axis=1))


counts = arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 5))


@given(counts)
def test_minmax_of_vectors_and_of_dicts_is_the_definition(rows: np.ndarray) -> None:
    low = np.minimum(rows[:, None], rows).sum(axis=2)
    high = np.maximum(rows[:, None], rows).sum(axis=2)
    expected = np.where(high > 0, low / np.maximum(high, 1), 1.0)
    np.testing.assert_allclose(scores(MinMax(), list(rows)), expected, atol=1e-12)
    np.testing.assert_allclose(scores(MinMax(), list(rows * 0.3)), expected, atol=1e-12)
    bags: list[object] = [{f"thing {k}": count for k, count in enumerate(row)} for row in rows]
    np.testing.assert_allclose(scores(MinMax(), bags), expected, atol=1e-12)


@given(rows=arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 9))))
def test_minmax_of_bits_is_jaccard(rows: np.ndarray) -> None:
    np.testing.assert_allclose(scores(MinMax(), list(rows.astype(float))), scores(Jaccard(), list(rows)), atol=1e-12)


def test_elements_are_equal_as_python_says() -> None:
    assert Jaccard()({1, "a", (2, 3)}, [True, np.str_("a"), (np.int64(2), 3.0)]) == 1.0
    assert Jaccard()({1}, {"1"}) == 0.0
    assert Jaccard()({b"1"}, {"1"}) == 0.0
    assert (
        Jaccard()({frozenset({1, 2}), Fraction(1, 2), Colour.RED}, {frozenset({2, 1}), Fraction(2, 4), Colour.BLUE})
        == 0.5
    )


def test_elements_have_the_same_hash_in_every_process() -> None:
    values = "['a', 1, 2.5, ('b', 3), frozenset({'x', 'y', 'z'}), None, b'c']"
    program = f"from likewise.similarity.features import stable_hash; print([stable_hash(x) for x in {values}])"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_columns_spread_so_that_features_seldom_share_one() -> None:
    matrix = hashed.counted(np.zeros(20_000, dtype=np.int64), np.arange(20_000, dtype=np.uint64), 1)
    assert matrix.nnz >= 19_997


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([{1}, "ab"], r"object 1 is not a set: 'ab'"),
        ([{1}, 5], r"object 1 is not a set: 5"),
        ([{1}, {"a": 1}], r"object 1 is not a set"),
        ([[1], [[2]]], r"object 1 has an element that is not hashable"),
        ([[1], [object()]], r"has no text of its own"),
        ([{1}, np.array([0, 1])], r"some objects are NumPy arrays"),
        ([np.array([0, 1]), np.array([0, 2])], r"object 1 is an array but no bit vector"),
        ([np.array([0, 1]), np.array([0.5, 0])], r"object 1 is an array but no bit vector"),
        ([np.array([0, 1]), np.array([[0, 1]])], r"object 1 is an array but no bit vector"),
        ([np.array([0, 1]), np.array([0, 1, 1])], r"object 1 has 3 bits where object 0 has 2"),
    ],
)
def test_what_is_no_set_is_named(objects: list[object], why: str) -> None:
    with pytest.raises(SimilarityError, match=why):
        Jaccard().encode(objects)


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([[1.0, 2.0], [1.0, -2.0]], r"object 1 has a negative weight"),
        ([[1.0, 2.0], [1.0]], r"object 1 has 1 numbers"),
        ([[1.0], [np.nan]], r"object 1"),
        ([{"a": 1}, [1.0]], r"some objects are dicts"),
        ([{"a": 1}, {"a": 1.5}], r"object 1 counts 'a' as 1\.5"),
        ([{"a": 1}, {"a": -1}], r"object 1 counts 'a' as -1"),
        ([{"a": 1}, {"a": 10**6}], r"object 1 counts 'a' as 1000000"),
        ([{"a": 1}, {"a": "many"}], r"object 1 counts 'a' as 'many'"),
    ],
)
def test_what_is_no_count_is_named(objects: list[object], why: str) -> None:
    with pytest.raises(SimilarityError, match=why):
        MinMax().encode(objects)


def test_kinds_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(SimilarityError, match="sets and bit vectors"):
        Jaccard()({1}, np.array([0, 1]))
    with pytest.raises(SimilarityError, match="need one length"):
        Jaccard()(np.zeros(64), np.zeros(65))
    with pytest.raises(SimilarityError, match="one kind"):
        MinMax()({"a": 1}, [1.0])
